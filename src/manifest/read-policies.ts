import schema from '../../schemas/documents/policy.schema.json' with { type: 'json' };
import type { Diagnostic, DocumentDiagnostic } from '../model/diagnostic.ts';
import { canonical, isObject, type Json, type JsonObject, asArray, asObject } from '../model/json.ts';
import { pointer } from '../model/pointer.ts';
import type { Policy, Requirement, Waiver } from '../model/protection/policy.ts';
import { toText } from './json-values.ts';
import { placeDiagnostic, type SourceMap } from './source-map.ts';
import { dateProblems } from './validate/check-manifest.ts';
import type { ManifestDocument } from './yaml/parse-documents.ts';
import { findScalarOffset } from './yaml/scalar-offset.ts';
import { createLineFinder } from './yaml/code-frame.ts';
import { type DocumentTarget, oneOrMore, readTargetDocuments } from './target-documents.ts';
import { policy as validator } from './validate/validators.ts';

/** The schema of policy documents. */
export const policySchema: JsonObject = schema;

/** Reads the policies of a target, sorted by name. It does not check expressions. */
export function readPolicies(
  sources: SourceMap,
  documents: readonly ManifestDocument[],
  target: DocumentTarget,
): { readonly policies: readonly Policy[]; readonly diagnostics: readonly Diagnostic[] } {
  const read = (document: ManifestDocument, value: JsonObject): Policy => toPolicy(sources, document, value);
  const reader = { noun: 'policy', schema, validator, check: waiverProblems, read };
  const { found, diagnostics } = readTargetDocuments(sources, documents, { target, reader });
  return { policies: found, diagnostics };
}

function toPolicy(sources: SourceMap, document: ManifestDocument, value: JsonObject): Policy {
  const spec = asObject(value['spec']);
  const name = toText(asObject(value['metadata'])['name']);
  const match = asObject(spec['match']);
  const { message, require, waivers } = spec;
  return {
    name,
    at: document.locate(''),
    match: {
      tags: Object.fromEntries(Object.entries(asObject(match['tags'])).map(([key, one]) => [key, oneOrMore(one)])),
      type: oneOrMore(match['type']),
      subtype: oneOrMore(match['subtype']),
      name: oneOrMore(match['name']),
      at: document.locate(isObject(spec['match']) ? pointer('spec', 'match') : ''),
    },
    require: asArray(require).map((entry, index) => toRequirement(sources, document, { entry, index })),
    message: typeof message === 'string' ? message : `violates ${name}`,
    severity: spec['severity'] === 'warning' ? 'warning' : 'error',
    waivers: asArray(waivers).flatMap((entry, index) => toWaivers(document, entry, index)),
    text: canonical(value),
  };
}

function toRequirement(
  sources: SourceMap,
  { file, locate }: ManifestDocument,
  { entry, index }: { entry: Json; index: number },
): Requirement {
  const isMap = isObject(entry);
  const expression = toText(isMap ? entry['expression'] : entry);
  const message = isMap ? entry['message'] : undefined;
  const path = pointer('spec', 'require', String(index), ...(isMap ? ['expression'] : []));
  return {
    expression,
    at: locate(path),
    ...(typeof message === 'string' ? { message } : {}),
    diagnose: (problem, offset) => {
      const begins = locate(path);
      const start = offsetOf(file.text, begins);
      const at = findScalarOffset(file.text, start, { value: expression, offset });
      return placeDiagnostic(sources, { file: file.path, ...createLineFinder(file.text)(at) }, problem);
    },
  };
}

/** Returns the offset of a line and column, both from 1. */
function offsetOf(text: string, { line, column }: { readonly line: number; readonly column: number }): number {
  let start = 0;
  for (let number = 1; number < line; number += 1) start = text.indexOf('\n', start) + 1;
  return start + column - 1;
}

function toWaivers({ locate }: ManifestDocument, entry: Json, index: number): readonly Waiver[] {
  if (!isObject(entry)) return [];
  const { connection, until, reason } = entry;
  const at = locate(pointer('spec', 'waivers', String(index)));
  return [{ connection: toText(connection), until: toText(until), reason: toText(reason), at }];
}

function waiverProblems(value: JsonObject): readonly DocumentDiagnostic[] {
  return asArray(asObject(value['spec'])['waivers']).flatMap((entry, index): readonly DocumentDiagnostic[] => {
    const until = isObject(entry) ? toText(entry['until']) : '';
    return dateProblems(until, pointer('spec', 'waivers', String(index), 'until'), 'policy/no-such-day');
  });
}
