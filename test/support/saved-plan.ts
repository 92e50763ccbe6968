import { rescheduleSteps } from '../../src/reconcile/reconcile.ts';
import { fingerprintsOf, plannedObjectsOf } from '../../src/apply/fingerprint.ts';
import { staleRefusals } from '../../src/apply/stale-refusals.ts';
import { apply } from '../../src/apply/apply.ts';
import { secretLookup, readSavedSecrets } from '../../src/commands/planning/read-secrets.ts';
import { registry } from '../../src/kinds/index.ts';
import type { BaseState, DesiredState } from '../../src/model/desired.ts';
import type { Gateway } from '../../src/model/gateway.ts';
import type { LiveState } from '../../src/model/live.ts';
import type { ApplyResult } from '../../src/model/result/outcome.ts';
import { liveKeyOf, type Plan, type Refusal, type SavedPlan } from '../../src/model/plan/plan.ts';
import { secretFactsOf } from '../../src/reconcile/saved-plan/plan-digest.ts';
import { openPlan, sealedPlan } from '../../src/reconcile/saved-plan/saved-plan.ts';
import { toJsonText } from '../../src/report/serialize.ts';
import { planDocument } from '../../src/report/subjects/plan.ts';

type Made = { readonly plan: Plan; readonly live: LiveState; readonly desired: DesiredState; readonly base?: BaseState | undefined };

/** Returns the text of a saved plan. */
export function savedText({ plan, live, desired, base }: Made): string {
  const rest = { tool: '0.1.0', whole: true, repository: [], ...secretFactsOf(desired, base?.desired) };
  return toJsonText(sealedPlan(planDocument([plan]).json(), { ...rest, live: fingerprintsOf(plan, { desired, live, registry }) }));
}

/** Reads the text of a saved plan. Throws when it is not one. */
export function openText(text: string): SavedPlan {
  const { value, diagnostics } = openPlan(text, registry);
  if (value === undefined || 'version' in value) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return value;
}

export type Resumed = { readonly refusals: readonly Refusal[]; readonly result?: ApplyResult };

/** Applies a saved plan to the current live state, unless an object changed. */
export async function resume(text: string, { gateway, desired: declared, concurrency = 1 }: Resuming): Promise<Resumed> {
  const saved = openText(text);
  const { plan } = saved;
  const { value: live } = await gateway.readAll([...registry.keys()]);
  if (live === undefined) throw new Error('incomplete listing');
  const { desired, refusals: unreadable } = await readSavedSecrets(plan, declared, { live, gateway });
  const input = {
    plan,
    live,
    steps: rescheduleSteps(plan, live, registry),
    registry,
    // A run before this one may have written any of them.
    seen: plannedObjectsOf(saved, { desired, registry, begun: new Set(plan.changes.map(liveKeyOf)) }),
    secretOf: secretLookup(desired),
  };
  const refusals = [...unreadable, ...staleRefusals(input)];
  if (refusals.length > 0) return { refusals };
  const signal = new AbortController().signal;
  return { refusals, result: await apply({ ...input, gateway, concurrency, signal, observe: () => undefined }) };
}

type Resuming = { readonly gateway: Gateway; readonly desired: DesiredState; readonly concurrency?: number };
