import { AppError } from '../model/errors.ts';
import { type LiveState, liveById } from '../model/live.ts';
import { stepKeyText } from '../model/plan/schedule.ts';
import type { StepResult } from './outcomes.ts';
import { kindsToRead, type ApplyState } from './apply-state.ts';
import { findUnkept, type WrittenStep } from './request.ts';

/** Reads in bulk what the stage wrote. An object that differs from its write fails, and the steps that need it are skipped. */
export async function readBack(state: ApplyState): Promise<void> {
  const { input, results, written } = state;
  const verify = createVerifier(await readWritten(state));
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
  try {
    const { value } = await input.gateway.readAll(kindsToRead(written.map(({ step }) => step.kind)));
    return value ?? 'the list could not be proven whole';
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    state.stopped = error;
    return error.message;
  }
}

type FailedStep = StepResult & { readonly message: string };

function createVerifier(read: LiveState | string): (written: WrittenStep) => FailedStep | undefined {
  if (typeof read === 'string') return () => failedStep('apply/unverified', `written, but it could not be read back: ${read}`);
  const found = liveById(read.resources);
  return (written) => {
    const wrong = findUnkept(written, found.get(written.id));
    return wrong.length === 0
      ? undefined
      : failedStep('apply/not-kept', `the gateway took the write, yet does not show it: ${wrong.join(', ')}`);
  };
}

function failedStep(code: NonNullable<StepResult['code']>, message: string): FailedStep {
  return { status: 'failed', code, message, hint: 'run plan again to see what is live' };
}
