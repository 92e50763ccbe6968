import { addToGroup } from '../../model/collections.ts';
import { formatPosition, type Position } from '../../model/diagnostic.ts';
import type { UnwrittenRisks } from '../../model/plan/plan.ts';
import type { Pointer } from '../../model/pointer.ts';
import type { Headline } from '../../model/protection/protection.ts';
import type { ResourceId } from '../../model/resource.ts';
import { generalRisk } from '../../protection/risk/risk-codes.ts';

/** Something that a check of access no longer states, or states less strictly. */
export type WeakenedStatement = {
  readonly id: ResourceId;
  /** What distinguishes it from the other ones of the same check. */
  readonly path: Pointer;
  readonly text: string;
  readonly connections: readonly ResourceId[];
  readonly at: Position | undefined;
};

/** The risks and headlines of checks that state less than before. */
export type WeakenedFindings = { readonly unwritten: readonly UnwrittenRisks[]; readonly headlines: readonly Headline[] };

/** Returns the risks and the headlines of statements that a plan weakens. */
export function weakenedFindings(risk: Parameters<typeof generalRisk>[0], statements: readonly WeakenedStatement[]): WeakenedFindings {
  const byCheck = new Map<ResourceId, WeakenedStatement[]>();
  for (const one of statements) addToGroup(byCheck, one.id, one);
  const code = `risk/${generalRisk(risk).name}` as const;
  const placeOf = ({ at }: WeakenedStatement): { readonly place?: string } => (at === undefined ? {} : { place: formatPosition(at) });
  return {
    unwritten: [...byCheck].map(([id, all]) => ({
      id,
      risks: all.map((one) => ({ code, class: 'weakens', path: one.path, ...placeOf(one) })),
    })),
    headlines: statements.map((one) => ({
      direction: 'weakens',
      text: one.text,
      connections: one.connections,
      tags: {},
      causes: [{ by: one.id, ...placeOf(one) }],
    })),
  };
}
