import { liveKeyOf } from '../model/plan/plan.ts';
import type { Step } from '../model/plan/schedule.ts';
import { ApiError } from '../model/errors.ts';
import type { LiveResource } from '../model/live.ts';
import type { StepResult } from './outcomes.ts';
import { kindsToRead, type ApplyState } from './apply-state.ts';
import { findDeletionObstacles } from './check-deletion.ts';
import { changesSincePlan, changedFieldText, type ChangedField } from './fingerprint.ts';
import { findExtras, findUnkept, isInSync, requestOf, type SecretLookup } from './request.ts';

/** The limit of attempts when something else writes between the read and the write of a step. */
const maxAttempts = 3;

/** Executes one step: reads the object again, checks that it is still as planned, and writes it. */
export async function executeStep(step: Step, state: ApplyState): Promise<StepResult> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await attemptStep(step, state);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'api/moved' || attempt === maxAttempts) throw error;
    }
  }
}

async function attemptStep(step: Step, state: ApplyState): Promise<StepResult> {
  const known = state.known.get(liveKeyOf(step.change));
  const fresh = known === undefined ? undefined : await state.input.gateway.readOne(known);
  if (step.change.action === 'delete') return fresh === undefined ? { status: 'already' } : closeOrRemove(step, fresh, state);
  const creates = step.change.action === 'create' && step.part !== 'open';
  if (fresh === undefined) return creates ? create(step, state) : failStep('apply/gone', 'it no longer exists on the gateway');
  return creates ? acceptExisting(step, fresh, state) : update(step, fresh, state);
}

async function create(step: Step, state: ApplyState): Promise<StepResult> {
  const { input, known, written } = state;
  const request = requestOf(step, input.secretOf);
  input.observe({ event: 'write', id: step.change.id, step: step.part, detail: 'create' });
  try {
    const created = await input.gateway.create(request);
    known.set(request.id, { id: request.id, uid: created.uid });
    noteSecrets(step, created, state);
  } catch (error) {
    const found = error instanceof ApiError && error.code === 'api/conflict' ? await findByKey(step, state) : undefined;
    if (found === undefined) throw error;
    return acceptExisting(step, found, state);
  }
  written.push({ step, id: request.id, request });
  input.observe({ event: 'written', id: step.change.id, step: step.part });
  return { status: 'done' };
}

function closeOrRemove(step: Step, fresh: LiveResource, state: ApplyState): Promise<StepResult> {
  return step.part === 'delete' ? remove(step, fresh, state) : update(step, fresh, state);
}

/** Deletes an object that is still as planned, with the attachments that the plan names. */
async function remove(step: Step, fresh: LiveResource, state: ApplyState): Promise<StepResult> {
  const { input, written } = state;
  if (fresh.managedBy !== undefined) return failManaged(fresh.managedBy);
  const obstacles = await findDeletionObstacles(step, fresh, state);
  if (obstacles.length > 0) return failStep('apply/moved', `it changed since the plan, so it is not deleted: ${obstacles.join('; ')}`);
  input.observe({ event: 'write', id: step.change.id, step: step.part, detail: 'delete' });
  await input.gateway.remove(fresh);
  written.push({ step, id: fresh.id });
  input.observe({ event: 'written', id: step.change.id, step: step.part });
  return { status: 'done' };
}

/** Reads the object that exists already under the key of a creation. */
async function findByKey(step: Step, { input }: ApplyState): Promise<LiveResource | undefined> {
  const { value } = await input.gateway.readAll(kindsToRead([step.kind]));
  return value?.resources.find((resource) => resource.id === liveKeyOf(step.change));
}

/** Accepts an object that was created since, for example by an earlier run of this plan, if it matches the creation. */
function acceptExisting(step: Step, found: LiveResource, state: ApplyState): StepResult {
  const { input, known } = state;
  if (found.managedBy !== undefined) return failManaged(found.managedBy);
  if (!matchesCreation(step, found, input.secretOf))
    return failStep('apply/moved', 'it was created outside Ostiary since the plan and differs from it');
  known.set(found.id, found);
  noteSecrets(step, found, state);
  return { status: 'already' };
}

/** Returns whether an object is what the creation would make, complete or still closed, as far as the token may read it. */
export function matchesCreation(step: Step, found: LiveResource, secretOf: SecretLookup): boolean {
  const forms: readonly Step[] = [step, { ...step, part: 'whole' }];
  return forms.some((form) => {
    const request = requestOf(form, secretOf);
    return findUnkept({ step: form, id: request.id, request }, found).length === 0 && findExtras(request, step.kind, found).length === 0;
  });
}

async function update(step: Step, fresh: LiveResource, state: ApplyState): Promise<StepResult> {
  const { input, written } = state;
  if (fresh.managedBy !== undefined) return failManaged(fresh.managedBy);
  const seen = input.seen?.get(liveKeyOf(step.change));
  const changed = step.part === 'name' && seen === undefined ? [] : changesSincePlan(step.change, step.kind, fresh, seen);
  if (changed.length > 0) return failStep('apply/moved', `it changed since the plan: ${changedFieldsText(changed)}`);
  const request = requestOf(step, input.secretOf, fresh);
  if (isInSync(request, step.kind, fresh)) {
    if (step.part !== 'close') noteSecrets(step, fresh, state);
    return { status: 'already' };
  }
  input.observe({ event: 'write', id: step.change.id, step: step.part, detail: 'update' });
  const updated = await input.gateway.update(fresh, request);
  noteSecrets(step, updated, state);
  written.push({ step, id: request.id, request });
  input.observe({ event: 'written', id: step.change.id, step: step.part });
  return { status: 'done' };
}

/** Keeps the version of the secrets that the step wrote, or found as it would have written them. */
function noteSecrets({ change }: Step, { uid, secretsVersion: version }: LiveResource, { secretVersions }: ApplyState): void {
  secretVersions.set(liveKeyOf(change), { uid, version });
}

function failManaged(by: string): StepResult {
  return failStep('plan/managed', `it became managed by ${by} since the plan`);
}

function failStep(code: NonNullable<StepResult['code']>, message: string): StepResult {
  return { status: 'failed', code, message, hint: 'plan again' };
}

function changedFieldsText(fields: readonly ChangedField[]): string {
  return fields.map(changedFieldText).join('; ');
}
