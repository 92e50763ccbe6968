import { groupBy } from '../model/collections.ts';
import { type AssessedChange, liveKeyOf, type Risk, type UnwrittenRisks } from '../model/plan/plan.ts';
import { overlaps } from '../model/pointer.ts';
import type { Decider } from '../model/protection/permission.ts';
import type { Protection } from '../model/protection/protection.ts';
import type { ResourceId } from '../model/resource.ts';
import { compareTerms } from './access/compare-terms.ts';
import type { AccessDirection } from './access/effective-access.ts';
import { type Difference, directionsIn } from './access/terms.ts';
import type { AffectedConnection } from './compare/affected-connections.ts';
import type { AspectDifference } from './compare/compare-aspects.ts';
import type { PlanDifferences } from './compare/plan-differences.ts';
import { decidersFor } from './effective/deciders.ts';
import { effective } from './effective/effective.ts';
import type { PlanSnapshots } from './posture/diff-postures.ts';

/** The effects of a plan that writes: what it states already, accepted drift does not state again. */
export type StatedEffects = {
  readonly changes: readonly AssessedChange[];
  readonly unwritten: readonly UnwrittenRisks[];
  readonly protection: Protection;
  /** The gateway before the plan, and what the plan changes of it. */
  readonly snapshots: PlanSnapshots;
  readonly differences: PlanDifferences;
};

/** Leaves out the differences that a plan makes, too, and what it holds: the others the gateway has already, and the manifests agree. */
export function unstatedDifferences(
  { access, aspects: found }: PlanDifferences,
  stated: Pick<StatedEffects, 'changes' | 'snapshots' | 'differences'>,
): PlanDifferences {
  const isStated = statedAccess(stated);
  const isHeld = heldDeciders(stated);
  const aspects = new Map(stated.differences.aspects.flatMap((one) => one.alike.map((id) => [`${id} ${one.part}`, one] as const)));
  return {
    access: access.flatMap((one) => withoutHeld(one, isHeld)).flatMap((one) => withoutCauses(one, (direction) => isStated(one, direction))),
    aspects: found
      .flatMap((one) => withoutHeld(one, isHeld))
      .flatMap((one) => unstatedAspects(one, (id) => directionsIn([aspects.get(`${id} ${one.part}`)]))),
  };
}

/** Returns a check whether a plan holds what decides something. */
function heldDeciders({ changes }: Pick<StatedEffects, 'changes'>): (decider: Decider) => boolean {
  const held = new Map(changes.map((change) => [liveKeyOf(change), change.fields.filter((field) => field.held === true)]));
  return ({ id, path, edge }) => edge === undefined && path !== '' && held.get(id)?.some((field) => overlaps(field.path, path)) === true;
}

/** Leaves out what only held fields cause. They are stricter than the manifests, so that nothing is lost by them. */
function withoutHeld<One extends Pick<Difference, 'causes'>>(one: One, isHeld: (decider: Decider) => boolean): readonly One[] {
  const { less = [] } = one.causes;
  return withoutCauses(one, (direction) => direction === 'less' && less.length > 0 && less.every(isHeld));
}

function withoutCauses<One extends Pick<Difference, 'causes'>>(one: One, drops: (direction: AccessDirection) => boolean): readonly One[] {
  const kept = Object.fromEntries(
    directionsIn([one]).flatMap((direction) => (drops(direction) ? [] : [[direction, one.causes[direction]]])),
  );
  return Object.keys(kept).length === 0 ? [] : [{ ...one, causes: kept }];
}

/** Returns whether directions that are stated say a direction: what is certainly more is not unclear, too. */
function says(stated: readonly AccessDirection[], direction: AccessDirection): boolean {
  return stated.includes(direction) || (direction === 'unclear' && stated.includes('more'));
}

/** Leaves out what is stated of a control, for those alike connections of which it is. */
function unstatedAspects(one: AspectDifference, statedOf: (id: ResourceId) => readonly AccessDirection[]): readonly AspectDifference[] {
  return [...groupBy(one.alike, (id) => statedOf(id).join(' ')).values()].flatMap((alike) => {
    const [first] = alike;
    const stated = statedOf(first);
    const { lost, gained, coexisting, incomparable } = one.compared;
    const only = <Value>(values: readonly Value[], direction: AccessDirection): readonly Value[] => (says(stated, direction) ? [] : values);
    const compared = {
      ...one.compared,
      lost: only(lost, 'more'),
      gained: only(gained, 'less'),
      coexisting: only(coexisting, 'less'),
      incomparable: only(incomparable, 'unclear'),
    };
    const causes = Object.fromEntries(
      directionsIn([one]).map((name) => [name, decidersFor(first, one.causes[name] ?? [], one.connection)]),
    );
    return withoutCauses({ ...one, connection: first, former: first, alike, compared, causes }, (direction) => says(stated, direction));
  });
}

/** Returns a check whether a plan gives or takes people the same part of what they may do. */
function statedAccess({
  snapshots: { before, predecessors },
  differences,
}: Pick<StatedEffects, 'snapshots' | 'differences'>): (one: Difference, direction: AccessDirection) => boolean {
  // What the plan creates again has no order: what it lost since the base, its creation does not say.
  const ordered = differences.access.filter(({ former }) => former !== undefined);
  const known = new Map(ordered.map((one) => [differenceKey(one), one]));
  const unclear = new Set(
    ordered.flatMap((one) => (one.causes.unclear === undefined ? [] : [`${one.connection} ${one.verb} ${one.part}`])),
  );
  return (one, direction) => {
    const { connection, people, verb, part, terms } = one;
    if (says(directionsIn([known.get(differenceKey(one))]), direction)) return true;
    if (direction === 'unclear') return [part, 'use'].some((name) => unclear.has(`${connection} ${verb} ${name}`));
    if ('machine' in people || part === 'until' || part === 'analyzer') return false;
    const former = before.resources.has(connection) ? connection : predecessors.get(connection);
    if (former === undefined) return false;
    const had = effective(before, former)?.may(people.member, verb);
    // The people of the plan's differences are others where other groups decide.
    return compareTerms([had, terms[1]]).some(
      (found) => (found.part === part || found.part === 'use') && found.directions.includes(direction),
    );
  };
}

/** What the analyzer does differs for everybody alike. */
function differenceKey({ connection, people, verb, part }: Difference): string {
  return JSON.stringify([connection, verb, part, part === 'analyzer' ? [] : 'machine' in people ? people : people.member]);
}

/** Returns what connections lose by differences that are not stated; not those that the plan creates. */
export function acceptedLosses(all: readonly AffectedConnection[], { protection }: StatedEffects): readonly AffectedConnection[] {
  const created = new Set(protection.connections.flatMap((one) => (one.created === true ? [one.connection] : [])));
  return all.flatMap((affected): readonly AffectedConnection[] => {
    const { change } = affected;
    if (change.created === true && change.replaces === undefined) return created.has(change.connection) ? [] : [affected];
    // What nothing causes, neither the loss nor what else is said of its control, the plan holds.
    const caused = new Set(affected.statements.flatMap(({ control, causes }) => (causes.length === 0 ? [] : [control])));
    const statements = affected.statements.filter(
      ({ control, effect }) => (effect === 'weakens' || effect === 'unknown') && caused.has(control),
    );
    return statements.length === 0 ? [] : [{ ...affected, statements }];
  });
}

/** Returns a filter for the risks of an object: what the plan states is left out. */
export function acceptedRisks({
  changes,
  unwritten,
}: Pick<StatedEffects, 'changes' | 'unwritten'>): (id: ResourceId, risks: readonly Risk[]) => readonly Risk[] {
  const stated = new Map<string, Set<ResourceId>>();
  for (const { id, risks } of [...changes.map((change) => ({ id: liveKeyOf(change), risks: change.risks })), ...unwritten]) {
    for (const risk of risks)
      stated.set(riskKey(id, risk), new Set([...(stated.get(riskKey(id, risk)) ?? []), ...(risk.connections ?? [])]));
  }
  return (id, risks) =>
    risks.flatMap((risk): readonly Risk[] => {
      const known = stated.get(riskKey(id, risk));
      if (known === undefined) return [risk];
      if (risk.connections === undefined) return [];
      const left = risk.connections.filter((connection) => !known.has(connection));
      return left.length === 0 ? [] : [{ ...risk, connections: left }];
    });
}

function riskKey(id: ResourceId, { code, class: one }: Risk): string {
  return [id, code, one].join(' ');
}
