import type { Decider } from '../../model/protection/permission.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { AspectDifference } from '../compare/compare-aspects.ts';

/** A connection whose lists let more tools through than before, or may do so, and what changes them. */
export type ToolGain = { readonly connection: ResourceId; readonly isUnclear: boolean; readonly causes: readonly Decider[] };

/** Finds the connections by which people can call more tools than before, or the same without an approval. */
export function toolGains(aspects: readonly AspectDifference[]): readonly ToolGain[] {
  return aspects.flatMap(({ part, causes: { more, unclear }, alike }): readonly ToolGain[] => {
    const causes = more ?? unclear;
    if (part !== 'tools' || causes === undefined) return [];
    return alike.map((connection) => ({ connection, isUnclear: more === undefined, causes }));
  });
}
