import type { LiveState } from '../../../../model/live.ts';
import type { Refusal } from '../../../../model/plan/plan.ts';
import { kindOf, type ResourceId } from '../../../../model/resource.ts';
import { refusalAt, type ProposedWrite } from '../../shared/proposed-writes.ts';
import { hoopKinds } from '../kinds.ts';
import type { LicenseLimit } from './check-context.ts';

/** Lists what the free license refuses: a second rule of a kind, and rules with more than one entry. */
export function licenseRefusals(writes: readonly ProposedWrite[], live: LiveState): readonly Refusal[] {
  const limitedKinds = Object.keys(hoopKinds).filter((kind) => hoopKinds[kind]?.licenseLimits !== undefined);
  return [
    ...limitedKinds.flatMap((kind) => surplusRefusals(kind, writes, live)),
    ...writes.flatMap((write) => limitsOf(write).map((limit) => licenseRefusal(write, limit))),
  ];
}

/** Lists the rules that the free license allows in their final state but not joined with their live state, and why. */
export function findIndivisible(writes: readonly ProposedWrite[]): ReadonlyMap<ResourceId, string> {
  return new Map(
    writes.flatMap((write) => {
      if (write.joined === undefined || limitsOf(write).length > 0) return [];
      const [first] = limitsOf({ ...write, spec: write.joined });
      return first === undefined ? [] : [[write.resource.id, first.message] as const];
    }),
  );
}

function limitsOf(write: ProposedWrite): readonly LicenseLimit[] {
  return hoopKinds[write.kind]?.licenseLimits?.(write) ?? [];
}

function surplusRefusals(kind: string, writes: readonly ProposedWrite[], live: LiveState): readonly Refusal[] {
  const present = live.resources.filter(({ id }) => kindOf(id) === kind).length;
  const created = writes.filter((write) => write.kind === kind && write.creates);
  const message = `the free licence allows one ${kind}, and ${present + created.length} would be there`;
  return created.slice(Math.max(0, 1 - present)).map((write) => licenseRefusal(write, { at: '', message }));
}

function licenseRefusal(write: ProposedWrite, { at, message }: LicenseLimit): Refusal {
  const hint = 'the gateway has the free licence; an enterprise licence has no such limit';
  return refusalAt(write, at, { code: 'hoop/licence', message, hint });
}
