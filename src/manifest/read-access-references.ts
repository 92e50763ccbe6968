import schema from '../../schemas/documents/access-reference.schema.json' with { type: 'json' };
import type { Diagnostic } from '../model/diagnostic.ts';
import { canonical, isObject, type JsonObject } from '../model/json.ts';
import { pointer } from '../model/pointer.ts';
import type { AccessReference, ReferenceEntry } from '../model/protection/access-reference.ts';
import { readEntries, readObject, toText } from './json-values.ts';
import { toExpectation, uncheckedProblems, verbProblems } from './read-access-tests.ts';
import type { SourceMap } from './source-map.ts';
import { type DocumentTarget, readTargetDocuments } from './target-documents.ts';
import { accessReference as validator } from './validate/validators.ts';
import type { ManifestDocument } from './yaml/parse-documents.ts';

/** The schema of access references. */
export const accessReferenceSchema: JsonObject = schema;

const place = ['spec', 'entries'] as const;

/** Reads the access references of a target, sorted by name. */
export function readAccessReferences(
  sources: SourceMap,
  documents: readonly ManifestDocument[],
  target: DocumentTarget,
): { readonly accessReferences: readonly AccessReference[]; readonly diagnostics: readonly Diagnostic[] } {
  const reader = {
    noun: 'access reference',
    schema,
    validator,
    check: (value: JsonObject) => {
      const { entries } = readObject(value, 'spec');
      return [...verbProblems(entries, place), ...uncheckedProblems(entries, place, 'most')];
    },
    read: toAccessReference,
  };
  const { found, diagnostics } = readTargetDocuments(sources, documents, { target, reader });
  return { accessReferences: found, diagnostics };
}

function toAccessReference(document: ManifestDocument, value: JsonObject): AccessReference {
  const spec = readObject(value, 'spec');
  return {
    name: toText(readObject(value, 'metadata')['name']),
    at: document.locate(''),
    others: spec['others'] === 'unrestricted' ? 'unrestricted' : 'denied',
    entries: readEntries(spec['entries']).flatMap((entry, index) =>
      isObject(entry) ? [toEntry(entry, document.locate(pointer(...place, String(index))))] : [],
    ),
  };
}

function toEntry({ most, ...entry }: JsonObject, at: ReferenceEntry['at']): ReferenceEntry {
  const read = toExpectation({ ...entry, ...(most === undefined ? {} : { expect: most }) }, { at });
  const { expect } = read;
  const bound = typeof expect === 'string' ? expect : { ...expect, forcedBy: expect.forcedBy ?? [] };
  return {
    ...read,
    groups: 'groups' in read.people ? read.people.groups : [],
    expect: bound,
    text: canonical({ ...entry, most: most ?? null }),
  };
}
