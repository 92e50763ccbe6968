import { addToGroup, groupBy, memoizeByKey } from '../model/collections.ts';
import { compareText } from '../model/json.ts';
import type { Decider } from '../model/protection/permission.ts';
import { nameOf, type ResourceId } from '../model/resource.ts';
import {
  type GroupsOf,
  type RecordedSession,
  type RecordedSessions,
  type Replay,
  type ReplayCause,
  type ReplayTurn,
  replayTurns,
} from '../model/result/replay.ts';
import { effective } from '../protection/effective/effective.ts';
import { patternCache } from '../protection/pattern/compile.ts';
import type { DeciderPosition } from '../protection/permission/decider-positions.ts';
import { allConnections, type ProtectionSnapshot } from '../protection/posture/protection-snapshot.ts';
import {
  accessOfSession,
  type AskedSession,
  checksOf,
  endOfScript,
  findingOf,
  type ScriptChecks,
  type SessionEnd,
  type SessionScript,
  turnOf,
} from './judge-session.ts';

/** The states before and after a plan, and who people are. */
export type ReplayInput = {
  readonly before: ProtectionSnapshot;
  readonly after: ProtectionSnapshot;
  /** The connections that the plan renames, by the names that sessions have. */
  readonly renames: ReadonlyMap<ResourceId, ResourceId>;
  readonly groupsOf: GroupsOf;
  /** What is known of scripts; what is found is added. */
  readonly known: KnownFindings;
};

/** What rules found in scripts, by session and rules: a script never changes. */
export type KnownFindings = Map<string, readonly Decider[]>;

/** What a plan does to a session; it has nothing of the script. */
export type JudgedSession = {
  readonly session: RecordedSession;
  readonly before: SessionEnd;
  readonly after: SessionEnd;
  readonly turn: ReplayTurn | undefined;
};

/** Judges sessions. `needsScript`: access alone cannot show whether a session ends differently. */
export type SessionJudge = {
  readonly needsScript: (session: RecordedSession) => boolean;
  readonly judge: (session: RecordedSession, script: SessionScript) => JudgedSession;
};

type Sides<T> = { readonly before: T; readonly after: T };
const longestKey = 2000;

/** Makes a judge of sessions, which asks each question about groups, a verb and a connection once. */
export function sessionJudge({ before, after, renames, groupsOf, known }: ReplayInput): SessionJudge {
  const patterns = patternCache();
  const ids = new Map(allConnections(before, after).map((id) => [nameOf(id), id]));
  for (const [was, is] of renames) ids.set(nameOf(was), is);
  const askedOf = (session: RecordedSession): AskedSession => {
    const { connection, verb, runbook, isMachine, user } = session;
    return { id: ids.get(connection) ?? missingId, verb, ...(runbook && { runbook }), isMachine, groups: groupsOf(user) };
  };
  const accessOf = memoizeByKey(
    (asked: AskedSession): Sides<SessionEnd> => {
      const isSame = effective(before, asked.id)?.key === effective(after, asked.id)?.key;
      // A person that the gateway does not list could start the session, and what is the same for everybody is so for this person.
      if (asked.groups === undefined && !asked.isMachine) return { before: runs, after: isSame ? runs : accessOfSession(after, asked) };
      return { before: accessOfSession(before, asked), after: accessOfSession(after, asked) };
    },
    { keyOf: (asked) => JSON.stringify(asked), longest: longestKey },
  );
  const checksFor = memoizeByKey(
    ({ id, verb }: Pick<AskedSession, 'id' | 'verb'>): Sides<ScriptChecks> => ({
      before: checksOf(before, id, verb),
      after: checksOf(after, id, verb),
    }),
    { keyOf: ({ id, verb }) => `${verb} ${id}`, longest: longestKey },
  );
  return {
    needsScript(session) {
      const asked = askedOf(session);
      const checks = checksFor(asked);
      const isNew = [checks.before, checks.after].some((side) => side.rules.length > 0 && !known.has(findingKey(session, side)));
      return isNew && mayTurn(session, accessOf(asked), checks);
    },
    judge(session, script) {
      const asked = askedOf(session);
      const [access, checks] = [accessOf(asked), checksFor(asked)];
      if (!mayTurn(session, access, checks)) return { session, ...access, turn: turnOf(access.before, access.after) };
      const endOf = (end: SessionEnd, side: ScriptChecks): SessionEnd => {
        const key = findingKey(session, side);
        const found = known.get(key) ?? findingOf(side, script, patterns);
        if (side.rules.length > 0 && !('unread' in found)) known.set(key, found);
        return endOfScript(end, side, found);
      };
      const [had, has] = [endOf(access.before, checks.before), endOf(access.after, checks.after)];
      const isOpen = had.end === 'unknown' && has.end === 'unknown';
      return { session, before: had, after: has, turn: isOpen ? 'unknown' : turnOf(had, has) };
    },
  };
}

/** Returns the key of what the rules of a connection find in the script of a session. */
function findingKey({ id, scriptSize }: RecordedSession, { key }: ScriptChecks): string {
  return `${id} ${scriptSize} ${key}`;
}

/** Returns whether a script can decide that a session ends differently. */
function mayTurn({ scriptSize }: RecordedSession, access: Sides<SessionEnd>, { before, after }: Sides<ScriptChecks>): boolean {
  const isChecked = [before, after].some(({ rules, unclear }) => rules.length > 0 || unclear !== undefined);
  const isSame = before.key === after.key && before.unclear === after.unclear && turnOf(access.before, access.after) === undefined;
  return scriptSize > 0 && isChecked && !isSame;
}

/** What no state has: a connection that was deleted since. */
const missingId: ResourceId = '/';

const runs: SessionEnd = { end: 'runs', by: [] };

/** How a replay is counted. */
type ReplayReading = Pick<RecordedSessions, 'isWhole'> & {
  readonly since: string;
  readonly positionOf: DeciderPosition;
  /** Whether the report names people. */
  readonly namesPeople: boolean;
};

/** Counts what a plan does to sessions, by what it does and by what decides it. */
export function summarizeReplay(judged: readonly JudgedSession[], { since, isWhole, positionOf, namesPeople }: ReplayReading): Replay {
  const byTurn = groupBy(judged, ({ turn }) => turn);
  const changes = replayTurns.flatMap((turn) => {
    const own = byTurn.get(turn) ?? [];
    if (own.length === 0) return [];
    const byUser = groupBy(own, ({ session: { user } }) => user.id || user.name);
    const users = [...byUser.values()]
      .map((all) => ({ name: all[0].session.user.name, sessions: all.length }))
      .toSorted((one, other) => other.sessions - one.sessions || compareText(one.name, other.name));
    const people = byUser.size;
    return [{ turn, sessions: own.length, people, causes: causesOf(own, positionOf), ...(namesPeople ? { users } : {}) }];
  });
  const withoutScript = judged.filter(({ session }) => session.scriptSize === 0).length;
  return { since, sessions: judged.length, isWhole, withoutScript, changes };
}

/** Returns what decides that sessions end differently, the most frequent first; what no manifest states only if nothing else decides. */
function causesOf(judged: readonly JudgedSession[], positionOf: DeciderPosition): readonly ReplayCause[] {
  const found = new Map<string, ReplayCause[]>();
  for (const { turn, before, after } of judged) {
    const deciding = turn === 'possible' || turn === 'unapproved' ? [...before.by, ...after.by] : [...after.by, ...before.by];
    const why = turn === 'unknown' ? (after.why ?? before.why) : undefined;
    const cause = why === undefined ? decidingCause(deciding, positionOf) : { why, sessions: 1 };
    addToGroup(found, JSON.stringify(cause), cause);
  }
  return [...found.values()]
    .map(([cause = { sessions: 0 }, ...others]) => ({ ...cause, sessions: others.length + 1 }))
    .toSorted((one, other) => other.sessions - one.sessions || compareText(JSON.stringify(one), JSON.stringify(other)));
}

function decidingCause(deciders: readonly Decider[], positionOf: DeciderPosition): ReplayCause {
  const placed = deciders.find((decider) => positionOf(decider) !== undefined) ?? deciders[0];
  return { by: placed?.id, at: placed && positionOf(placed), sessions: 1 };
}
