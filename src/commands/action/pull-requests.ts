import { planMark, mergedPullRequests } from '../../github/approved-plan.ts';
import { openGitHub, type GitHub } from '../../github/github-client.ts';
import { keepComment, stickyLimit } from '../../github/sticky-posts.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { AppError } from '../../model/errors.ts';
import { appliedText } from '../../report/subjects/apply.ts';
import type { ActionInputs, ActionMode } from './inputs.ts';
import type { ActionTask, TaskResult } from './task.ts';
import { version } from '../context/version.ts';

type Told = TaskResult & { readonly task: ActionTask; readonly markdown: (limit: number) => string };

/** Comments on the pull request, or on the one that was merged, and reports a deployment; what GitHub does not let it is a warning. */
export async function commentOnPullRequests(telling: Told): Promise<readonly Diagnostic[]> {
  const { inputs, run, step } = telling.task;
  if (inputs.mode === 'validate') return [];
  if (inputs.token === '') return inputs.comment ? [{ ...missingToken }] : [];
  const github = openGitHub({ ...run, token: inputs.token, version, sleep: telling.sleep });
  const commenting = inputs.comment ? await withGitHubErrors(() => comment(github, telling)) : [];
  const deploying = step.mode === 'apply' ? await withGitHubErrors(() => deploy(github, telling)) : [];
  // Who does not deploy gives no permission for it, and wants no warning.
  return [...commenting, ...deploying.filter(({ code }) => code !== 'github/forbidden')];
}

/** Without a token nothing is told, which costs no run. */
export const missingToken: Diagnostic = {
  code: 'github/no-token',
  severity: 'warning',
  message: 'there is no token to speak to GitHub with',
  hint: 'leave the input github-token out, or write comment: false and issue: false',
};

/** What GitHub does not let us do is a warning, and never a lost run. */
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

/** What the comment of a mode is found by: steps with the same inputs have one. */
export function commentKeyOf({ flags }: Pick<ActionInputs, 'flags'>, mode: ActionMode): readonly string[] {
  const { paths = '', config = '', target = '', only = '' } = flags;
  return [mode, config, target, paths, only];
}

async function comment(github: GitHub, telling: Told): Promise<readonly Diagnostic[]> {
  const { task, findings, exitCode } = telling;
  const { inputs, run } = task;
  const key = commentKeyOf(inputs, inputs.mode);
  const body = telling.markdown(stickyLimit);
  if (inputs.mode === 'apply') {
    const merged = run.pullRequest === undefined ? await mergedPullRequests(github, run.commit, run.branch) : [run.pullRequest];
    const onlyUpdate = exitCode === 0 && (findings.result?.outcomes ?? []).length === 0;
    for (const { number } of merged) await keepComment(github, { number, key, body, onlyUpdate });
    return [];
  }
  const { pullRequest } = run;
  // The token of a fork's run may only read; the summary says what there is to say.
  if (pullRequest === undefined || (pullRequest.fork && run.event === 'pull_request')) return [];
  const { number } = pullRequest;
  if ((await github.pullRequest(number)).head !== pullRequest.head) return [outrun(number)];
  const mark = findings.plan === undefined ? '' : planMark(findings.plan.digest, pullRequest.head);
  await keepComment(github, { number, key, body: `${mark}${body}`, onlyUpdate: isQuiet(telling) });
  return [];
}

function outrun(number: number): Diagnostic {
  return {
    code: 'github/newer-commit',
    severity: 'notice',
    message: `pull request ${number} has a newer commit, so its comment is left to the run for that one`,
  };
}

/** There is a plan, it does nothing, and nobody has to be told of anything else. */
function isQuiet({ findings: { plan, diagnostics }, exitCode }: TaskResult): boolean {
  if (plan === undefined || exitCode !== 0) return false;
  return plan.changes.length === 0 && plan.refusals.length === 0 && diagnostics.every(({ severity }) => severity === 'notice');
}

/** Says at the deployment to the environment that is called like the target how it went. */
async function deploy(github: GitHub, { task, findings, exitCode }: Told): Promise<readonly Diagnostic[]> {
  const { plan, result } = findings;
  if (plan === undefined) return [];
  const { commit, url } = task.run;
  const description = (result === undefined ? 'Not applied' : appliedText(result)).slice(0, 140);
  const deployment = await github.deployment(commit, plan.target.name);
  await github.setDeploymentStatus(deployment, { state: exitCode === 0 ? 'success' : 'failure', description, logUrl: url });
  return [];
}
