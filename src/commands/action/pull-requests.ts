import { planMark, mergedPullRequests, findApprovedPlan } from '../../github/approved-plan.ts';
import { openGitHub, type GitHub } from '../../github/github-client.ts';
import { keepComment, stickyLimit } from '../../github/sticky-posts.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { AppError, UsageError } from '../../model/errors.ts';
import { appliedText } from '../../report/subjects/apply.ts';
import { selectionKeyOf, type ActionInputs, type ActionMode } from './inputs.ts';
import type { ActionTask, TaskResult } from './task.ts';
import { version } from '../context/version.ts';
import type { WorkflowRun } from '../../github/workflow-run.ts';
import type { CliContext } from '../context/cli-context.ts';

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

type ReportedTask = TaskResult & { readonly task: ActionTask; readonly markdown: (limit: number) => string };

/** Comments on the pull request, open or merged, and reports a deployment. Requests that GitHub refuses are warnings. */
export async function commentOnPullRequests(result: ReportedTask): Promise<readonly Diagnostic[]> {
  const { inputs, run, step } = result.task;
  if (inputs.mode === 'validate') return [];
  if (inputs.token === '') return inputs.comment ? [{ ...missingToken }] : [];
  const github = openGitHub({ ...run, token: inputs.token, version, sleep: result.sleep });
  const commenting = inputs.comment ? await withGitHubErrors(() => comment(github, result)) : [];
  const deploying = step.mode === 'apply' ? await withGitHubErrors(() => deploy(github, result)) : [];
  // Workflows without deployments do not grant the permission, and need no warning.
  return [...commenting, ...deploying.filter(({ code }) => code !== 'github/forbidden')];
}

/** The warning of a step without a token. */
export const missingToken: Diagnostic = {
  code: 'github/no-token',
  severity: 'warning',
  message: 'there is no token to speak to GitHub with',
  hint: 'leave the input github-token out, or write comment: false and issue: false',
};

/** Runs requests to GitHub; converts errors of GitHub to warnings, so that they never fail the run. */
export async function withGitHubErrors(work: () => Promise<readonly Diagnostic[]>): Promise<readonly Diagnostic[]> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || !error.code.startsWith('github/')) throw error;
    const { code, message, hint } = error;
    const [area = '', reason = ''] = code.split('/');
    return [{ code: `${area}/${reason}`, severity: 'warning', message, ...(hint === undefined ? {} : { hint }) }];
  }
}

/** Returns the key of a mode's comment: steps with the same inputs share one. */
export function commentKeyOf({ flags }: Pick<ActionInputs, 'flags'>, mode: ActionMode): readonly string[] {
  const { config = '', target = '' } = flags;
  return [mode, config, target, ...selectionKeyOf(flags)];
}

async function comment(github: GitHub, result: ReportedTask): Promise<readonly Diagnostic[]> {
  const { task, findings, exitCode } = result;
  const { inputs, run } = task;
  const key = commentKeyOf(inputs, inputs.mode);
  const body = result.markdown(stickyLimit);
  if (inputs.mode === 'apply') {
    const merged = run.pullRequest === undefined ? await mergedPullRequests(github, run.commit, run.branch) : [run.pullRequest];
    const onlyUpdate = exitCode === 0 && (findings.result?.outcomes ?? []).length === 0;
    for (const { number } of merged) await keepComment(github, { number, key, body, onlyUpdate });
    return [];
  }
  const { pullRequest } = run;
  // The token of a fork's run is read-only; the job summary has the report.
  if (pullRequest === undefined || (pullRequest.fork && run.event === 'pull_request')) return [];
  const { number } = pullRequest;
  if ((await github.pullRequest(number)).head !== pullRequest.head) return [outrun(number)];
  const mark = findings.plan === undefined ? '' : planMark(findings.plan.digest, pullRequest.head);
  await keepComment(github, { number, key, body: `${mark}${body}`, onlyUpdate: isQuiet(result) });
  return [];
}

function outrun(number: number): Diagnostic {
  return {
    code: 'github/newer-commit',
    severity: 'notice',
    message: `pull request ${number} has a newer commit, so its comment is left to the run for that one`,
  };
}

/** Returns true if there is a plan without changes, refusals and warnings. */
function isQuiet({ findings: { plan, diagnostics }, exitCode }: TaskResult): boolean {
  if (plan === undefined || exitCode !== 0) return false;
  return plan.changes.length === 0 && plan.refusals.length === 0 && diagnostics.every(({ severity }) => severity === 'notice');
}

/** Sets the status of the deployment to the environment with the target's name. */
async function deploy(github: GitHub, { task, findings, exitCode }: ReportedTask): Promise<readonly Diagnostic[]> {
  const { plan, result } = findings;
  if (plan === undefined) return [];
  const { commit, url } = task.run;
  const description = (result === undefined ? 'Not applied' : appliedText(result, plan)).slice(0, 140);
  const deployment = await github.deployment(commit, plan.target.name);
  await github.setDeploymentStatus(deployment, { state: exitCode === 0 ? 'success' : 'failure', description, logUrl: url });
  return [];
}
