import type { Limits } from '../../model/config.ts';
import { type Allowance, type Change, type Diff, type Plan, type Refusal, type SingleWrite } from '../../model/plan/plan.ts';
import { exposureWindowText } from '../../model/plan/schedule.ts';
import { losingIn } from '../../protection/compare/plan-differences.ts';
import type { PlannedStates } from '../prepare/snapshots.ts';
import type { Registry } from '../../model/kind.ts';
import type { LiveState } from '../../model/live.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { type Diagnostic, didYouMean } from '../../model/diagnostic.ts';

/** What limits compare a plan with: the number of managed live objects, and the allowed shares of changes. */
export type LimitMeasure = {
  readonly ours: number;
  /** The live objects that the interrupted apply of the same manifests created or imported. */
  readonly resumed: readonly ResourceId[];
  readonly losses: ProtectionLosses;
  readonly limits: Limits;
  readonly allowed: readonly Allowance[];
  /** Resources that may be imported although they differ. */
  readonly adopts: ReadonlySet<string>;
  /** Returns the object that a resource renames or replaces. */
  readonly formerOf: (id: ResourceId) => ResourceId | undefined;
};

/** Refuses a plan that exceeds limits, with other refusals; returns the overrides of the user separately. */
export function limitRefusals(changes: readonly Change[], others: readonly Refusal[], measure: LimitMeasure): SortedRefusals {
  return sortRefusals([...unconfirmedImports(changes, measure), ...others, ...massChanges(changes, measure)], measure.allowed);
}

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

/** Refuses to write a live object only because a manifest has its name, now or as a former name. */
function unconfirmedImports(changes: readonly Change[], { adopts, formerOf }: LimitMeasure): readonly Refusal[] {
  return changes.flatMap(({ id, action, adoption }): readonly Refusal[] => {
    if (adoption !== true || adopts.has(id)) return [];
    const former = action === 'create' || action === 'rename' ? formerOf(id) : undefined;
    const message =
      former === undefined
        ? 'it is live, was never applied by Ostiary, and differs from its manifest'
        : `it ${action === 'rename' ? 'renames' : 'replaces'} ${former}, which is live and was never applied by Ostiary`;
    const hint = `review the changes; then set metadata.adopt: true, or pass --import ${id}`;
    return [{ code: 'plan/adoption', message, hint, allowable: false, resource: id }];
  });
}

function massChanges(changes: readonly Change[], { ours, resumed, losses, limits }: LimitMeasure): readonly Refusal[] {
  // Opening an object that an interrupted apply created is not an update.
  const updates = changes.filter(({ action, unfinished }) => action === 'update' && unfinished !== true).length;
  const deletes = changes.filter(({ action }) => action === 'delete').length;
  const { connections, losing, guarded } = losses;
  const settled = ours - resumed.length;
  return [
    ...limitRefusal(
      'plan/too-many-updates',
      { count: updates, of: ours, settled, most: limits.updates, from: limits.from },
      'live objects would be updated',
    ),
    ...limitRefusal(
      'plan/too-many-deletes',
      { count: deletes, of: ours, settled, most: limits.deletes, from: limits.from },
      'live objects would be deleted',
    ),
    ...limitRefusal(
      'plan/too-many-lose-protection',
      {
        count: losing.size,
        of: connections,
        settled: connections - resumed.filter((id) => guarded.has(kindOf(id))).length,
        most: limits.protections,
        from: limits.from,
      },
      'live connections would lose a protection',
    ),
  ];
}

/** A limit applies from a number of objects that were `settled` before the first attempt to apply the plan. */
type Share = { readonly count: number; readonly of: number; readonly settled: number; readonly most: number; readonly from: number };

/** Divides instead of multiplying: then a share of exactly the limit equals it. */
function limitRefusal(code: Refusal['code'], { count, of, settled, most, from }: Share, what: string): readonly Refusal[] {
  if (count === 0 || settled < from || count / of <= most) return [];
  const message = `${count} of ${of} ${what}, more than the limit of ${percent(most)}`;
  return [{ code, message, hint: 'check that the plan is intended', allowable: true }];
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}

/** The number of live connections, and those that a plan leaves with less protection. */
export type ProtectionLosses = {
  readonly connections: number;
  readonly losing: ReadonlySet<ResourceId>;
  /** The kinds that `connections` counts. */
  readonly guarded: ReadonlySet<string>;
};

/** Counts the connections of a gateway that certainly lose a protection. */
export function findLosses({ differences }: PlannedStates, live: LiveState, registry: Registry): ProtectionLosses {
  const guarded = guardedKinds(registry);
  let connections = 0;
  for (const { id } of live.resources) if (guarded.has(kindOf(id))) connections += 1;
  return { connections, losing: losingIn(differences()), guarded };
}

/** The kinds that rules protect. */
function guardedKinds(registry: Registry): ReadonlySet<string> {
  return new Set(
    [...registry.values()].flatMap(({ fields }) => fields.flatMap(({ edge, refers }) => (edge === 'rule' ? (refers ?? []) : []))),
  );
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
