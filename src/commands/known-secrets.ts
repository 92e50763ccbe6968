import { runPool } from '../apply/pool.ts';
import { readCache, writeCache } from '../disk/cache.ts';
import type { DesiredResource, DesiredState } from '../model/desired.ts';
import type { Gateway } from '../model/gateway.ts';
import { type LiveResource, type LiveState, liveById } from '../model/live.ts';
import { predecessorsOf } from '../reconcile/prepare/replacements.ts';
import {
  needsSecrets,
  printVerified,
  readVerified,
  recallSecrets,
  verificationOf,
  verificationName,
  type VerifiedSecrets,
} from '../reconcile/prepare/verified-secrets.ts';

/** Where secrets are read, and what was verified of them before. */
export type SecretReading = { readonly gateway: Gateway; readonly key: Buffer; readonly folder: string };

const concurrency = 16;

type Pair = { readonly desired: DesiredResource; readonly live: LiveResource };

/**
 * Adds to a bulk read the secrets that it leaves out and manifests state: those verified before are known to be as
 * wished, the others are read one by one. `unwritten` says why what was verified now could not be kept, if so.
 */
export async function withSecrets(
  state: LiveState,
  desired: DesiredState,
  reading: SecretReading,
): Promise<{ readonly live: LiveState; readonly unwritten?: string }> {
  const found = liveById(state.resources);
  const pairs = desired.resources.flatMap((resource): readonly Pair[] => {
    const live = found.get(resource.key);
    return live !== undefined && needsSecrets(resource, live) ? [{ desired: resource, live }] : [];
  });
  if (pairs.length === 0) return { live: state };
  const { gateway, key, folder } = reading;
  const name = `verified-${verificationName(key)}`;
  const text = readCache(folder, name);
  const verified = readVerified(text, key);
  const read = new Map<string, LiveResource | undefined>();
  const fresh: Pair[] = [];
  const unknown = pairs.filter((pair) => {
    const known = recallSecrets(pair.desired, pair.live, verified, key);
    if (known !== undefined) read.set(pair.live.uid, known);
    return known === undefined;
  });
  await runPool(unknown, concurrency, async (pair) => {
    const live = reliable(await gateway.readOne(pair.live), pair.live);
    read.set(pair.live.uid, live);
    if (live !== undefined) fresh.push({ desired: pair.desired, live });
  });
  const resources = state.resources.flatMap((resource) => (read.has(resource.uid) ? (read.get(resource.uid) ?? []) : [resource]));
  const next = verifiedNow(verified, state, fresh, key);
  const same = fresh.length === 0 && next.size === verified.size && text !== undefined;
  const unwritten = same ? undefined : writeCache(folder, name, printVerified(next, key));
  return { live: { ...state, resources }, ...(unwritten === undefined ? {} : { unwritten }) };
}

/** Reads what another object takes the place of, where the bulk read leaves out secrets that have to move. */
export async function withPredecessors(state: LiveState, desired: DesiredState, gateway: Gateway): Promise<LiveState> {
  const formers = [...predecessorsOf(desired, state).values()].filter(({ leftOut = [] }) => leftOut.length > 0);
  if (formers.length === 0) return state;
  const read = new Map<string, LiveResource | undefined>();
  await runPool(formers, concurrency, async (former) => void read.set(former.uid, await gateway.readOne(former)));
  return {
    ...state,
    resources: state.resources.flatMap((resource) => (read.has(resource.uid) ? (read.get(resource.uid) ?? []) : [resource])),
  };
}

/** A version of secrets counts only where the bulk read told one too. */
function reliable(read: LiveResource | undefined, bulk: LiveResource): LiveResource | undefined {
  if (read === undefined || bulk.secretsVersion !== undefined) return read;
  const { secretsVersion: _, ...rest } = read;
  return rest;
}

/** What was verified before of objects that are still there, and what is verified now. */
function verifiedNow(verified: VerifiedSecrets, state: LiveState, fresh: readonly Pair[], key: Buffer): VerifiedSecrets {
  const uids = new Set(state.resources.map(({ uid }) => uid));
  const next = new Map([...verified].filter(([uid]) => uids.has(uid)));
  for (const { desired, live } of fresh) {
    const entry = verificationOf(desired, live, key);
    if (entry === undefined) next.delete(live.uid);
    else next.set(live.uid, entry);
  }
  return next;
}
