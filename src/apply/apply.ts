import { ApiError, AppError } from '../model/errors.ts';
import type { ApplyResult, Outcome, OutcomeStatus } from '../model/result/outcome.ts';
import { type Change, renamesOf, withNames } from '../model/plan/plan.ts';
import type { ResourceId } from '../model/resource.ts';
import { stepKeyText, type Step, type StepPart } from '../model/plan/schedule.ts';
import {
  type ApplyInput,
  type ApplyState,
  executeStep,
  haltReason,
  kindsToCompare,
  skippedAfter,
  startWrite,
  type StepResult,
} from './execute-step.ts';
import { accessRowsOf } from '../model/plan/access-rows.ts';
import { type LiveState, liveById } from '../model/live.ts';
import { limitConcurrency, runPool } from '../model/concurrency.ts';
import { findUnkept, type WrittenStep } from './request.ts';

/** Executes the steps of a plan round by round, and returns the outcome of each change. A failed change does not throw. */
export async function apply(input: ApplyInput): Promise<ApplyResult> {
  const { steps } = input;
  const renames = renamesOf(input.plan.changes);
  const state: ApplyState = {
    input,
    results: new Map(),
    known: new Map(withNames(input.live, renames).resources.map((resource) => [resource.id, resource])),
    listed: renames.size === 0 ? liveById(input.live.resources) : new Map(),
    checksVersions: undefined,
    secretVersions: new Map(),
    reread: new Map(),
    written: [],
    roundReads: new Map(),
    switched: new Set(),
    writing: limitConcurrency(input.concurrency),
    unswitched: undefined,
    stopped: undefined,
    unavailable: 0,
  };
  const { target, seals, allowed } = input.plan;
  input.observe({ event: 'begin', target: { name: target.name, url: target.url }, digest: seals.digest, writes: steps.length, allowed });
  await switchAccessOn(state);
  for (let next = 0; next < steps.length;) {
    const [first] = steps.slice(next, next + 1);
    const together = steps.slice(next).filter(({ round }) => round === first?.round);
    await runRound(together, state);
    next += together.length;
  }
  const outcomes = outcomesOf(steps, state);
  input.observe({ event: 'end', counts: countsByStatus(outcomes) });
  return {
    outcomes,
    interrupted: [...state.results.values()].some(({ result }) => result.status === 'interrupted'),
    uids: new Map([...state.known].map(([id, { uid }]) => [id, uid])),
    secretVersions: state.secretVersions,
    reread: [...state.reread.values()],
  };
}

/** Switches access control on before all steps, if the plan does; without it, no step may start. */
async function switchAccessOn(state: ApplyState): Promise<void> {
  const { input, switched } = state;
  const planned = accessRowsOf(input.plan.changes, input.live);
  if (planned === undefined || haltReason(state) !== undefined) return;
  const ids = planned.rows.map(({ change }) => change.id);
  try {
    await startWrite(ids, 'whole', 'update', input);
    await input.gateway.switchRowsOn(planned.kind, planned.rows);
    for (const id of ids) {
      switched.add(id);
      input.observe({ event: 'written', id, step: 'whole' });
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    state.unswitched = { error, ids: planned.stating };
  }
}

function outcomesOf(steps: readonly Step[], { input, results }: ApplyState): readonly Outcome[] {
  const taken = new Map<ResourceId, readonly ExecutedStep[]>();
  for (const { key, part, change } of steps) {
    const result = results.get(stepKeyText(key))?.result;
    if (result !== undefined) taken.set(change.id, [...(taken.get(change.id) ?? []), { part, result }]);
  }
  return input.plan.changes.map((change) => outcomeOf(change, taken.get(change.id) ?? []));
}

async function runRound(steps: readonly Step[], state: ApplyState): Promise<void> {
  const { input, results, written } = state;
  written.length = 0;
  state.roundReads.clear();
  // While some steps write, others read before their write or after it.
  await runPool(steps, 3 * input.concurrency, async (step) => {
    const result = skipReason(step, state) ?? (await executeSafely(step, state));
    const id = step.change.id;
    results.set(stepKeyText(step.key), { change: id, result });
    const { status, message = '' } = result;
    if (status === 'failed' || status === 'skipped') input.observe({ event: status, id, step: step.part, detail: message });
  });
  if (written.length > 0) await readBack(state);
}

/** Returns the result of a step that must not start; undefined if it may. */
function skipReason({ needs, change }: Step, state: ApplyState): StepResult | undefined {
  const { results } = state;
  const halted = haltReason(state, change.id);
  if (halted?.status === 'interrupted') return halted;
  const failed = needs.find((need) => !isSuccess(results.get(stepKeyText(need))?.result));
  if (failed !== undefined) {
    const because = results.get(stepKeyText(failed))?.result;
    // Of a chain of steps, the first that failed is named.
    if (because?.code === 'apply/need-failed') return because;
    return { status: 'skipped', code: 'apply/need-failed', message: `it depends on ${failed.id}: ${because?.message}` };
  }
  return halted;
}

async function executeSafely(step: Step, state: ApplyState): Promise<StepResult> {
  try {
    const result = await executeStep(step, state);
    state.unavailable = 0;
    return result;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'apply/lease-lost') {
      state.stopped = error;
      return skippedAfter(error);
    }
    if (error instanceof ApiError && isLost(error, state)) state.stopped = error;
    return { status: 'failed', code: error.code, message: error.message, hint: error.hint };
  }
}

/** How many steps fail before a gateway that is unavailable is not asked for the others: one may fail alone, and each has many attempts. */
const mostUnavailable = 3;

/** Returns whether no other step can succeed after the error. */
function isLost({ code, failure }: ApiError, state: ApplyState): boolean {
  state.unavailable = failure.status === 503 ? state.unavailable + 1 : 0;
  return code === 'api/unreachable' || code === 'api/unauthorized' || state.unavailable >= mostUnavailable;
}

/** Reads in bulk what the round wrote. An object that differs from its write fails, and the steps that need it are skipped. */
async function readBack(state: ApplyState): Promise<void> {
  const { input, results, written } = state;
  const read = await readWritten(state);
  const verify = createVerifier(read);
  noteReread(read, state);
  for (const one of written) {
    const { change, key, part } = one.step;
    const wrong = verify(one);
    if (wrong !== undefined) results.set(stepKeyText(key), { change: change.id, result: wrong });
    const event = wrong === undefined ? { event: 'verified' as const } : { event: 'failed' as const, detail: wrong.message };
    input.observe({ ...event, id: change.id, step: part });
  }
}

/** Reads the live state, or returns the reason why that is not possible. */
async function readWritten(state: ApplyState): Promise<LiveState | string> {
  const { input, written } = state;
  const kinds = written.map(({ step }) => step.kind);
  try {
    const { value } = await input.gateway.readAll(kindsToCompare(kinds, input.registry));
    return value ?? 'the listing is incomplete';
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    state.stopped = error;
    return error.message;
  }
}

/** Keeps the written objects as a bulk read shows them, with their secrets where their version is still that of the write. */
function noteReread(read: LiveState | string, { written, reread }: ApplyState): void {
  if (typeof read === 'string') return;
  const found = liveById(read.resources);
  for (const { id } of written) {
    const live = found.get(id);
    if (live?.secretsApart === true) reread.set(id, live);
    else reread.delete(id);
  }
}

type FailedStep = StepResult & { readonly message: string };

function createVerifier(read: LiveState | string): (written: WrittenStep) => FailedStep | undefined {
  if (typeof read === 'string') return () => failedStep('apply/unverified', `written, but reading it back failed: ${read}`);
  const found = liveById(read.resources);
  return (written) => {
    const wrong = findUnkept(written, found.get(written.id));
    return wrong.length === 0
      ? undefined
      : failedStep('apply/not-kept', `the gateway accepted the write but does not return it: ${wrong.join(', ')}`);
  };
}

function failedStep(code: NonNullable<StepResult['code']>, message: string): FailedStep {
  return { status: 'failed', code, message, hint: 'run plan to see the live state' };
}

/** A step and its result. */
export type ExecutedStep = { readonly part: StepPart; readonly result: StepResult };

/** Ranks of statuses; the worst status has the lowest rank. */
const ranks: Readonly<Record<OutcomeStatus, number>> = { failed: 0, blocked: 1, held: 2, interrupted: 3, skipped: 4, done: 5, already: 6 };

/** Combines the results of a change's steps, in their order: the worst result decides. A blocked or held change has no steps. */
export function outcomeOf({ id, action, managedBy, error }: Change, steps: readonly ExecutedStep[]): Outcome {
  if (error !== undefined) return { id, action, status: 'blocked', ...error };
  if (action === 'blocked') {
    return { id, action, status: 'blocked', code: 'plan/managed', message: `managed by ${managedBy ?? 'another manager'}` };
  }
  if (action === 'held') return { id, action, status: 'held', code: 'plan/held', message: 'drift held: tightened outside Ostiary' };
  const results = steps.map((step) => step.result);
  const worst = results.reduce((left, right) => (ranks[right.status] < ranks[left.status] ? right : left));
  const [first] = steps;
  if (first === undefined || !isSuccess(first.result) || isSuccess(worst)) return { id, action, ...worst };
  return { id, action, ...worst, begun: true, message: begunMessage(action, first, worst) };
}

/** Returns what an unfinished change has done, and why the rest is missing. */
function begunMessage(action: Change['action'], first: ExecutedStep, { status, message = status }: StepResult): string {
  if (first.part === 'close') {
    const rest = action === 'delete' ? 'not deleted' : 'not opened again';
    return `closed, ${rest}: ${status === 'interrupted' ? 'interrupted' : message}`;
  }
  if (first.part !== 'closed') {
    if (status === 'interrupted') return 'first of two writes done, second not started: interrupted';
    return `first of two writes done, second ${status === 'failed' ? 'failed' : 'not started'}: ${message}`;
  }
  // An object that existed before may have been opened since.
  const closed = first.result.status === 'done' ? 'created, still closed' : 'already exists, may still be closed';
  if (status === 'interrupted') return `${closed}: interrupted before opening`;
  return status === 'failed' ? `created closed, opening failed: ${message}` : `${closed}: ${message}`;
}

/** Counts the outcomes by status. */
export function countsByStatus(outcomes: readonly Outcome[]): Readonly<Record<OutcomeStatus, number>> {
  const counts = { done: 0, already: 0, failed: 0, skipped: 0, blocked: 0, held: 0, interrupted: 0 };
  for (const { status } of outcomes) counts[status] += 1;
  return counts;
}

/** Returns whether steps that need this one may start. */
export function isSuccess(result: StepResult | undefined): boolean {
  return result?.status === 'done' || result?.status === 'already';
}
