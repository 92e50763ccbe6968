import { liveKeyOf } from '../model/plan/plan.ts';
import type { Step } from '../model/plan/schedule.ts';
import { ApiError } from '../model/errors.ts';
import type { LiveResource } from '../model/live.ts';
import type { StepResult } from './outcomes.ts';
import { kindsToRead, type ApplyState } from './apply-state.ts';
import { changesSincePlan, changedFieldText, type ChangedField } from './fingerprint.ts';
import { findExtras, findUnkept, isInSync, requestOf, type SecretLookup } from './request.ts';

/** How often a step is begun again because somebody else wrote between its read and its write. */
const maxAttempts = 3;

/** Takes one step: reads the object again, looks whether it still is what the plan saw, and writes. */
export async function executeStep(step: Step, progress: ApplyState): Promise<StepResult> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await attemptStep(step, progress);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'api/moved' || attempt === maxAttempts) throw error;
    }
  }
}

async function attemptStep(step: Step, progress: ApplyState): Promise<StepResult> {
  const place = progress.known.get(liveKeyOf(step.change));
  const fresh = place === undefined ? undefined : await progress.input.gateway.readOne(place);
  if (step.part === 'delete') return fresh === undefined ? { status: 'already' } : remove(step, fresh, progress);
  const creates = step.change.action === 'create' && step.part !== 'open';
  if (fresh === undefined)
    return creates ? create(step, progress) : failStep('apply/gone', 'it is no longer on the gateway, so there is nothing to change');
  return creates ? acceptExisting(step, fresh, progress) : update(step, fresh, progress);
}

async function create(step: Step, progress: ApplyState): Promise<StepResult> {
  const { input, known, written } = progress;
  const request = requestOf(step, input.secretOf);
  input.observe({ event: 'write', id: step.change.id, step: step.part, detail: 'create' });
  try {
    const made = await input.gateway.create(request);
    known.set(request.id, { id: request.id, uid: made.uid });
  } catch (error) {
    const found = error instanceof ApiError && error.code === 'api/conflict' ? await findByKey(step, progress) : undefined;
    if (found === undefined) throw error;
    return acceptExisting(step, found, progress);
  }
  written.push({ step, id: request.id, request });
  input.observe({ event: 'written', id: step.change.id, step: step.part });
  return { status: 'done' };
}

/** Deletes an object that still is what the plan saw. */
async function remove(step: Step, fresh: LiveResource, { input, written }: ApplyState): Promise<StepResult> {
  if (fresh.managedBy !== undefined) return failManaged(fresh.managedBy);
  const moved = changesSincePlan(step.change, step.kind, fresh, input.seen?.get(liveKeyOf(step.change)));
  if (moved.length > 0)
    return failStep('apply/moved', `it was changed since it was planned, so it is not deleted: ${changedFieldsText(moved)}`);
  input.observe({ event: 'write', id: step.change.id, step: step.part, detail: 'delete' });
  await input.gateway.remove(fresh);
  written.push({ step, id: fresh.id });
  input.observe({ event: 'written', id: step.change.id, step: step.part });
  return { status: 'done' };
}

/** Looks a new object up by its id: somebody else was quicker. */
async function findByKey(step: Step, { input }: ApplyState): Promise<LiveResource | undefined> {
  const { value } = await input.gateway.readAll(kindsToRead([step.kind]));
  return value?.resources.find((resource) => resource.id === liveKeyOf(step.change));
}

/** Somebody, perhaps an earlier run of this plan, created it: well if it is what we would have made, whole or closed. */
function acceptExisting(step: Step, found: LiveResource, { input, known }: ApplyState): StepResult {
  if (found.managedBy !== undefined) return failManaged(found.managedBy);
  if (!matchesCreation(step, found, input.secretOf))
    return failStep('apply/moved', 'it exists by now, and is not what the plan would create');
  known.set(found.id, found);
  return { status: 'already' };
}

/** Returns whether an object is what a step that creates it would make, as far as that can be seen: whole, or still closed. */
export function matchesCreation(step: Step, found: LiveResource, secretOf: SecretLookup): boolean {
  const forms: readonly Step[] = [step, { ...step, part: 'whole' }];
  return forms.some((form) => {
    const request = requestOf(form, secretOf);
    return findUnkept({ step: form, id: request.id, request }, found).length === 0 && findExtras(request, step.kind, found).length === 0;
  });
}

async function update(step: Step, fresh: LiveResource, { input, written }: ApplyState): Promise<StepResult> {
  if (fresh.managedBy !== undefined) return failManaged(fresh.managedBy);
  const seen = input.seen?.get(liveKeyOf(step.change));
  const moved = step.part === 'name' && seen === undefined ? [] : changesSincePlan(step.change, step.kind, fresh, seen);
  if (moved.length > 0) return failStep('apply/moved', `somebody changed it since it was planned: ${changedFieldsText(moved)}`);
  const request = requestOf(step, input.secretOf, fresh);
  if (isInSync(request, step.kind, fresh)) return { status: 'already' };
  input.observe({ event: 'write', id: step.change.id, step: step.part, detail: 'update' });
  await input.gateway.update(fresh, request);
  written.push({ step, id: request.id, request });
  input.observe({ event: 'written', id: step.change.id, step: step.part });
  return { status: 'done' };
}

function failManaged(by: string): StepResult {
  return failStep('plan/managed', `it is managed by ${by} since the plan was made`);
}

function failStep(code: NonNullable<StepResult['code']>, message: string): StepResult {
  return { status: 'failed', code, message, hint: 'plan again' };
}

function changedFieldsText(moved: readonly ChangedField[]): string {
  return moved.map(changedFieldText).join('; ');
}
