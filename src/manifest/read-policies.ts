import { appendAll } from '../model/collections.ts';
import schema from '../../schemas/documents/policy.schema.json' with { type: 'json' };
import type { Diagnostic, DocumentDiagnostic } from '../model/diagnostic.ts';
import { canonical, compareText, isObject, type Json, type JsonObject } from '../model/json.ts';
import { pointer } from '../model/pointer.ts';
import type { Policy, Requirement, Waiver } from '../model/protection/policy.ts';
import { readStrings, toText, readEntries, readObject } from './json-values.ts';
import { checkTargetName, dateProblems } from './validate/check-manifest.ts';
import { locateDiagnostic, placeDiagnostic, type SourceMap } from './source-map.ts';
import type { ManifestDocument } from './yaml/parse-documents.ts';
import { findScalarOffset } from './yaml/locate.ts';
import { createLineFinder } from './yaml/code-frame.ts';
import { describeSchemaErrors } from './validate/schema-diagnostics.ts';
import { policy as validator } from './validate/validators.js';

/** The schema of policy documents. */
export const policySchema: JsonObject = schema;

/** Reads the policies of a target, sorted by name. It does not check expressions. */
export function readPolicies(
  sources: SourceMap,
  documents: readonly ManifestDocument[],
  target: { readonly name: string; readonly all: readonly string[] },
): { readonly policies: readonly Policy[]; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const known = new Map<string, Policy>();
  for (const document of documents) {
    const { value } = document;
    const problems =
      isObject(value) && validator(value) ? waiverProblems(value) : describeSchemaErrors(schema, value, validator.errors ?? []);
    appendAll(
      diagnostics,
      [...problems, ...targetProblems(value, target.all)].map((problem) => locateDiagnostic(sources, document.locate, problem)),
    );
    if (problems.length > 0 || !isObject(value) || !isFor(value, target.name)) continue;
    const policy = toPolicy(sources, document, value);
    const earlier = known.get(policy.name);
    if (earlier === undefined) known.set(policy.name, policy);
    else diagnostics.push(locateDiagnostic(sources, document.locate, duplicatePolicy(policy, earlier)));
  }
  return { policies: [...known.values()].toSorted((left, right) => compareText(left.name, right.name)), diagnostics };
}

function toPolicy(sources: SourceMap, document: ManifestDocument, value: JsonObject): Policy {
  const spec = readObject(value, 'spec');
  const name = toText(readObject(value, 'metadata')['name']);
  const match = readObject(spec, 'match');
  const { message, require, waivers } = spec;
  return {
    name,
    at: document.locate(''),
    match: {
      tags: Object.fromEntries(Object.entries(readObject(match, 'tags')).map(([key, one]) => [key, oneOrMore(one)])),
      type: oneOrMore(match['type']),
      subtype: oneOrMore(match['subtype']),
      name: oneOrMore(match['name']),
      at: document.locate(isObject(spec['match']) ? pointer('spec', 'match') : ''),
    },
    require: readEntries(require).map((entry, index) => toRequirement(sources, document, { entry, index })),
    message: typeof message === 'string' ? message : `violates ${name}`,
    severity: spec['severity'] === 'warning' ? 'warning' : 'error',
    waivers: readEntries(waivers).flatMap((entry, index) => toWaivers(document, entry, index)),
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
  return readEntries(readObject(value, 'spec')['waivers']).flatMap((entry, index): readonly DocumentDiagnostic[] => {
    const until = isObject(entry) ? toText(entry['until']) : '';
    return dateProblems(until, pointer('spec', 'waivers', String(index), 'until'), 'policy/no-such-day');
  });
}

function targetProblems(value: Json, targets: readonly string[]): readonly DocumentDiagnostic[] {
  const named = isObject(value) ? readStrings(readObject(value, 'metadata')['targets']) : [];
  return named.flatMap((name, index) => checkTargetName(name, index, targets));
}

function isFor(value: JsonObject, target: string): boolean {
  const targets = readStrings(readObject(value, 'metadata')['targets']);
  return targets.length === 0 || targets.includes(target);
}

function duplicatePolicy({ name }: Policy, { at }: Policy): DocumentDiagnostic {
  const message = `duplicate policy "${name}"`;
  const hint = `the other one is at ${at.file}:${at.line}:${at.column}; keep one of them`;
  return { code: 'manifest/duplicate-name', severity: 'error', pointer: '/metadata/name', message, hint };
}

function oneOrMore(value: Json | undefined): readonly string[] {
  return typeof value === 'string' ? [value] : readStrings(value);
}
