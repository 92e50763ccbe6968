import { appendAll } from '../model/collections.ts';
import { type Diagnostic, type DocumentDiagnostic, type Position, documentError } from '../model/diagnostic.ts';
import { compareText, isObject, type Json, type JsonObject, asObject, textsIn } from '../model/json.ts';
import { locateDiagnostic, type SourceMap } from './source-map.ts';
import { checkTargets } from './validate/check-manifest.ts';
import { describeSchemaErrors } from './validate/schema-diagnostics.ts';
import type { SchemaValidator } from './validate/validators.ts';
import type { ManifestDocument } from './yaml/parse-documents.ts';

/** The target whose documents are read, and the names of all targets. */
export type DocumentTarget = { readonly name: string; readonly all: readonly string[] };

/** How documents of a kind that declares no object are read. */
export type DocumentReader<T> = {
  /** What messages call one. */
  readonly noun: string;
  readonly schema: JsonObject;
  readonly validator: SchemaValidator;
  /** Finds what the schema cannot say. */
  readonly check: (value: JsonObject) => readonly DocumentDiagnostic[];
  readonly read: (document: ManifestDocument, value: JsonObject) => T;
};

/** Reads the documents of a kind that count for a target, sorted by name; each name is there once. */
export function readTargetDocuments<T extends { readonly name: string; readonly at: Position }>(
  sources: SourceMap,
  documents: readonly ManifestDocument[],
  { target, reader }: { readonly target: DocumentTarget; readonly reader: DocumentReader<T> },
): { readonly found: readonly T[]; readonly diagnostics: readonly Diagnostic[] } {
  const { noun, schema, validator, check, read } = reader;
  const diagnostics: Diagnostic[] = [];
  const known = new Map<string, T>();
  for (const document of documents) {
    const { value } = document;
    const problems = isObject(value) && validator(value) ? check(value) : describeSchemaErrors(schema, value, validator.errors ?? []);
    appendAll(
      diagnostics,
      [...problems, ...checkTargets(asObject(value)['metadata'], target.all)].map((problem) =>
        locateDiagnostic(sources, document.locate, problem),
      ),
    );
    if (problems.length > 0 || !isObject(value) || !isForTarget(value['metadata'], target.name)) continue;
    const one = read(document, value);
    const earlier = known.get(one.name);
    if (earlier === undefined) known.set(one.name, one);
    else diagnostics.push(locateDiagnostic(sources, document.locate, duplicateName(`${noun} "${one.name}"`, earlier.at)));
  }
  return { found: [...known.values()].toSorted((left, right) => compareText(left.name, right.name)), diagnostics };
}

/** Returns whether something counts for a target, as its metadata say; without `targets`, for all. */
export function isForTarget(metadata: Json | undefined, target: string): boolean {
  const targets = textsIn(asObject(metadata)['targets']);
  return targets.length === 0 || targets.includes(target);
}

function duplicateName(what: string, at: Position): DocumentDiagnostic {
  const message = `duplicate ${what}`;
  const hint = `the other one is at ${at.file}:${at.line}:${at.column}; keep one of them`;
  return documentError('manifest/duplicate-name', '/metadata/name', message, hint);
}

/** Returns one text, or a list of them, as a list. */
export function oneOrMore(value: Json | undefined): readonly string[] {
  return typeof value === 'string' ? [value] : textsIn(value);
}
