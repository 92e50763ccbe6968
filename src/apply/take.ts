import type { WriteRequest } from '../model/gateway.ts';
import type { Kind } from '../model/kind.ts';
import type { LiveResource } from '../model/live.ts';
import { kindOf } from '../model/resource.ts';
import { keyOf } from './effects.ts';
import type { StepResult } from './outcomes.ts';
import type { Progress } from './progress.ts';
import { isDone, movedField, requestOf, type RequestParts } from './request.ts';
import type { Step } from './steps.ts';
import { unkept } from './verify.ts';

/** Takes one step: reads the object again, looks whether it still is what the plan saw, and writes. */
export async function takeStep(step: Step, progress: Progress): Promise<StepResult> {
  const { input, known } = progress;
  const kind = input.registry.get(kindOf(step.change.id));
  if (kind === undefined) throw new Error(`${step.change.id} is of no known kind`);
  const parts: RequestParts = { step, kind, edges: input.plan.edges, secretOf: input.secretOf };
  const place = known.get(keyOf(step.change));
  const creates = step.change.action === 'create' && step.part !== 'open';
  if (place === undefined) {
    if (!creates) return { status: 'failed', code: 'apply/gone', message: 'it is no longer on the gateway', hint: 'plan again' };
    return create(requestOf(parts, undefined), { step, kind, progress });
  }
  const fresh = await input.gateway.readOne(place);
  if (fresh === undefined) return { status: 'failed', code: 'apply/gone', message: 'it is no longer on the gateway', hint: 'plan again' };
  if (fresh.managedBy !== undefined)
    return { status: 'blocked', code: 'plan/managed', message: `managed by ${fresh.managedBy} since the plan was made` };
  return creates ? existing(parts, fresh) : update(parts, fresh, progress);
}

type Writing = { readonly step: Step; readonly kind: Kind; readonly progress: Progress };

async function create(request: WriteRequest, { step, kind, progress }: Writing): Promise<StepResult> {
  const { input, known, written } = progress;
  input.observe({ event: 'write', id: step.change.id, step: step.part, detail: 'create' });
  const made = await input.gateway.create(request);
  known.set(request.id, { id: request.id, uid: made.uid });
  written.push({ step, kind, request });
  input.observe({ event: 'written', id: step.change.id, step: step.part });
  return { status: 'done' };
}

/** Somebody, perhaps an earlier run of this plan, created it: well if it is what we would have made, whole or closed. */
function existing(parts: RequestParts, fresh: LiveResource): StepResult {
  const forms = [parts.step, { ...parts.step, part: 'whole' as const }];
  const same = forms.some(
    (step) => unkept({ step, kind: parts.kind, request: requestOf({ ...parts, step }, undefined) }, parts.edges, fresh).length === 0,
  );
  if (same) return { status: 'already' };
  return { status: 'failed', code: 'apply/moved', message: 'it exists by now, and is not what the plan would create', hint: 'plan again' };
}

async function update(parts: RequestParts, fresh: LiveResource, progress: Progress): Promise<StepResult> {
  const { step, kind } = parts;
  const { input, written } = progress;
  const moved = movedField(step, kind, fresh);
  if (moved !== undefined) {
    return {
      status: 'failed',
      code: 'apply/moved',
      message: `${moved.path} is neither what it was when planned nor what the plan makes it; somebody changed it since`,
      hint: 'plan again',
    };
  }
  const request = requestOf(parts, fresh);
  if (isDone(request, kind, fresh)) return { status: 'already' };
  input.observe({ event: 'write', id: step.change.id, step: step.part, detail: 'update' });
  await input.gateway.update(fresh, request);
  written.push({ step, kind, request });
  input.observe({ event: 'written', id: step.change.id, step: step.part });
  return { status: 'done' };
}
