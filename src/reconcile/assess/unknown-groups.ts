import { rolesIn } from '../../protection/posture/protection-snapshot.ts';
import { type Diagnostic, didYouMean } from '../../model/diagnostic.ts';
import { namedGroups } from '../../model/protection/access-test.ts';
import { seeingAll } from '../../protection/access/effective-access.ts';
import { groupsNamedBy, hidesGroups } from '../../protection/permission/named-groups.ts';
import type { PlanSnapshots } from '../../protection/posture/diff-postures.ts';
import type { Prepared } from '../prepare/prepare.ts';

/**
 * Warns about groups of access tests that neither the manifests nor the gateway know: an expectation of a misspelled group checks nothing. Says
 * nothing where a part of them is not read, or the gateway does not show its list of groups; without such a list, its objects decide.
 */
export function unknownGroups(
  { desired, live }: Prepared,
  { before, after }: Pick<PlanSnapshots, 'before' | 'after'>,
): readonly Diagnostic[] {
  const { accessTests = [], resources, unselected } = desired;
  if (accessTests.length === 0 || unselected.length > 0 || live.groups === 'unreadable' || hidesGroups(before)) return [];
  const objects = [...before.resources.values(), ...after.resources.values(), ...(live.namesakes ?? []), ...resources];
  const ended = resources.flatMap(({ grants = [] }) => grants.map(({ group }) => group));
  const known = new Set([...groupsNamedBy(objects), ...ended, ...(live.groups ?? []), ...seeingAll([{ roles: rolesIn(before) }])]);
  return accessTests.flatMap(({ name, expectations }) => {
    const places = new Map(expectations.toReversed().flatMap((one) => namedGroups(one).map((group) => [group, one.at] as const)));
    return [...places].flatMap(([group, at]): readonly Diagnostic[] => {
      if (known.has(group)) return [];
      const hint = didYouMean(group, [...known]) ?? 'correct the name, or create the group; until then it has only what everybody has';
      const message = `unknown group "${group}" in access test ${name}: neither the manifests nor the gateway name it`;
      return [{ code: 'plan/unknown-group', severity: 'warning', message, hint, at }];
    });
  });
}
