import { addToGroup } from '../../model/collections.ts';
import { isWritten, liveKeyOf } from '../../model/plan/plan.ts';
import type { Decider } from '../../model/protection/permission.ts';
import type { ControlType } from '../../model/protection/protection.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { tokensOf } from '../../model/pointer.ts';
import type { Difference } from '../access/terms.ts';
import type { PlanCauses } from '../compare/plan-causes.ts';
import { controlsAbout, directionsOf, type PlanDifferences } from '../compare/plan-differences.ts';
import type { AccessDirection } from '../access/effective-access.ts';
import type { AspectDifference } from '../compare/compare-aspects.ts';
import type { ProtectionEffect } from '../controls/compare-protection.ts';
import { ruleControlTypes } from '../controls/control-table.ts';
import { decidersFor } from '../effective/deciders.ts';
import type { PlannedWrites } from '../posture/diff-postures.ts';

/** What a change does to a control of connections, and what of it decides that. */
export type ChangeEffect = {
  readonly control: ControlType;
  readonly effect: ProtectionEffect;
  readonly decider: Decider;
  readonly connections: readonly ResourceId[];
};

/** Lists the effects of each change, by its live key: those of the differences that it causes. What another change compensates has none. */
export function effectsOfChanges(
  plan: PlannedWrites,
  { access, aspects }: PlanDifferences,
  { writersOf }: PlanCauses,
): ReadonlyMap<ResourceId, readonly ChangeEffect[]> {
  const changes = new Map(plan.changes.filter(isWritten).map((change) => [liveKeyOf(change), change]));
  const found = new Map<ResourceId, ChangeEffect[]>();
  // What is new or gone has no order.
  const isOrdered = ({ connection, former }: Difference): boolean => former !== undefined && changes.get(connection)?.action !== 'delete';
  for (const one of [...aspects, ...access.filter(isOrdered)]) {
    const control = controlOf(one);
    const { connection } = one;
    const alike = 'alike' in one ? one.alike : [connection];
    for (const direction of directionsOf(one)) {
      const add = (decider: Decider, connections: readonly ResourceId[]): void => {
        for (const key of writersOf(decider)) addToGroup(found, key, { control, effect: effects[direction], decider, connections });
      };
      const causes = one.causes[direction] ?? [];
      const isOwn = ({ id, edge }: Decider): boolean => id === connection || edge === connection;
      const own = causes.filter(isOwn);
      for (const cause of causes) if (!isOwn(cause)) add(cause, alike);
      for (const id of alike) for (const cause of decidersFor(id, own, connection)) add(cause, [id]);
    }
  }
  return found;
}

const effects: Readonly<Record<AccessDirection, ProtectionEffect>> = { more: 'weakens', less: 'strengthens', unclear: 'unknown' };

/** Returns the control that a difference is about: of approvals, that which decides them. */
function controlOf(one: Difference | AspectDifference): ControlType {
  if (!('people' in one)) return one.part;
  const [control = 'access'] = controlsAbout(one);
  if (one.part !== 'approval') return control;
  const by = Object.values(one.causes).flat();
  if (by.some(({ id }) => ruleControlTypes(kindOf(id)).includes('approval'))) return 'approval';
  return by.length > 0 && by.every(({ path }) => tokensOf(path)[0] === 'force_approve_groups') ? 'force' : 'review';
}
