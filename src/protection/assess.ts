import type { DesiredState } from '../model/desired.ts';
import type { JsonObject } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import type { LiveState } from '../model/live.ts';
import { type AssessedChange, type Diff, renamesOf, withNames } from '../model/plan/plan.ts';
import type { UnwrittenRisks } from '../model/plan/risk.ts';
import type { Protection } from '../model/protection/protection.ts';
import type { ResourceId } from '../model/resource.ts';
import { createCauseFinder } from './posture/causes.ts';
import { snapshotPlan } from './posture/diff-postures.ts';
import { summarizeProtection, noProtectionChange } from './protection.ts';
import { findRisks } from './risk/risks.ts';

/** What the effect of a plan is computed from. */
export type AssessInput = {
  readonly desired: DesiredState;
  readonly live: LiveState;
  /** The manifests that were last applied. */
  readonly base: DesiredState | undefined;
  readonly registry: Registry;
};

/** The effect of a plan on people: the risks of each change, and the connections whose protection changes. */
export type ProtectionAssessment = {
  readonly changes: readonly AssessedChange[];
  readonly unwritten: readonly UnwrittenRisks[];
  readonly protection: Protection;
};

/** Assesses the effect of changes and edges on the protection of connections. */
export function assessProtection(
  diff: Pick<Diff, 'target' | 'changes' | 'edges'>,
  { desired, live, base: applied, registry }: AssessInput,
): ProtectionAssessment {
  const base = applied === desired ? undefined : applied;
  if (diff.changes.length === 0 && base === undefined) return { changes: [], unwritten: [], protection: noProtectionChange };
  const snapshots = snapshotPlan(diff, live, registry, { desired, base: applied });
  const known = withNames(live, renamesOf(diff.changes));
  const selectorOf = selectors(desired);
  const { byChange, unwritten } = findRisks({ plan: diff, live: known, desired, base, registry, selectorOf, ...snapshots });
  return {
    changes: diff.changes.map((change) => ({ ...change, risks: byChange.get(change.id) ?? [] })),
    unwritten,
    protection: summarizeProtection(diff, snapshots, createCauseFinder(diff, registry, selectorOf)),
  };
}

function selectors({ resources }: DesiredState): (rule: ResourceId) => JsonObject | undefined {
  const byKey = new Map(resources.flatMap(({ key, selector }) => (selector === undefined ? [] : [[key, selector.value] as const])));
  return (rule) => byKey.get(rule);
}
