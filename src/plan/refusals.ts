import type { Limits } from '../model/config.ts';
import type { Allowance, Change, Refusal } from '../model/plan.ts';

/** What breakers measure a plan against: how many live objects are ours, and what may be done to how many of them. */
export type Measure = { readonly ours: number; readonly limits: Limits; readonly allowed: readonly Allowance[] };

/** The breakers that a plan trips; those that the user allowed are returned apart. */
export function refusalsOf(
  changes: readonly Change[],
  measure: Measure,
): { readonly refusals: readonly Refusal[]; readonly used: readonly Allowance[] } {
  const tripped = tooManyUpdates(changes, measure);
  return {
    refusals: tripped.filter((refusal) => !measure.allowed.some((one) => one.code === refusal.code)),
    used: measure.allowed.filter((one) => tripped.some((refusal) => refusal.code === one.code)),
  };
}

/**
 * What an earlier apply created closed and did not come to open is no update of what was there. Divides rather than multiplies: only so is a share of exactly the limit equal to it. */
function tooManyUpdates(changes: readonly Change[], { ours, limits }: Measure): readonly Refusal[] {
  const updates = changes.filter((change) => change.action === 'update' && !change.reasons.includes('unfinished')).length;
  if (updates === 0 || ours < limits.from || updates / ours <= limits.updates) return [];
  return [
    {
      code: 'plan/too-many-updates',
      message: `${updates} of ${ours} live objects would be updated, more than ${percent(limits.updates)}`,
      hint: 'look at the plan closely: is it what you meant?',
      allowable: true,
    },
  ];
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}
