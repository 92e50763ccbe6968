import { ApiError, type ApiFailure } from '../../model/errors.ts';
import type { WriteRequest } from '../../model/gateway.ts';
import { compareText, equal, type Json, type JsonObject } from '../../model/json.ts';
import type { LiveResource } from '../../model/live.ts';
import { normalizeValue } from '../../model/spec/normalize.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { wireEntryOf } from '../live/from-wire.ts';
import { addressOf, gatewayIdOf, type GatewayContext } from '../context.ts';
import { findByList, readOne, resourceFromResponse } from '../live/read.ts';
import { wireBody, secretValuesOf, type WriteContext } from './to-wire.ts';

/** As many attempts as for a replacement if the gateway asks for another one; fewer if it fails for other reasons. */
const maxCreateAttempts = { retryable: 5, other: 3 };

/** Creates a resource exactly once: where a response was lost, it checks whether the resource exists before it tries again. Throws an ApiError. */
export async function sendCreate(context: GatewayContext, request: WriteRequest): Promise<LiveResource> {
  const { kind, wireKind } = await context.bindingFor(kindOf(request.id));
  const id = gatewayIdOf(kind, request.id, request.spec);
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

/** Replaces a whole resource; where the response was lost, it checks whether the write happened. Throws an ApiError. */
export async function sendUpdate(
  context: GatewayContext,
  fresh: LiveResource,
  { request, onWritten }: { readonly request: WriteRequest; readonly onWritten?: (() => void) | undefined },
): Promise<LiveResource> {
  const { kind, wireKind } = await context.bindingFor(kindOf(fresh.id));
  refuseManaged(context, fresh, 'PUT');
  const id = gatewayIdOf(kind, request.id, { ...fresh.spec, ...request.spec });
  if (wireKind.fixedName === true && id !== fresh.id) throw cannotRename(context, fresh, id);
  const put = await requestFor(context, request, { method: 'PUT', path: (body) => wireKind.updatePath(addressOf(fresh), body), fresh });
  try {
    const response = await context.client.send(put);
    onWritten?.();
    const updated = wireKind.readAfterWrite === true ? undefined : await resourceFromResponse(context, kind.name, response);
    const read = updated ?? (await readOne(context, { id, uid: fresh.uid }));
    if (read === undefined) throw unreadableWrite(context, put.path);
    return read;
  } catch (error) {
    if (!(error instanceof ApiError) || !error.failure.ambiguous || error.failure.code === 'api/aborted') throw error;
    const found = await lookAfterLostResponse(error, () => readOne(context, { id, uid: fresh.uid }));
    if (found === undefined || !(await fulfills(context, found, request))) throw error;
    return found;
  }
}

/** Deletes a resource; succeeds where it is gone already. Throws an ApiError. */
export async function sendDelete(context: GatewayContext, fresh: LiveResource): Promise<void> {
  refuseManaged(context, fresh, 'DELETE');
  const path = (await context.bindingFor(kindOf(fresh.id))).wireKind.removePath(addressOf(fresh));
  const ifMatch = fresh.version === undefined ? {} : { ifMatch: fresh.version };
  try {
    await context.client.send({ method: 'DELETE', path, accept: [404], ...ifMatch });
  } catch (error) {
    if (!(error instanceof ApiError) || !error.failure.ambiguous || error.failure.code === 'api/aborted') throw error;
    const found = await lookAfterLostResponse(error, () => readOne(context, fresh));
    if (found !== undefined) throw error;
  }
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

/** Searches for the result of a write whose response was lost; where the search fails too, throws the first failure. */
async function lookAfterLostResponse<T>(first: ApiError, search: () => Promise<T>): Promise<T> {
  try {
    return await search();
  } catch (error) {
    if (error instanceof ApiError) throw first;
    throw error;
  }
}

/** Returns whether a live resource has everything that the request states, as far as the caller can see. */
async function fulfills(context: GatewayContext, live: LiveResource, request: WriteRequest): Promise<boolean> {
  const { kind } = await context.bindingFor(kindOf(request.id));
  if (live.managedBy !== undefined || live.id !== gatewayIdOf(kind, request.id, { ...live.spec, ...request.spec })) return false;
  const fields = kind.fields.every((rule) => {
    const requested = request.spec[rule.name];
    if (requested === undefined || (rule.omitted !== 'empty' && rule.late !== true) || rule.edge !== undefined || rule.secret !== undefined)
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
    return [...new Set(ends.map((end) => context.idIndex.uidOf(end) ?? end))].toSorted(compareText);
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
