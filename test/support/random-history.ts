import { apply } from '../../src/apply/apply.ts';
import { registry } from '../../src/kinds/index.ts';
import { emptyRecord, type AppliedRecord, type Remembered } from '../../src/model/applied-record.ts';
import type { BaseState, DesiredState } from '../../src/model/desired.ts';
import type { Diagnostic } from '../../src/model/diagnostic.ts';
import { liveById, type LiveState } from '../../src/model/live.ts';
import { isWritten, liveKeyOf } from '../../src/model/plan/plan.ts';
import type { ApplyResult } from '../../src/model/result/outcome.ts';
import { resourceId, type ResourceId } from '../../src/model/resource.ts';
import type { Pointer } from '../../src/model/pointer.ts';
import type { Secret } from '../../src/model/secret.ts';
import type { Consent } from '../../src/reconcile/prepare/prepare.ts';
import { commitsOf, completeRecord, incompleteRecord, withPending } from '../../src/project/record/applied-record.ts';
import { recallObjects } from '../../src/project/remembered-objects.ts';
import { ownObjects } from '../../src/reconcile/prepare/base-states.ts';
import { orphansAfter, pendingWritesOf, writesAfter } from '../../src/reconcile/record-content/record-changes.ts';
import { draftPlan, reviewPlan, type PlanDraft, type ReviewedPlan } from '../../src/reconcile/reconcile.ts';
import {
  differingFacts,
  factsOf,
  kindOfName,
  loadTree,
  missingFacts,
  siblingsOf,
  secretPath,
  specOf,
  type Entry,
  type Fact,
  type Tree,
} from './history-manifests.ts';
import type { Fault, HistoryEvent, OutsideEvent, Statement } from './history-events.ts';
import { memoryGateway, type MemoryGateway } from './memory-gateway.ts';
import { inputOf, reviewOf } from './run-pipeline.ts';
import { resume, savedText } from './saved-plan.ts';

/** A commit; `desired` has unresolved sources, and `resolved` is loaded when a plan needs it. */
type Committed = Tree & { readonly id: string; readonly desired: DesiredState; readonly resolved: () => DesiredState };

/** The objects that are ours, by the record and by what happened. */
export type Comparison = { readonly recorded: readonly string[]; readonly ours: readonly string[] };

/** The key of an admin reads secrets, and its runs read their sources; that of a reader may not, and its runs do not. */
export type Key = 'admin' | 'reader';

/** A plan, and what it was made from; without the plan where there are errors. */
export type Drafted = {
  readonly live: LiveState;
  readonly base: BaseState | undefined;
  readonly remembered: Remembered | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly draft?: PlanDraft;
  readonly reviewed?: ReviewedPlan;
};

/** The plan of a commit on one state of the gateway, and what an apply with its digest makes of that state: the admin's plan of the same commit. */
export type Try = {
  readonly key: string;
  /** Identifies the manifests. */
  readonly tree: string;
  readonly base: string | undefined;
  /** The state of the gateway before. */
  readonly at: string;
  readonly digest: string;
  /** Whether the apply writes anything. */
  readonly writes: boolean;
  readonly effect: ReturnType<MemoryGateway['state']>;
  /** What the plan itself makes of that state, saved and applied by an admin; undefined once a secret was changed outside, because a reader cannot see that. */
  readonly saved: ReturnType<MemoryGateway['state']> | undefined;
};

/** A repository, a gateway and the record of applies. */
export type RepositoryHistory = {
  readonly play: (event: HistoryEvent) => Promise<void>;
  readonly compare: () => Promise<Comparison>;
  /** What HEAD states otherwise than the record: the base, orphans, and the writes of incomplete applies. Without imports that are equal; empty without a base. */
  readonly differing: () => readonly Fact[];
  readonly stated: () => readonly Fact[];
  /** What HEAD states and the gateway does not have. */
  readonly missing: () => readonly Fact[];
  /** Plans HEAD without consent to anything but pruning. */
  readonly planHead: (key: Key, prune: boolean) => Promise<Drafted>;
  /** Plans the last commits on the gateway as it is with both keys, and finds their effects; leaves out what was tried before. */
  readonly tryRecent: (most: number) => Promise<readonly Try[]>;
  /** Does the same with commits that differ from HEAD in one object. */
  readonly trySiblings: () => Promise<readonly Try[]>;
  readonly applies: () => number;
  /** The objects that an apply deleted although they were not ours. */
  readonly deletedUnmanaged: () => readonly string[];
};

/** Creates a repository with one manifest, an empty gateway, and nothing recorded. */
export function repositoryHistory(): RepositoryHistory {
  let onWrite = ignore;
  const gateway = memoryGateway({ registry, agents: ['default'], reportsUntouched: true, onWrite: () => onWrite() });
  const commits: Committed[] = [];
  const ours = new Set<string>();
  const unmanaged: string[] = [];
  const tried = new Set<string>();
  let record: AppliedRecord = emptyRecord;
  let applies = 0;
  let areSecretsMoved = false;

  const commitOf = ({ entries, content }: Tree): Committed => {
    const id = String(commits.length + 1).padStart(40, '0');
    let resolved: DesiredState | undefined;
    return {
      id,
      entries,
      content,
      desired: loadTree({ entries, content }, false),
      resolved: () => (resolved ??= loadTree({ entries, content }, true)),
    };
  };
  const commit = (tree: Tree): void => void commits.push(commitOf(tree));
  const head = (): Committed => {
    const last = commits.at(-1);
    if (last === undefined) throw new Error('nothing is committed');
    return last;
  };
  const edit = (change: (entries: Map<string, Entry>) => void): void => {
    const entries = new Map(head().entries);
    change(entries);
    commit({ entries, content: head().content });
  };
  const recorded = (): Committed | undefined => commits.find(({ id }) => id === record.commit);
  const baseOf = (): BaseState | undefined => {
    const found = recorded();
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
  commit({ entries: new Map([['keep', { kind: 'Connection', variant: 0 }]]), content: 'one' });

  /** Returns whether the record would take any object of this name for ours. */
  const isTaken = (id: ResourceId): boolean =>
    [head().desired, baseOf()?.desired].some((state) => state?.resources.some(({ key }) => key === id)) ||
    record.pending.some(({ objects }) => objects.some((one) => (one.key ?? one.id) === id && one.uid === undefined));

  async function playOutside(event: OutsideEvent): Promise<void> {
    const kind = kindOfName(event.name);
    const id = resourceId(kind, event.name);
    const found = gateway.state()[id];
    if (event.type === 'created outside') {
      if (found === undefined && !isTaken(id)) gateway.put({ id, spec: specOf(event.name, event) });
    } else if (event.type === 'deleted outside') gateway.drop(id);
    else if (found === undefined || kind !== 'Connection') return;
    else if (event.type === 'detached outside') gateway.put({ ...found, edges: { guardrail_rules: [] } });
    else if (event.type === 'reviewers changed outside') gateway.put({ ...found, spec: { ...found.spec, reviewers: event.reviewers } });
    else {
      areSecretsMoved = true;
      const { [secretPath]: _, ...others } = found.secrets ?? {};
      gateway.put({ ...found, secrets: event.value === undefined ? others : { ...others, [secretPath]: event.value } });
    }
  }

  /** Plans a commit as a run with a key does. */
  async function draftAs(key: Key, one: Committed, consent: Consent): Promise<Drafted> {
    gateway.setSecrets(key === 'admin' ? 'shown' : 'hidden-kept');
    const live = await readLive();
    gateway.setSecrets('shown');
    const desired = key === 'admin' ? one.resolved() : one.desired;
    const base = one.id === record.commit ? { commit: one.id, desired, removedIn: new Map() } : baseOf();
    const remembered = record.orphans.length + record.pending.length === 0 ? undefined : recall();
    const { value: draft, diagnostics } = draftPlan(inputOf({ desired, live, base, remembered, consent, readOnly: key === 'reader' }));
    const reviewed = draft && reviewPlan(draft, reviewOf()).value;
    return { live, base, remembered, diagnostics, ...(draft === undefined || reviewed === undefined ? {} : { draft, reviewed }) };
  }

  function consentOf({ desired }: Committed, prune = true): Consent {
    return { imports: desired.resources.map(({ id }) => id), revert: [], prune };
  }

  async function playApply(prune: boolean, fault: Fault | undefined): Promise<void> {
    const { id: commitId } = head();
    const { live, base, remembered, draft, reviewed } = await draftAs('admin', head(), consentOf(head(), prune));
    if (draft === undefined || reviewed === undefined || reviewed.plan.refusals.length > 0) return;
    applies += 1;
    const { plan } = reviewed;
    const isWriting = plan.changes.some(isWritten);
    const before = record;
    if (isWriting) record = withPending(before, { commit: commitId, ...pendingWritesOf(reviewed) });
    const known = new Set(ours);
    const result = await runApply({ draft, reviewed, live }, fault);
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
    const end = { complete, orphans, writes: writesAfter(reviewed, result, base), deleted };
    record = complete ? completeRecord(before, end, commitId) : incompleteRecord(before, end, commitId);
  }

  async function runApply(
    { draft, reviewed: { plan, steps }, live }: Required<Pick<Drafted, 'draft' | 'reviewed' | 'live'>>,
    fault: Fault | undefined,
  ): Promise<ApplyResult | 'killed'> {
    const secrets = new Map(draft.prepared.desired.resources.map((one) => [one.id, one.secrets]));
    const secretOf = (id: ResourceId, path: Pointer): Secret | undefined => {
      const secret = secrets.get(id)?.[path];
      return secret?.state === 'value' ? secret : undefined;
    };
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
      const given = { gateway, registry, concurrency: 1, signal, observe: () => undefined, secretOf };
      return await apply({ ...given, plan, steps, live });
    } catch (error) {
      if (error instanceof Killed) return 'killed';
      throw error;
    } finally {
      onWrite = ignore;
      gateway.setFault(undefined);
    }
  }

  async function tryHeads(heads: readonly Committed[]): Promise<readonly Try[]> {
    const at = JSON.stringify([gateway.state(), [...uidsOf(await readLive())]]);
    const tries: Try[] = [];
    for (const one of heads) {
      const place = `${at} ${JSON.stringify(record)} ${one.id} ${one.desired.tree}`;
      if (tried.has(place)) continue;
      tried.add(place);
      const [admin, reader] = [await draftAs('admin', one, consentOf(one)), await draftAs('reader', one, consentOf(one))];
      const { draft, reviewed, live } = admin;
      if (draft === undefined || reviewed === undefined || reviewed.plan.refusals.length > 0) continue;
      const isWriting = reviewed.plan.changes.some(isWritten);
      const restore = gateway.save();
      await runApply({ draft, reviewed, live }, undefined);
      const effect = gateway.state();
      restore();
      for (const [key, drafted] of Object.entries({ admin, reader })) {
        if (drafted.reviewed === undefined) continue;
        const { digest } = drafted.reviewed.plan.seals;
        const saved = areSecretsMoved ? undefined : key === 'admin' ? effect : await applySaved(drafted, one);
        restore();
        tries.push({ key, tree: one.desired.tree, base: record.commit, at, digest, effect, saved, writes: isWriting });
      }
    }
    return tries;
  }

  /** Saves a plan, and applies it with the key of an admin. */
  async function applySaved({ draft, reviewed, live }: Drafted, one: Committed): Promise<ReturnType<MemoryGateway['state']>> {
    if (draft === undefined || reviewed === undefined) throw new Error('there is no plan');
    const { desired, base } = draft.prepared;
    const { refusals } = await resume(savedText({ plan: reviewed.plan, live, desired, base }), { gateway, desired: one.resolved() });
    if (refusals.length > 0) throw new Error(`a plan that was just made is refused: ${refusals.map(({ message }) => message).join(', ')}`);
    return gateway.state();
  }

  return {
    async play(event) {
      switch (event.type) {
        case 'add':
          return edit((entries) => entries.set(event.name, entries.get(event.name) ?? entryOf(event)));
        case 'change':
          return edit((entries) => {
            const entry = entries.get(event.name);
            if (entry !== undefined) entries.set(event.name, { ...entry, ...entryOf(event) });
          });
        case 'set secret':
          return edit((entries) => {
            const entry = entries.get(event.name);
            if (entry !== undefined) entries.set(event.name, { ...entry, secret: event.secret });
          });
        case 'write file':
          return commit({ ...head(), content: event.content });
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
          return commit(commits.at(-1 - event.back) ?? head());
        case 'squash':
          return commit(head());
        case 'apply':
          return playApply(event.prune, event.fault);
        case 'created outside':
        case 'deleted outside':
        case 'detached outside':
        case 'reviewers changed outside':
        case 'secret changed outside':
          return playOutside(event);
      }
    },
    async compare() {
      const live = await readLive();
      const own = ownObjects(recall(), live);
      const declared = new Set(baseOf()?.desired.resources.map(({ key }) => key));
      const found = live.resources.filter(({ id }) => declared.has(id) || own.has(id));
      return { recorded: sorted(found), ours: sorted(live.resources.filter(({ uid }) => ours.has(uid))) };
    },
    differing() {
      const base = recorded();
      if (base === undefined) return [];
      // Beside the base, the record has orphans and the writes of incomplete applies, as their commits state them.
      const known = [...record.orphans.map((one) => ({ commit: one.commit, objects: [one], edges: [] })), ...record.pending].map((one) => ({
        ids: new Set(one.objects.map(({ id, key = id }) => key)),
        edges: one.edges,
        unlike: commits.filter(({ id }) => id === one.commit).flatMap((tree) => differingFacts(tree, head())),
      }));
      const isKnown = ({ id, path, other }: Fact): boolean =>
        known.some(
          ({ ids, edges, unlike }) =>
            (ids.has(id) ||
              (other !== undefined && (ids.has(other) || edges.some((one) => one.rule === other && one.connection === id)))) &&
            !unlike.some((fact) => fact.id === id && fact.path === path && fact.other === other),
        );
      // An object that something else created as HEAD states it is imported without a word.
      const missing = missingFacts(head(), gateway.state());
      const isImport = ({ id, path }: Fact): boolean =>
        path === '' && !factsOf(base).some((one) => one.id === id) && !missing.some((one) => one.id === id);
      return differingFacts(base, head()).filter((fact) => !isKnown(fact) && !isImport(fact));
    },
    stated: () => factsOf(head()),
    missing: () => missingFacts(head(), gateway.state()),
    planHead: (key, prune) => draftAs(key, head(), { imports: [], revert: [], prune }),
    tryRecent: (most) => tryHeads(commits.slice(-most)),
    trySiblings: () => tryHeads(siblingsOf(head()).map(commitOf)),
    applies: () => applies,
    deletedUnmanaged: () => unmanaged,
  };
}

function ignore(): void {}

function entryOf({ name, variant, secret }: Statement): Entry {
  const kind = kindOfName(name);
  return { kind, variant, ...(kind === 'Connection' ? { secret } : {}) };
}

/** Names objects with the gateway's ids. */
function sorted(resources: LiveState['resources']): readonly string[] {
  return resources.map(({ id, uid }) => `${id} ${uid}`).toSorted();
}

class Killed extends Error {}

function uidsOf({ resources }: LiveState): ReadonlyMap<string, ResourceId> {
  return new Map(resources.map(({ uid, id }) => [uid, id]));
}
