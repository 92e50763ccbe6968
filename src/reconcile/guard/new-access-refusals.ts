import { addToGroup } from '../../model/collections.ts';
import type { NewAccessLimit } from '../../model/config.ts';
import { desiredByKey, type DesiredState } from '../../model/desired.ts';
import { formatPosition, type Position } from '../../model/diagnostic.ts';
import { asObject } from '../../model/json.ts';
import { type Diff, liveKeyOf, type NewAccess, type Refusal, renamesOf, withNames } from '../../model/plan/plan.ts';
import type { Decider, Permission, PermissionPart } from '../../model/protection/permission.ts';
import { kindOf, nameOf, resourceId, type ResourceId } from '../../model/resource.ts';
import { durationText } from '../../model/time.ts';
import { type AccessGain, findAccessGains, gainerText } from '../../protection/permission/access-gains.ts';
import { approvalText, permissionOf, type PermissionSubject } from '../../protection/permission/permission.ts';
import { readPostures } from '../../protection/posture/posture.ts';
import { liveSnapshot, plannedSnapshot, type ProtectionSnapshot } from '../../protection/posture/protection-snapshot.ts';
import type { AcceptedDiff } from '../accepted/diff-accepted.ts';
import type { Prepared } from '../prepare/prepare.ts';

/** The largest number of refusals; the last one counts the rest. */
const mostRefusals = 20;

/** The largest number of connections that one refusal names. */
const mostNames = 3;

/**
 * Refuses a plan after which people can do more than on the gateway as it is, or than on the gateway as the last apply left it. So drift
 * that the manifests accept is new access, and so is access that was taken away outside Ostiary and that the plan restores.
 */
export function newAccessRefusals(prepared: Prepared, diff: Diff, accepted: AcceptedDiff | undefined): readonly Refusal[] {
  const { input, live, desired } = prepared;
  const { registry, limits } = input;
  if (limits.newAccess === 'allow') return [];
  const after = plannedSnapshot(diff, live, registry);
  const since = { after, diff, limit: limits.newAccess, desired };
  const states = accepted === undefined ? [live] : [live, accepted.live];
  const lines = states.flatMap((state) =>
    newAccessSince(liveSnapshot(withNames(state, renamesOf(diff.changes)), registry, diff.target.dialect), since),
  );
  const folded = foldLines(lines);
  if (folded.length <= mostRefusals) return folded.map(foldedRefusal);
  const rest = folded.slice(mostRefusals - 1);
  const more: Refusal = {
    code: 'plan/new-access',
    message: `and ${rest.length} more like these; the JSON output lists all`,
    allowable: true,
    newAccess: rest.flatMap((all) => all.map(({ access }) => access)),
  };
  return [...folded.slice(0, mostRefusals - 1).map(foldedRefusal), more];
}

type Since = {
  readonly after: ProtectionSnapshot;
  readonly diff: Diff;
  readonly limit: Exclude<NewAccessLimit, 'allow'>;
  readonly desired: DesiredState;
};

/** One gain of some people on one connection. */
type Line = {
  readonly access: NewAccess;
  readonly who: string;
  readonly verb: string;
  readonly what: string;
  readonly at: Position | undefined;
};

function newAccessSince(before: ProtectionSnapshot, { after, diff, limit, desired }: Since): readonly Line[] {
  const unfinished = new Set(diff.changes.filter(({ reasons }) => reasons.includes('unfinished')).map(liveKeyOf));
  const manifests = desiredByKey(desired.resources);
  const formerOf = (id: ResourceId): ResourceId | undefined => {
    if (before.resources.has(id) && !unfinished.has(id)) return id;
    const replaces = manifests.get(id)?.replaces;
    const predecessor = replaces === undefined ? undefined : resourceId(kindOf(id), replaces);
    return predecessor !== undefined && before.resources.has(predecessor) ? predecessor : undefined;
  };
  // Who removes a tag does not lift the limit in the same plan.
  const counts = (id: ResourceId, former: ResourceId | undefined): boolean =>
    limit === 'refuse' || hasTags(after, id, limit.tags) || (former !== undefined && hasTags(before, former, limit.tags));
  const { gains, unknown } = findAccessGains({ before, after, formerOf, counts });
  const [postureBefore, postureAfter] = [readPostures(before), readPostures(after)];
  const subjectIn = (snapshot: ProtectionSnapshot, id: ResourceId | undefined): PermissionSubject | undefined => {
    const posture = id === undefined ? undefined : (snapshot === after ? postureAfter : postureBefore)(id);
    return id === undefined || posture === undefined ? undefined : { id, posture, snapshot };
  };
  const isChanged = ({ id }: Decider): boolean => before.resources.get(id)?.spec !== after.resources.get(id)?.spec;
  const locate = ({ id, path }: Decider): Position | undefined => manifests.get(id)?.locate(path);
  return [
    ...gains.map((gain): Line => {
      const { connection, verb, who, runbook } = gain;
      const had = askedOf(subjectIn(before, formerOf(connection)), gain);
      const has = askedOf(subjectIn(after, connection), gain);
      const deciders = [...factsFor(gain, had, has), { id: connection, path: '' } as const];
      const at = [...deciders.filter(isChanged), ...deciders].map(locate).find((place) => place !== undefined);
      const what = `was ${termsText(gain, had, 'before')}, will be ${termsText(gain, has, 'after')}`;
      return { access: { connection, ...who, verb, ...(runbook === undefined ? {} : { runbook }) }, who: gainerText(who), verb, what, at };
    }),
    ...unknown.map((connection): Line => ({
      access: { connection },
      who: 'people',
      verb: 'access',
      what: 'cannot be compared, because the token may not read everything that decides it',
      at: locate({ id: connection, path: '' }),
    })),
  ];
}

function hasTags({ resources }: ProtectionSnapshot, id: ResourceId, tags: Readonly<Record<string, string>>): boolean {
  const own = asObject(resources.get(id)?.spec['connection_tags']);
  return Object.entries(tags).every(([key, value]) => Object.hasOwn(own, key) && own[key] === value);
}

/** Returns what the people of a gain may do; machine identities act as admins. */
function askedOf(subject: PermissionSubject | undefined, { who, verb }: AccessGain): Permission | undefined {
  if (subject === undefined) return undefined;
  if ('machine' in who)
    return subject.posture.access.machines.includes(who.machine) ? permissionOf(subject, { groups: ['admin'], verb }) : undefined;
  return permissionOf(subject, { groups: who.groups, verb });
}

/** Lists what decides a gain, as it is after the plan first. */
function factsFor({ of, verb }: AccessGain, had: Permission | undefined, has: Permission | undefined): readonly Decider[] {
  const denied = (had?.facts ?? []).filter(({ answer }) => answer === 'no').map(({ part }) => part);
  const entry: readonly PermissionPart[] = verb === 'runbooks' ? ['runbooks', 'sees it', 'open'] : ['sees it', 'open'];
  const parts = of === 'use' ? (had?.answer === 'no' ? denied : entry) : [of];
  return [has, had].flatMap((permission) =>
    parts.flatMap((part) => (permission?.facts ?? []).filter((fact) => fact.part === part).flatMap(({ by }) => by)),
  );
}

/** Returns what people need in words: `no`, `yes after approval by 1 of dba, for at most 1 h`. */
function termsText({ of, runbook }: AccessGain, permission: Permission | undefined, side: 'before' | 'after'): string {
  if (permission === undefined || permission.answer === 'no' || (of === 'use' && side === 'before')) return 'no';
  const { approval, longest } = permission;
  const by =
    approval === undefined
      ? ' without approval'
      : approval === 'unknown' || approval === 'refused'
        ? ' after an approval that cannot be known'
        : ` after approval by ${approvalText(approval)}`;
  const files = runbook === undefined ? '' : `, ${runbook}`;
  const analyzer = of === 'analyzer' ? `, with ${side === 'before' ? 'a stricter' : 'a less strict'} analyzer` : '';
  return `yes${by}${longest === undefined ? '' : `, for at most ${durationText(longest)}`}${side === 'after' ? files : ''}${analyzer}`;
}

/** Joins what is the same for several people, and for several connections; each gain counts once. */
function foldLines(lines: readonly Line[]): readonly (readonly Line[])[] {
  const known = new Set<string>();
  const groups = new Map<string, Line[]>();
  for (const line of lines) {
    const id = JSON.stringify(line.access);
    if (known.has(id)) continue;
    known.add(id);
    addToGroup(groups, [line.verb, line.what, line.at === undefined ? '' : formatPosition(line.at)].join('\n'), line);
  }
  return [...groups.values()];
}

function foldedRefusal(lines: readonly Line[]): Refusal {
  const [first] = lines;
  const who = [...new Set(lines.map((line) => line.who))];
  const where = [...new Set(lines.map(({ access }) => nameOf(access.connection)))];
  return {
    code: 'plan/new-access',
    message: `${firstOf(who)}: ${first?.verb} on ${firstOf(where)}: ${first?.what}`,
    hint: 'undo the change, or override with a reason',
    allowable: true,
    at: first?.at,
    newAccess: lines.map(({ access }) => access),
  };
}

function firstOf(names: readonly string[]): string {
  const more = names.length - mostNames;
  return more > 0 ? `${names.slice(0, mostNames).join(', ')} and ${more} more` : names.join(', ');
}
