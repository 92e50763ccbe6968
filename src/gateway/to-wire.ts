import { ApiError, AppError } from '../model/errors.ts';
import type { FieldRule } from '../model/field.ts';
import type { WriteRequest } from '../model/gateway.ts';
import { equal, isObject, type Json, type JsonObject } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import { pointer, tokensOf, type Pointer } from '../model/pointer.ts';
import { nameOf, resourceId, type ResourceId, type Spec } from '../model/resource.ts';
import { carryUnknown } from './carry.ts';
import type { Introduction, WireKind } from './dialect.ts';
import type { Names } from './names.ts';

export type Writing = {
  readonly kind: Kind;
  readonly wireKind: WireKind;
  readonly names: Names;
  readonly introduction: Introduction;
  /** For error messages. */
  readonly method: 'POST' | 'PUT';
  readonly url: string;
  /** The fresh entry that a replacement carries, and what it was read as; absent on create. */
  readonly fresh?: JsonObject;
  readonly read?: Spec;
};

/**
 * Makes the body of a write: what the fresh entry has, overlaid with what the request speaks of, names as uids. What
 * the request leaves as it was read is sent as the gateway spelled it.
 */
export function bodyOf(request: WriteRequest, writing: Writing): JsonObject {
  const { kind, wireKind } = writing;
  const entries = Object.entries(writing.fresh ?? {}).filter(([name]) => !wireKind.readOnly.has(name));
  const body: Record<string, Json> = Object.fromEntries(entries);
  if (kind.named) body['name'] = nameOf(request.id);
  for (const rule of kind.fields) {
    if (rule.manifestOnly === true) continue;
    const value = valueOf(rule, request, writing);
    if (value !== undefined) body[wireKind.names[rule.name] ?? rule.name] = value;
  }
  return wireKind.completed?.(body, writing.fresh ?? {}) ?? body;
}

/** All secret values of a body and of the entry it replaces, for keeping them out of messages. */
export function secretsOf(body: JsonObject, { kind, wireKind, fresh }: Writing): readonly string[] {
  return [body, fresh ?? {}].flatMap((entry) => {
    const fields = kind.fields.filter((rule) => rule.secret !== undefined).map((rule) => wireKind.names[rule.name] ?? rule.name);
    const values = [...fields, ...wireKind.copies].flatMap((name) => texts(entry[name]));
    const { secrets } = wireKind;
    return secrets === undefined ? values : values.flatMap((value) => [value, secrets.fromWire(value)]);
  });
}

function texts(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  return isObject(value) ? Object.values(value).flatMap((entry) => texts(entry)) : [];
}

function valueOf(rule: FieldRule, request: WriteRequest, writing: Writing): Json | undefined {
  if (rule.secret === 'plain') return singleSecret(rule, request, writing);
  if (rule.secret === 'base64') return secretMap(rule, request, writing);
  if (rule.edge !== undefined) return request.edges[rule.name]?.map((end) => endOf(end, request, writing));
  const value = request.spec[rule.name];
  if (value === '' && rule.omitted === 'kept' && rule.dialect === undefined) return undefined;
  if (value === undefined) return undefined;
  const { wireKind, fresh, read } = writing;
  const stored = fresh?.[wireKind.names[rule.name] ?? rule.name];
  if (stored !== undefined && equal(value, read?.[rule.name])) return stored;
  if (rule.refers === undefined || typeof value !== 'string' || value === '') {
    const words = typeof value === 'string' ? wireKind.values?.[rule.name]?.[value] : undefined;
    return words ?? carryUnknown(rule, value, stored);
  }
  const uid = writing.names.lookupUid(rule.refers, value);
  if (uid === undefined) throw unresolved(resourceId(rule.refers, value), request, writing);
  return uid;
}

function endOf(end: ResourceId, request: WriteRequest, writing: Writing): string {
  const uid = writing.names.uidOf(end);
  if (uid === undefined) throw unresolved(end, request, writing);
  return uid;
}

function singleSecret(rule: FieldRule, request: WriteRequest, writing: Writing): Json | undefined {
  const path = pointer(rule.name);
  const given = request.secrets[path];
  if (given !== undefined) return given.reveal();
  if (writing.fresh === undefined) return undefined;
  if (request.dropped.includes(path)) return '';
  const stored = writing.fresh[writing.wireKind.names[rule.name] ?? rule.name];
  if (typeof stored !== 'string' && !writing.introduction.keepsOmitted) throw wouldLose(request.id, path);
  return stored;
}

function secretMap(rule: FieldRule, request: WriteRequest, writing: Writing): Json | undefined {
  const at = pointer(rule.name);
  const stored = writing.fresh?.[writing.wireKind.names[rule.name] ?? rule.name];
  if (writing.fresh !== undefined && stored === undefined && !writing.introduction.keepsOmitted) throw wouldLose(request.id, at);
  const values = new Map(Object.entries(isObject(stored) ? stored : {}));
  const toWire = writing.wireKind.secrets?.toWire ?? ((value: string) => value);
  for (const path of request.dropped) {
    const [field, key] = tokensOf(path);
    if (field === rule.name && key !== undefined) values.delete(key);
  }
  for (const [path, secret] of Object.entries(request.secrets)) {
    const [field, key] = tokensOf(path);
    if (field === rule.name && key !== undefined) values.set(key, toWire(secret.reveal()));
  }
  for (const [key, value] of values) {
    if (typeof value !== 'string' && !writing.introduction.keepsHidden) throw wouldLose(request.id, `${at}${pointer(key)}`);
  }
  return values.size === 0 && stored === undefined ? undefined : Object.fromEntries(values);
}

function wouldLose(id: ResourceId, path: Pointer): AppError {
  return new AppError('plan/would-lose-secret', 6, `${id}: the update would wipe ${path}, whose value this token may not see`, {
    hint: 'use a key with the role admin, or give every secret in the manifest',
  });
}

function unresolved(end: ResourceId, request: WriteRequest, { method, url }: Writing): ApiError {
  return new ApiError(`${request.id} refers to ${end}, which the gateway does not have`, {
    code: 'api/unknown-reference',
    method,
    url,
    retryable: false,
    ambiguous: false,
    hint: 'if it was just created or renamed, plan again; agents need their id where the gateway cannot list them',
  });
}
