import { appendAll, memoizeByObject } from '../model/collections.ts';
import {
  type Diagnostic,
  type DocumentDiagnostic,
  hasErrors,
  isDefaultsPath,
  type SourceFile,
  documentError,
  didYouMean,
} from '../model/diagnostic.ts';
import { compareText, isObject, type JsonObject, asObject } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import type { Pointer } from '../model/pointer.ts';
import { kindOf, nameOf, type ResourceId, resourceId } from '../model/resource.ts';
import { createSourceMap, locateDiagnostic, maskFrames, type SourceMap } from './source-map.ts';
import { type ManifestDocument, parseDocuments, parseLeniently } from './yaml/parse-documents.ts';
import { createManifestLocate, type KindView, makeManifest, type Manifest } from './manifest.ts';
import { mergeLayers, validateMerged, warnOfLosses } from './merge-layers.ts';
import { respellDocument } from './respell-document.ts';
import type { Spelling } from '../model/spec/spelling.ts';
import { defaultsSchema, type FolderDefaults, readDefaults } from './read-defaults.ts';
import { accessTestKind } from '../model/protection/access-test.ts';
import { policyKind } from '../model/protection/policy.ts';
import { accessTestSchema } from './read-access-tests.ts';
import { policySchema } from './read-policies.ts';
import { classifyDocument, defaultsKind, type DocumentClass, type KindViews, validateManifest } from './validate/validate-manifest.ts';

/** The documents of all files, before overlays are merged. */
type DocumentSet = {
  readonly sources: SourceMap;
  /** The manifests, merged into their defaults. */
  readonly base: readonly Manifest[];
  /** Manifests with errors, and the places of these errors. */
  readonly invalid: readonly InvalidManifest[];
  /** The overlays of each folder, in the order of the folders. */
  readonly overlays: readonly (readonly Manifest[])[];
  readonly policies: readonly ManifestDocument[];
  readonly accessTests: readonly ManifestDocument[];
  /** The ids that the files declare, invalid manifests included. */
  readonly declared: ReadonlySet<ResourceId>;
  /** Whether all manifests are valid, so that an id that is not declared does not exist. */
  readonly complete: boolean;
  readonly diagnostics: readonly Diagnostic[];
};

type InvalidManifest = { readonly manifest: Manifest; readonly places: readonly Pointer[] };

type ParsedFile = Parameters<typeof createSourceMap>[0][number] & { readonly diagnostics: readonly Diagnostic[] };

/** Parses and validates manifests, their defaults and overlays, file by file in the order of their paths. */
export function readDocuments(
  files: readonly SourceFile[],
  overlays: readonly (readonly SourceFile[])[],
  {
    views,
    placeOf,
    spelling,
  }: { readonly views: KindViews; readonly placeOf: (path: string) => string; readonly spelling?: Spelling | undefined },
): DocumentSet {
  const pages = parseFiles(files, views, spelling);
  const overlayPages = overlays.map((folder) => parseFiles(folder, views, spelling));
  const all = [...pages, ...overlayPages.flat()];
  const sources = createSourceMap(all, ({ value }) => {
    const kind = isObject(value) ? value['kind'] : undefined;
    if (kind === policyKind) return policySchema;
    if (kind === accessTestKind) return accessTestSchema;
    if (kind === defaultsKind) return defaultsSchema;
    return typeof kind === 'string' ? views.get(kind)?.kind.schema : undefined;
  });
  const checks: Readonly<Record<CheckClass, ManifestDocument[]>> = { policy: [], 'access-test': [] };
  const declared = new Set<ResourceId>();
  const foreign: ManifestDocument[] = [];
  const invalid: InvalidManifest[] = [];
  const diagnostics: Diagnostic[] = all.flatMap((page) => page.diagnostics);
  const defaults = readDefaults(
    sources,
    pages.filter(({ file }) => isDefaultsPath(file.path)),
    placeOf,
  );
  const readPages = (list: readonly ParsedFile[], form: 'manifest' | 'overlay'): readonly Manifest[] => {
    const manifests: Manifest[] = [];
    for (const document of list.flatMap((page) => page.documents)) {
      const { manifest, id, problems, skipped, check } = readDocument(document, { views, form, defaults });
      if (check !== undefined) checks[check].push(document);
      const sound = !hasErrors(problems) && (check !== undefined || !defaults.isInvalid(document.file.path));
      if (skipped === true) foreign.push(document);
      if (id !== undefined && overlays.length > 0 && form === 'manifest') declared.add(id);
      const locate = manifest === undefined ? document.locate : createManifestLocate(manifest);
      for (const problem of problems) diagnostics.push(locateDiagnostic(sources, locate, problem, id));
      if (manifest !== undefined && sound) manifests.push(manifest);
      if (manifest !== undefined && !sound && form === 'manifest') invalid.push({ manifest, places: listInvalidPlaces(problems) });
    }
    return manifests;
  };
  const base = readPages(pages, 'manifest');
  appendAll(diagnostics, defaults.diagnostics);
  const complete = !hasErrors(diagnostics);
  const merged = overlayPages.map((list) => readPages(list, 'overlay'));
  return {
    sources,
    base,
    invalid,
    overlays: merged,
    policies: checks.policy,
    accessTests: checks['access-test'],
    declared,
    complete,
    diagnostics: [...diagnostics, ...noticeSkipped(foreign)],
  };
}

/** Returns the invalid places. A missing field does not make the rest of its map invalid. */
function listInvalidPlaces(problems: readonly DocumentDiagnostic[]): readonly Pointer[] {
  return problems.filter(({ code }) => code !== 'manifest/missing-field').map(({ pointer: at }) => at);
}

/** Two loads of a run that share a file share what it says. */
const parseFile = memoizeByObject(parseLeniently);

function parseFiles(files: readonly SourceFile[], views: KindViews, spelling: Spelling | undefined): readonly ParsedFile[] {
  return files
    .toSorted((left, right) => compareText(left.path, right.path))
    .map((file) => {
      const { documents: parsed, diagnostics } = parseFile(file);
      const documents = spelling === undefined ? parsed : parsed.map((one) => respellDocument(one, spelling));
      if (diagnostics.length === 0) return { file, documents, diagnostics };
      const schemas = [...views.values()].map(({ kind }) => kind.schema);
      return { file, documents, diagnostics: maskFrames(file, diagnostics, schemas), unread: schemas };
    });
}

type ClassifiedDocument = {
  readonly manifest?: Manifest;
  readonly id?: ResourceId;
  readonly problems: readonly DocumentDiagnostic[];
  readonly skipped?: boolean;
  readonly check?: CheckClass;
};

/** The classes of documents that check connections and declare none. */
type CheckClass = 'policy' | 'access-test';

type DocumentContext = { readonly views: KindViews; readonly form: 'manifest' | 'overlay'; readonly defaults: FolderDefaults };

function readDocument(document: ManifestDocument, { views, form, defaults }: DocumentContext): ClassifiedDocument {
  const classified = classifyDocument(document, views);
  const misplaced = findMisplacedDefaults(classified, document.file.path, form);
  if (misplaced !== undefined) return { problems: [misplaced] };
  switch (classified.is) {
    case 'defaults':
      return { problems: [] };
    case 'foreign':
      return { problems: [], skipped: document.incomplete !== true };
    case 'config':
      // For a file at the root of a commit, only the commit's short hash precedes the name.
      return { problems: /(?:^|\/|^[\da-f]{10}:)ostiary\.ya?ml$/.test(document.file.path) ? [] : [misplacedConfig] };
    case 'policy':
    case 'access-test':
      return form === 'overlay' ? { problems: [misplacedCheck(classified.is)] } : { problems: [], check: classified.is };
    case 'wrong':
      // The key that was left out may be `kind` or `apiVersion`.
      return { problems: document.incomplete === true ? [] : [classified.problem] };
    case 'manifest': {
      const { view, value } = classified;
      const isBelowInvalid = form === 'manifest' && defaults.isInvalid(document.file.path);
      const below = form === 'manifest' && !isBelowInvalid ? defaults.find(document.file.path, view) : undefined;
      const found = validateManifest(view, value, below !== undefined || isBelowInvalid ? 'overlay' : form);
      const problems = document.incomplete === true ? found.filter(isPresent) : found;
      const own = toManifest(view, value, document);
      const id = own.name === '' ? {} : { id: own.id };
      if (below === undefined || problems.length > 0 || document.incomplete === true) return { manifest: own, problems, ...id };
      const manifest = mergeLayers(below, own, document);
      return { manifest, problems: validateMerged(manifest), ...id };
    }
  }
}

const plainManifests = new WeakMap<ManifestDocument, Manifest>();

/** Returns the manifest of a document alone; loads that share the document share it. */
function toManifest(view: KindView, value: JsonObject, document: ManifestDocument): Manifest {
  const known = plainManifests.get(document);
  if (known?.view.kind === view.kind) return known;
  const contents = { metadata: asObject(value['metadata']), spec: asObject(value['spec']), tests: value['tests'] };
  const made = makeManifest(view, contents, [document]);
  plainManifests.set(document, made);
  return made;
}

/** Finds a defaults file in the wrong place, and other documents in a defaults file. A file of another tool may have any name. */
function findMisplacedDefaults(classified: DocumentClass, path: string, form: 'manifest' | 'overlay'): DocumentDiagnostic | undefined {
  const isDefaults = classified.is === 'defaults';
  const isOfOtherTool = classified.is === 'wrong' || (classified.is === 'foreign' && classified.apiVersion !== undefined);
  const isNamedSo = isDefaultsPath(path.replace(/yml$/i, 'yaml').toLowerCase());
  if (isOfOtherTool || !(isDefaults || isNamedSo)) return undefined;
  if (form === 'overlay')
    return misplacedDefaults('found Defaults among the overlays', 'move them to the manifests, or write an overlay for each object');
  if (!isDefaults)
    return misplacedDefaults(
      `the file has the name of ${defaultsKind}, but another kind`,
      `begin it with apiVersion: ostiary/v1, kind: ${defaultsKind} and spec, or rename it`,
    );
  return isDefaultsPath(path)
    ? undefined
    : misplacedDefaults(`Ostiary reads ${defaultsKind} only from _defaults.yaml`, 'rename the file to _defaults.yaml');
}

function misplacedDefaults(message: string, hint: string): DocumentDiagnostic {
  return documentError('defaults/misplaced', '/kind', message, hint);
}

/** Returns whether an error is about present text; a missing field may have been at the key that was left out. */
function isPresent({ code }: DocumentDiagnostic): boolean {
  return code !== 'manifest/missing-field';
}

const misplacedConfig: DocumentDiagnostic = documentError(
  'manifest/misplaced-config',
  '/kind',
  'found a Config among the manifests',
  'name the config file ostiary.yaml, or pass it with --config and move it out of the manifests folder',
);

const checkNames = { policy: 'a Policy', 'access-test': 'an AccessTest' } as const;

function misplacedCheck(check: CheckClass): DocumentDiagnostic {
  const message = `found ${checkNames[check]} among the overlays`;
  const hint = 'move it to the manifests; use metadata.targets to limit it to some targets';
  return documentError('manifest/misplaced-policy', '/kind', message, hint);
}

/** Reports all documents of other tools in one notice. */
function noticeSkipped(documents: readonly ManifestDocument[]): readonly Diagnostic[] {
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
      hint: 'a manifest begins with apiVersion: ostiary/v1',
      at: first.locate('', 'value'),
    },
  ];
}

/** Lists the resources that a file declares, with a registry by their identities on the gateway; returns none for a file that cannot be parsed. */
export function listDeclared(file: SourceFile, registry?: Registry): readonly ResourceId[] {
  return (parseDocuments(file).value ?? []).flatMap(({ value }) => {
    if (!isObject(value) || !isObject(value['metadata'])) return [];
    const { kind, spec } = value;
    const { name } = value['metadata'];
    if (typeof kind !== 'string' || typeof name !== 'string') return [];
    return [resourceId(kind, registry?.get(kind)?.identity(name, isObject(spec) ? spec : {}) ?? name)];
  });
}

/** Keeps the first manifest of each identity and reports every other one with both positions; manifests without an identity are kept. */
export function removeDuplicates(
  sources: SourceMap,
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
    else diagnostics.push(declaredTwice(sources, known, manifest, code));
  }
  return { manifests: kept, diagnostics };
}

function declaredTwice(sources: SourceMap, known: Manifest, manifest: Manifest, code: Diagnostic['code']): Diagnostic {
  const { file, line, column } = createManifestLocate(known)('/metadata/name');
  const same = known.id === manifest.id;
  const message = same ? `duplicate manifest ${manifest.id}` : `${manifest.id} and ${known.id} are the same object on the gateway`;
  const hint = `the other one is at ${file}:${line}:${column}; keep one of them`;
  return locateDiagnostic(sources, createManifestLocate(manifest), documentError(code, '/metadata/name', message, hint), manifest.id);
}

type MergeResult = { readonly manifests: readonly Manifest[]; readonly diagnostics: readonly Diagnostic[] };

/** Applies the overlays of each folder in order, then validates each merged manifest against the schema. */
export function mergeOverlays(
  sources: SourceMap,
  base: readonly Manifest[],
  overlays: readonly (readonly Manifest[])[],
  known: { readonly declared: ReadonlySet<ResourceId>; readonly complete: boolean },
): MergeResult {
  if (overlays.length === 0) return { manifests: base, diagnostics: [] };
  const byId = new Map(base.map((manifest) => [manifest.id, manifest]));
  const touched = new Set<ResourceId>();
  const diagnostics: Diagnostic[] = [];
  for (const folder of overlays) {
    const { manifests, diagnostics: doubles } = removeDuplicates(sources, folder, ({ id }) => id, 'overlay/duplicate');
    appendAll(diagnostics, doubles);
    for (const overlay of manifests) {
      const below = byId.get(overlay.id);
      if (below === undefined) {
        if (known.complete && !known.declared.has(overlay.id)) diagnostics.push(noManifest(sources, overlay, byId));
        continue;
      }
      const manifest = mergeLayers(below, overlay, below.document);
      appendAll(
        diagnostics,
        warnOfLosses(below, overlay).map((problem) => locateDiagnostic(sources, createManifestLocate(overlay), problem, overlay.id)),
      );
      byId.set(manifest.id, manifest);
      touched.add(manifest.id);
    }
  }
  for (const id of touched) {
    const manifest = byId.get(id);
    if (manifest === undefined) continue;
    appendAll(
      diagnostics,
      validateMerged(manifest).map((problem) => locateDiagnostic(sources, createManifestLocate(manifest), problem, id)),
    );
  }
  return { manifests: [...byId.values()], diagnostics };
}

function noManifest(sources: SourceMap, overlay: Manifest, manifests: ReadonlyMap<ResourceId, Manifest>): Diagnostic {
  const kind = kindOf(overlay.id);
  const names = [...manifests.keys()].filter((id) => kindOf(id) === kind).map(nameOf);
  const hint = didYouMean(overlay.name, names) ?? 'an overlay changes a manifest of the same kind and name; create that manifest first';
  const message = `the overlay of ${overlay.id} has no manifest`;
  return locateDiagnostic(
    sources,
    createManifestLocate(overlay),
    documentError('overlay/no-manifest', '/metadata/name', message, hint),
    overlay.id,
  );
}
