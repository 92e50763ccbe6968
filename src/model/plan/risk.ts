import type { Pointer } from '../pointer.ts';
import type { ResourceId } from '../resource.ts';

/** What a change may do to people and systems, from the safest to the most dangerous; `unknown` is never taken for safe. */
export const riskClasses = ['strengthens', 'neutral', 'availability', 'reroutes', 'unknown', 'weakens'] as const;

export type RiskClass = (typeof riskClasses)[number];

/** One thing that a change does, by a reason code: a change that weakens one thing and strengthens another has both. */
export type Risk = {
  readonly code: `risk/${string}`;
  readonly class: RiskClass;
  /** The field, or what all fields that do it have in common; absent where an edge or the whole resource does it. */
  readonly path?: Pointer;
  /** The connections that it reaches, where it is not the connection's own. */
  readonly connections?: readonly ResourceId[];
  /** Where a manifest says so: `file:line:column`. */
  readonly place?: string;
};

/** The risks of a resource whose manifest says something else than the base's, although nothing is written. */
export type UnwrittenRisks = { readonly id: ResourceId; readonly risks: readonly Risk[] };

/** Tells whether a class is above another. */
export function isRiskierThan(one: RiskClass, other: RiskClass): boolean {
  return riskClasses.indexOf(one) > riskClasses.indexOf(other);
}

/** The highest class of risks; undefined where there are none. */
export function highestRisk(risks: readonly Pick<Risk, 'class'>[]): RiskClass | undefined {
  let highest: RiskClass | undefined;
  for (const risk of risks) if (highest === undefined || isRiskierThan(risk.class, highest)) highest = risk.class;
  return highest;
}
