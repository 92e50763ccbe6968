import { findApprovedPlan, mergedPullRequests } from '../../github/approved-plan.ts';
import { openGitHub } from '../../github/github-client.ts';
import type { WorkflowRun } from '../../github/workflow-run.ts';
import { UsageError } from '../../model/errors.ts';
import type { CliContext } from '../context/cli-context.ts';
import type { ActionInputs } from './inputs.ts';
import { commentKeyOf } from './pull-requests.ts';
import type { TaskResult } from './task.ts';
import { version } from '../context/version.ts';

type Asking = { readonly run: WorkflowRun; readonly context: CliContext; readonly sleep: TaskResult['sleep'] };

/** The value of the input `digest` that means: the digest in the comment on the merged pull request. */
export const digestFromComment = 'comment';

/** Replaces `digest: comment` with the digest of the comment on the merged pull request; returns other inputs unchanged. */
export async function resolveAgreedDigest(inputs: ActionInputs, { run, context, sleep }: Asking): Promise<ActionInputs> {
  if (inputs.flags['digest'] !== digestFromComment) return inputs;
  if (inputs.token === '')
    throw new UsageError('digest: comment needs a token to read the comment with', 'leave the input github-token out');
  const github = openGitHub({ ...run, token: inputs.token, version, sleep });
  const merged = run.pullRequest === undefined ? await mergedPullRequests(github, run.commit, run.branch) : [run.pullRequest];
  const agreed = await findApprovedPlan(github, commentKeyOf(inputs, 'plan'), merged);
  if ('digest' in agreed) return { ...inputs, flags: { ...inputs.flags, digest: agreed.digest } };
  const message = `no plan was agreed to: ${agreed.reason}`;
  const hint = 'a plan that changes nothing is applied all the same; else look at the plan, and give its digest';
  context.onEvent?.({ diagnostics: [{ code: 'github/no-agreed-plan', severity: 'warning', message, hint }] });
  return { ...inputs, flags: { ...inputs.flags, digest: 'none' } };
}
