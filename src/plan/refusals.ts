import type { Limits } from '../model/config.ts';
import type { Allowance, Change, Refusal } from '../model/plan.ts';

/** The breakers that a plan trips; those that the user allowed are returned apart. */
export function refusalsOf(
  changes: readonly Change[],
  ours: number,
  limits: Limits,
  allowed: readonly Allowance[],
): { readonly refusals: readonly Refusal[]; readonly used: readonly Allowance[] } {
  const tripped = [tooManyUpdates(changes, ours, limits)].flatMap((refusal) => refusal ?? []);
  return {
    refusals: tripped.filter((refusal) => !allowed.some((one) => one.code === refusal.code)),
    used: allowed.filter((one) => tripped.some((refusal) => refusal.code === one.code)),
  };
}

function tooManyUpdates(changes: readonly Change[], ours: number, limits: Limits): Refusal | undefined {
  const updates = changes.filter((change) => change.action === 'update').length;
  if (ours < limits.from || updates <= ours * limits.updates) return undefined;
  return {
    code: 'plan/too-many-updates',
    message: `${updates} of ${ours} live objects would be updated, more than ${percent(limits.updates)}`,
    hint: 'look at the plan closely; if it is right, pass --allow plan/too-many-updates=REASON',
    allowable: true,
  };
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}
