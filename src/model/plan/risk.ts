import type { Pointer } from '../pointer.ts';
import type { ResourceId } from '../resource.ts';

/** The risk classes from the safest to the most dangerous; `unknown` never counts as safe. */
export const riskClasses = ['strengthens', 'neutral', 'availability', 'reroutes', 'unknown', 'weakens'] as const;

export type RiskClass = (typeof riskClasses)[number];

/** One effect of a change, by code. A change that weakens one control and strengthens another has two risks. */
export type Risk = {
  readonly code: `risk/${string}`;
  readonly class: RiskClass;
  /** The field, or the common path of several fields; absent when an edge or the whole resource is the cause. */
  readonly path?: Pointer;
  /** The affected connections, unless the resource is the connection itself. */
  readonly connections?: readonly ResourceId[];
  /** The position in a manifest: `file:line:column`. */
  readonly place?: string;
};

/** The risks of a resource whose manifest differs from the base although nothing is written. */
export type UnwrittenRisks = { readonly id: ResourceId; readonly risks: readonly Risk[] };

/** Returns whether a risk class is more dangerous than another. */
export function isRiskierThan(one: RiskClass, other: RiskClass): boolean {
  return riskClasses.indexOf(one) > riskClasses.indexOf(other);
}

/** Returns the highest class of the risks; undefined when there are none. */
export function highestRisk(risks: readonly Pick<Risk, 'class'>[]): RiskClass | undefined {
  let highest: RiskClass | undefined;
  for (const risk of risks) if (highest === undefined || isRiskierThan(risk.class, highest)) highest = risk.class;
  return highest;
}
