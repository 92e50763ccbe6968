import { type Checked, type Diagnostic, hasErrors, sortDiagnostics } from '../model/diagnostic.ts';
import type { PreflightRequest, PreflightResult } from '../model/gateway.ts';
import type { Registry } from '../model/kind.ts';
import type { LiveState } from '../model/live.ts';
import { deletedOutside, type Diff, type ForgeRequest, type Plan, type RiskClass } from '../model/plan/plan.ts';
import type { Schedule, Step } from '../model/plan/schedule.ts';
import type { AuditedChanges } from './accepted/assess-accepted.ts';
import { type AcceptedDiff, findAccepted } from './accepted/accepted-drift.ts';
import type { PlanSnapshots } from '../protection/posture/diff-postures.ts';
import { type PlannedStates, statesOf } from './prepare/snapshots.ts';
import { assess, type AssessmentChecks } from './assess/assess.ts';
import { unplannableDependents } from './diff/unplannable-dependents.ts';
import { diffStates, type StateDiff } from './diff/diff-states.ts';
import { labelOwn } from './cells/label-own.ts';
import { accessRefusals } from './guard/access-refusals.ts';
import { newAccessRefusals } from './guard/new-access-refusals.ts';
import { checkLimits, guard } from './guard/guard.ts';
import type { SortedRefusals } from './guard/refusals.ts';
import { unplannableByErrors, withoutUnplannable } from './prepare/omissions.ts';
import { startAsBase } from './prepare/base-states.ts';
import { prepare, type Prepared, type ReconcileInput } from './prepare/prepare.ts';
import { closeExposed } from './order/close-exposed.ts';
import { joinedSpecs, type OrderInput, orderInput, orderWrites } from './order/order-writes.ts';

/*
 * What becomes of an object, or of one of its fields, follows from three states: the manifests that were applied last (base), the manifests, and the
 * gateway. A, B and C are different forms, - is none:
 *
 * | base | manifests | gateway | plan                  |
 * | ---- | --------- | ------- | --------------------- |
 * | -    | -         | C       | unmanaged             |
 * | -    | A         | -       | create                |
 * | -    | A         | A       | accepted drift        |
 * | -    | A         | C       | update, plan/adoption |
 * | A    | A         | A       | nothing               |
 * | A    | A         | -       | create, drift         |
 * | A    | A         | C       | update, drift         |
 * | A    | B         | A       | update, intent        |
 * | A    | B         | B       | accepted drift        |
 * | A    | B         | C       | update, both          |
 * | A    | B         | -       | create, both          |
 * | A    | -         | A       | orphan                |
 * | A    | -         | C       | orphan                |
 * | A    | -         | -       | accepted drift        |
 *
 * `diff/` decides it: `draft-change.ts` for objects with a manifest, `removed-objects.ts` for those without. After that, stricter drift is held, an orphan
 * is deleted if `prune` says so, `plan/adoption` is a refusal until the import is agreed to, and accepted drift is an entry without a write.
 * Three words for what is not written: an object is *managed* by another tool, a name is *taken* by a managed object, and an object is *unplannable*
 * because of an error about it alone.
 */

/** A plan whose gateway was not asked yet: the differences, and the order of writes if the gateway accepts each. */
export type PlanDraft = PlannedStates & {
  readonly prepared: Prepared;
  readonly limits: SortedRefusals;
  /** The order of the writes if the gateway accepts each. */
  readonly schedule: Schedule;
  /** What that order depends on. */
  readonly writes: OrderInput;
  /** The drift that the manifests accept; undefined if there is none. */
  readonly accepted: AcceptedDiff | undefined;
  /** The input of the gateway's preflight. */
  readonly preflightRequest: PreflightRequest;
  readonly diagnostics: readonly Diagnostic[];
};

/** What is fetched or compiled for a draft before it becomes a plan. */
export type ReviewInput = AssessmentChecks & {
  readonly preflight: PreflightResult;
  readonly maxRisk?: RiskClass | undefined;
  /** What the forge calls that pull request; absent for a pull request. */
  readonly request?: ForgeRequest | undefined;
  /** Who changed the gateway since the base; needed only for a draft that accepts drift. */
  readonly audit?: AuditedChanges | undefined;
};

/** A complete plan, the steps that `apply` executes, and the gateway before and after them. */
export type ReviewedPlan = { readonly plan: Plan; readonly steps: readonly Step[]; readonly snapshots: () => PlanSnapshots };

/**
 * Plans the difference between manifests and gateway. Pure and synchronous: the same input gives the same plan, byte for byte.
 * Reading the gateway, its preflight, policies and the date are arguments; a caller that asks the gateway about the draft
 * uses the two halves, `draftPlan` and `reviewPlan`.
 */
export function reconcile(input: ReconcileInput, review: ReviewInput): Checked<ReviewedPlan> {
  const { value: draft, diagnostics } = draftPlan(input);
  return draft === undefined ? { diagnostics } : reviewPlan(draft, review);
}

/**
 * Finds the differences and the order of writes: prepare → diff → schedule. Without a value on errors in the manifests. If the input
 * has a list of unplannable objects, an error about a single object adds to that list the object and what depends on it.
 */
export function draftPlan(input: ReconcileInput): Checked<PlanDraft> {
  let unplannable = input.unplannable;
  for (;;) {
    const drafted = draftOnce({ ...input, unplannable });
    if (unplannable === undefined) return drafted;
    const { value, diagnostics } = drafted;
    const more =
      value === undefined
        ? unplannableByErrors(diagnostics, withoutUnplannable(input.desired, unplannable))
        : unplannableDependents(value.prepared, value);
    if (more.length === 0) return drafted;
    unplannable = [...unplannable, ...more];
  }
}

function draftOnce(input: ReconcileInput): Checked<PlanDraft> {
  const { value: comparison, diagnostics } = compareStates(input);
  if (comparison === undefined) return { diagnostics };
  const { prepared, states, planned } = comparison;
  const accepted = findAccepted(prepared, planned, prepared.base);
  return { value: draftOf(comparison, states.diff, accepted), diagnostics };
}

/** Both sides of a plan in one form, and everything that differs. */
export type Comparison = {
  readonly prepared: Prepared;
  readonly states: StateDiff;
  /** The gateway before and after everything that differs is written. */
  readonly planned: PlannedStates;
  readonly diagnostics: readonly Diagnostic[];
};

/**
 * Finds everything that differs: prepare → diff. Without a value on errors in the manifests. Objects that were deleted outside Ostiary, and
 * that their manifests cannot recreate, are unplannable: the rest is compared without them.
 */
export function compareStates(input: ReconcileInput): Checked<Comparison> {
  const compared = compareOnce(input);
  const deleted = compared.diagnostics.filter(({ code, severity }) => code === deletedOutside && severity === 'error');
  if (compared.value !== undefined || deleted.length === 0) return compared;
  const { unplannable = [] } = input;
  return compareOnce({ ...input, unplannable: [...unplannable, ...unplannableByErrors(deleted, input.desired)] });
}

function compareOnce(input: ReconcileInput): Checked<Comparison> {
  const { value: prepared, diagnostics: preparing } = prepare(input);
  if (prepared === undefined) return { diagnostics: preparing };
  const { value: states, diagnostics: comparing } = diffStates(prepared);
  const diagnostics = [...preparing, ...comparing];
  if (states === undefined) return { diagnostics };
  return { value: { prepared, states, planned: statesOf(prepared, states.diff), diagnostics }, diagnostics };
}

/** Drafts the plan of a part of what differs, such as the drift. Limits count everything that differs; such a plan accepts no drift. */
export function draftPart(comparison: Comparison, part: Diff): PlanDraft {
  const draft = draftOf(comparison, part, undefined);
  const ids = new Set(part.changes.map(({ id }) => id));
  const refusals = draft.limits.refusals.filter(({ resource }) => resource === undefined || ids.has(resource));
  return { ...draft, limits: { ...draft.limits, refusals } };
}

function draftOf(comparison: Comparison, part: Diff, accepted: AcceptedDiff | undefined): PlanDraft {
  const { prepared, states, planned, diagnostics } = comparison;
  const { input, desired, live } = prepared;
  // What is closed only in between is as open before and after.
  const { snapshots, differences } = part === states.diff ? planned : statesOf(prepared, part);
  const inputOf = (diff: Diff): OrderInput => orderInput(diff, live, input.registry, snapshots);
  const { diff, writes, schedule, blocked } = closeExposed(prepared, part, inputOf);
  const joined = joinedSpecs(writes);
  const preflightRequest = { plan: diff, accepted: accepted?.entries ?? [], desired, live, joined, blockedMoves: blocked };
  const limits = checkLimits(prepared, states, planned, accepted);
  return { prepared, diff, limits, schedule, writes, snapshots, differences, accepted, preflightRequest, diagnostics };
}

/**
 * Completes a draft: schedule → assess → guard. Without a value when the preflight finds errors, or a rule that cannot work
 * would be written.
 */
export function reviewPlan(
  draft: PlanDraft,
  { preflight, policies, rules, maxRisk, request, audit, proposed }: ReviewInput,
): Checked<ReviewedPlan> {
  const { prepared, diff, limits, snapshots } = draft;
  const { input, desired } = prepared;
  const { registry, allowed } = input;
  // The preflight checks writes, and a preview has none.
  const refused = input.previewOnly === true ? [] : preflight.diagnostics;
  if (hasErrors(refused)) return { diagnostics: sortDiagnostics([...draft.diagnostics, ...refused]) };
  const { indivisible } = preflight;
  const schedule = indivisible.size === 0 ? draft.schedule : orderWrites(draft.writes, { indivisible });
  const assessment = assess(prepared, draft, {
    policies,
    rules,
    proposed,
    inherited: preflight.inherited,
    accepted: { drift: draft.accepted, audit },
  });
  if (hasErrors(assessment.ruleDiagnostics)) return { diagnostics: assessment.ruleDiagnostics };
  const guarded = guard(
    {
      desired,
      diff,
      schedule,
      assessment,
      limits,
      accessRefusals: [...accessRefusals(prepared, draft), ...newAccessRefusals(prepared, draft, sinceStart(draft))],
    },
    { preflight, maxRisk, allowed },
  );
  const { start } = prepared;
  const manifests = { ...desired, resources: input.desired.resources };
  const labeled = start === undefined ? guarded : labelOwn(guarded, { head: manifests, start, registry });
  const plan = request === undefined ? labeled : { ...labeled, request };
  const diagnostics = [...draft.diagnostics, ...refused, ...assessment.diagnostics, ...assessment.ruleDiagnostics];
  return { value: { plan, steps: schedule.steps, snapshots }, diagnostics };
}

/**
 * Returns what new access is measured against beside the gateway: the last apply; without a record, which whoever can push can delete, the
 * manifests that the proposal started from.
 */
function sinceStart({ prepared, accepted, ...planned }: PlanDraft): AcceptedDiff | undefined {
  const { base, start, input } = prepared;
  if (base !== undefined || start === undefined || input.limits.newAccess === 'allow') return accepted;
  return findAccepted(prepared, planned, startAsBase(start, prepared.desired));
}

/** Orders the writes of an earlier plan for the gateway as it is now. */
export function rescheduleSteps(
  plan: Pick<Plan, 'target' | 'changes' | 'edges' | 'singleWrites'>,
  live: LiveState,
  registry: Registry,
  snapshots?: () => PlanSnapshots,
): readonly Step[] {
  const indivisible = new Map(plan.singleWrites.flatMap(({ id, why }) => (why === undefined ? [] : [[id, why]])));
  return orderWrites(orderInput(plan, live, registry, snapshots), { indivisible }).steps;
}
