import { ApiError, AppError } from '../../model/errors.ts';
import type { FieldRule, Kind } from '../../model/kind.ts';
import type { WriteRequest } from '../../model/gateway.ts';
import { equal, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { pointer, tokensOf, type Pointer } from '../../model/pointer.ts';
import { nameOf, resourceId, type ResourceId, type Spec } from '../../model/resource.ts';
import type { Capabilities, WireKind } from '../dialect.ts';
import type { IdIndex } from '../id-index.ts';
import { normalizeObject } from '../../model/spec/normalize.ts';

export type WriteContext = {
  readonly kind: Kind;
  readonly wireKind: WireKind;
  readonly idIndex: IdIndex;
  readonly capabilities: Capabilities;
  /** For error messages. */
  readonly method: 'POST' | 'PUT';
  readonly url: string;
  /** The fresh entry that a replacement carries, and the spec that was read from it; absent on create. */
  readonly fresh?: JsonObject;
  readonly read?: Spec;
};

/**
 * Returns the body of a write: the fresh entry, overlaid with what the request states, names as uids. Values that the
 * request does not change are sent exactly as the gateway spelled them.
 */
export function wireBody(request: WriteRequest, writing: WriteContext): JsonObject {
  const { kind, wireKind } = writing;
  const entries = Object.entries(writing.fresh ?? {}).filter(([name]) => !wireKind.readOnly.has(name));
  const body: Record<string, Json> = Object.fromEntries(entries);
  if (kind.named) body['name'] = nameOf(request.id);
  for (const rule of kind.fields) {
    if (rule.manifestOnly === true) continue;
    const value = wireValue(rule, request, writing);
    if (value !== undefined) body[wireKind.fieldNames[rule.name] ?? rule.name] = value;
  }
  return wireKind.completeBody?.(body, writing.fresh ?? {}) ?? body;
}

/** Lists all secret values of a body and of the entry that it replaces, to keep them out of messages. */
export function secretValuesOf(body: JsonObject, { kind, wireKind, fresh }: WriteContext): readonly string[] {
  return [body, fresh ?? {}].flatMap((entry) => {
    const fields = kind.fields.filter((rule) => rule.secret !== undefined).map((rule) => wireKind.fieldNames[rule.name] ?? rule.name);
    const values = [...fields, ...wireKind.secretEchoes].flatMap((name) => textsIn(entry[name]));
    const { secretSpelling } = wireKind;
    return secretSpelling === undefined ? values : values.flatMap((value) => [value, secretSpelling.fromWire(value)]);
  });
}

function textsIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  return isObject(value) ? Object.values(value).flatMap((entry) => textsIn(entry)) : [];
}

function wireValue(rule: FieldRule, request: WriteRequest, writing: WriteContext): Json | undefined {
  if (rule.secret === 'plain') return wireSecret(rule, request, writing);
  if (rule.secret === 'base64') return wireSecretMap(rule, request, writing);
  if (rule.edge !== undefined) return request.edges[rule.name]?.map((end) => edgeUid(end, request, writing));
  const value = request.spec[rule.name];
  if (value === '' && rule.omitted === 'kept' && rule.dialect === undefined) return undefined;
  if (value === undefined) return undefined;
  const { wireKind, fresh, read } = writing;
  const stored = fresh?.[wireKind.fieldNames[rule.name] ?? rule.name];
  if (stored !== undefined && equal(value, read?.[rule.name])) return stored;
  if (rule.refers === undefined || typeof value !== 'string' || value === '') {
    const words = typeof value === 'string' ? wireKind.valueNames?.[rule.name]?.[value] : undefined;
    return words ?? carryUnknown(rule, value, stored);
  }
  const uid = writing.idIndex.lookupUid(rule.refers, value);
  if (uid === undefined) throw unknownReference(resourceId(rule.refers, value), request, writing);
  return uid;
}

function edgeUid(end: ResourceId, request: WriteRequest, writing: WriteContext): string {
  const uid = writing.idIndex.uidOf(end);
  if (uid === undefined) throw unknownReference(end, request, writing);
  return uid;
}

function wireSecret(rule: FieldRule, request: WriteRequest, writing: WriteContext): Json | undefined {
  const path = pointer(rule.name);
  const given = request.secrets[path];
  if (given !== undefined) return given.reveal();
  if (writing.fresh === undefined) return undefined;
  if (request.dropped.includes(path)) return '';
  const stored = writing.fresh[writing.wireKind.fieldNames[rule.name] ?? rule.name];
  if (typeof stored !== 'string' && !writing.capabilities.keepsOmittedSecrets) throw wouldLoseSecret(request.id, path);
  return stored;
}

function wireSecretMap(rule: FieldRule, request: WriteRequest, writing: WriteContext): Json | undefined {
  const at = pointer(rule.name);
  const stored = writing.fresh?.[writing.wireKind.fieldNames[rule.name] ?? rule.name];
  if (writing.fresh !== undefined && stored === undefined && !writing.capabilities.keepsOmittedSecrets)
    throw wouldLoseSecret(request.id, at);
  const values = new Map(Object.entries(isObject(stored) ? stored : {}));
  const toWire = writing.wireKind.secretSpelling?.toWire ?? ((value: string) => value);
  for (const path of request.dropped) {
    const [field, key] = tokensOf(path);
    if (field === rule.name && key !== undefined) values.delete(key);
  }
  for (const [path, secret] of Object.entries(request.secrets)) {
    const [field, key] = tokensOf(path);
    if (field === rule.name && key !== undefined) values.set(key, toWire(secret.reveal()));
  }
  for (const [key, value] of values) {
    if (typeof value !== 'string' && !writing.capabilities.keepsHiddenSecrets) throw wouldLoseSecret(request.id, `${at}${pointer(key)}`);
  }
  return values.size === 0 && stored === undefined ? undefined : Object.fromEntries(values);
}

function wouldLoseSecret(id: ResourceId, path: Pointer): AppError {
  return new AppError('plan/would-lose-secret', 6, `${id}: the update would delete ${path}, whose value this token cannot see`, {
    hint: 'use a key with the role admin, or set every secret in the manifest',
  });
}

function unknownReference(end: ResourceId, request: WriteRequest, { method, url }: WriteContext): ApiError {
  return new ApiError(`${request.id} refers to ${end}, which does not exist on the gateway`, {
    code: 'api/unknown-reference',
    method,
    url,
    retryable: false,
    ambiguous: false,
    hint: 'if it was just created or renamed, plan again; use the ID of an agent if the gateway cannot list agents',
  });
}

/**
 * Returns a value as it is written over a stored one: it carries keys that no schema has from the stored objects. Entries of
 * a list correspond by their key, or else by equal content. An entry's empty key is omitted.
 */
export function carryUnknown(rule: FieldRule, value: Json, stored: Json | undefined): Json {
  if (rule.shape === 'object' && isObject(value)) return carryObject(rule.fields, value, isObject(stored) ? stored : {});
  if (rule.shape !== 'keyed' || !Array.isArray(value)) return value;
  const before = Array.isArray(stored) ? stored.filter((entry: Json) => isObject(entry)) : [];
  return value.map((entry: Json) => {
    if (!isObject(entry)) return entry;
    const { [rule.key]: key, ...rest } = entry;
    return carryObject(rule.fields, key === '' ? rest : entry, findCounterpart(rule, entry, before) ?? {});
  });
}

function carryObject(fields: readonly FieldRule[], value: JsonObject, stored: JsonObject): JsonObject {
  const result: Record<string, Json> = { ...unknownKeys(fields, stored), ...value };
  for (const field of fields) {
    const inner = result[field.name];
    if (inner !== undefined) result[field.name] = carryUnknown(field, inner, stored[field.name]);
  }
  return result;
}

/** Returns the stored entry that corresponds to a written one; undefined where there is none, or more than one. */
function findCounterpart(
  { key, fields }: FieldRule & { readonly shape: 'keyed' },
  entry: JsonObject,
  before: readonly JsonObject[],
): JsonObject | undefined {
  const named = entry[key];
  const content = knownKeys(fields, entry);
  const same = before.filter((other) => {
    return typeof named === 'string' && named !== '' ? other[key] === named : equal(knownKeys(fields, other), content);
  });
  return same.length === 1 ? same[0] : undefined;
}

function unknownKeys(fields: readonly FieldRule[], value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !fields.some((field) => field.name === name)));
}

function knownKeys(fields: readonly FieldRule[], value: JsonObject): JsonObject {
  const known = Object.entries(value).filter(([name]) => fields.some((field) => field.name === name));
  return normalizeObject(fields, Object.fromEntries(known));
}
