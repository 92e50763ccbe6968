import { textsIn } from '../model/json.ts';
import { pointer } from '../model/pointer.ts';
import { kindOf, nameOf, type ResourceId } from '../model/resource.ts';
import type { GroupsOf, RecordedSession, RecordedSessions, Unused, UnusedGrant, UnusedObject } from '../model/result/replay.ts';
import { accessModes } from '../model/protection/access-objects.ts';
import { attachingKind, decidesAccess } from '../protection/access/deciding-kinds.ts';
import { ruleControlTypes } from '../protection/controls/control-table.ts';
import { seeingAll } from '../protection/access/effective-access.ts';
import { guardrailEntries } from '../protection/controls/rule-rows.ts';
import { effective } from '../protection/effective/effective.ts';
import { patternCache } from '../protection/pattern/compile.ts';
import type { DeciderPosition } from '../protection/permission/decider-positions.ts';
import { groupsIn } from '../protection/permission/permission.ts';
import { allConnections, type ProtectionSnapshot, rulesOn } from '../protection/posture/protection-snapshot.ts';
import { simulateGuardrail } from '../protection/samples/simulate.ts';
import { blocksScripts, guardrailsOn, rulesDeciding, type SessionScript } from './judge-session.ts';

/** The state of a gateway, who people are, and where manifests state what is unused. */
export type UnusedInput = RecordedSessions & {
  readonly snapshot: ProtectionSnapshot;
  readonly since: string;
  readonly groupsOf: GroupsOf;
  /** All groups of everybody whom the gateway lists; undefined: they cannot be read. */
  readonly members: ReadonlySet<string> | undefined;
  readonly positionOf: DeciderPosition;
};

/** The guardrail rules that matched sessions. */
export type RuleMatches = {
  /** Returns whether a script can show which rules match. */
  readonly needsScript: (session: RecordedSession) => boolean;
  /** Adds a session; keeps nothing of its script. */
  readonly add: (session: RecordedSession, script: SessionScript) => void;
  readonly matched: ReadonlySet<ResourceId>;
  /** Why it is not known whether a rule matched. */
  readonly unclear: ReadonlyMap<ResourceId, string>;
};

/** Makes a count of the guardrail rules that match sessions: by their scripts, and by what the gateway recorded. */
export function ruleMatches(snapshot: ProtectionSnapshot): RuleMatches {
  const patterns = patternCache();
  const matched = new Set<ResourceId>();
  const unclear = new Map<ResourceId, string>();
  const rulesByConnection = new Map(allConnections(snapshot).map((id) => [nameOf(id), guardrailsOn(snapshot, id)]));
  const rulesByName = new Map([...snapshot.resources.keys()].filter(blocksScripts).map((id) => [nameOf(id), id]));
  const open = ({ connection }: RecordedSession): readonly ResourceId[] =>
    (rulesByConnection.get(connection) ?? []).filter((rule) => !matched.has(rule));
  return {
    matched,
    unclear,
    needsScript: (session) => session.scriptSize > 0 && open(session).length > 0,
    add(session, script) {
      for (const rule of session.matched.map((name) => rulesByName.get(name))) if (rule !== undefined) matched.add(rule);
      for (const rule of open(session)) {
        const spec = snapshot.resources.get(rule)?.spec ?? {};
        if (typeof script !== 'string') {
          unclear.set(rule, script === undefined ? 'sessions without a script used its connections' : script.unread);
          continue;
        }
        const { hits, uncertain } = simulateGuardrail(guardrailEntries(spec, 'input'), script, patterns);
        if (hits.length > 0) matched.add(rule);
        else if (uncertain[0] !== undefined) unclear.set(rule, uncertain[0].why);
      }
    },
  };
}

/** Finds the grants that no session used, the rules that matched none, and the groups without members. What was not recorded is not known. */
export function findUnused(input: UnusedInput, matches: Pick<RuleMatches, 'matched' | 'unclear'>): Unused {
  const { since, sessions, isWhole, snapshot } = input;
  const connections = allConnections(snapshot).toSorted();
  const usage = usageOf(input);
  return {
    since,
    sessions: sessions.length,
    isWhole,
    grants: unusedGrants(connections, input, usage),
    rules: unusedRules(connections, input, { ...matches, usage }),
    groups: emptyGroups(input),
  };
}

/** The grants and the rules of access that sessions used, and the connections that people used whom the gateway does not list, by verb. */
type Usage = { readonly grants: ReadonlySet<string>; readonly unlisted: ReadonlySet<string>; readonly rules: ReadonlySet<ResourceId> };

const olderSessions = 'older sessions were not read';

function usageOf({ sessions, snapshot, groupsOf }: UnusedInput): Usage {
  const ids = new Map(allConnections(snapshot).map((id) => [nameOf(id), id]));
  const [grants, unlisted, rules] = [new Set<string>(), new Set<string>(), new Set<ResourceId>()];
  for (const session of sessions) {
    const { connection, verb, user, isMachine } = session;
    const groups = isMachine ? [] : groupsOf(user);
    if (groups === undefined) unlisted.add(grantKey({ verb, connection }));
    for (const group of groups ?? []) grants.add(grantKey({ verb, connection, group }));
    const id = ids.get(connection);
    if (id !== undefined) for (const rule of rulesDeciding(snapshot, { ...session, id, groups })) rules.add(rule);
  }
  return { grants, unlisted, rules };
}

function grantKey({
  verb,
  connection,
  group = '',
}: {
  readonly verb: string;
  readonly connection: string;
  readonly group?: string;
}): string {
  return JSON.stringify([verb, connection, group]);
}

function unusedGrants(
  connections: readonly ResourceId[],
  { sessions, isWhole, snapshot, positionOf }: UnusedInput,
  usage: Usage,
): readonly UnusedGrant[] {
  const unrecorded = isWhole ? (sessions.length === 0 ? 'no session was recorded' : undefined) : olderSessions;
  return connections.flatMap((id) => {
    const value = effective(snapshot, id);
    const connection = nameOf(id);
    if (value === undefined) return [];
    const { access, grants, unread } = value;
    const { groups: seeing = [] } = access;
    const all = seeingAll([access]);
    return seeing
      .filter((group) => !all.includes(group))
      .toSorted()
      .flatMap((group) =>
        accessModes.flatMap((verb): readonly UnusedGrant[] => {
          if (!access.open.has(verb) || usage.grants.has(grantKey({ verb, connection, group }))) return [];
          const why = usage.unlisted.has(grantKey({ verb, connection }))
            ? 'people whom the gateway does not list used it'
            : unread.sees.key !== ''
              ? 'the groups that see it are not all known'
              : unrecorded;
          const [by = { id, path: pointer('access_groups') }] = grants().get(group) ?? [];
          return [{ group, connection, verb, isUsed: why === undefined ? 'no' : 'unknown', why, at: positionOf(by) }];
        }),
      );
  });
}

type Matches = Pick<RuleMatches, 'matched' | 'unclear'> & { readonly usage: Usage };

function unusedRules(
  connections: readonly ResourceId[],
  { isWhole, snapshot, sessions, positionOf }: UnusedInput,
  { matched, unclear, usage }: Matches,
): readonly UnusedObject[] {
  const tried = new Set(sessions.map(({ connection }) => connection));
  const doubtAbout = (id: ResourceId, on: readonly string[]): string | undefined => {
    const { spec = {}, unknown = [] } = snapshot.resources.get(id) ?? {};
    if (on.length === 0) return undefined;
    if (!on.some((connection) => tried.has(connection))) return 'no session used its connections';
    if (unknown.length > 0) return 'it cannot be read';
    if (blocksScripts(id)) return guardrailEntries(spec, 'output').length > 0 ? 'it checks output, which is not read' : unclear.get(id);
    if (!decidesAccess(kindOf(id))) return 'the gateway does not record which rule masks';
    const isUnlisted = on.some((connection) => accessModes.some((verb) => usage.unlisted.has(grantKey({ verb, connection }))));
    return isUnlisted ? 'people whom the gateway does not list used its connections' : undefined;
  };
  return [...snapshot.resources.keys()]
    .filter((id) => kindOf(id) !== attachingKind && ruleControlTypes(kindOf(id)).length > 0 && !matched.has(id) && !usage.rules.has(id))
    .toSorted()
    .map((id): UnusedObject => {
      const on = connections.filter((connection) => rulesOn(snapshot, connection).has(id)).map(nameOf);
      const why = doubtAbout(id, on) ?? (isWhole || on.length === 0 ? undefined : olderSessions);
      return { name: id, isUsed: why === undefined ? 'no' : 'unknown', why, at: positionOf({ id, path: '' }) };
    });
}

function emptyGroups({ snapshot, members, positionOf }: UnusedInput): readonly UnusedObject[] {
  return groupsIn(snapshot)
    .filter((group) => members?.has(group) !== true)
    .map((name) => {
      const [by] = [...snapshot.resources].filter(([, { spec }]) => textsIn(spec['access_groups']).includes(name));
      const at = by && positionOf({ id: by[0], path: pointer('access_groups', name) });
      return {
        name,
        isUsed: members === undefined ? 'unknown' : 'no',
        why: members === undefined ? 'the members cannot be read' : undefined,
        at,
      };
    });
}

/** A group in the list of an object that no session used, by any verb on any connection that the list grants. */
export type RevocableGrant = { readonly id: ResourceId; readonly group: string };

/** Finds the entries of access groups that can be removed: none of their grants was used, and of all of them that is known. */
export function revocableGrants(snapshot: ProtectionSnapshot, { grants }: Pick<Unused, 'grants'>): readonly RevocableGrant[] {
  const free = new Set(grants.flatMap((grant) => (grant.isUsed === 'no' ? [grantKey(grant)] : [])));
  const found = new Map<string, RevocableGrant & { isFree: boolean }>();
  for (const id of allConnections(snapshot)) {
    const value = effective(snapshot, id);
    const open = accessModes.filter((verb) => value?.access.open.has(verb));
    for (const [group, by] of value?.grants() ?? []) {
      const isFree = open.length > 0 && open.every((verb) => free.has(grantKey({ verb, connection: nameOf(id), group })));
      for (const decider of by) {
        const key = JSON.stringify([decider.id, group]);
        found.set(key, { id: decider.id, group, isFree: isFree && found.get(key)?.isFree !== false });
      }
    }
  }
  return [...found.values()].flatMap(({ id, group, isFree }) => (isFree ? [{ id, group }] : []));
}
