import { apply } from '../../src/apply/apply.ts';
import { registry } from '../../src/kinds/index.ts';
import { readableKinds } from '../../src/kinds/watched.ts';
import { type AppliedRecord, emptyRecord } from '../../src/model/applied-record.ts';
import type { BaseState } from '../../src/model/desired.ts';
import type { Diagnostic } from '../../src/model/diagnostic.ts';
import type { Gateway } from '../../src/model/gateway.ts';
import type { LiveState } from '../../src/model/live.ts';
import { isWritten, liveKeyOf } from '../../src/model/plan/plan.ts';
import type { ApplyResult } from '../../src/model/result/outcome.ts';
import { completeRecord, incompleteRecord, withPending } from '../../src/project/record/applied-record.ts';
import { recallObjects } from '../../src/project/remembered-objects.ts';
import { filterDrift } from '../../src/reconcile/drift/filter-drift.ts';
import { rememberedState } from '../../src/reconcile/prepare/base-states.ts';
import { leftFieldsAfter } from '../../src/reconcile/record-content/left-fields.ts';
import { findWatchedDrift } from '../../src/reconcile/record-content/watched-drift.ts';
import { liveAfterPlan, recordAccess } from '../../src/reconcile/record-content/record-watched.ts';
import { watchScope, withoutAccepted } from '../../src/reconcile/record-content/watched-columns.ts';
import { formerNamesAfter, orphansAfter, pendingWritesOf, writesAfter } from '../../src/reconcile/record-content/record-changes.ts';
import { secretVersionsAfter, withChangedSecrets } from '../../src/reconcile/record-content/secret-versions.ts';
import { compareStates, draftPlan, reviewPlan, type PlanDraft, type ReviewedPlan } from '../../src/reconcile/reconcile.ts';
import { renderReport } from '../../src/report/formats.ts';
import { planDocument } from '../../src/report/subjects/plan.ts';
import { desiredState } from './desired-state.ts';
import type { Succession } from './interrupted-changes.ts';
import { inputOf, reviewOf } from './run-pipeline.ts';

/** A gateway whose requests can be disturbed from one of them on. */
export type DisturbableGateway = {
  readonly gateway: Gateway;
  readonly dialect: 'interface' | 'hoop';
  readonly requests: () => number;
  /** Disturbs the request with a number, counted from now; undefined ends that. */
  readonly disturb: (disturbance: Disturbance | undefined) => void;
  /** Everything that is stored, without ids. */
  readonly state: () => unknown;
  readonly close: () => Promise<void>;
};

/**
 * How an apply ends early. `killed`: with the process, so that the record has only what it was about to do; otherwise one request, or each from
 * it on, fails. `when`: whether the gateway has committed the request before its answer is lost. `twice`: the request arrives twice.
 */
export type Disturbance = {
  readonly at: number;
  readonly when: 'before' | 'after';
  readonly how: 'killed' | 'once' | 'from then on' | 'twice';
};

/** A plan, with everything that it was made from. */
type Planned = Pick<PlanDraft, 'prepared'> & {
  readonly reviewed: ReviewedPlan;
  readonly live: LiveState;
  readonly base: BaseState | undefined;
  readonly remembered: ReturnType<typeof recallObjects> | undefined;
};

type Side = keyof Succession;

/** Two commits, a gateway and the record of the applies to it. */
export type InterruptedHistory = {
  /** Plans and applies; returns what is not as it should be. */
  readonly apply: (side: Side, disturbance?: Disturbance) => Promise<readonly string[]>;
  /** Returns everything in a plan that says that something else wrote to the gateway, or that stops an apply. */
  readonly findBlame: (side: Side) => Promise<readonly string[]>;
  /** Returns what a plan writes and what it holds. */
  readonly rest: (side: Side) => Promise<readonly string[]>;
  readonly record: () => AppliedRecord;
};

const commits: Readonly<Record<Side, string>> = { before: 'a'.repeat(40), after: 'b'.repeat(40) };
/** They are about writes in between, and not about who made them. */
const allowed = ['plan/access-control-on', 'plan/immutable-name', 'plan/replaces-references'].map((code) => ({
  code,
  reason: 'the test',
}));

/** Returns a history that begins with nothing recorded. */
export function interruptedHistory({ gateway, dialect, disturb }: DisturbableGateway, manifests: Succession): InterruptedHistory {
  const states = { before: desiredState(manifests.before), after: desiredState(manifests.after) };
  const stateAt = new Map(Object.entries(commits).map(([side, commit]) => [commit, side === 'before' ? states.before : states.after]));
  let record: AppliedRecord = emptyRecord;

  async function read(side: Side): Promise<LiveState> {
    const { value, diagnostics } = await gateway.readAll([...readableKinds.keys()]);
    if (value === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
    const whole = await Promise.all(value.resources.map(async (one) => (one.leftOut === undefined ? one : gateway.readOne(one))));
    return withChangedSecrets({ ...value, resources: whole.filter((one) => one !== undefined) }, states[side], record);
  }

  function findBase(): BaseState | undefined {
    const { commit = '', left = [], names = [] } = record;
    const desired = stateAt.get(commit);
    return (
      desired && {
        commit,
        desired,
        removedIn: new Map(),
        left: new Map(left.map(({ id, fields }) => [id, fields])),
        names: new Map(names.map(({ id, former }) => [id, former])),
      }
    );
  }

  async function plan(side: Side): Promise<Planned | readonly Diagnostic[]> {
    const [live, base] = [await read(side), findBase()];
    const remembered = record.orphans.length + record.pending.length === 0 ? undefined : recallObjects(record, stateAt);
    const target = { name: 'test', url: 'http://gateway.test', dialect };
    const consent = { imports: [], revert: [], prune: true };
    const { value: draft, diagnostics } = draftPlan(inputOf({ desired: states[side], live, base, remembered, target, allowed, consent }));
    if (draft === undefined) return diagnostics;
    const preflight = await gateway.preflight(draft.preflightRequest);
    const { value: reviewed, diagnostics: reviewing } = reviewPlan(draft, reviewOf({ preflight }));
    return reviewed === undefined ? [...diagnostics, ...reviewing] : { prepared: draft.prepared, reviewed, live, base, remembered };
  }

  async function execute(side: Side, planned: Planned, disturbance: Disturbance | undefined): Promise<ApplyResult | 'killed'> {
    const { reviewed, live, base, remembered, prepared } = planned;
    const { plan: applied, steps } = reviewed;
    const { desired } = prepared;
    const before = record;
    const isWriting = applied.changes.some(isWritten);
    if (isWriting) record = withPending(before, { commit: commits[side], ...pendingWritesOf({ plan: applied, steps }) });
    const secrets = new Map(desired.resources.map((one) => [one.id, one.secrets]));
    disturb(disturbance);
    const result = await apply({
      plan: applied,
      live,
      steps,
      gateway,
      registry,
      concurrency: 1,
      signal: new AbortController().signal,
      observe: () => undefined,
      secretOf: (id, path) => {
        const secret = secrets.get(id)?.[path];
        return secret?.state === 'value' ? secret : undefined;
      },
    });
    disturb(undefined);
    if (disturbance?.how === 'killed') return 'killed';
    const complete = result.outcomes.every(({ status }) => isDone(status));
    if (!complete && !isWriting) return result;
    const done = new Set(result.outcomes.flatMap(({ id, action, status }) => (action === 'delete' && isDone(status) ? [id] : [])));
    const versions = secretVersionsAfter({ plan: applied, desired, live }, result, { before: before.secrets, complete });
    const scope = watchScope(registry, desired);
    const end = {
      complete,
      names: complete ? formerNamesAfter(applied, desired, base) : [],
      orphans: complete ? orphansAfter({ plan: applied, desired, live, base, remembered, released: [] }) : [],
      writes: writesAfter({ plan: applied, steps }, result, base),
      deleted: new Set(applied.changes.flatMap((change) => (done.has(change.id) ? [liveKeyOf(change)] : []))),
      secrets: versions === undefined ? {} : { secrets: versions },
      left: complete ? leftFieldsAfter({ plan: applied, desired, live, base, remembered, registry }) : [],
      access: recordAccess(liveAfterPlan(live, applied), before.access, { scope, registry: readableKinds }),
    };
    record = complete ? completeRecord(before, end, commits[side]) : incompleteRecord(before, end, commits[side]);
    return result;
  }

  async function findOutside(side: Side, { live, base, remembered, reviewed }: Planned): Promise<readonly string[]> {
    if (live.watched === undefined || record.commit === undefined) return [];
    const { role } = await gateway.identify();
    const known = [states[side], base?.desired ?? states[side], ...(remembered === undefined ? [] : [rememberedState(remembered)])];
    const scope = withoutAccepted(watchScope(registry, ...known), reviewed.plan.accepted);
    const outside = findWatchedDrift({ recorded: record, live, registry: readableKinds, dialect, role, scope, applied: base?.desired });
    return (outside?.changes ?? []).map((one) => `outside: ${JSON.stringify(one)}`);
  }

  return {
    async apply(side, disturbance) {
      const planned = await plan(side);
      if (!('reviewed' in planned)) return planned.map(textOf);
      const { refusals } = planned.reviewed.plan;
      if (refusals.length > 0) return refusals.map(textOf);
      const result = await execute(side, planned, disturbance);
      if (result === 'killed') return ['killed'];
      return result.outcomes.filter(({ status }) => !isDone(status)).map((one) => JSON.stringify(one));
    },
    async findBlame(side) {
      const planned = await plan(side);
      if (!('reviewed' in planned)) return planned.map(textOf);
      const { changes, edges, accepted, refusals } = planned.reviewed.plan;
      const { value: compared } = compareStates(planned.prepared.input);
      const drift = compared && filterDrift(compared.states.diff, { base: compared.prepared.base, registry }).diff;
      const text = await renderReport(planDocument([planned.reviewed.plan]), 'text');
      return [
        ...refusals.map(textOf),
        ...changes.flatMap(({ id, adoption, fields }) => [
          ...(adoption === true ? [`import: ${id}`] : []),
          ...fields.flatMap(({ path, origin, held }) =>
            held === true || origin === 'drift' || origin === 'both' ? [`${held === true ? 'held' : origin}: ${id} ${path}`] : [],
          ),
        ]),
        ...edges.flatMap(({ rule, connection, origin, action }) =>
          action === 'held' || origin === 'drift' || origin === 'both' ? [`${action}, ${origin}: ${rule} ${connection}`] : [],
        ),
        ...accepted.map((one) => `accepted: ${one.action} ${one.id} ${JSON.stringify(one.fields)} ${JSON.stringify(one.edges)}`),
        ...(drift?.changes ?? []).map(({ id, action }) => `drifted: ${action} ${id}`),
        ...(drift?.edges ?? []).map(({ rule, connection, action }) => `drifted: ${action} ${rule} ${connection}`),
        ...(await findOutside(side, planned)),
        ...text.split('\n').filter((line) => /outside Ostiary|drift|never applied|import/i.test(line)),
      ];
    },
    async rest(side) {
      const planned = await plan(side);
      if (!('reviewed' in planned)) return planned.map(textOf);
      const { changes, edges, accepted } = planned.reviewed.plan;
      return [
        ...changes.map(({ id, action, fields }) => `${action} ${id} ${fields.map(({ path }) => path).join(' ')}`),
        ...edges.filter(({ action }) => action !== 'foreign').map(({ rule, connection, action }) => `${action} ${rule} ${connection}`),
        ...accepted.map(({ id, action }) => `accepted ${action} ${id}`),
      ];
    },
    record: () => record,
  };
}

function textOf({ code, message }: Pick<Diagnostic, 'code' | 'message'>): string {
  return `${code}: ${message}`;
}

function isDone(status: ApplyResult['outcomes'][number]['status']): boolean {
  return ['done', 'already', 'held', 'blocked'].includes(status);
}
