import { type GatewayContext, addressOf, gatewayIdOf } from '../session.ts';
import type { Capabilities, WireKind } from '../dialect.ts';
import type { IdIndex } from '../id-index.ts';
import { wireEntryOf } from '../from-wire.ts';
import { withImplied } from '../implied-element.ts';
import { accessRowPort, keptTexts, pluginRowPort, textsFor, withoutRow, writeRow } from './write-rows.ts';
import { lookAfterLostResponse, settleLost } from './settle-lost.ts';
import { findByList, readOne, resourceFromResponse, untilAbsent } from '../live/read.ts';
import { ApiError, type ApiFailure, AppError } from '../../model/errors.ts';
import type { WriteRequest } from '../../model/gateway.ts';
import { asObject, type Json, type JsonObject, equal, isObject, distinctSorted, objectsIn } from '../../model/json.ts';
import type { FieldRule, Kind } from '../../model/kind.ts';
import type { LiveResource } from '../../model/live.ts';
import { type Pointer, pointer, tokensOf } from '../../model/pointer.ts';
import { type ResourceId, type Spec, kindOf, nameOf, resourceId } from '../../model/resource.ts';
import { normalizeObject, normalizeValue } from '../../model/spec/normalize.ts';

type WriteContext = {
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
function wireBody(request: WriteRequest, writing: WriteContext): JsonObject {
  const { kind, wireKind } = writing;
  const entries = Object.entries(writing.fresh ?? {}).filter(([name]) => !wireKind.readOnly.has(name));
  const body: Record<string, Json> = Object.fromEntries(entries);
  if (kind.named) body['name'] = nameOf(request.id);
  for (const rule of kind.fields) {
    if (rule.manifestOnly === true || [wireKind.rows?.field, wireKind.pluginRows?.field].includes(rule.name)) continue;
    const value = wireValue(rule, request, writing);
    if (value !== undefined) body[wireKind.fieldNames[rule.name] ?? rule.name] = value;
  }
  return wireKind.completeBody?.(body, writing.fresh ?? {}) ?? body;
}

/** Lists all secret values of a body and of the entry that it replaces, to keep them out of messages. */
function secretValuesOf(body: JsonObject, { kind, wireKind, fresh }: WriteContext): readonly string[] {
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
  if (rule.edge !== undefined)
    return request.edges[rule.name]?.map((end) => (rule.byName === true ? nameOf(end) : edgeUid(end, request, writing)));
  const value = request.spec[rule.name];
  if (value === '' && rule.omitted === 'kept' && rule.dialect === undefined) return undefined;
  if (value === undefined) return undefined;
  const { wireKind, fresh, read } = writing;
  const stored = fresh?.[wireKind.fieldNames[rule.name] ?? rule.name];
  if (stored !== undefined && equal(value, read?.[rule.name])) return stored;
  if (rule.implied !== undefined) return withImplied(rule.implied, value);
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
  const values = new Map(Object.entries(asObject(stored)));
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
  if (rule.shape === 'object' && isObject(value)) return carryObject(rule.fields, value, asObject(stored));
  if (rule.shape !== 'keyed' || !Array.isArray(value)) return value;
  const before = objectsIn(stored);
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
    // Other gateways of the same wire form may not know it.
    if (field.dialect !== undefined && stored[field.name] === undefined && equal(inner ?? null, field.empty)) delete result[field.name];
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

/** As many attempts as for a replacement if the gateway asks for another one; fewer if it fails for other reasons. */
const maxCreateAttempts = { retryable: 5, other: 3 };

/** Creates a resource exactly once, then its rows. Throws an ApiError; a failure of a row names the resource, which exists then. */
export async function sendCreate(context: GatewayContext, request: WriteRequest): Promise<LiveResource> {
  const binding = await context.bindingFor(kindOf(request.id));
  const rows = [accessRowPort(context, binding), pluginRowPort(context, binding)].filter((row) => row !== undefined);
  let live = await createObject(context, rows.reduce(withoutRow, request));
  for (const row of rows) {
    try {
      live = await writeRow(context, live, { row, texts: textsFor(row, request) });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw new ApiError(`it was created, but its ${row.field} were not written: ${error.message}`, error.failure);
    }
  }
  return live;
}

/** Creates a resource exactly once: where a response was lost, it checks whether the resource exists before it tries again. Throws an ApiError. */
async function createObject(context: GatewayContext, request: WriteRequest): Promise<LiveResource> {
  const { kind, wireKind } = await context.bindingFor(kindOf(request.id));
  const id = gatewayIdOf(kind, request.id, request.spec);
  const label = await findLabel(context, id);
  if (label !== undefined) return replaceObject(context, label, { request });
  const post = await requestFor(context, request, { method: 'POST', path: wireKind.createPath });
  let lost = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const response = await context.client.send(post);
      const created = (await resourceFromResponse(context, kind.name, response)) ?? (await findByList(context, id));
      if (created === undefined) throw unreadableWrite(context, wireKind.createPath);
      return created;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { ambiguous, status, code, retryable } = error.failure;
      const named = code === 'api/aborted' ? undefined : await findLabel(context, id);
      if (named !== undefined) return replaceObject(context, named, { request });
      if (code === 'api/aborted' || !(ambiguous || (lost && status === 409))) throw error;
      const found = await lookAfterLostResponse(error, () => findByList(context, id));
      if (found !== undefined && !(await fulfills(context, found, request))) throw error;
      if (found !== undefined) return found;
      if (attempt >= (retryable ? maxCreateAttempts.retryable : maxCreateAttempts.other)) throw error;
      lost = true;
      await context.pause(attempt, error);
    }
  }
}

/** Returns the object that the gateway created because others name it, also while this apply runs; undefined where there is none. */
async function findLabel(context: GatewayContext, id: ResourceId): Promise<LiveResource | undefined> {
  const { wireKind } = await context.bindingFor(kindOf(id));
  const found = wireKind.isLabel === undefined ? undefined : await findByList(context, id);
  return found?.isLabel === true ? found : undefined;
}

type Replacement = { readonly request: WriteRequest; readonly onWritten?: (() => void) | undefined };

/** Replaces a whole resource and its rows; where the response was lost, it checks whether the write happened. Throws an ApiError. */
export async function sendUpdate(context: GatewayContext, fresh: LiveResource, { request, onWritten }: Replacement): Promise<LiveResource> {
  refuseManaged(context, fresh, 'PUT');
  const row = pluginRowPort(context, await context.bindingFor(kindOf(fresh.id)));
  const own = withoutRow(request, row);
  const written = isRowAlone(context, fresh, { request, own }) ? fresh : await updateObject(context, fresh, { request: own, onWritten });
  return writeRow(context, written, { row, texts: textsFor(row, request) });
}

/** Replaces a resource, and the row of its access. */
async function updateObject(context: GatewayContext, fresh: LiveResource, { request, onWritten }: Replacement): Promise<LiveResource> {
  const binding = await context.bindingFor(kindOf(fresh.id));
  const { kind, wireKind } = binding;
  const id = gatewayIdOf(kind, request.id, { ...fresh.spec, ...request.spec });
  if (wireKind.fixedName === true && id !== fresh.id) throw cannotRename(context, fresh, id);
  const row = accessRowPort(context, binding);
  const texts = textsFor(row, request);
  if (texts === undefined) return replaceObject(context, fresh, { request, onWritten });
  // Groups that lose access go first, and those that gain it come last: none of them ever meets the other form of the object.
  const narrowed = await writeRow(context, fresh, { row, texts: keptTexts(texts, fresh, row) });
  const own = withoutRow(request, row);
  const isAlone = isRowAlone(context, fresh, { request, own });
  const replaced = isAlone ? narrowed : await replaceObject(context, narrowed, { request: own, onWritten });
  return writeRow(context, replaced, { row, texts });
}

/** Returns whether a complete request changes nothing but a row; `own` is the request without it. */
function isRowAlone(
  context: GatewayContext,
  fresh: LiveResource,
  { request, own }: { readonly request: WriteRequest; readonly own: WriteRequest },
): boolean {
  return !isSameObject(context, request, fresh) && isSameObject(context, own, fresh);
}

/** Replaces an object by its own request; where the response was lost, it checks whether the write happened. */
async function replaceObject(context: GatewayContext, fresh: LiveResource, { request, onWritten }: Replacement): Promise<LiveResource> {
  const { kind, wireKind } = await context.bindingFor(kindOf(fresh.id));
  const id = gatewayIdOf(kind, request.id, { ...fresh.spec, ...request.spec });
  const put = await requestFor(context, request, { method: 'PUT', path: (body) => wireKind.updatePath(addressOf(fresh), body), fresh });
  const send = async (): Promise<LiveResource> => {
    const response = await context.client.send(put);
    onWritten?.();
    const updated = wireKind.readAfterWrite === true ? undefined : await resourceFromResponse(context, kind.name, response);
    const read = updated ?? (await readOne(context, { id, uid: fresh.uid }, fresh));
    if (read === undefined) throw unreadableWrite(context, put.path);
    return read;
  };
  return settleLost(send, async () => {
    const found = await readOne(context, { id, uid: fresh.uid });
    return found !== undefined && (await fulfills(context, found, request)) ? found : undefined;
  });
}

/** Deletes a resource; succeeds where it is gone already, which the list proves. Throws an ApiError. */
export async function sendDelete(context: GatewayContext, fresh: LiveResource): Promise<void> {
  refuseManaged(context, fresh, 'DELETE');
  const path = (await context.bindingFor(kindOf(fresh.id))).wireKind.removePath(addressOf(fresh));
  const ifMatch = fresh.version === undefined ? {} : { ifMatch: fresh.version };
  const send = async (): Promise<'gone'> => {
    await untilAbsent(context, fresh, 'DELETE', async () => {
      return (await context.client.send({ method: 'DELETE', path, accept: [404], ...ifMatch })).status === 404;
    });
    return 'gone';
  };
  await settleLost(send, async () => ((await readOne(context, fresh)) === undefined ? 'gone' : undefined));
  context.idIndex.forget(fresh.id, fresh.uid);
}

type WriteTarget = {
  readonly method: 'POST' | 'PUT';
  readonly path: string | ((body: JsonObject) => string);
  readonly fresh?: LiveResource;
};

async function requestFor(
  context: GatewayContext,
  request: WriteRequest,
  place: WriteTarget,
): Promise<Parameters<GatewayContext['client']['send']>[0]> {
  const { method, fresh } = place;
  const { kind, wireKind } = await context.bindingFor(kindOf(request.id));
  const writing: WriteContext = {
    kind,
    wireKind,
    capabilities: await context.capabilities(),
    method,
    idIndex: context.idIndex,
    url: `${context.url}${wireKind.list.path}`,
    ...(fresh === undefined ? {} : { fresh: wireEntryOf(fresh), read: fresh.spec }),
  };
  const body = wireBody(request, writing);
  const path = typeof place.path === 'string' ? place.path : place.path(body);
  const ifMatch = fresh?.version === undefined ? {} : { ifMatch: fresh.version };
  return { method, path, body: JSON.stringify(body), secrets: () => secretValuesOf(body, writing), ...ifMatch };
}

/** Returns whether a live resource is what a complete request would make of it; secrets that the request sets never count as equal. */
function isSameObject(context: GatewayContext, { id, spec, secrets, dropped, edges }: WriteRequest, live: LiveResource): boolean {
  const isEqual = Object.entries(spec).every(([name, value]) => equal(value, live.spec[name]));
  const isAttached = Object.entries(edges).every(([field, ends]) => sameEnds(context, ends, live.edges[field] ?? []));
  return id === live.id && isEqual && isAttached && dropped.length + Object.keys(secrets).length === 0;
}

/** Returns whether a live resource has everything that the request states, as far as the caller can see. */
async function fulfills(context: GatewayContext, live: LiveResource, request: WriteRequest): Promise<boolean> {
  const { kind } = await context.bindingFor(kindOf(request.id));
  if (live.managedBy !== undefined || live.id !== gatewayIdOf(kind, request.id, { ...live.spec, ...request.spec })) return false;
  const fields = kind.fields.every((rule) => {
    const requested = request.spec[rule.name];
    if (
      requested === undefined ||
      (rule.omitted !== 'empty' && rule.late === undefined) ||
      rule.edge !== undefined ||
      rule.secret !== undefined
    )
      return true;
    const stored = live.spec[rule.name];
    if (rule.refers !== undefined) return uidOrText(context, rule.refers, requested) === uidOrText(context, rule.refers, stored);
    return equal(normalizeValue(rule, requested), stored);
  });
  const edges = Object.entries(request.edges).every(([field, ends]) => sameEnds(context, ends, live.edges[field] ?? []));
  const secrets = Object.entries(request.secrets).every(([path, secret]) => {
    const stored = live.secrets[path];
    return stored !== undefined && (stored.state === 'hidden' || stored.equals(secret));
  });
  return fields && edges && secrets && request.dropped.every((path) => live.secrets[path] === undefined);
}

function uidOrText(context: GatewayContext, kind: string, text: Json | undefined): string | undefined {
  return typeof text === 'string' ? (context.idIndex.lookupUid(kind, text) ?? text) : undefined;
}

function sameEnds(context: GatewayContext, left: readonly ResourceId[], right: readonly ResourceId[]): boolean {
  const uids = (ends: readonly ResourceId[]): readonly string[] => {
    return distinctSorted(ends.map((end) => context.idIndex.uidOf(end) ?? end));
  };
  return equal(uids(left), uids(right));
}

/** Throws for a managed resource: Ostiary never writes one, even where the gateway would allow it. */
function refuseManaged(context: GatewayContext, fresh: LiveResource, method: 'PUT' | 'DELETE'): void {
  if (fresh.managedBy === undefined) return;
  throw refusedBeforeSending(`${fresh.id} is managed by ${fresh.managedBy}`, { code: 'api/conflict', method, url: context.url });
}

function cannotRename(context: GatewayContext, fresh: LiveResource, id: ResourceId): ApiError {
  return refusedBeforeSending(`${fresh.id} cannot be renamed to ${id}`, { code: 'api/refused', method: 'PUT', url: context.url });
}

function refusedBeforeSending(message: string, failure: Pick<ApiFailure, 'code' | 'method' | 'url'>): ApiError {
  return new ApiError(`${message}; nothing was sent`, { ...failure, retryable: false, ambiguous: false });
}

function unreadableWrite(context: GatewayContext, path: string): ApiError {
  return new ApiError('the gateway accepted the write, but reading it back found nothing', {
    code: 'api/unexpected-shape',
    method: 'GET',
    url: `${context.url}${path}`,
    retryable: false,
    ambiguous: true,
  });
}
