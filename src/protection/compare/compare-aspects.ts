import { groupBy } from '../../model/collections.ts';
import { pointer } from '../../model/pointer.ts';
import type { Decider } from '../../model/protection/permission.ts';
import type { ControlType } from '../../model/protection/protection.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { type AccessDirection, accessDirections } from '../access/effective-access.ts';
import type { Difference } from '../access/terms.ts';
import { compareProtection, type ControlDifference } from '../controls/compare-protection.ts';
import type { Control } from '../controls/control-row.ts';
import { controlRow } from '../controls/control-table.ts';
import { isEnforcedControl, isSameEnforcement } from '../controls/enforcement.ts';
import { attaching } from '../effective/deciders.ts';
import { effective } from '../effective/effective.ts';
import { firstsOfAlike } from '../posture/alike-connections.ts';
import { postureIn } from '../posture/posture.ts';
import type { ProtectionSnapshot } from '../posture/protection-snapshot.ts';
import { type Compared, differing } from './compare.ts';

/** One control that differs on a connection, whoever uses it, and in the same way on others: their own fields and edges are causes as its own are. */
export type AspectDifference = Pick<Difference, 'connection' | 'former' | 'causes'> & {
  readonly part: ControlType;
  /** What is lost and gained. */
  readonly compared: ControlDifference;
  /** What decides the controls that no session enforces: they make no difference to anybody, and are named. */
  readonly idle: readonly Decider[];
  /** The connection, and those that differ as it does. */
  readonly alike: readonly ResourceId[];
};

/** Compares what protects connections from whoever uses them in two states. A connection that is new or gone has no order. */
export function compareAspects(states: Compared, connections: readonly ResourceId[]): readonly AspectDifference[] {
  const { before, after, formerOf } = states;
  const isOnBoth = (id: ResourceId): boolean => before.resources.has(id) && after.resources.has(id);
  const firsts = firstsOfAlike(
    connections.filter((id) => formerOf(id) === id && isOnBoth(id)),
    states,
  );
  const alikeOf = groupBy(firsts.keys(), (id) => firsts.get(id));
  return connections.flatMap((id): readonly AspectDifference[] => {
    const former = formerOf(id);
    if ((firsts.get(id) ?? id) !== id) return [];
    const [had, has] = [former === undefined ? undefined : postureIn(before, former), postureIn(after, id)];
    if (had === undefined || has === undefined || former === undefined) return [];
    return compareProtection(had, has).map((compared) => {
      const { control, lost, gained, incomparable, coexisting, unenforced } = compared;
      const isAlike = !isEnforcedControl(control) || isSameEnforcement(had.enforcement, has.enforcement, control);
      const lists = { more: lost, unclear: incomparable, less: [...gained, ...coexisting] };
      const sides = { ...states, id, former };
      const causesOf = (direction: AccessDirection | 'none', controls: readonly Control[]): readonly Decider[] => {
        const whole: readonly Decider[] = former === id ? [] : [{ id, path: '' }];
        // A rule that only begins to limit weakens nothing, and one that only ends strengthens nothing.
        const limiting = (direction === 'less' ? has : had).rules;
        const known = controls.map(({ rules, ...one }) => ({
          ...one,
          ...(rules && { rules: rules.filter((rule) => direction === 'none' || limiting.has(rule)) }),
        }));
        const by = (some: readonly Control[]): readonly Decider[] =>
          differing(sides, [
            ...decidersOfAspect(before, former, { control, controls: some, isAlike }),
            ...decidersOfAspect(after, id, { control, controls: some, isAlike }),
          ]);
        const found = by(known);
        return [...whole, ...(found.length > 0 ? found : by(controls))];
      };
      const causes = Object.fromEntries(
        accessDirections.flatMap((one) => (lists[one].length === 0 ? [] : [[one, causesOf(one, lists[one])]])),
      );
      const idle = unenforced.length === 0 ? [] : causesOf('none', unenforced);
      return { connection: id, former, part: control, compared, causes, idle, alike: alikeOf.get(id) ?? [id] };
    });
  });
}

type OfAspect = { readonly control: ControlType; readonly controls: readonly Control[]; readonly isAlike: boolean };

/** Lists what decides a control of a connection: the fields of rules, what attaches them, and own fields. */
function decidersOfAspect(state: ProtectionSnapshot, id: ResourceId, { control, controls, isAlike }: OfAspect): readonly Decider[] {
  const value = effective(state, id);
  if (value === undefined) return [];
  const { fields, conditions = [], selects = [] } = controlRow(control);
  const rules = [...new Set(controls.flatMap((one) => one.rules ?? []))];
  const own = (fields[kindOf(id)] ?? []).filter((name) => name !== 'attributes');
  return [
    ...rules.flatMap((rule) => [
      ...attaching(value, rule),
      ...(fields[kindOf(rule)] ?? []).filter((name) => name !== 'attributes').map((name): Decider => ({ id: rule, path: pointer(name) })),
    ]),
    ...[...own, ...selects, ...(isAlike ? [] : conditions)].map((name): Decider => ({ id, path: pointer(name) })),
    ...(control === 'attributes' ? controls.map(({ name }): Decider => ({ id, path: pointer('attributes', name) })) : []),
  ];
}
