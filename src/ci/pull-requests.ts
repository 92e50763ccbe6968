import { planMark, mergedPullRequests } from '../forge/approved-plan.ts';
import type { CiRun } from '../forge/ci-system.ts';
import type { PullRequestSummary } from '../forge/forge.ts';
import { withForgeErrors } from '../forge/forge-errors.ts';
import type { PullRequest } from '../forge/forge.ts';
import type { Forge } from '../forge/forge.ts';
import { openRunForge, type ActionTask, type Checkout, type Findings, type TaskResult } from './task.ts';
import { historyRoom, keepComment, stickyLimit, withOlderRun, withRunHistory } from '../forge/sticky-posts.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { remainingOrphans } from '../model/plan/plan.ts';
import { appliedText } from '../report/subjects/apply.ts';
import { projectKeyOf, type ActionInputs, type ActionMode, type ProjectInputs } from './inputs.ts';
import { commitsSince, containsCommit, findCommit } from '../git/repository.ts';

type ReportedTask = TaskResult & { readonly task: ActionTask; readonly markdown: (limit: number) => string };

/** Comments on the pull request, open or merged, and reports a deployment. Requests that the forge refuses are warnings. */
export async function commentOnPullRequests(result: ReportedTask): Promise<readonly Diagnostic[]> {
  const { inputs, run, step } = result.task;
  if (inputs.mode === 'validate') return [];
  if (inputs.token === '') return inputs.comment ? missingTokenOf(run) : [];
  if (!inputs.comment && (step.mode !== 'apply' || result.findings.plan === undefined)) return [];
  const forge = openRunForge(result.task, result);
  const { value: commented = [], diagnostics: failures } = await withForgeErrors(
    async () => (inputs.comment ? comment(forge, result) : []),
    'a comment',
  );
  if (step.mode !== 'apply') return [...commented, ...failures];
  const deployed = await withForgeErrors(() => deploy(forge, result), 'the status of the deployment');
  // Workflows without deployments do not grant the permission, and need no warning.
  return [...commented, ...failures, ...deployed.diagnostics.filter(({ code }) => code !== 'forge/forbidden')];
}

/** Returns the warning of a step without a token, unless it is not meant to have one. */
export function missingTokenOf({ names, isTokenless }: CiRun): readonly Diagnostic[] {
  if (isTokenless === true) return [];
  return [{ code: 'forge/no-token', severity: 'warning', message: `missing ${names.forge} token`, hint: names.tokenHint }];
}

/** Returns the key of a mode's comment: steps with the same inputs share one. */
export function commentKeyOf(inputs: ProjectInputs, mode: ActionMode): readonly string[] {
  return [mode, inputs.flags['target'] ?? '', ...projectKeyOf(inputs)];
}

async function comment(forge: Forge, result: ReportedTask): Promise<readonly Diagnostic[]> {
  const { task, findings } = result;
  const { inputs, run } = task;
  const key = commentKeyOf(inputs, inputs.mode);
  if (inputs.mode === 'apply') return commentOnMerged(forge, result);
  const body = result.markdown(stickyLimit);
  const { pullRequest } = run;
  // The token of a fork's run is read-only; the job summary has the report.
  if (pullRequest === undefined || (pullRequest.fork && run.event === 'pull_request')) return [];
  const { number } = pullRequest;
  const known = await forge.pullRequest(number);
  // What the comment showed at the merge is what was approved.
  if (known.merged || pullRequest.merged) return [mergedAlready(run, number)];
  if (known.head !== pullRequest.head && !(await isOutdated(known, pullRequest, task.checkout))) return [outrun(run, number)];
  const mark = findings.plan === undefined ? '' : planMark(findings.plan.digest, pullRequest.head);
  await keepComment(forge, { number, key, bodyAfter: () => `${mark}${body}`, onlyUpdate: isQuiet(result) });
  return [];
}

/** Returns whether the forge's answer is older than the event of this run: its head is an earlier commit of the branch, or the one before the push. */
async function isOutdated(
  known: PullRequestSummary,
  { head, before, updatedAt = '' }: PullRequest,
  { repository }: Checkout,
): Promise<boolean> {
  if (updatedAt !== '' && Date.parse(known.updatedAt) > Date.parse(updatedAt)) return false;
  if (known.head === before) return true;
  if (repository === undefined || (await findCommit(repository, head)) === undefined) return false;
  return containsCommit(repository, head, known.head);
}

/** Comments on every pull request that was merged since the last complete apply, because this run applied all of them or none. */
async function commentOnMerged(forge: Forge, result: ReportedTask): Promise<readonly Diagnostic[]> {
  const { task, findings, exitCode } = result;
  const { numbers, diagnostics } = await findMergedSince(forge, task, findings);
  const body = result.markdown(stickyLimit - historyRoom);
  // What a run for a newer commit applied stays the last word.
  const isOlder = findings.result === undefined && findings.plan?.refusals.some(({ code }) => code === 'git/older-commit') === true;
  const end = { url: task.run.url, text: outcomeText(findings) };
  const failures: Diagnostic[] = [];
  for (const number of numbers) {
    const options = {
      number,
      key: commentKeyOf(task.inputs, 'apply'),
      bodyAfter: (previous: string | undefined) =>
        isOlder && previous !== undefined ? withOlderRun(end, previous) : withRunHistory(body, end, previous),
      onlyUpdate: exitCode === 0 && (findings.result?.outcomes ?? []).length + orphansOf(findings) === 0,
    };
    const posted = await withForgeErrors(() => keepComment(forge, options), `the comment on ${task.run.names.request} ${number}`);
    for (const failure of posted.diagnostics) failures.push(failure);
  }
  return [...diagnostics, ...failures];
}

const mostCommits = 100;

/** Finds the pull requests that the commits since the last complete apply belong to, the newest first. */
export async function findMergedSince(
  forge: Forge,
  { run, checkout }: Pick<ActionTask, 'run' | 'checkout'>,
  { plan }: Pick<Findings, 'plan'>,
): Promise<{ readonly numbers: readonly number[]; readonly diagnostics: readonly Diagnostic[] }> {
  const since = await commitsToReport(checkout, plan?.base);
  const found = new Set(run.pullRequest === undefined ? [] : [run.pullRequest.number]);
  for (const commit of since.slice(0, mostCommits))
    for (const { number } of await mergedPullRequests(forge, commit, run.branch)) found.add(number);
  return { numbers: [...found], diagnostics: since.length > mostCommits ? [unsearchedCommits(run)] : [] };
}

function unsearchedCommits({ names }: CiRun): Diagnostic {
  const message = `more than ${mostCommits} commits were merged since the last complete apply; ${names.request}s of older ones have no comment about this run`;
  return { code: 'forge/older-commits', severity: 'notice', message };
}

/** Returns the applied commit, and those between it and the last applied one. */
async function commitsToReport({ commit, repository }: Checkout, base: string | undefined): Promise<readonly string[]> {
  if (repository === undefined || base === undefined || (await findCommit(repository, base)) === undefined) return [commit];
  return [...new Set([commit, ...(await commitsSince(repository, base, commit, mostCommits + 1))])];
}

function outcomeText({ plan, result, diagnostics }: Findings): string {
  if (result !== undefined) return appliedText(result, plan);
  const errors = diagnostics.flatMap(({ severity, code }) => (severity === 'error' ? [code] : []));
  const codes = new Set([...(plan?.refusals ?? []).map(({ code }) => code), ...errors]);
  return `Not applied${codes.size === 0 ? '' : `: ${[...codes].slice(0, 3).join(', ')}`}.`;
}

function outrun({ names }: CiRun, number: number): Diagnostic {
  return {
    code: 'forge/newer-commit',
    severity: 'notice',
    message: `${names.request} ${number} has a newer commit, so the run for that commit updates its comment`,
  };
}

function mergedAlready({ names }: CiRun, number: number): Diagnostic {
  return {
    code: 'forge/merged',
    severity: 'notice',
    message: `${names.request} ${number} is merged, so its comment still shows the plan of that time`,
  };
}

function orphansOf({ plan }: Pick<Findings, 'plan'>): number {
  return plan === undefined ? 0 : remainingOrphans(plan).length;
}

/** Returns true if there is a plan without changes, orphans, refusals and warnings. */
function isQuiet({ findings: { plan, diagnostics }, exitCode }: TaskResult): boolean {
  if (plan === undefined || exitCode !== 0) return false;
  const isEmpty = plan.changes.length + orphansOf({ plan }) + plan.refusals.length === 0;
  return isEmpty && diagnostics.every(({ severity }) => severity === 'notice');
}

/** Sets the status of the deployment to the environment of the target. */
async function deploy(forge: Forge, { task, findings, exitCode }: ReportedTask): Promise<void> {
  const { plan, result } = findings;
  const { deployments } = forge;
  if (plan === undefined || deployments === undefined) return;
  const { commit, url } = task.run;
  const description = (result === undefined ? 'Not applied' : appliedText(result, plan)).slice(0, 140);
  const deployment = await deployments.deployment(commit, environmentOf(task.inputs, plan.target.name));
  await deployments.setDeploymentStatus(deployment, { state: exitCode === 0 ? 'success' : 'failure', description, logUrl: url });
}

/** Returns the input `environment`; otherwise the name of the target, below the label if there is one. */
function environmentOf({ environment, label }: Pick<ActionInputs, 'environment' | 'label'>, target: string): string {
  return environment?.replaceAll('{target}', target) ?? (label === undefined ? target : `${label}/${target}`);
}
