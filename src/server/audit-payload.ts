import type { FieldRule } from '../model/field.ts';
import { equal, type Json, type JsonObject } from '../model/json.ts';
import type { ObjectDraft } from './objects/object-draft.ts';
import type { StoredObject } from './objects/object-reader.ts';
import type { Secrets } from './store/secrets.ts';

const redacted = '[REDACTED]';
const maxFieldNames = 100;
const maxFieldNameLength = 100;

/** What a draft asks for, its secrets hidden. */
export function redactedPayload(fields: readonly FieldRule[], { name: identity, spec, secrets, edges }: ObjectDraft): JsonObject {
  const payload: Record<string, Json> = { name: identity, ...spec };
  for (const { name, secret, edge } of fields) {
    if (edge !== undefined) payload[name] = edges[name] ?? [];
    if (secret !== undefined && hasSecret(secrets[name])) payload[name] = redacted;
  }
  return payload;
}

/** The names alone of what a body holds: while it is not known to be right, any value in it could be a secret. */
export function redactedFieldNames(body: JsonObject): JsonObject {
  const names = Object.keys(body).slice(0, maxFieldNames);
  return Object.fromEntries(names.map((name) => [toStorableText(name).slice(0, maxFieldNameLength), redacted]));
}

/** The fields in which a draft differs from what is stored. */
export function changedFields(stored: StoredObject, draft: ObjectDraft, secrets: Secrets): readonly string[] {
  const fields = Object.keys(draft.spec).filter((field) => !equal(draft.spec[field], stored.spec[field]));
  const secretFields = Object.keys(draft.secrets).filter((field) => !equal(secrets[field] ?? null, stored.secrets[field] ?? null));
  const edgeFields = Object.keys(draft.edges).filter((field) => !isSameEnds(draft.edges[field] ?? [], stored.edges[field] ?? []));
  return [...(draft.name === stored.name ? [] : ['name']), ...fields, ...secretFields, ...edgeFields];
}

/** A text as the database can keep it: it has no NUL, and half a surrogate pair is no character. */
export function toStorableText(text: string): string {
  return text.replaceAll(/\0|\p{Surrogate}/gu, '\u{FFFD}');
}

function hasSecret(secret: ObjectDraft['secrets'][string] | undefined): boolean {
  if (typeof secret === 'object' && secret !== null) return Object.keys(secret).length > 0;
  return secret !== undefined && secret !== '';
}

function isSameEnds(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((id) => right.includes(id));
}
