import { setMaxListeners } from 'node:events';
import { connect, readLive, trackSecretReads } from '../session/connect.ts';
import type { CliContext } from '../context/cli-context.ts';
import type { PlanFlags, TargetFlags } from '../context/options.ts';
import { registry } from '../../kinds/index.ts';
import type { DesiredState } from '../../model/desired.ts';
import type { Gateway, GatewayIdentity } from '../../model/gateway.ts';
import type { LiveState } from '../../model/live.ts';
import type { RequestEvent } from '../../model/result/outcome.ts';
import type { OpenProject } from '../../project/project.ts';
import { unresolvedIds } from '../../reconcile/diff/diff-edges.ts';
import { adaptToDialect } from '../../reconcile/prepare/omissions.ts';
import { secretCacheOf, withLeftSecrets, withPredecessors, withReadableValues, withSecrets } from './read-secrets.ts';

type ReadingOptions = {
  readonly flags: TargetFlags;
  readonly context: CliContext;
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
};

/** A gateway with everything that its lists contain; the caller closes it. */
export type ListedGateway = { readonly gateway: Gateway; readonly identity: GatewayIdentity; readonly listed: LiveState };

/**
 * Connects to the gateway and reads its lists while the work of the caller goes on. An error of the work is thrown as if the gateway
 * had not been asked: requests and pauses end, and what the gateway answered does not matter.
 */
export async function readWhile<T>(
  { target }: OpenProject,
  reading: ReadingOptions,
  work: () => Promise<T>,
): Promise<{ readonly done: T; readonly read: ListedGateway }> {
  const stop = new AbortController();
  // Each request listens to it.
  setMaxListeners(0, stop.signal);
  let isAwaited = false;
  // Settled, because a promise that is rejected before it is awaited ends the process.
  const listing = Promise.allSettled([listGateway(target, { ...reading, signal: stop.signal, isAwaited: () => isAwaited })]);
  try {
    const done = await work();
    isAwaited = true;
    const [listed] = await listing;
    if (listed.status === 'rejected') throw listed.reason;
    return { done, read: listed.value };
  } catch (error) {
    stop.abort();
    const [listed] = await listing;
    if (listed.status === 'fulfilled') await listed.value.gateway.close();
    throw error;
  }
}

async function listGateway(target: OpenProject['target'], reading: Parameters<typeof connect>[1]): Promise<ListedGateway> {
  const { gateway, identity } = await connect(target, reading);
  try {
    return { gateway, identity, listed: await readLive(gateway, reading) };
  } catch (error) {
    await gateway.close();
    throw error;
  }
}

type GatherInput = ListedGateway & {
  readonly project: OpenProject;
  readonly desired: DesiredState;
  /** The manifests that were applied last. */
  readonly base: DesiredState | undefined;
  /** Which secrets the record of applies proves equal. */
  readonly recorded: string | undefined;
  readonly flags: TargetFlags & Pick<PlanFlags, 'cache' | 'secrets'>;
  readonly context: CliContext;
};

/** The live state of a plan; `unwritten` states why the cache of verified secrets could not be written. */
type GatheredLive = { readonly live: LiveState; readonly unwritten?: string | undefined };

/** Adds to the lists the ids that they hide, and the secrets that manifests set and lists omit, including those of replaced objects. */
export async function gatherLive(input: GatherInput): Promise<GatheredLive> {
  const { project, desired: loaded, base, recorded, gateway, identity, listed, flags, context } = input;
  const { desired } = adaptToDialect(loaded, identity, registry);
  const ids = unresolvedIds({ desired, live: listed, registry });
  const bulk = ids.length === 0 ? listed : { ...listed, hidden: await gateway.confirm(ids) };
  const cache = secretCacheOf(project, identity, flags);
  const reads = { gateway, concurrency: project.target.readConcurrency, track: trackSecretReads({ flags, context }) };
  const compared = flags.secrets === 'unresolved' ? withReadableValues(desired) : withLeftSecrets(desired, base);
  const { live, unwritten } = await withSecrets(bulk, compared, { ...cache, ...reads, recorded });
  return { live: await withPredecessors(live, desired, reads), unwritten };
}
