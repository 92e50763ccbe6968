import type { Decider } from '../../model/protection/permission.ts';
import type { ResourceId } from '../../model/resource.ts';
import { type Compared } from '../compare/compare.ts';
import { compareAspects } from '../compare/compare-aspects.ts';
import { createComparisonCache } from '../controls/compare-protection.ts';
import { readPostures } from '../posture/posture.ts';

/** A connection whose lists let more tools through than before, or may do so, and what changes them. */
export type ToolGain = { readonly connection: ResourceId; readonly isUnclear: boolean; readonly causes: readonly Decider[] };

/** Finds the connections by which people can call more tools than before, or the same without an approval. */
export function toolGains(states: Compared, connections: readonly ResourceId[]): readonly ToolGain[] {
  const [postureBefore, postureAfter] = [readPostures(states.before), readPostures(states.after)];
  const hasLists = (id: ResourceId): boolean =>
    [postureBefore(states.formerOf(id) ?? id), postureAfter(id)].some((posture) => (posture?.controls.tools ?? []).length > 0);
  const differences = compareAspects(
    { ...states, postureBefore, postureAfter, compared: createComparisonCache() },
    connections.filter(hasLists),
  );
  return differences.flatMap(({ part, causes: { more, unclear }, alike }): readonly ToolGain[] => {
    const causes = more ?? unclear;
    if (part !== 'tools' || causes === undefined) return [];
    return alike.map((connection) => ({ connection, isUnclear: more === undefined, causes }));
  });
}
