import { createHmac } from 'node:crypto';
import { readSealed, type SealedCache, writeSealed } from '../../disk/sealed-cache.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { renamesOf } from '../../model/plan/plan.ts';
import type { Decider } from '../../model/protection/permission.ts';
import type { Replay } from '../../model/result/replay.ts';
import { deciderPositions } from '../../protection/permission/decider-positions.ts';
import { type JudgedSession, type KnownFindings, sessionJudge, summarizeReplay } from '../../replay/replay-sessions.ts';
import type { CliContext } from '../context/cli-context.ts';
import type { TargetFlags } from '../context/options.ts';
import type { CreatedRun } from './planned-run.ts';
import { cacheWarning, secretCacheOf } from './read-secrets.ts';
import { withSessions } from './read-sessions.ts';

/** The most sessions that a replay reads. */
const most = 1000;

/** Scripts under the rules of this many states are known. */
const mostKnown = 20 * most;

/** What a plan would have done to sessions, or why that is not known. */
export type Replayed = { readonly replay: Replay; readonly warnings: readonly Diagnostic[] };

/** Asks what a plan would have done to the sessions of the last days. The log and the reports of a job are for everybody: they name no person. */
export async function replayPlan(
  { project, identity, plan, desired, snapshots }: CreatedRun,
  days: number,
  { flags, context }: { readonly flags: TargetFlags; readonly context: CliContext },
): Promise<Replayed> {
  return withSessions(project.target, { days, most }, { flags, context }, async (read) => {
    if ('missing' in read) return { replay: read, warnings: [] };
    const { before, after } = snapshots();
    const { groupsOf, since, isWhole } = read;
    const cache = findingsCache(secretCacheOf(project, identity, flags));
    const known = readFindings(cache);
    const earlier = known.size;
    const { needsScript, judge } = sessionJudge({ before, after, renames: renamesOf(plan.changes), groupsOf, known });
    const judged: JudgedSession[] = [];
    await read.readScripts(needsScript, (session, script) => judged.push(judge(session, script)));
    const unwritten = known.size === earlier ? undefined : writeSealed(cache, JSON.stringify([...known].slice(-mostKnown)));
    const positionOf = deciderPositions(desired, after);
    const replay = summarizeReplay(judged, { since, isWhole, positionOf, namesPeople: ['', 'false'].includes(context.env['CI'] ?? '') });
    return { replay, warnings: cacheWarning(flags.cache, unwritten) };
  });
}

/** Returns the cache of what rules found in scripts, beside the one of secrets. */
function findingsCache({ key, folder }: SealedCache): SealedCache {
  return { key: createHmac('sha256', key).update('ostiary/replay/v1').digest(), folder };
}

function readFindings(cache: SealedCache): KnownFindings {
  const text = readSealed(cache);
  const entries: readonly (readonly [string, readonly Decider[]])[] = text === undefined ? [] : JSON.parse(text);
  return new Map(entries);
}
