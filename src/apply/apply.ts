import { ApiError, AppError } from '../model/errors.ts';
import type { Kind } from '../model/kind.ts';
import type { LiveState } from '../model/live.ts';
import type { ApplyResult } from '../model/outcome.ts';
import { isSuccess, outcomeOf, type StepResult } from './outcomes.ts';
import { runPool } from './pool.ts';
import type { ApplyInput, Progress } from './progress.ts';
import { stepsOf, type Step } from './steps.ts';
import { takeStep } from './take.ts';
import { unkept } from './verify.ts';

/** Carries out a plan, stage by stage, and tells what became of every change; a failing change never throws. */
export async function apply(input: ApplyInput): Promise<ApplyResult> {
  const steps = stepsOf(input.plan, input.live, input.registry);
  const progress: Progress = {
    input,
    results: new Map(),
    known: new Map(input.live.resources.map((resource) => [resource.id, resource])),
    written: [],
    stopped: undefined,
  };
  input.observe({ event: 'begin', detail: `plan ${input.plan.digest}, ${steps.length} writes` });
  for (const stage of new Set(steps.map((step) => step.stage))) {
    await runStage(
      steps.filter((step) => step.stage === stage),
      progress,
    );
  }
  const outcomes = input.plan.changes.map((change) => outcomeOf(change, steps, progress.results));
  input.observe({ event: 'end', detail: outcomes.map((outcome) => outcome.status).join(' ') });
  return { outcomes, interrupted: input.signal.aborted };
}

async function runStage(steps: readonly Step[], progress: Progress): Promise<void> {
  progress.written.length = 0;
  await runPool(steps, progress.input.concurrency, async (step) => {
    const result = withheld(step, progress) ?? (await attempt(step, progress));
    progress.results.set(step.key, result);
    if (result.status === 'failed')
      progress.input.observe({ event: 'failed', id: step.change.id, step: step.part, detail: result.message ?? '' });
    if (result.status === 'skipped') progress.input.observe({ event: 'skipped', id: step.change.id, step: step.part });
  });
  if (progress.written.length > 0) await readBack(progress);
}

/** Why a step is not begun at all, if it is not. */
function withheld(step: Step, { input, results, stopped }: Progress): StepResult | undefined {
  if (input.signal.aborted) return { status: 'interrupted', code: 'apply/interrupted', message: 'interrupted before it began' };
  const failed = step.needs.find((need) => !isSuccess(results.get(need)));
  if (failed !== undefined)
    return { status: 'skipped', code: 'apply/need-failed', message: `${failed.replace(/#(early|open)$/, '')} must be done first` };
  return stopped === undefined ? undefined : { status: 'skipped', code: 'apply/gateway-lost', message: `not begun: ${stopped.message}` };
}

async function attempt(step: Step, progress: Progress): Promise<StepResult> {
  try {
    return await takeStep(step, progress);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error instanceof ApiError && (error.code === 'api/unreachable' || error.code === 'api/unauthorized')) progress.stopped = error;
    return { status: 'failed', code: codeOf(error), message: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) };
  }
}

/** Reads in bulk what the stage wrote; an object that is not as written fails, and with it what needs it. */
async function readBack(progress: Progress): Promise<void> {
  const { input, results, written } = progress;
  const kinds = [...new Set(written.flatMap(({ kind }) => [kind.name, ...otherEnds(kind)]))].toSorted();
  let state: LiveState | undefined;
  let reason = 'the list could not be proven whole';
  try {
    state = (await input.gateway.readAll(kinds)).value;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    reason = error.message;
    progress.stopped = error;
  }
  const found = new Map(state?.resources.map((resource) => [resource.id, resource]));
  for (const one of written) {
    const { step } = one;
    const wrong = state === undefined ? undefined : unkept(one, input.plan.edges, found.get(one.request.id));
    if (wrong?.length === 0) {
      input.observe({ event: 'verified', id: step.change.id, step: step.part });
      continue;
    }
    const message =
      wrong === undefined
        ? `written, but it could not be read back: ${reason}`
        : `the gateway took the write, yet does not show it: ${wrong.join(', ')}`;
    results.set(step.key, {
      status: 'failed',
      code: wrong === undefined ? 'apply/unverified' : 'apply/not-kept',
      message,
      hint: 'run plan again to see what is live',
    });
    input.observe({ event: 'failed', id: step.change.id, step: step.part, detail: message });
  }
}

/** The kinds at the other ends of a kind's edges: their lists tell what an edge's id is called. */
function otherEnds(kind: Kind): readonly string[] {
  return kind.fields.flatMap((field) => (field.edge === undefined || field.refers === undefined ? [] : [field.refers]));
}

function codeOf(error: AppError): `${string}/${string}` {
  const [area, ...reason] = error.code.split('/');
  return `${area ?? 'apply'}/${reason.join('/')}`;
}
