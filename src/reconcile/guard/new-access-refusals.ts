import type { NewAccessLimit } from '../../model/config.ts';
import { desiredByKey, type DesiredState } from '../../model/desired.ts';
import type { LiveState } from '../../model/live.ts';
import type { Position } from '../../model/diagnostic.ts';
import { compareText, type JsonObject, defined } from '../../model/json.ts';
import { type Diff, liveKeyOf, type Refusal, renamesOf, withNames } from '../../model/plan/plan.ts';
import type { Decider, Permission } from '../../model/protection/permission.ts';
import { kindOf, resourceId, type ResourceId } from '../../model/resource.ts';
import { hasTags } from '../../protection/permission/check-access-tests.ts';
import { extensionText } from '../../protection/extension-headlines.ts';
import { differencesBetween, type PlanDifferences } from '../../protection/compare/plan-differences.ts';
import { type DestinationGain, findDestinationGains } from '../../protection/compare/destinations.ts';
import { destinationTerms, destinationText } from '../../protection/questions/destination-texts.ts';
import { type AccessGain, gainerOf, gainerText, gainsIn } from '../../protection/questions/new-access.ts';
import { toolGains } from '../../protection/questions/tool-gains.ts';
import { neededText, permissionOf, type PermissionSubject, postureOf } from '../../protection/permission/permission.ts';
import { allConnections, type ProtectionSnapshot } from '../../protection/posture/protection-snapshot.ts';
import type { AcceptedDiff } from '../accepted/accepted-drift.ts';
import type { Prepared } from '../prepare/prepare.ts';
import type { PlannedStates } from '../prepare/snapshots.ts';
import { type AccessLine, lineRefusals } from './access-lines.ts';

/**
 * Refuses a plan after which people can do more than on the gateway as it is, or than on the gateway as the last apply left it. So drift
 * that the manifests accept is new access, and so is access that was taken away outside Ostiary and that the plan restores.
 */
export function newAccessRefusals(prepared: Prepared, planned: PlannedStates, since: AcceptedDiff | undefined): readonly Refusal[] {
  const { input, live, desired, base, start, applied } = prepared;
  const { diff } = planned;
  const { newAccess: limit } = input.limits;
  if (limit === 'allow') return [];
  const { after } = planned.snapshots();
  const known = { after, diff, limit, desired, applied: base === undefined ? start : applied };
  const sides = [{ ...planned, live, desired }, ...(since === undefined ? [] : [since])];
  const lines = sides.flatMap((side) => {
    const named = withNames(side.live, renamesOf(side.diff.changes));
    const compared = side.snapshots().after === after ? side.differences() : undefined;
    return newAccessSince(side.snapshots().before, { ...known, plan: side.diff, live: named, stated: side.desired, known: compared });
  });
  return lineRefusals(lines);
}

type Since = {
  readonly after: ProtectionSnapshot;
  readonly diff: Diff;
  readonly limit: Exclude<NewAccessLimit, 'allow'>;
  readonly desired: DesiredState;
};

function specIn({ resources }: ProtectionSnapshot, id: ResourceId): JsonObject | undefined {
  return resources.get(id)?.spec;
}

type SinceState = Since & {
  /** What the manifests change since that state. */
  readonly plan: Diff;
  readonly live: LiveState;
  readonly stated: DesiredState;
  readonly applied: DesiredState | undefined;
  /** What differs between that state and the one after the plan, where it was compared with it. */
  readonly known: PlanDifferences | undefined;
};

function newAccessSince(before: ProtectionSnapshot, { after, diff, limit, desired, known, ...state }: SinceState): readonly AccessLine[] {
  const unfinished = new Set(diff.changes.filter((change) => change.unfinished === true).map(liveKeyOf));
  const manifests = desiredByKey(desired.resources);
  const formerOf = (id: ResourceId): ResourceId | undefined => {
    if (before.resources.has(id) && !unfinished.has(id)) return id;
    const replaces = manifests.get(id)?.replaces;
    const predecessor = replaces === undefined ? undefined : resourceId(kindOf(id), replaces);
    return predecessor !== undefined && before.resources.has(predecessor) ? predecessor : undefined;
  };
  // Who removes a tag does not lift the limit in the same plan.
  const counts = (id: ResourceId, former: ResourceId | undefined): boolean =>
    limit === 'refuse' || hasTags(limit.tags, specIn(after, id)) || (former !== undefined && hasTags(limit.tags, specIn(before, former)));
  const counted = allConnections(after)
    .toSorted(compareText)
    .filter((id) => counts(id, formerOf(id)));
  const isCounted = new Set(counted);
  const { access, aspects } = known ?? differencesBetween(before, after, counted, formerOf);
  const { gains, unknown } = gainsIn(access.filter(({ connection }) => isCounted.has(connection)));
  const found = findDestinationGains({ ...state, desired: state.stated, before, after, formerOf });
  // Nor who leads a connection without the tag to where one with it leads.
  const isCountedPlace = ({ connection, guarded }: Pick<DestinationGain, 'connection' | 'guarded'>): boolean =>
    isCounted.has(connection) || guarded.some((id) => counts(id, id));
  const leading = found.gains.filter(isCountedPlace);
  const locate = ({ id, path }: Decider): Position | undefined => manifests.get(id)?.locate(path);
  return [
    ...leading.map((gain): AccessLine => {
      const { connection, verb } = gain;
      const who = gainerOf(gain.people);
      const what = `will be yes ${destinationTerms(gain)} at ${destinationText(gain)}`;
      return { access: { connection, ...who, verb }, who: gainerText(who), verb, what, at: locate({ id: connection, path: '/secret' }) };
    }),
    ...gains.map((gain): AccessLine => {
      const { connection, verb, who, runbook, causes } = gain;
      const had = askedOf(subjectIn(before, formerOf(connection)), gain);
      const has = askedOf(subjectIn(after, connection), gain);
      const at = [...causes, { id: connection, path: '' } as const].map(locate).find((place) => place !== undefined);
      if (gain.of === 'until' && 'groups' in who) {
        const what = extensionText({ connection, former: formerOf(connection), member: who.groups }, { before, after });
        return { access: { connection, groups: who.groups }, who: gainerText(who), verb: 'access', what, at };
      }
      const what = `was ${termsText(gain, had, 'before')}, will be ${termsText(gain, has, 'after')}`;
      return { access: { connection, ...who, verb, ...defined({ runbook }) }, who: gainerText(who), verb, what, at };
    }),
    ...toolGains(aspects).flatMap(({ connection, isUnclear, causes }): readonly AccessLine[] => {
      if (!isCounted.has(connection)) return [];
      const what = isUnclear ? 'may let more tools through than before' : 'will let more tools through than before';
      const at = causes.map(locate).find((place) => place !== undefined);
      return [{ access: { connection, verb: 'connect' }, who: 'people', verb: 'connect', what, at }];
    }),
    ...[
      ...unknown
        .filter((id) => isCounted.has(id))
        .map((connection) => ({ connection, why: 'the token may not read everything that decides it' })),
      ...found.unknown
        .filter(isCountedPlace)
        .map(({ connection }) => ({ connection, why: 'it may lead to the place of another one that cannot be read' })),
    ].map(({ connection, why }): AccessLine => {
      const at = locate({ id: connection, path: '' });
      return { access: { connection }, who: 'people', verb: 'access', what: `cannot be compared, because ${why}`, at };
    }),
  ];
}

function subjectIn(snapshot: ProtectionSnapshot, id: ResourceId | undefined): PermissionSubject | undefined {
  return id === undefined || !snapshot.resources.has(id) ? undefined : { id, snapshot };
}

/** Returns what the people of a gain may do; machine identities act as admins. */
function askedOf(subject: PermissionSubject | undefined, { who, verb }: AccessGain): Permission | undefined {
  if (subject === undefined) return undefined;
  const { access } = postureOf(subject);
  if ('machine' in who)
    return access.machines.includes(who.machine) ? permissionOf(subject, { groups: [access.roles.admin], verb }) : undefined;
  return permissionOf(subject, { groups: who.groups, verb });
}

/** Returns what people need in words: `no`, `yes after approval by 1 of dba, for at most 1 h`. */
function termsText({ of, runbook }: AccessGain, permission: Permission | undefined, side: 'before' | 'after'): string {
  if (permission === undefined || permission.answer === 'no' || (of === 'use' && side === 'before')) return 'no';
  const files = runbook === undefined ? '' : `, ${runbook}`;
  const analyzer = of === 'analyzer' ? `, with ${side === 'before' ? 'a stricter' : 'a less strict'} analyzer` : '';
  return `${neededText(permission)}${side === 'after' ? files : ''}${analyzer}`;
}
