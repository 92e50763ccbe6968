import { apply } from '../../src/apply/apply.ts';
import { registry } from '../../src/kinds/index.ts';
import type { BaseState, DesiredState } from '../../src/model/desired.ts';
import type { Limits } from '../../src/model/config.ts';
import type { Gateway } from '../../src/model/gateway.ts';
import type { Checked } from '../../src/model/diagnostic.ts';
import type { LiveState } from '../../src/model/live.ts';
import type { ApplyEvent, ApplyResult } from '../../src/model/result/outcome.ts';
import type { Plan } from '../../src/model/plan/plan.ts';
import { reconcile, rescheduleSteps, type ReviewInput } from '../../src/reconcile/reconcile.ts';
import type { ReconcileInput } from '../../src/reconcile/prepare/prepare.ts';

export const noLimits: Limits = { from: 10, updates: 1, deletes: 1, protections: 1, newAccess: 'allow' };
export const testTarget = { name: 'test', url: 'http://memory.test', dialect: 'interface' } as const;

/** The input of a plan; a test gives the manifests and the live state, and optionally the rest. */
export type TestInput = Pick<ReconcileInput, 'desired' | 'live'> & Partial<ReconcileInput>;

/** Completes the input of a plan: no base and no limits. */
export function inputOf(given: TestInput): ReconcileInput {
  return { registry, target: testTarget, base: undefined, limits: noLimits, allowed: [], ...given };
}

/** Completes the review of a draft: a preflight without findings, no policies, no risk limit. */
export function reviewOf(given: Partial<ReviewInput> = {}): ReviewInput {
  const preflight = { diagnostics: [], refusals: [], indivisible: new Map(), references: [] };
  return { preflight, policies: { rules: [], today: '2026-11-22' }, rules: undefined, ...given };
}

/** Runs the pipeline with the defaults of tests. */
export function runReconcile(given: TestInput, review: Partial<ReviewInput> = {}): Checked<Plan> {
  const { value, diagnostics } = reconcile(inputOf(given), reviewOf(review));
  return value === undefined ? { diagnostics } : { value: value.plan, diagnostics };
}

/** Reads the gateway and plans; throws where planning finds an error. */
export async function planAgainst(
  gateway: Gateway,
  desired: DesiredState,
  more: Partial<ReconcileInput> = {},
): Promise<{ readonly plan: Plan; readonly live: LiveState }> {
  const { value: live } = await gateway.readAll([...registry.keys()]);
  if (live === undefined) throw new Error('incomplete listing');
  return { plan: planFrom(runReconcile({ desired, live, ...more })), live };
}

/** Plans without limits, and returns the diagnostics too. */
export function checkedPlan(desired: DesiredState, live: LiveState, base?: BaseState): Checked<Plan> {
  return runReconcile({ desired, live, base });
}

/** Plans without limits; throws where planning finds an error. */
export function planOf(desired: DesiredState, live: LiveState, base?: BaseState): Plan {
  return planFrom(checkedPlan(desired, live, base));
}

function planFrom(checked: Checked<Plan>): Plan {
  if (checked.value === undefined) throw new Error(checked.diagnostics.map(({ code, message }) => `${code} ${message}`).join('\n'));
  return checked.value;
}

export type ApplyOutcome = {
  readonly gateway: Gateway;
  readonly plan: Plan;
  readonly live: LiveState;
  readonly desired: DesiredState;
  readonly concurrency?: number;
  readonly observe?: (event: ApplyEvent) => void;
};

/** Applies a plan with the secrets of the desired state. */
export async function applyPlan({
  gateway,
  plan: planned,
  live,
  desired,
  concurrency = 1,
  observe = () => undefined,
}: ApplyOutcome): Promise<ApplyResult> {
  const secrets = new Map(desired.resources.map((resource) => [resource.id, resource.secrets]));
  return apply({
    plan: planned,
    live,
    steps: rescheduleSteps(planned, live, registry),
    gateway,
    registry,
    concurrency,
    signal: new AbortController().signal,
    observe,
    secretOf: (id, path) => {
      const secret = secrets.get(id)?.[path];
      return secret?.state === 'value' ? secret : undefined;
    },
  });
}
