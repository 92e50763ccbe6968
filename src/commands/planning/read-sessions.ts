import { type GroupsOf, type RecordedSession, type RecordedSessions } from '../../model/result/replay.ts';
import { runPool } from '../../model/concurrency.ts';
import { ApiError } from '../../model/errors.ts';
import type { AccessUser } from '../../model/protection/access-objects.ts';
import type { Service } from '../../model/service.ts';
import type { SessionScript } from '../../replay/judge-session.ts';
import type { CliContext } from '../context/cli-context.ts';
import type { TargetFlags } from '../context/options.ts';
import { counted } from '../output/progress.ts';
import { withService } from '../session/connect.ts';
import type { Target } from '../../model/config.ts';

/** The largest script that a run reads, in bytes, and the longest time for all sessions in milliseconds. */
const maxScript = 1024 * 1024;
const maxTime = 120_000;
const concurrency = 8;
const dayMs = 86_400_000;

/** The last sessions of a gateway, the day since which there are no others, and the people whom it lists. */
export type SessionReading = RecordedSessions & {
  readonly since: string;
  readonly groupsOf: GroupsOf;
  /** All groups of everybody whom the gateway lists; undefined: they cannot be read. */
  readonly members: ReadonlySet<string> | undefined;
  /** Reads the scripts of some sessions, and passes on each session with its script, which nothing keeps. */
  readonly readScripts: (
    needed: (session: RecordedSession) => boolean,
    use: (session: RecordedSession, script: SessionScript) => void,
  ) => Promise<void>;
};

/** Why no session can be read, instead of a failure: nothing depends on them. */
export type MissingSessions = { readonly since: string; readonly missing: string };

type ReadOptions = { readonly flags: TargetFlags; readonly context: CliContext };

/** Reads the newest sessions of the last days for the work; passes on why there are none if the gateway has none or refuses them. */
export async function withSessions<T>(
  target: Target,
  { days, most }: { readonly days: number; readonly most: number },
  { flags, context }: ReadOptions,
  work: (read: SessionReading | MissingSessions) => Promise<T>,
): Promise<T> {
  const from = new Date(context.now().getTime() - days * dayMs);
  const since = from.toISOString().slice(0, 10);
  return withService(target, { flags, context }, async (service) => {
    const { role } = await service.identify();
    if (role === 'standard')
      return work({ since, missing: 'the role standard of the token shows it only its own sessions; use the token of an auditor' });
    const end = context.now().getTime() + maxTime;
    const isLate = (): boolean => context.now().getTime() > end;
    const read = await orReason(() => service.sessionsSince(from, { most, isLate }));
    if (read === undefined) return work({ since, missing: 'the gateway has no sessions, or does not show them to this token' });
    if ('reason' in read) return work({ since, missing: read.reason });
    const { groupsOf, members } = await readPeople(service);
    const readScripts: SessionReading['readScripts'] = (needed, use) =>
      counted('reading sessions', read.sessions.length, {
        flags,
        context,
        work: async (step) => {
          await runPool(read.sessions, concurrency, async (session) => {
            use(session, needed(session) ? await scriptOf(session, service, isLate) : undefined);
            step();
          });
        },
      });
    const oldest = read.sessions.at(-1)?.at.slice(0, 10);
    return work({ ...read, since: read.isWhole || oldest === undefined ? since : oldest, groupsOf, members, readScripts });
  });
}

async function scriptOf({ id, scriptSize }: RecordedSession, service: Service, isLate: () => boolean): Promise<SessionScript> {
  if (scriptSize > maxScript) return { unread: 'the script is longer than 1 MiB' };
  if (isLate()) return { unread: 'not all scripts were read within 2 minutes' };
  const read = await orReason(() => service.session({ session: id }));
  return read === undefined || 'reason' in read || read.input === '' ? { unread: 'the gateway does not show the script' } : read.input;
}

/** Returns the failure of a request as a value. */
async function orReason<T>(ask: () => Promise<T>): Promise<T | { readonly reason: string }> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ApiError) return { reason: error.message };
    throw error;
  }
}

/** The lists of those who start sessions; a session has the name of a user before that of a key. */
const peopleLists = ['users', 'service-accounts', 'ai-agents', 'api-keys'] as const;

async function readPeople(service: Service): Promise<Pick<SessionReading, 'groupsOf' | 'members'>> {
  const byName = new Map<string, AccessUser>();
  const byId = new Map<string, AccessUser>();
  let isWhole = true;
  for (const list of peopleLists) {
    const read = await orReason(() => service.access(list));
    const rows = read === undefined ? [] : 'reason' in read ? undefined : read.value;
    isWhole &&= rows !== undefined;
    for (const one of rows ?? []) {
      if (one.id !== '') byId.set(one.id, one);
      if (!byName.has(one.name)) byName.set(one.name, one);
    }
  }
  return {
    groupsOf: ({ id, name }) => (byId.get(id) ?? byName.get(name) ?? byName.get(id))?.groups,
    members: isWhole
      ? new Set([...byName.values(), ...byId.values()].flatMap(({ isActive, groups }) => (isActive ? groups : [])))
      : undefined,
  };
}
