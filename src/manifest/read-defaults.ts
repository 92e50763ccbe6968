import schema from '../../schemas/documents/defaults.schema.json' with { type: 'json' };
import { hasErrors, type Diagnostic, type DocumentDiagnostic, type SourceFile, documentError } from '../model/diagnostic.ts';
import { isObject, type JsonObject, asObject } from '../model/json.ts';
import { pointer, tokensOf, type Pointer } from '../model/pointer.ts';
import { type KindView, type Manifest, makeManifest } from './manifest.ts';
import { mergeLayers } from './merge-layers.ts';
import { locateDiagnostic, type SourceMap } from './source-map.ts';
import { describeSchemaErrors } from './validate/schema-diagnostics.ts';
import { defaultsKind } from './validate/validate-manifest.ts';
import { defaults as validator } from './validate/validators.ts';
import type { ManifestDocument } from './yaml/parse-documents.ts';

/** The schema of defaults files. */
export const defaultsSchema: JsonObject = schema;

/** The fields that folders state for the manifests below them. */
export type FolderDefaults = {
  /** Returns the merged defaults of a kind for a file, as a manifest without a name; undefined if no folder states any. */
  readonly find: (path: string, view: KindView) => Manifest | undefined;
  /** Returns whether defaults that apply to a file have errors. */
  readonly isInvalid: (path: string) => boolean;
  /** The errors in the documents, and the warnings of defaults that are merged so far. */
  readonly diagnostics: readonly Diagnostic[];
};

/** A defaults file that was parsed, and its errors. */
type DefaultsFile = {
  readonly file: SourceFile;
  readonly documents: readonly ManifestDocument[];
  readonly diagnostics: readonly Diagnostic[];
};

/** Reads the defaults files, at most one document of each. `placeOf` returns a path relative to the config. */
export function readDefaults(sources: SourceMap, files: readonly DefaultsFile[], placeOf: (path: string) => string): FolderDefaults {
  const diagnostics: Diagnostic[] = [];
  const report = ({ locate }: ManifestDocument, problem: DocumentDiagnostic): void =>
    void diagnostics.push(locateDiagnostic(sources, locate, problem));
  const byFolder = new Map<string, ManifestDocument>();
  const invalid = new Set<string>();
  for (const { file, documents, diagnostics: unread } of files) {
    const folder = folderOf(placeOf(file.path));
    const own = documents.filter(isDefaults);
    if (hasErrors(unread) || documents.some((one) => !isDefaults(one) && !isOfOtherTool(one))) invalid.add(folder);
    for (const document of own) {
      const known = byFolder.get(folder);
      const problems = known === undefined ? findProblems(document) : [duplicateDefaults(known)];
      if (known === undefined) byFolder.set(folder, document);
      if (problems.length > 0) invalid.add(folder);
      for (const problem of problems) report(document, problem);
    }
  }
  const merged = new Map<string, Manifest | undefined>();
  const findIn = (folder: string | undefined, view: KindView): Manifest | undefined => {
    if (folder === undefined) return undefined;
    const key = `${view.kind.name} ${folder}`;
    if (merged.has(key)) return merged.get(key);
    const outer = findIn(parentOf(folder), view);
    const document = byFolder.get(folder);
    const inner = document === undefined ? undefined : kindDefaults(document, view);
    const result = inner === undefined ? outer : mergeInner(outer, inner);
    merged.set(key, result);
    return result;
  };
  const has = byFolder.size > 0;
  return {
    find: (path, view) => (has ? findIn(folderOf(placeOf(path)), view) : undefined),
    isInvalid(path) {
      if (invalid.size === 0) return false;
      for (let folder: string | undefined = folderOf(placeOf(path)); folder !== undefined; folder = parentOf(folder))
        if (invalid.has(folder)) return true;
      return false;
    },
    diagnostics,
  };
}

function isDefaults({ value }: ManifestDocument): boolean {
  return isObject(value) && value['kind'] === defaultsKind;
}

function isOfOtherTool({ value }: ManifestDocument): boolean {
  const apiVersion = isObject(value) ? value['apiVersion'] : undefined;
  return typeof apiVersion === 'string' && !apiVersion.startsWith('ostiary/');
}

function findProblems({ value, incomplete }: ManifestDocument): readonly DocumentDiagnostic[] {
  if (validator(value)) return [];
  const problems = describeSchemaErrors(schema, value, validator.errors ?? []);
  // The key that was left out may be the missing one.
  return incomplete === true ? problems.filter(({ code }) => code !== 'manifest/missing-field') : problems;
}

const noFields = { metadata: {}, spec: {} };

/** Merges defaults into those of the folder above. Without any there, it only drops the keys that they remove. */
function mergeInner(outer: Manifest | undefined, inner: Manifest): Manifest {
  const { view, document } = inner;
  if (outer !== undefined) return mergeLayers(outer, inner, outer.document);
  return makeManifest(view, mergeLayers(makeManifest(view, noFields, [document]), inner, document), [document]);
}

/** Returns what the document states for a kind, with the places of a manifest; undefined if it states nothing. */
function kindDefaults(document: ManifestDocument, view: KindView): Manifest | undefined {
  const kind = view.kind.name;
  const spec = isObject(document.value) ? asObject(document.value['spec'])[kind] : undefined;
  if (!isObject(spec)) return undefined;
  const layer: ManifestDocument = { ...document, value: { spec }, locate: (path, part) => document.locate(inDefaults(path, kind), part) };
  return makeManifest(view, { metadata: {}, spec }, [layer]);
}

/** Converts a place in a manifest to the place in a defaults file. */
function inDefaults(path: Pointer, kind: string): Pointer {
  const [top, ...rest] = tokensOf(path);
  return top === 'spec' ? pointer('spec', kind, ...rest) : '';
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Returns the folder above; undefined above the folder of the config. A folder outside that one ends at the top of its path. */
function parentOf(folder: string): string | undefined {
  const above = folderOf(folder);
  const isOutside = /^(?:\/|[A-Za-z]:)/.test(folder);
  return folder === '' || /(?:^|\/)\.\.$/.test(folder) || (above === '' && isOutside) ? undefined : above;
}

function duplicateDefaults({ locate }: ManifestDocument): DocumentDiagnostic {
  const { file, line, column } = locate('');
  return documentError(
    'defaults/duplicate',
    '',
    `more than one ${defaultsKind} in one file`,
    `the other one is at ${file}:${line}:${column}; move its fields there`,
  );
}
