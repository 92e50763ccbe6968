import type { FieldRule } from '../model/field.ts';
import { equal, type Json, type JsonObject } from '../model/json.ts';
import type { Draft } from './draft.ts';
import type { StoredObject } from './reader.ts';
import type { Secrets } from './secrets.ts';

const hidden = '[REDACTED]';
const mostNames = 100;
const longestName = 100;

/** What a draft asks for, its secrets hidden. */
export function payloadOf(fields: readonly FieldRule[], { name: identity, spec, secrets, edges }: Draft): JsonObject {
  const payload: Record<string, Json> = { name: identity, ...spec };
  for (const { name, secret, edge } of fields) {
    if (edge !== undefined) payload[name] = edges[name] ?? [];
    if (secret !== undefined && holdsAny(secrets[name])) payload[name] = hidden;
  }
  return payload;
}

/** The names alone of what a body holds: while it is not known to be right, any value in it could be a secret. */
export function namesOf(body: JsonObject): JsonObject {
  const names = Object.keys(body).slice(0, mostNames);
  return Object.fromEntries(names.map((name) => [storable(name).slice(0, longestName), hidden]));
}

/** The fields in which a draft differs from what is stored. */
export function changedFields(stored: StoredObject, draft: Draft, secrets: Secrets): readonly string[] {
  const fields = Object.keys(draft.spec).filter((field) => !equal(draft.spec[field], stored.spec[field]));
  const secretFields = Object.keys(draft.secrets).filter((field) => !equal(secrets[field] ?? null, stored.secrets[field] ?? null));
  const edgeFields = Object.keys(draft.edges).filter((field) => !sameEnds(draft.edges[field] ?? [], stored.edges[field] ?? []));
  return [...(draft.name === stored.name ? [] : ['name']), ...fields, ...secretFields, ...edgeFields];
}

/** A text as the database can keep it: it has no NUL, and half a surrogate pair is no character. */
export function storable(text: string): string {
  return text.replaceAll(/\0|\p{Surrogate}/gu, '\u{FFFD}');
}

function holdsAny(secret: Draft['secrets'][string] | undefined): boolean {
  if (typeof secret === 'object' && secret !== null) return Object.keys(secret).length > 0;
  return secret !== undefined && secret !== '';
}

function sameEnds(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((id) => right.includes(id));
}
