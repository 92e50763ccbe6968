import { runPool } from '../../model/concurrency.ts';
import type { SecretLookup } from '../../apply/request.ts';
import { readSealed, type SealedCache, writeSealed } from '../../disk/sealed-cache.ts';
import { desiredById, type DesiredResource, type DesiredState, leftSecrets } from '../../model/desired.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Gateway, GatewayIdentity } from '../../model/gateway.ts';
import { liveById, type LiveResource, type LiveState } from '../../model/live.ts';
import { isWritten, liveKeyOf, type Plan, type Refusal } from '../../model/plan/plan.ts';
import { isPointerWithin, type Pointer } from '../../model/pointer.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { DesiredSecret } from '../../model/secret.ts';
import { predecessorsOf } from '../../reconcile/prepare/replacements.ts';
import {
  changedSince,
  mergeRecords,
  needsSecrets,
  printVerified,
  readVerified,
  recallSecrets,
  recordOf,
  type SecretRecord,
  verificationKey,
  type VerifiedSecrets,
} from '../../reconcile/prepare/verified-secrets.ts';
import { cacheFolderOf, type WholeProject } from '../../project/project.ts';
import { type DetailReads, readDetails } from '../../import/choose-objects.ts';
import { provenSecrets } from '../../reconcile/record-content/secret-versions.ts';
import { savedPlanRefusal } from '../../reconcile/saved-plan/saved-plan-checks.ts';
import type { TargetFlags } from '../context/options.ts';

/** Returns the cache of one project and one gateway; its key follows from the token. */
export function secretCacheOf(
  project: WholeProject,
  { url, organisation }: GatewayIdentity,
  { cache }: Pick<TargetFlags, 'cache'>,
): SealedCache {
  const { target, context } = project;
  return { key: verificationKey(context.env[target.token.env] ?? '', url, organisation), folder: cacheFolderOf(project, cache) };
}

/** Warns when a cache that the user named cannot be written; the next plan is correct, but slower. */
export function cacheWarning(folder: string | undefined, reason: string | undefined): readonly Diagnostic[] {
  if (folder === undefined || reason === undefined) return [];
  const message = `the cache cannot be written to "${folder}": ${reason}`;
  return [{ code: 'cache/cannot-write', severity: 'warning', message, hint: 'the next plan takes longer' }];
}

/** `recorded`: which secrets the record of applies proves equal. */
type SecretReadOptions = SealedCache & DetailReads & { readonly recorded?: string | undefined };

type Pair = { readonly desired: DesiredResource; readonly live: LiveResource };

/** An object whose secrets were just read, and their record if they can be recorded. */
type FreshRead = { readonly live: LiveResource; readonly record: SecretRecord | undefined };

/**
 * Adds to the live state the secrets that manifests set and the bulk read omits. Secrets that were verified before, here or by the recorded
 * apply, have the value of the manifest; the others are read one by one. `unwritten` is the reason why the cache could not be written.
 */
export async function withSecrets(
  state: LiveState,
  desired: DesiredState,
  { gateway, concurrency, track, key, folder, recorded }: SecretReadOptions,
): Promise<{ readonly live: LiveState; readonly unwritten?: string }> {
  if (state.resources.every(({ leftOut }) => leftOut === undefined)) return { live: state };
  const found = liveById(state.resources);
  const pairs = desired.resources.flatMap((resource): readonly Pair[] => {
    const live = found.get(resource.key);
    return live !== undefined && needsSecrets(resource, live) ? [{ desired: resource, live }] : [];
  });
  if (pairs.length === 0) return { live: state };
  const text = readSealed({ key, folder });
  const verified = readVerified(text);
  const prove = provenSecrets(recorded, key);
  const read = new Map<string, LiveResource | undefined>();
  const fresh: FreshRead[] = [];
  const unknown = pairs.filter((pair) => {
    const known = recallSecrets(pair.desired, pair.live, verified, key) ?? prove(pair.desired, pair.live);
    if (known !== undefined) read.set(pair.live.uid, known);
    return known === undefined;
  });
  const readPair = async (pair: Pair): Promise<void> => {
    const live = withReliableVersion(await gateway.readOne(pair.live), pair.live);
    const changedSecrets = live === undefined ? undefined : changedSince(pair.desired, live, verified, key);
    read.set(pair.live.uid, live === undefined || changedSecrets === undefined ? live : { ...live, changedSecrets });
    // Hashed here, while other reads wait for the network.
    if (live !== undefined) fresh.push({ live, record: recordOf(pair.desired, live, key) });
  };
  if (unknown.length > 0)
    await track(unknown.length, (step) =>
      runPool(unknown, concurrency, async (pair) => {
        await readPair(pair);
        step();
      }),
    );
  const resources = state.resources.flatMap((resource) => (read.has(resource.uid) ? (read.get(resource.uid) ?? []) : [resource]));
  const next = updateVerified(verified, state, fresh);
  const same = fresh.length === 0 && next.size === verified.size;
  const unwritten = same ? undefined : writeSealed({ key, folder }, printVerified(next));
  return { live: { ...state, resources }, ...(unwritten === undefined ? {} : { unwritten }) };
}

/** Returns the manifests whose secrets can be compared although sources were not read: with a value, or with nothing that has a source. */
export function withReadableValues(desired: DesiredState): DesiredState {
  const resources = desired.resources.filter(({ secrets }) => {
    const states = Object.values(secrets).map(({ state }) => state);
    return states.includes('value') || !states.includes('unresolved');
  });
  return { ...desired, resources };
}

/** Adds to the manifests the applied secrets that they leave to the gateway now: what they accept has to be read. */
export function withLeftSecrets(desired: DesiredState, base: DesiredState | undefined): DesiredState {
  if (base === undefined) return desired;
  const applied = desiredById(base.resources);
  const resources = desired.resources.map((resource) => {
    const before = applied.get(resource.id);
    const left = before === undefined ? [] : leftSecrets(resource, before);
    if (before === undefined || left.length === 0) return resource;
    const secrets = left.flatMap((path) => (before.secrets[path] === undefined ? [] : [[path, before.secrets[path]] as const]));
    const ignore = resource.ignore.filter((prefix) => !left.some((path) => isPointerWithin(path, prefix)));
    return { ...resource, ignore, secrets: { ...resource.secrets, ...Object.fromEntries(secrets) } };
  });
  return { ...desired, resources };
}

/** Reads each replaced object whose secrets the bulk read omits, because its successor inherits them. */
export async function withPredecessors(state: LiveState, desired: DesiredState, reads: DetailReads): Promise<LiveState> {
  return readDetails(state, [...predecessorsOf(desired, state).values()], reads);
}

/** An object whose secrets were read or written, and its manifest if it has one. */
type KnownObject = { readonly desired: DesiredResource | undefined; readonly live: LiveResource };

/**
 * Adds to the cache the secrets of objects that were just read or written, so that the next plan does not read them. Returns the reason
 * if the cache cannot be written.
 */
export function recordSecrets(known: readonly KnownObject[], { key, folder }: SealedCache): string | undefined {
  const verified = readVerified(readSealed({ key, folder }));
  const records = known.flatMap(({ desired, live }) => {
    const record = recordOf(desired, live, key);
    return record === undefined ? [] : [[live.uid, mergeRecords(verified.get(live.uid), record)] as const];
  });
  return records.length === 0 ? undefined : writeSealed({ key, folder }, printVerified(new Map([...verified, ...records])));
}

/** Drops the version of secrets if the bulk read returned none: later bulk reads could not be compared with it. */
export function withReliableVersion(read: LiveResource | undefined, bulk: LiveResource): LiveResource | undefined {
  if (read === undefined || bulk.secretsVersion !== undefined) return read;
  const { secretsVersion: _, ...rest } = read;
  return rest;
}

/** Returns the earlier records of objects that still exist, with the new ones. */
function updateVerified(verified: VerifiedSecrets, state: LiveState, fresh: readonly FreshRead[]): VerifiedSecrets {
  const uids = new Set(state.resources.map(({ uid }) => uid));
  const next = new Map([...verified].filter(([uid]) => uids.has(uid)));
  for (const { live, record } of fresh) {
    if (record !== undefined) next.set(live.uid, mergeRecords(verified.get(live.uid), record));
    else if (next.get(live.uid)?.version !== live.secretsVersion) next.delete(live.uid);
  }
  return next;
}

/** The manifests with all secret values that the plan sets, and the secrets whose source is no longer the planned one. */
type SavedSecrets = { readonly desired: DesiredState; readonly refusals: readonly Refusal[] };

/**
 * Adds to the manifests a value for every secret that a saved plan sets: the value of the manifest, or the live value of the
 * replaced object. Refuses a secret whose source differs from the plan.
 */
export async function readSavedSecrets(plan: Plan, desired: DesiredState, { live, gateway }: LiveSecrets): Promise<SavedSecrets> {
  const declared = desiredById(desired.resources);
  const inherited = new Map<ResourceId, Record<Pointer, DesiredSecret>>();
  const refusals: Refusal[] = [];
  const read = objectReader(live, gateway);
  for (const { id, path, source, key } of secretsOf(plan)) {
    if (!source.startsWith(fromLive)) {
      const found = declared.get(id)?.secrets[path]?.source;
      if (found !== source) refusals.push(otherSource(id, path, source));
      continue;
    }
    const predecessor = await read(source.slice(fromLive.length));
    const secret = predecessor?.secrets[path] ?? (await read(key))?.secrets[path];
    if (secret?.state === 'value') inherited.set(id, { ...inherited.get(id), [path]: secret.withSource(source) });
    else refusals.push(unreadableSecret(id, path, source));
  }
  if (inherited.size === 0) return { desired, refusals };
  const resources = desired.resources.map((resource): DesiredResource => {
    return { ...resource, secrets: { ...resource.secrets, ...inherited.get(resource.id) } };
  });
  return { desired: { ...desired, resources }, refusals };
}

type LiveSecrets = { readonly live: LiveState; readonly gateway: Gateway };

const fromLive = 'live:';

/** A secret that a plan sets: the object after the change, its key in the live state, and the source of the value. */
type PlannedSecret = { readonly id: ResourceId; readonly key: ResourceId; readonly path: Pointer; readonly source: string };

function secretsOf({ changes }: Plan): readonly PlannedSecret[] {
  return changes.filter(isWritten).flatMap((change) =>
    change.fields.flatMap(({ path, after, held }): readonly PlannedSecret[] => {
      return 'secret' in after && held !== true ? [{ id: change.id, key: liveKeyOf(change), path, source: after.secret }] : [];
    }),
  );
}

/** Reads each object at most once with a request of its own, because lists may omit secrets. */
function objectReader({ resources }: LiveState, gateway: Gateway): (id: string) => Promise<LiveResource | undefined> {
  const byId: ReadonlyMap<string, LiveResource> = liveById(resources);
  const read = new Map<string, Promise<LiveResource | undefined>>();
  return (id) => {
    const found = byId.get(id);
    const known = read.get(id) ?? (found === undefined ? Promise.resolve(undefined) : gateway.readOne(found));
    read.set(id, known);
    return known;
  };
}

function otherSource(id: ResourceId, path: Pointer, source: string): Refusal {
  const message = `the plan reads ${path} from ${source}, but the manifests do not`;
  return { ...savedPlanRefusal('plan/other-manifests', message, 'plan again'), resource: id };
}

function unreadableSecret(id: ResourceId, path: Pointer, source: string): Refusal {
  const message = `${path} is copied from ${source.slice(fromLive.length)}, which can no longer be read`;
  return { ...savedPlanRefusal('plan/moved', message, 'plan again, with every secret in the manifest'), resource: id };
}

/** Returns a lookup of the secret values that manifests set. */
export function secretLookup({ resources }: DesiredState): SecretLookup {
  const secrets = new Map(resources.map((resource) => [resource.id, resource.secrets]));
  return (id, path) => {
    const secret = secrets.get(id)?.[path];
    return secret?.state === 'value' ? secret : undefined;
  };
}
