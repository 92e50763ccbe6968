import type { DesiredState } from '../model/desired.ts';
import type { JsonObject } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import type { LiveState } from '../model/live.ts';
import type { Plan } from '../model/plan/plan.ts';
import { renamesOf, withNames } from '../model/plan/renames.ts';
import type { ResourceId } from '../model/resource.ts';
import { createCauseFinder } from './posture/causes.ts';
import { snapshotPlan } from './posture/diff-postures.ts';
import { summarizeProtection, noProtectionChange } from './protection.ts';
import { findRisks } from './risk/risks.ts';

/** The input of the assessment. */
export type AssessInput = {
  readonly desired: DesiredState;
  readonly live: LiveState;
  /** The manifests that were last applied. */
  readonly base: DesiredState | undefined;
  readonly registry: Registry;
};

/** Adds the change of protection and the risks to a plan. */
export function assess(plan: Plan, { desired, live, base: applied, registry }: AssessInput): Plan {
  const base = applied === desired ? undefined : applied;
  if (plan.changes.length === 0 && base === undefined) return { ...plan, protection: noProtectionChange };
  const views = snapshotPlan(plan, live, registry, { desired, base: applied });
  const named = withNames(live, renamesOf(plan.changes));
  const selectorOf = selectors(desired);
  const { byChange, unwritten } = findRisks({ plan, live: named, desired, base, registry, selectorOf, ...views });
  return {
    ...plan,
    changes: plan.changes.map((change) => ({ ...change, risks: byChange.get(change.id) ?? [] })),
    ...(unwritten.length === 0 ? {} : { unwritten }),
    protection: summarizeProtection(plan, views, createCauseFinder(plan, registry, selectorOf)),
  };
}

function selectors({ resources }: DesiredState): (rule: ResourceId) => JsonObject | undefined {
  const byKey = new Map(resources.flatMap(({ key, selector }) => (selector === undefined ? [] : [[key, selector.value] as const])));
  return (rule) => byKey.get(rule);
}
