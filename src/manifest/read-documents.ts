import { hasErrors, type Diagnostic } from '../model/diagnostic.ts';
import { compareText, isObject, type JsonObject } from '../model/json.ts';
import type { Pointer } from '../model/pointer.ts';
import { type ResourceId, resourceId } from '../model/resource.ts';
import type { SourceFile } from '../model/source.ts';
import { diagnose, openBook, withoutSecrets, type Book } from './source-map.ts';
import { type ManifestDocument, parsePage, parseDocuments } from './yaml/parse-documents.ts';
import { makeManifest, type Manifest, locateIn } from './manifest.ts';
import { policyKind, policySchema } from './read-policies.ts';
import type { Problem } from './wording.ts';
import { classify, validate, type Views } from './validate/validate-manifest.ts';

/** Everything that files say, before manifests and overlays meet. */
export type Reading = {
  readonly book: Book;
  readonly base: readonly Manifest[];
  /** Manifests that are wrong somewhere, with the places where they are. */
  readonly broken: readonly Broken[];
  /** The overlays of each folder, in the folders' order. */
  readonly overlays: readonly (readonly Manifest[])[];
  /** Documents of policies, not yet looked into. */
  readonly policies: readonly ManifestDocument[];
  /** What the files declare, also where the manifest itself is wrong. */
  readonly declared: ReadonlySet<ResourceId>;
  /** No manifest is wrong, so what is not declared is not there. */
  readonly whole: boolean;
  readonly diagnostics: readonly Diagnostic[];
};

type Broken = { readonly manifest: Manifest; readonly places: readonly Pointer[] };

type Page = Parameters<typeof openBook>[0][number] & { readonly diagnostics: readonly Diagnostic[] };

/** Parses and validates manifests and overlays, file by file in the order of their paths. */
export function readDocuments(files: readonly SourceFile[], overlays: readonly (readonly SourceFile[])[], views: Views): Reading {
  const pages = parseAll(files, views);
  const overlayPages = overlays.map((folder) => parseAll(folder, views));
  const all = [...pages, ...overlayPages.flat()];
  const book = openBook(all, ({ value }) => {
    const kind = isObject(value) ? value['kind'] : undefined;
    if (kind === policyKind) return policySchema;
    return typeof kind === 'string' ? views.get(kind)?.kind.schema : undefined;
  });
  const policies: ManifestDocument[] = [];
  const declared = new Set<ResourceId>();
  const foreign: ManifestDocument[] = [];
  const broken: Broken[] = [];
  const diagnostics: Diagnostic[] = all.flatMap((page) => page.diagnostics);
  const readPages = (list: readonly Page[], form: 'manifest' | 'overlay'): readonly Manifest[] => {
    const manifests: Manifest[] = [];
    for (const document of list.flatMap((page) => page.documents)) {
      const { manifest, id, problems, skipped, isPolicy } = readDocument(document, views, form);
      if (isPolicy === true) policies.push(document);
      const sound = problems.length === 0;
      if (skipped === true) foreign.push(document);
      if (id !== undefined && overlays.length > 0 && form === 'manifest') declared.add(id);
      for (const problem of problems) diagnostics.push(diagnose(book, document.locate, problem, id));
      if (manifest !== undefined && sound) manifests.push(manifest);
      if (manifest !== undefined && !sound && form === 'manifest') broken.push({ manifest, places: placesOf(problems) });
    }
    return manifests;
  };
  const base = readPages(pages, 'manifest');
  const whole = !hasErrors(diagnostics);
  const merged = overlayPages.map((list) => readPages(list, 'overlay'));
  return { book, base, broken, overlays: merged, policies, declared, whole, diagnostics: [...diagnostics, ...skippedNotice(foreign)] };
}

/** The places that are wrong; where something is missing, what is there may be right. */
function placesOf(problems: readonly Problem[]): readonly Pointer[] {
  return problems.filter(({ code }) => code !== 'manifest/missing-field').map(({ at }) => at);
}

function parseAll(files: readonly SourceFile[], views: Views): readonly Page[] {
  return files
    .toSorted((left, right) => compareText(left.path, right.path))
    .map((file) => {
      const { documents, diagnostics } = parsePage(file);
      if (diagnostics.length === 0) return { file, documents, diagnostics };
      const schemas = [...views.values()].map(({ kind }) => kind.schema);
      return { file, documents, diagnostics: withoutSecrets(file, diagnostics, schemas), unread: schemas };
    });
}

type Read = {
  readonly manifest?: Manifest;
  readonly id?: ResourceId;
  readonly problems: readonly Problem[];
  readonly skipped?: boolean;
  readonly isPolicy?: boolean;
};

function readDocument(document: ManifestDocument, views: Views, form: 'manifest' | 'overlay'): Read {
  const classified = classify(document, views);
  switch (classified.is) {
    case 'foreign':
      return { problems: [], skipped: document.damaged !== true };
    case 'config':
      // At the top of a commit nothing but its name stands before the file.
      return { problems: /(?:^|\/|^[\da-f]{10}:)ostiary\.ya?ml$/.test(document.file.path) ? [] : [misplacedConfig] };
    case 'policy':
      return form === 'overlay' ? { problems: [misplacedPolicy] } : { problems: [], isPolicy: true };
    case 'wrong':
      // What it would be may stand at the key that was left out.
      return { problems: document.damaged === true ? [] : [classified.problem] };
    case 'manifest': {
      const { view, value } = classified;
      const found = validate(view, value, form);
      const problems = document.damaged === true ? found.filter(isThere) : found;
      const manifest = makeManifest(view, { metadata: objectAt(value, 'metadata'), spec: objectAt(value, 'spec'), tests: value['tests'] }, [
        document,
      ]);
      return { manifest, problems, ...(manifest.name === '' ? {} : { id: manifest.id }) };
    }
  }
}

/** What is missing may have stood at a key that was left out. */
function isThere({ code }: Problem): boolean {
  return code !== 'manifest/missing-field';
}

const misplacedConfig: Problem = {
  code: 'manifest/misplaced-config',
  severity: 'error',
  at: '/kind',
  message: 'a Config stands among the manifests',
  hint: 'the config file is called ostiary.yaml; name another with --config and keep it out of manifests',
};

const misplacedPolicy: Problem = {
  code: 'manifest/misplaced-policy',
  severity: 'error',
  at: '/kind',
  message: 'a Policy stands among the overlays',
  hint: 'policies are not overlaid: put it among the manifests, with metadata.targets where it is for some alone',
};

function objectAt(value: JsonObject, key: string): JsonObject {
  const below = value[key];
  return isObject(below) ? below : {};
}

/** Tells of all documents that are somebody else's in one notice. */
function skippedNotice(documents: readonly ManifestDocument[]): readonly Diagnostic[] {
  const [first] = documents;
  if (first === undefined) return [];
  const files = [...new Set(documents.map(({ file }) => file.path))];
  const shown = files.length > 3 ? `${files.slice(0, 3).join(', ')} and ${files.length - 3} more files` : files.join(', ');
  const what = documents.length === 1 ? 'a document is' : `${documents.length} documents are`;
  return [
    {
      code: 'manifest/skipped',
      severity: 'notice',
      message: `${what} not for Ostiary (apiVersion is not ostiary/v1), skipped: ${shown}`,
      hint: 'manifests begin with apiVersion: ostiary/v1',
      at: first.locate('', 'value'),
    },
  ];
}

/** The resources whose manifests stand in a file, as far as it can be read. */
export function declaredIn(file: SourceFile): readonly ResourceId[] {
  return (parseDocuments(file).value ?? []).flatMap(({ value }) => {
    if (!isObject(value) || !isObject(value['metadata'])) return [];
    const { kind } = value;
    const { name } = value['metadata'];
    return typeof kind === 'string' && typeof name === 'string' ? [resourceId(kind, name)] : [];
  });
}

/** Keeps the first manifest of each identity and names both places of every other one; what has none is kept. */
export function withoutDuplicates(
  book: Book,
  manifests: readonly Manifest[],
  identityOf: (manifest: Manifest) => string | undefined,
  code: Diagnostic['code'],
): { readonly manifests: readonly Manifest[]; readonly diagnostics: readonly Diagnostic[] } {
  const first = new Map<string, Manifest>();
  const kept: Manifest[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const manifest of manifests) {
    const identity = identityOf(manifest);
    const known = identity === undefined ? undefined : first.get(identity);
    if (identity !== undefined && known === undefined) first.set(identity, manifest);
    if (known === undefined) kept.push(manifest);
    else diagnostics.push(declaredTwice(book, known, manifest, code));
  }
  return { manifests: kept, diagnostics };
}

function declaredTwice(book: Book, known: Manifest, manifest: Manifest, code: Diagnostic['code']): Diagnostic {
  const { file, line, column } = locateIn(known)('/metadata/name');
  const same = known.id === manifest.id;
  const message = same ? `${manifest.id} is declared twice` : `${manifest.id} and ${known.id} are the same thing on the gateway`;
  const hint = `the other one is at ${file}:${line}:${column}; keep one of them`;
  return diagnose(book, locateIn(manifest), { code, severity: 'error', at: '/metadata/name', message, hint }, manifest.id);
}
