import { renamesOf } from '../../model/plan/plan.ts';
import type { Replay } from '../../model/result/replay.ts';
import { deciderPositions } from '../../protection/permission/decider-positions.ts';
import { type JudgedSession, sessionJudge, summarizeReplay } from '../../replay/replay-sessions.ts';
import type { CliContext } from '../context/cli-context.ts';
import type { TargetFlags } from '../context/options.ts';
import type { CreatedRun } from './planned-run.ts';
import { withSessions } from './read-sessions.ts';

/** The most sessions that a replay reads. */
const most = 1000;

/** Asks what a plan would have done to the sessions of the last days. The log and the reports of a job are for everybody: they name no person. */
export async function replayPlan(
  { project, plan, desired, snapshots }: CreatedRun,
  days: number,
  { flags, context }: { readonly flags: TargetFlags; readonly context: CliContext },
): Promise<Replay> {
  return withSessions(project.target, { days, most }, { flags, context }, async (read) => {
    if ('missing' in read) return read;
    const { before, after } = snapshots();
    const { groupsOf, since, isWhole } = read;
    const { needsScript, judge } = sessionJudge({ before, after, renames: renamesOf(plan.changes), groupsOf });
    const judged: JudgedSession[] = [];
    await read.readScripts(needsScript, (session, script) => judged.push(judge(session, script)));
    const positionOf = deciderPositions(desired, after);
    return summarizeReplay(judged, { since, isWhole, positionOf, namesPeople: ['', 'false'].includes(context.env['CI'] ?? '') });
  });
}
