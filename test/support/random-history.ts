import { apply } from '../../src/apply/apply.ts';
import { registry } from '../../src/kinds/index.ts';
import { emptyRecord, type AppliedRecord, type Remembered } from '../../src/model/applied-record.ts';
import type { BaseState, DesiredState } from '../../src/model/desired.ts';
import { liveById, type LiveState } from '../../src/model/live.ts';
import { isWritten, liveKeyOf } from '../../src/model/plan/plan.ts';
import type { ApplyResult } from '../../src/model/result/outcome.ts';
import { resourceId, type ResourceId } from '../../src/model/resource.ts';
import { commitsOf, completeRecord, incompleteRecord, withPending } from '../../src/project/applied-record.ts';
import { recallObjects } from '../../src/project/remembered-objects.ts';
import { ownObjects } from '../../src/reconcile/prepare/base-states.ts';
import { orphansAfter, pendingWritesOf, writesAfter } from '../../src/reconcile/record/record-changes.ts';
import { draftPlan, reviewPlan, type ReviewedPlan } from '../../src/reconcile/reconcile.ts';
import { desiredState } from './desired-state.ts';
import { memoryGateway } from './memory-gateway.ts';
import { inputOf, reviewOf } from './run-pipeline.ts';
import type { Manifest } from './scenario.ts';

/** How an apply ends early: its write with this number fails, takes effect without an answer, or is never sent because the process is killed. */
type Fault = { readonly how: 'before' | 'after' | 'killed'; readonly at: number };

/** One event in the life of a repository and its gateway. */
export type HistoryEvent =
  | { readonly type: 'add' | 'change'; readonly name: string; readonly variant: number }
  | { readonly type: 'delete' | 'rename' | 'restore'; readonly name: string }
  | { readonly type: 'revert'; readonly back: number }
  | { readonly type: 'squash' }
  | { readonly type: 'created outside' | 'changed outside' | 'deleted outside'; readonly name: string }
  | { readonly type: 'apply'; readonly prune: boolean; readonly fault: Fault | undefined };

/** A manifest before it is written: what it is called, and which of three forms it has. */
type Entry = { readonly kind: 'Connection' | 'GuardrailRule'; readonly variant: number; readonly former?: string };
type Entries = ReadonlyMap<string, Entry>;
type Committed = { readonly id: string; readonly entries: Entries; readonly desired: DesiredState };

/** The objects that are ours, by the record and by what happened. */
export type Comparison = { readonly recorded: readonly string[]; readonly ours: readonly string[] };

/** A repository, a gateway and the record of applies. */
export type RepositoryHistory = {
  readonly play: (event: HistoryEvent) => Promise<void>;
  readonly compare: () => Promise<Comparison>;
  readonly applies: () => number;
  /** The objects that an apply deleted although they were not ours. */
  readonly deletedUnmanaged: () => readonly string[];
};

const kindOfName = (name: string): Entry['kind'] => (name.startsWith('g') ? 'GuardrailRule' : 'Connection');

/** Writes the manifests of a commit. A connection of the form 2 has all rules. */
function manifestsOf(entries: Entries): readonly Manifest[] {
  const rules = [...entries].flatMap(([name, { kind }]) => (kind === 'GuardrailRule' ? [name] : []));
  return [...entries].map(([name, { kind, variant, former }]) => {
    if (kind === 'GuardrailRule') {
      const words = { name: 'words', type: 'deny_words_list', words: [`DROP ${variant}`] };
      return { kind, metadata: { name, ...(former === undefined ? {} : { renamedFrom: former }) }, spec: { input: { rules: [words] } } };
    }
    const spec = {
      ...connectionSpec,
      reviewers: variant === 1 ? ['dba'] : [],
      ...(variant === 2 ? { guardrail_rules: rules } : {}),
    };
    return { kind, metadata: { name, ...(former === undefined ? {} : { replaces: former }) }, spec };
  });
}

const connectionSpec = {
  type: 'database',
  subtype: 'postgres',
  agent_id: 'default',
  access_mode_connect: 'enabled',
  access_mode_exec: 'enabled',
  access_mode_runbooks: 'disabled',
  access_schema: 'enabled',
};

/** Creates a repository with one manifest, an empty gateway, and nothing recorded. */
export function repositoryHistory(): RepositoryHistory {
  let onWrite = ignore;
  const gateway = memoryGateway({ registry, agents: ['default'], reportsUntouched: true, onWrite: () => onWrite() });
  const commits: Committed[] = [];
  const ours = new Set<string>();
  const unmanaged: string[] = [];
  let record: AppliedRecord = emptyRecord;
  let applies = 0;

  const commit = (entries: Entries): void => {
    const id = String(commits.length + 1).padStart(40, '0');
    commits.push({ id, entries, desired: desiredState(manifestsOf(entries)) });
  };
  const head = (): Committed => {
    const last = commits.at(-1);
    if (last === undefined) throw new Error('nothing is committed');
    return last;
  };
  const edit = (change: (entries: Map<string, Entry>) => void): void => {
    const entries = new Map(head().entries);
    change(entries);
    commit(entries);
  };
  const baseOf = (): BaseState | undefined => {
    const found = commits.find(({ id }) => id === record.commit);
    return found && { commit: found.id, desired: found.desired, removedIn: new Map() };
  };
  const recall = (): Remembered => {
    const { commit: _, ...beyond } = record;
    const named = new Set(commitsOf(beyond));
    return recallObjects(record, new Map(commits.flatMap(({ id, desired }) => (named.has(id) ? [[id, desired] as const] : []))));
  };
  const readLive = async (): Promise<LiveState> => {
    const { value } = await gateway.readAll([...registry.keys()]);
    if (value === undefined) throw new Error('incomplete listing');
    return value;
  };
  commit(new Map([['keep', { kind: 'Connection', variant: 0 }]]));

  /** Returns whether the record would take any object of this name for ours. */
  const isTaken = (id: ResourceId): boolean =>
    [head().desired, baseOf()?.desired].some((state) => state?.resources.some(({ key }) => key === id)) ||
    record.pending.some(({ objects }) => objects.some((one) => (one.key ?? one.id) === id && one.uid === undefined));

  async function playOutside(type: HistoryEvent['type'], name: string): Promise<void> {
    const kind = kindOfName(name);
    const id = resourceId(kind, name);
    const found = liveById((await readLive()).resources).get(id);
    if (type === 'deleted outside') gateway.drop(id);
    else if (type === 'created outside' && found === undefined && !isTaken(id))
      gateway.put({ id, spec: kind === 'Connection' ? connectionSpec : {} });
    else if (type === 'changed outside' && found !== undefined && kind === 'Connection')
      gateway.put({ id, spec: { ...found.spec, reviewers: ['sre'] } });
  }

  async function playApply(prune: boolean, fault: Fault | undefined): Promise<void> {
    const [live, { id: commitId, desired }, base] = [await readLive(), head(), baseOf()];
    const remembered = record.orphans.length + record.pending.length === 0 ? undefined : recall();
    const consent = { adopt: desired.resources.map(({ id }) => id), revert: [], prune };
    const draft = draftPlan(inputOf({ desired, live, base, remembered, consent })).value;
    const reviewed = draft === undefined ? undefined : reviewPlan(draft, reviewOf()).value;
    if (draft === undefined || reviewed === undefined || reviewed.plan.refusals.length > 0) return;
    applies += 1;
    const { plan } = reviewed;
    const isWriting = plan.changes.some(isWritten);
    const before = record;
    if (isWriting) record = withPending(before, { commit: commitId, ...pendingWritesOf(plan) });
    const known = new Set(ours);
    const result = await runApply(reviewed, live, fault);
    const after = await readLive();
    const [was, is] = [uidsOf(live), uidsOf(after)];
    for (const uid of is.keys()) if (!was.has(uid)) ours.add(uid);
    unmanaged.push(...[...was].flatMap(([uid, id]) => (is.has(uid) || known.has(uid) ? [] : [id])));
    if (result === 'killed') return;
    const complete = result.outcomes.every(({ status }) => ['done', 'already', 'held', 'blocked'].includes(status));
    const finished = new Set(
      result.outcomes.flatMap(({ id, status, begun }) => (begun !== true && (status === 'done' || status === 'already') ? [id] : [])),
    );
    for (const { key, id } of draft.prepared.desired.resources) {
      const uid = liveById(after.resources).get(key)?.uid;
      if (uid !== undefined && (complete || finished.has(id))) ours.add(uid);
    }
    if (!complete && !isWriting) return;
    const deleted = new Set(
      plan.changes.flatMap((change) => (change.action === 'delete' && finished.has(change.id) ? [liveKeyOf(change)] : [])),
    );
    const orphans = complete ? orphansAfter({ plan, desired: draft.prepared.desired, live, base, remembered, released: [] }) : [];
    const end = { complete, orphans, writes: writesAfter(plan, result, base), deleted };
    record = complete ? completeRecord(before, end, commitId) : incompleteRecord(before, end, commitId);
  }

  async function runApply({ plan, steps }: ReviewedPlan, live: LiveState, fault: Fault | undefined): Promise<ApplyResult | 'killed'> {
    let writes = 0;
    const isFaulty = (): boolean => {
      writes += 1;
      return fault !== undefined && writes === fault.at + 1;
    };
    if (fault?.how === 'killed')
      onWrite = () => {
        if (isFaulty()) throw new Killed();
      };
    else
      gateway.setFault(({ method }) =>
        fault !== undefined && method !== 'LIST' && method !== 'GET' && isFaulty()
          ? fault.how === 'after'
            ? 'after'
            : 'before'
          : undefined,
      );
    try {
      const signal = new AbortController().signal;
      const given = { gateway, registry, concurrency: 1, signal, observe: () => undefined, secretOf: () => undefined };
      return await apply({ ...given, plan, steps, live });
    } catch (error) {
      if (error instanceof Killed) return 'killed';
      throw error;
    } finally {
      onWrite = ignore;
      gateway.setFault(undefined);
    }
  }

  return {
    async play(event) {
      switch (event.type) {
        case 'add':
          return edit((entries) =>
            entries.set(event.name, entries.get(event.name) ?? { kind: kindOfName(event.name), variant: event.variant }),
          );
        case 'change':
          return edit((entries) => {
            const entry = entries.get(event.name);
            if (entry !== undefined) entries.set(event.name, { ...entry, variant: event.variant });
          });
        case 'delete':
          return edit((entries) => entries.delete(event.name));
        case 'rename':
          return edit((entries) => {
            const entry = entries.get(event.name);
            if (entry === undefined) return;
            entries.delete(event.name);
            entries.set(`${event.name}-new`, { ...entry, former: event.name });
          });
        case 'restore':
          return edit((entries) => {
            const earlier = commits.findLast((one) => one.entries.has(event.name))?.entries.get(event.name);
            if (earlier !== undefined) entries.set(event.name, earlier);
          });
        case 'revert':
          return commit(commits.at(-1 - event.back)?.entries ?? head().entries);
        case 'squash':
          return commit(head().entries);
        case 'apply':
          return playApply(event.prune, event.fault);
        case 'created outside':
        case 'changed outside':
        case 'deleted outside':
          return playOutside(event.type, event.name);
      }
    },
    async compare() {
      const live = await readLive();
      const own = ownObjects(recall(), live);
      const declared = new Set(baseOf()?.desired.resources.map(({ key }) => key));
      const found = live.resources.filter(({ id }) => declared.has(id) || own.has(id));
      return { recorded: sorted(found), ours: sorted(live.resources.filter(({ uid }) => ours.has(uid))) };
    },
    applies: () => applies,
    deletedUnmanaged: () => unmanaged,
  };
}

function ignore(): void {}

/** Names objects with the gateway's ids. */
function sorted(resources: LiveState['resources']): readonly string[] {
  return resources.map(({ id, uid }) => `${id} ${uid}`).toSorted();
}

class Killed extends Error {}

function uidsOf({ resources }: LiveState): ReadonlyMap<string, ResourceId> {
  return new Map(resources.map(({ uid, id }) => [uid, id]));
}
