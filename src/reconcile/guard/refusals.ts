import type { Limits } from '../../model/config.ts';
import { desiredById, type DesiredState, formerIdOf } from '../../model/desired.ts';
import { type Allowance, type Change, type Diff, type Plan, type Refusal, type SingleWrite } from '../../model/plan/plan.ts';
import { exposureWindowText } from '../../model/plan/schedule.ts';
import { type Diagnostic, didYouMean } from '../../model/diagnostic.ts';

/** How many objects are live and managed, or connections are live, and how many were `settled` before the first attempt to apply the plan. */
type Population = { readonly live: number; readonly settled: number };

/** What limits compare a plan with, and the allowed shares of changes. */
export type LimitMeasure = {
  readonly objects: Population;
  readonly connections: Population;
  /** How many connections certainly lose a protection. */
  readonly losing: number;
  readonly limits: Limits;
};

/** Adds refusals to an earlier plan, without those that the user overrides. */
export function refuseAgain(plan: Plan, more: readonly Refusal[], allowed: readonly Allowance[]): Plan {
  const { refusals, used } = sortRefusals([...plan.refusals, ...more], allowed);
  return { ...plan, refusals, allowed: [...plan.allowed, ...used] };
}

/** Drops the refusals of limits: a reviewed plan needs none. */
export function withoutLimits(plan: Plan): Plan {
  return { ...plan, refusals: plan.refusals.filter(({ code }) => !limitCodes.has(code)) };
}

const limitCodes: ReadonlySet<string> = new Set(['plan/too-many-updates', 'plan/too-many-deletes', 'plan/too-many-lose-protection']);

/** The refusals that remain, and the overrides that removed others. */
export type SortedRefusals = { readonly refusals: readonly Refusal[]; readonly used: readonly Allowance[] };

/** Separates the refusals that the user overrides from those that remain. */
export function sortRefusals(found: readonly Refusal[], allowed: readonly Allowance[]): SortedRefusals {
  const isAllowed = ({ code, allowable }: Refusal): boolean => allowable && allowed.some((one) => one.code === code);
  return {
    refusals: found.filter((refusal) => !isAllowed(refusal)),
    used: allowed.filter((one) => found.some((refusal) => refusal.allowable && refusal.code === one.code)),
  };
}

/** Refuses exposure windows. */
export function windowRefusals({ changes }: Pick<Diff, 'changes'>, singleWrites: readonly SingleWrite[]): readonly Refusal[] {
  const places = new Map(changes.map(({ id, at }) => [id, at]));
  return singleWrites
    .filter(({ windows }) => windows.length > 0)
    .map(({ id, why, windows }): Refusal => {
      const at = places.get(id);
      return {
        code: 'plan/window',
        message: `it cannot be written in two steps, because ${why ?? 'no form of it is as strict as before and after'}: ${windows.map((window) => exposureWindowText(window, changes)).join('; ')}`,
        hint: 'apply one of the two changes first with --only, or override to accept the exposure',
        allowable: true,
        resource: id,
        at,
      };
    });
}

/** Refuses to write a live object only because a manifest has its name, now or as a former name; `imports` are agreed to. */
export function unconfirmedImports(
  changes: readonly Change[],
  { resources }: Pick<DesiredState, 'resources'>,
  imports: readonly string[],
): readonly Refusal[] {
  const manifests = desiredById(resources);
  return changes.flatMap(({ id, action, adoption }): readonly Refusal[] => {
    const resource = manifests.get(id);
    if (adoption !== true || resource?.adopt === true || imports.includes(id)) return [];
    const former = resource !== undefined && (action === 'create' || action === 'rename') ? formerIdOf(resource) : undefined;
    const message =
      former === undefined
        ? 'it is live, was never applied by Ostiary, and differs from its manifest'
        : `it ${action === 'rename' ? 'renames' : 'replaces'} ${former}, which is live and was never applied by Ostiary`;
    const hint = `review the changes; then set metadata.adopt: true, or pass --import ${id}`;
    return [{ code: 'plan/adoption', message, hint, allowable: false, resource: id }];
  });
}

/** Refuses a plan that changes a larger share of what is live than its limits allow. */
export function massChanges(changes: readonly Change[], { objects, connections, losing, limits }: LimitMeasure): readonly Refusal[] {
  // Opening an object that an interrupted apply created is not an update.
  const updates = changes.filter(({ action, unfinished }) => action === 'update' && unfinished !== true).length;
  const deletes = changes.filter(({ action }) => action === 'delete').length;
  const shares = [
    ['plan/too-many-updates', updates, objects, limits.updates, 'live objects would be updated'],
    ['plan/too-many-deletes', deletes, objects, limits.deletes, 'live objects would be deleted'],
    ['plan/too-many-lose-protection', losing, connections, limits.protections, 'live connections would lose a protection'],
  ] as const;
  return shares.flatMap(([code, count, { live, settled }, most, what]): readonly Refusal[] => {
    // Divided instead of multiplied: then a share of exactly the limit equals it.
    if (count === 0 || settled < limits.from || count / live <= most) return [];
    const message = `${count} of ${live} ${what}, more than the limit of ${percent(most)}`;
    return [{ code, message, hint: 'check that the plan is intended', allowable: true }];
  });
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}

/** A flag, and the name in its argument. */
export type NamedByOption = readonly [flag: string, name: string];

/** Warns about names in flags that neither a manifest nor the gateway has: the flag has no effect. */
export function warnUnknownNames(named: readonly NamedByOption[], among: readonly { readonly id: string }[]): readonly Diagnostic[] {
  if (named.length === 0) return [];
  const known = new Set(among.map(({ id }) => id));
  return named
    .filter(([, name]) => !known.has(name))
    .map(([flag, name]): Diagnostic => {
      const hint = didYouMean(name, known) ?? 'use KIND/NAME as printed by plan';
      const message = `${flag} ${name} has no effect: the object exists neither in the manifests nor on the gateway`;
      return { code: 'plan/unknown-name', severity: 'warning', message, hint };
    });
}
