import {
  allowCommandFor,
  applyCommandFor,
  findApprovedPlan,
  mergedPullRequests,
  type MergedPullRequest,
  type OverrideComments,
  readOverrideComments,
} from '../../github/approved-plan.ts';
import type { GitHub } from '../../github/github-client.ts';
import { openRunGitHub, type Findings, type TaskResult } from './task.ts';
import type { WorkflowRun } from '../../github/workflow-run.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { UsageError } from '../../model/errors.ts';
import type { CliContext } from '../context/cli-context.ts';
import { linesOf, type ActionInputs } from './inputs.ts';
import { commentKeyOf, missingToken, withGitHubErrors } from './pull-requests.ts';

type DecisionContext = { readonly run: WorkflowRun; readonly context: CliContext; readonly waits: TaskResult['waits'] };

/** The value of the input `digest` that means: the digest in the comment on the merged pull request. */
export const digestFromComment = 'comment';

/**
 * Adds what people decided on the pull request: with `digest: comment` the digest of the plan that they merged, with `overrides` the
 * commands in their comments. Returns other inputs unchanged.
 */
export async function withDecisions(inputs: ActionInputs, asking: DecisionContext): Promise<Decisions> {
  const { digest } = inputs.flags;
  if (digest !== digestFromComment && !inputs.overrides) return { inputs };
  if (inputs.token === '') {
    if (digest === digestFromComment)
      throw new UsageError('digest: comment requires a token to read the comment', 'remove the input github-token');
    asking.context.onEvent?.({ diagnostics: [missingToken] });
    return { inputs };
  }
  const { run, context, waits } = asking;
  const github = openRunGitHub({ inputs, run }, { waits, context });
  const pulls = await pullRequestsOf(github, inputs, run);
  const overrides = inputs.overrides ? await readOverrides(github, pulls, context) : none;
  const given = linesOf(inputs.flags['allow'] ?? '');
  const codes = new Set(given.map(codeIn));
  const allow = [...given, ...overrides.allow.filter((one) => !codes.has(codeIn(one)))];
  const agreed = digest !== digestFromComment ? digest : (overrides.digest ?? (await approvedDigest(github, inputs, pulls, context)));
  const flags = {
    ...inputs.flags,
    ...(allow.length === 0 ? {} : { allow: allow.join('\n') }),
    ...(agreed === undefined ? {} : { digest: agreed }),
  };
  const [pullRequest, ...others] = pulls;
  return { inputs: { ...inputs, flags }, ...(pullRequest === undefined || others.length > 0 ? {} : { pullRequest }) };
}

/** The inputs with the decisions, and the one pull request that they come from. */
export type Decisions = { readonly inputs: ActionInputs; readonly pullRequest?: MergedPullRequest };

/** Returns the code of an override, `CODE=REASON`. */
function codeIn(allowance: string): string {
  return allowance.slice(0, allowance.indexOf('='));
}

const none: OverrideComments = { allow: [], digest: undefined, ignored: [] };

/** Returns the pull request of the event, or the merged ones that the commit of the run belongs to. */
async function pullRequestsOf(github: GitHub, { mode }: ActionInputs, run: WorkflowRun): Promise<readonly MergedPullRequest[]> {
  if (run.pullRequest !== undefined) return [run.pullRequest];
  return mode === 'apply' ? mergedPullRequests(github, run.commit, run.branch) : [];
}

async function readOverrides(github: GitHub, pulls: readonly MergedPullRequest[], context: CliContext): Promise<OverrideComments> {
  const [only, ...others] = pulls;
  if (only === undefined || others.length > 0) return none;
  let found = none;
  const diagnostics = await withGitHubErrors(async () => {
    found = await readOverrideComments(github, only);
    return found.ignored.map((message): Diagnostic => ({
      code: 'github/ignored-override',
      severity: 'warning',
      message,
      hint: 'see docs/how-to/github.md, overrides',
    }));
  });
  context.onEvent?.({ diagnostics });
  return found;
}

/** Returns the digest that the comment on the merged pull request showed; with a warning `none`, which lets only a plan without changes pass. */
async function approvedDigest(
  github: GitHub,
  inputs: ActionInputs,
  merged: readonly MergedPullRequest[],
  context: CliContext,
): Promise<string> {
  const agreed = await findApprovedPlan(github, commentKeyOf(inputs, 'plan'), merged);
  if ('digest' in agreed) return agreed.digest;
  const message = `no plan was approved: ${agreed.reason}`;
  const hint = 'Ostiary applies only a plan without changes; for any other, review the plan and run the workflow with its digest';
  context.onEvent?.({ diagnostics: [{ code: 'github/no-agreed-plan', severity: 'warning', message, hint }] });
  return 'none';
}

/** Returns the notice that names the commands with which a comment overrides the refusals of a plan. */
export function overrideCommands({ plan, result }: Findings, { inputs, pullRequest }: Decisions): readonly Diagnostic[] {
  if (!inputs.overrides || pullRequest === undefined || plan === undefined || result !== undefined) return [];
  // Limits do not refuse the plan that a digest names, so that command comes alone.
  const isOther = plan.refusals.some(({ code }) => code === 'plan/other-digest');
  const allowable = plan.refusals.flatMap((one) => (one.allowable ? [allowCommandFor(pullRequest.head, one.code)] : []));
  const commands = isOther ? [applyCommandFor(plan.digest)] : [...new Set(allowable)];
  if (commands.length === 0) return [];
  return [
    {
      code: 'github/override',
      severity: 'notice',
      message: `to override once, a person with write access comments on pull request ${pullRequest.number}: ${commands.join(' and ')}`,
      hint: 'then run this job again',
    },
  ];
}
