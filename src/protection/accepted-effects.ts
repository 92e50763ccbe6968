import type { AssessedChange, Risk, UnwrittenRisks } from '../model/plan/plan.ts';
import { liveKeyOf } from '../model/plan/plan.ts';
import type { Protection } from '../model/protection/protection.ts';
import type { ResourceId } from '../model/resource.ts';
import { effectsOfDifferences, type ProtectionEffect } from './controls/compare-protection.ts';
import type { AffectedConnection } from './compare/affected-connections.ts';
import { isControlRisk } from './risk/risk-codes.ts';

/** The effects of a plan that writes: what it states already, accepted drift does not state again. */
export type StatedEffects = {
  readonly changes: readonly AssessedChange[];
  readonly unwritten: readonly UnwrittenRisks[];
  readonly protection: Protection;
};

/**
 * Returns what connections lose by the manifests and not by the plan: the gateway already lost it. A control that the plan weakens,
 * too, is left out, and so is everything that they gain.
 */
export function acceptedLosses(all: readonly AffectedConnection[], { protection }: StatedEffects): readonly AffectedConnection[] {
  const stated = new Map(protection.connections.map((one) => [one.connection, one]));
  return all.flatMap((affected): readonly AffectedConnection[] => {
    const planned = stated.get(affected.change.connection);
    if (affected.change.created === true && affected.change.replaces === undefined) return planned?.created === true ? [] : [affected];
    const differences = affected.differences.flatMap((difference) => {
      const direction = planned?.controls.find(({ control }) => control === difference.control)?.direction;
      const isLost = direction === 'weakens' || direction === 'both';
      const rest = {
        ...difference,
        lost: isLost ? [] : difference.lost,
        incomparable: isLost || direction === 'unknown' ? [] : difference.incomparable,
        gained: [],
        coexisting: [],
        unenforced: [],
      };
      return rest.lost.length + rest.incomparable.length === 0 ? [] : [rest];
    });
    return differences.length === 0 ? [] : [{ ...affected, differences }];
  });
}

/** Returns a filter for the risks of an object: what the plan states is left out, and so is what no connection lost. */
export function acceptedRisks(
  losses: readonly AffectedConnection[],
  { changes, unwritten }: StatedEffects,
): (id: ResourceId, risks: readonly Risk[]) => readonly Risk[] {
  const effects = new Map(losses.map(({ change, differences }) => [change.connection, effectsOfDifferences(differences)]));
  const stated = new Map<string, Set<ResourceId>>();
  for (const { id, risks } of [...changes.map((change) => ({ id: liveKeyOf(change), risks: change.risks })), ...unwritten]) {
    for (const risk of risks)
      stated.set(riskKey(id, risk), new Set([...(stated.get(riskKey(id, risk)) ?? []), ...(risk.connections ?? [])]));
  }
  return (id, risks) =>
    risks.flatMap((risk): readonly Risk[] => {
      const known = stated.get(riskKey(id, risk));
      const { class: one, connections } = risk;
      if (connections === undefined) {
        const isLost = !isLoss(one) || !isControlRisk(risk.code) || effects.get(id)?.has(one) === true;
        return known === undefined && isLost ? [risk] : [];
      }
      const left = connections
        .filter((connection) => known?.has(connection) !== true)
        .filter((connection) => !isLoss(one) || !isControlRisk(risk.code) || effects.get(connection)?.has(one) === true);
      return left.length > 0 || (connections.length === 0 && known === undefined) ? [{ ...risk, connections: left }] : [];
    });
}

function riskKey(id: ResourceId, { code, class: one }: Risk): string {
  return [id, code, one].join(' ');
}

function isLoss(one: Risk['class']): one is ProtectionEffect {
  return one === 'weakens' || one === 'unknown';
}
