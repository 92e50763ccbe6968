import { setMaxListeners } from 'node:events';
import { connect, readLive, trackSecretReads } from '../session/connect.ts';
import type { CliContext } from '../context/cli-context.ts';
import { interject } from '../output/progress.ts';
import type { TrackSteps } from '../../model/concurrency.ts';
import type { PlanFlags, TargetFlags } from '../context/options.ts';
import { registry } from '../../kinds/index.ts';
import { readableKinds } from '../../kinds/watched.ts';
import type { AppliedRecord } from '../../model/applied-record.ts';
import type { DesiredState } from '../../model/desired.ts';
import type { Gateway, GatewayIdentity, GatewaySnapshot } from '../../model/gateway.ts';
import type { LiveResource, LiveState } from '../../model/live.ts';
import type { RequestEvent } from '../../model/result/outcome.ts';
import type { Plan } from '../../model/plan/plan.ts';
import type { PlanBase } from '../../project/plan-base.ts';
import type { OpenProject } from '../../project/project.ts';
import { withTools } from '../../model/spec/tool-lists.ts';
import { unreadPlaces } from '../../protection/compare/destinations.ts';
import { readDetails } from '../../import/choose-objects.ts';
import { unresolvedIds } from '../../reconcile/diff/diff-edges.ts';
import { type NeededPart, partFor, proposedPart, selectedPart } from '../../reconcile/prepare/needed-objects.ts';
import type { Prepared, ReconcileInput } from '../../reconcile/prepare/prepare.ts';
import { differencesBetweenStates } from '../../reconcile/explain/affected-by.ts';
import { draftPlan, type PlanDraft } from '../../reconcile/reconcile.ts';
import { digestOfWrites } from '../../reconcile/saved-plan/plan-digest.ts';
import { withChangedSecrets } from '../../reconcile/record-content/secret-versions.ts';
import { adaptToDialect } from '../../reconcile/prepare/omissions.ts';
import { secretCacheOf, withLeftSecrets, withPredecessors, withReadableValues, withSecrets } from './read-secrets.ts';

type ReadingOptions = {
  readonly flags: TargetFlags;
  readonly context: CliContext;
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  readonly snapshot?: GatewaySnapshot | undefined;
  /** Whether a page or a replay looks at the states themselves, not only at what changes. */
  readonly showsStates?: boolean;
};

/** A gateway; the caller closes it. */
type ConnectedGateway = { readonly gateway: Gateway; readonly identity: GatewayIdentity };

/** A gateway with everything that its lists contain. */
type ListedGateway = ConnectedGateway & { readonly listed: LiveState };

/** The result of the work of a caller, and a gateway: what its lists contain if they were read, or the part that may show the plan. */
type ReadInput<T> = {
  readonly done: T;
  readonly read: ConnectedGateway & { readonly listed?: LiveState };
  readonly part?: NeededPart | undefined;
};

type PartInput = {
  readonly desired: DesiredState;
  readonly planBase: PlanBase;
  readonly unplannable: unknown;
  readonly policies: { readonly rules: readonly unknown[] };
};

/** Does the work of the caller, then connects to the gateway. */
export async function readAfter<T extends PartInput>(
  { target }: OpenProject,
  reading: ReadingOptions,
  work: () => Promise<T>,
): Promise<ReadInput<T>> {
  const done = await work();
  const read = await connect(target, reading);
  const isWhole = target.reportUnmanaged || !read.gateway.readsParts;
  return { done, read, part: isWhole ? undefined : neededPart(done, reading.showsStates === true) };
}

/**
 * Returns the part of a gateway that may show a plan. A branch that is behind, a record that is missing or not finished, and manifests that cannot
 * be planned ask for everything, and so does a proposal with policies or access tests, which look at every connection.
 */
function neededPart({ desired, planBase, policies: { rules }, unplannable }: PartInput, showsStates: boolean): NeededPart | undefined {
  const { base, isUnrecorded, read, own, proposed, behind } = planBase;
  const isSettled = isUnrecorded !== true && behind === undefined && (read?.record.pending ?? []).length === 0;
  if (!isSettled || unplannable !== undefined) return undefined;
  if (own === undefined)
    return selectedPart(desired, { base: base?.desired, registry: readableKinds, isChecked: showsStates || rules.length > 0 });
  const states = [desired, base?.desired, own, proposed?.reviewed];
  const isChecked = states.some((state) => (state?.policies ?? []).length + (state?.accessTests ?? []).length > 0);
  if (base === undefined || isChecked || rules.length > 0 || desired.unselected.length > 0) return undefined;
  const changed = differencesBetweenStates(base.desired, desired).flatMap(({ names }) => names);
  return proposedPart(changed, readableKinds);
}

/** What was read of a gateway: the part of it that this is, everything without a part; and the draft that shows that it is enough. */
export type EnoughRead<T> = T & { readonly part: NeededPart | undefined; readonly draft?: PlanDraft | undefined };

type EnoughOptions<T> = {
  readonly given: Omit<ReconcileInput, 'live'>;
  /** Completes what is listed. */
  readonly gather: (listed: LiveState) => Promise<T>;
  /** The objects that were read whole for a smaller part. */
  readonly known?: readonly LiveResource[];
};

/** Reads more of a gateway until what was read shows the whole plan. */
export async function readUntilEnough<T extends { readonly live: LiveState }>(
  { read, part }: Omit<ReadInput<unknown>, 'done'>,
  reading: ReadingOptions,
  { given, gather, known = [] }: EnoughOptions<T>,
): Promise<EnoughRead<T>> {
  const { gateway, listed } = read;
  const found = await gather(listed ?? withKnown(await readLive(gateway, { ...reading, part }), known));
  const { live } = found;
  const isPart = live.partly !== undefined;
  // Where rows are not fewer requests, all of them are read.
  if (part === undefined || (!isPart && part.lists === 'all')) return { ...found, part: undefined };
  const draft = isPart ? draftPlan({ ...given, live }).value : undefined;
  const shown = draft && partFor(draft, part);
  if (shown === part) return { ...found, part, draft };
  const whole = live.resources.filter(({ id, leftOut }) => leftOut === undefined && part.objects.has(id));
  // The rest of what was read is not kept while more is read, so nothing is awaited here.
  return readUntilEnough({ read: { gateway, identity: read.identity }, part: shown }, reading, { given, gather, known: whole });
}

/** Returns the plan of a part: it states what was not read. The digest of a proposal leaves out held drift, because it need not show that. */
export function planOfPart(
  plan: Plan,
  { objects, lists }: NeededPart,
  { live: { partly = 0 }, ...states }: Pick<Prepared, 'desired' | 'base' | 'live'>,
): Plan {
  if (lists !== 'all') return { ...plan, unread: partly };
  const notCompared = plan.notCompared.filter(({ id }) => objects.has(id));
  return { ...plan, unreadDetails: partly, notCompared, seals: { tree: plan.seals.tree, digest: digestOfWrites(plan, states) } };
}

/** Returns the lists with the secrets that were read one object at a time for a part of them, unless the lists show another version. */
function withKnown(listed: LiveState, whole: readonly LiveResource[]): LiveState {
  if (whole.length === 0) return listed;
  const read = new Map(whole.map((one) => [one.uid, one]));
  return {
    ...listed,
    resources: listed.resources.map((one) => {
      const known = read.get(one.uid);
      if (known === undefined || known.id !== one.id || known.secretsVersion !== one.secretsVersion) return one;
      const { leftOut = [], ...rest } = one;
      const unknown = rest.unknown.filter((path) => !leftOut.includes(path) || known.unknown.includes(path));
      const spec = withTools(rest.spec, known.secrets, known.unknown);
      const { secrets, changedSecrets } = known;
      return { ...rest, spec, secrets, unknown, ...(changedSecrets === undefined ? {} : { changedSecrets }) };
    }),
  };
}

/**
 * Connects to the gateway and reads its lists while the work of the caller goes on. An error of the work is thrown as if the gateway
 * had not been asked: requests and pauses end, and what the gateway answered does not matter.
 */
export async function readWhile<T>({ target }: OpenProject, reading: ReadingOptions, work: () => Promise<T>): Promise<ReadInput<T>> {
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

/** Connects to the gateway and reads its lists; closes it where that fails. */
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
  /** The record of applies, which proves secrets equal, or changed. */
  readonly record: AppliedRecord | undefined;
  readonly flags: TargetFlags & Pick<PlanFlags, 'cache' | 'secrets'>;
  readonly context: CliContext;
};

/** The live state of a plan; `unwritten` states why the cache of verified secrets could not be written. */
export type GatheredLive = { readonly live: LiveState; readonly unwritten?: string | undefined };

/**
 * Adds to the lists the ids that they hide, and the secrets that manifests set and lists omit, including those of replaced objects, and of connections
 * that may lead where another one is led.
 */
export async function gatherLive(input: GatherInput): Promise<GatheredLive> {
  const { project, desired: loaded, base, record, gateway, identity, listed, flags, context } = input;
  const { desired } = adaptToDialect(loaded, identity, registry);
  const ids = unresolvedIds({ desired, live: listed, registry });
  const bulk = ids.length === 0 ? listed : { ...listed, hidden: await gateway.confirm(ids) };
  const cache = secretCacheOf(project, identity, flags);
  const reads = { gateway, concurrency: project.target.readConcurrency, track: announceReads({ flags, context }) };
  const compared = flags.secrets === 'unresolved' ? withReadableValues(desired) : withLeftSecrets(desired, base);
  const { live, unwritten } = await withSecrets(bulk, compared, { ...cache, ...reads, recorded: record?.verified });
  const inherited = await withPredecessors(live, desired, reads);
  const complete = await readDetails(inherited, unreadPlaces({ desired, live: inherited, listed, applied: base }), reads);
  return { live: record === undefined ? complete : withChangedSecrets(complete, loaded, record), unwritten };
}

/** So many reads take seconds. */
const manyReads = 100;

/** Shows how many objects were read one at a time; many are announced, also where no terminal shows it. */
function announceReads(output: { readonly flags: TargetFlags; readonly context: CliContext }): TrackSteps {
  const track = trackSecretReads(output);
  return (total, work) => {
    const { flags, context } = output;
    if (total >= manyReads && !flags.quiet) interject(`reading ${total} objects one at a time: lists omit their secrets`, context);
    return track(total, work);
  };
}
