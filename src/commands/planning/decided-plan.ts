import type { CliContext } from '../context/cli-context.ts';
import type { ApplyFlags } from '../context/options.ts';
import { refuseAgain } from '../../reconcile/guard/refusals.ts';
import type { CreatedRun } from './planned-run.ts';

type DecidedFlags = Pick<ApplyFlags, 'allow' | 'digest'>;

/**
 * Asks what people decided about a plan in comments. Returns the run without the refusals that they override, and the flags as if these stated
 * the decisions. Closes the gateway if the decisions cannot be read.
 */
export async function withDecisions<T extends DecidedFlags>(
  created: CreatedRun,
  flags: T,
  { decide }: Pick<CliContext, 'decide'>,
): Promise<{ readonly created: CreatedRun; readonly flags: T }> {
  if (decide === undefined) return { created, flags };
  try {
    const { allow, digest = flags.digest } = await decide(created.plan);
    return {
      created: { ...created, plan: refuseAgain(created.plan, [], allow) },
      flags: { ...flags, allow: [...flags.allow, ...allow], digest },
    };
  } catch (error) {
    await created.gateway.close();
    throw error;
  }
}
