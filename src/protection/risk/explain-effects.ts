import type { ControlType } from '../../model/protection/protection.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { ProtectionEffect } from '../controls/compare-protection.ts';
import type { ChangeEffects } from './contributions.ts';
import type { Reason } from './reasons.ts';
import { generalRisk } from './risk-codes.ts';

/** A reason with the effects that it explains, and the connections that have them; without effects it changes nothing. */
export type ExplainedReason = { readonly reason: Reason; readonly effects: ReadonlyMap<ProtectionEffect, ReadonlySet<ResourceId>> };

/**
 * Explains each effect of a change by the reasons with the same usual class, or else by a reason of the same control type that
 * explains nothing yet. An effect without any reason has a code of its own, so none is left out.
 */
export function explainEffects(reasons: readonly Reason[], effects: ChangeEffects | undefined): readonly ExplainedReason[] {
  const explained = new Map(reasons.map((reason) => [reason, new Map<ProtectionEffect, Set<ResourceId>>()]));
  for (const [aspect, byEffect] of effects ?? []) {
    const candidates = reasons.filter(({ aspects }) => aspects.includes(aspect));
    const idle = candidates.filter((reason) => ![...byEffect.keys()].some((effect) => isUsual(reason, effect)));
    for (const [effect, connections] of byEffect) {
      const affectedBy = ({ connections: own }: Reason): readonly ResourceId[] =>
        own === undefined ? [...connections] : [...new Set(own)].filter((id) => connections.has(id));
      const able = candidates.filter((reason) => affectedBy(reason).length > 0);
      const usual = able.filter((reason) => isUsual(reason, effect));
      const unused = able.filter((reason) => idle.includes(reason));
      const chosen = usual.length > 0 ? usual : unused.length > 0 ? unused : able.slice(0, 1);
      for (const reason of chosen.length > 0 ? chosen : [combined(aspect)]) {
        const own = explained.get(reason) ?? new Map<ProtectionEffect, Set<ResourceId>>();
        explained.set(reason, own.set(effect, new Set([...(own.get(effect) ?? []), ...affectedBy(reason)])));
      }
    }
  }
  return [...explained].map(([reason, own]) => ({ reason, effects: own }));
}

function isUsual({ code }: Reason, effect: ProtectionEffect): boolean {
  return code.class === effect;
}

/** Returns the reason of an effect that no single field explains. */
function combined(aspect: ControlType): Reason {
  return { code: generalRisk('combined-effect'), fields: [], aspects: [aspect] };
}
