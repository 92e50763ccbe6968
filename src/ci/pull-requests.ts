import { mergedPullRequests, planMarkLength, type ShownPlan, withPlanMarks } from '../forge/approved-plan.ts';
import type { CiRun } from '../forge/ci-system.ts';
import type { Forge, PullRequest, PullRequestSummary } from '../forge/forge.ts';
import { withForgeErrors } from '../forge/forge-errors.ts';
import { openRunForge, type ActionTask, type Checkout, type Findings, type TaskResult } from './task.ts';
import { keepComments, type StickyComment } from '../forge/sticky-posts.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { remainingOrphans } from '../model/plan/plan.ts';
import { appliedText } from '../report/subjects/apply.ts';
import { projectKeyOf, type ActionInputs, type ProjectInputs } from './inputs.ts';
import { commitsSince, containsCommit, findCommit } from '../git/repository.ts';

type ReportedTask = TaskResult & { readonly task: ActionTask; readonly markdown: (limit: number, unaffected?: string) => string };

/**
 * Comments on the pull requests, open or merged, with a section for each target, and reports deployments. Returns the diagnostics of each
 * result; requests that the forge refuses are warnings.
 */
export async function commentOnPullRequests(results: readonly ReportedTask[]): Promise<readonly (readonly Diagnostic[])[]> {
  const commented = await writeComments(results);
  const deployed: (readonly Diagnostic[])[] = [];
  for (const result of results) deployed.push(await reportDeployment(result));
  return deployed.map((own, index) => (index === 0 ? [...commented, ...own] : own));
}

/** The pull requests that a step comments on. */
type CommentPlaces = Pick<StickyComment, 'only' | 'isSuccess'> & {
  readonly numbers: readonly number[];
  readonly diagnostics: readonly Diagnostic[];
};

/** Writes the comments of a step. */
async function writeComments(results: readonly ReportedTask[]): Promise<readonly Diagnostic[]> {
  const [first] = results;
  if (first === undefined) return [];
  const { inputs, run } = first.task;
  const comments = commentsOf(first, results);
  if (inputs.mode === 'validate' || comments.length === 0 || !inputs.comment) return [];
  // A list of targets needs no token.
  if (inputs.token === '') return inputs.mode === 'targets' ? [] : missingTokenOf(run);
  const forge = openRunForge(first.task, first);
  const { value: places = nowhere, diagnostics } = await withForgeErrors(
    () => (inputs.mode === 'apply' ? outcomePlaces(forge, results) : planPlaces(forge, first, results)),
    'a comment',
  );
  const { numbers, diagnostics: unsearched, ...how } = places;
  let found = [...unsearched, ...diagnostics];
  for (const number of numbers) {
    const kept = await withForgeErrors(
      () =>
        keepComments(
          forge,
          number,
          comments.map((one) => ({ ...one, ...how })),
        ),
      `the comment on ${run.names.request} ${number}`,
    );
    found = [...found, ...kept.diagnostics];
  }
  return found;
}

/** Returns the comment of a step, with the sections of all its targets; a list of targets replaces the plans of those that are no longer affected. */
function commentsOf(first: ReportedTask, results: readonly ReportedTask[]): readonly Pick<StickyComment, 'key' | 'bodyWithin'>[] {
  const { inputs } = first.task;
  if (inputs.mode !== 'targets') return [{ key: commentKeyOf(inputs), bodyWithin: (limit) => bodyOf(results, limit) }];
  return (first.findings.unaffected ?? []).map((name) => {
    return { key: commentKeyOf({ ...inputs, mode: 'plan', selected: name }), bodyWithin: (limit) => first.markdown(limit, name) };
  });
}

const nowhere: CommentPlaces = { numbers: [], diagnostics: [] };

/** Returns the sections of all targets, with the plans that they show; short sections leave their room to the others. */
function bodyOf(results: readonly ReportedTask[], limit: number): string {
  let room = limit - results.length * planMarkLength;
  const sections = results.map((result, index) => {
    const section = result.markdown(Math.floor(room / (results.length - index)) - 2).trimEnd();
    room -= section.length + 2;
    return section;
  });
  return withPlanMarks(`${sections.join('\n\n')}\n`, results.flatMap(approvablePlan));
}

/** Returns the plan that a merge approves; what is refused is not approved, and neither is what a snapshot shows. */
function approvablePlan({ task: { inputs, run }, findings: { plan } }: ReportedTask): readonly ShownPlan[] {
  if (inputs.mode !== 'plan' || plan === undefined || plan.refusals.length > 0 || run.pullRequest === undefined) return [];
  if (plan.snapshot !== undefined) return [];
  return [{ name: planNameOf(inputs), digest: plan.seals.digest, head: run.pullRequest.head }];
}

async function reportDeployment(result: ReportedTask): Promise<readonly Diagnostic[]> {
  const { inputs, step } = result.task;
  if (step.mode !== 'apply' || inputs.token === '') return [];
  const { diagnostics } = await withForgeErrors(() => deploy(openRunForge(result.task, result), result), 'the status of the deployment');
  // Workflows without deployments do not grant the permission, and need no warning.
  return diagnostics.filter(({ code }) => code !== 'forge/forbidden');
}

/** Returns the warning of a step without a token, unless it is not meant to have one. */
export function missingTokenOf({ names, isTokenless }: CiRun): readonly Diagnostic[] {
  if (isTokenless === true) return [];
  return [{ code: 'forge/no-token', severity: 'warning', message: `missing ${names.forge} token`, hint: names.tokenHint }];
}

/** Returns the key of a step's comment: steps for other targets have comments of their own. */
function commentKeyOf(inputs: ActionInputs): readonly string[] {
  return [inputs.mode, ...projectKeyOf(inputs), inputs.selected];
}

/** Returns the name of the plan of a config and a target, whichever step shows it. */
export function planNameOf(inputs: ProjectInputs): readonly string[] {
  return [...projectKeyOf(inputs), inputs.flags['target'] ?? ''];
}

async function planPlaces(forge: Forge, { task }: ReportedTask, results: readonly ReportedTask[]): Promise<CommentPlaces> {
  const { run } = task;
  const pullRequest = run.pullRequest ?? (await mentionedRequest(forge, task));
  // The token of a fork's run is read-only; the job summary has the report.
  if (pullRequest === undefined || (pullRequest.fork && run.event === 'pull_request')) return nowhere;
  const { number } = pullRequest;
  const known = await forge.pullRequest(number);
  // What the comment showed at the merge is what was approved.
  if (known.merged || pullRequest.merged) return { numbers: [], diagnostics: [mergedAlready(run, number)] };
  if (known.head !== pullRequest.head && !(await isOutdated(known, pullRequest, task.checkout)))
    return { numbers: [], diagnostics: [outrun(run, number)] };
  return { numbers: [number], only: results.every(isQuiet) ? 'existing' : undefined, diagnostics: [] };
}

/** Returns the pull request of an event that only mentions it, with the commit that is checked out for it. */
async function mentionedRequest(forge: Forge, { run: { mention }, checkout }: ActionTask): Promise<PullRequest | undefined> {
  const found = mention?.by === 'event' ? await forge.readPullRequest(mention.number) : undefined;
  return found && { ...found, head: checkout.commit };
}

/** Returns whether the forge's answer is older than the event of this run: its head is an earlier commit of the branch, or the one before the push. */
async function isOutdated(
  known: PullRequestSummary,
  { head, before, updatedAt = '' }: PullRequest,
  { repository }: Checkout,
): Promise<boolean> {
  if (updatedAt !== '' && Date.parse(known.updatedAt) > Date.parse(updatedAt)) return false;
  if (known.head === before) return true;
  return repository !== undefined && containsCommit(repository, head, known.head);
}

/** Returns every pull request that was merged since the last complete apply, because this run applied all of them or none. */
async function outcomePlaces(forge: Forge, results: readonly ReportedTask[]): Promise<CommentPlaces> {
  const found = [];
  for (const { task, findings } of results) found.push(await findMergedSince(forge, task, findings));
  // What a run for a newer commit applied stays the last word.
  const isOlder = results.every(
    ({ findings: { plan, result } }) => result === undefined && plan?.refusals.some(({ code }) => code === 'git/older-commit') === true,
  );
  const isIdle = results.every(
    ({ findings, exitCode }) => exitCode === 0 && (findings.result?.outcomes ?? []).length + orphansOf(findings) === 0,
  );
  return {
    numbers: [...new Set(found.flatMap(({ numbers }) => numbers))],
    // A repeated run that has nothing to do does not replace what the first one did.
    only: isOlder ? 'new' : isIdle ? 'unsuccessful' : undefined,
    isSuccess: results.every(({ exitCode }) => exitCode === 0),
    diagnostics: found[0]?.diagnostics ?? [],
  };
}

/** The most commits that a forge is asked about. */
export const mostCommits = 100;

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

/** Returns true if no target is affected, or there is a plan without changes, orphans, refusals and warnings. */
function isQuiet({ task, findings: { plan, diagnostics }, exitCode }: TaskResult): boolean {
  if (task?.step.mode === 'targets') return exitCode === 0;
  if (plan === undefined || exitCode !== 0) return false;
  const isEmpty = plan.changes.length + orphansOf({ plan }) + plan.refusals.length === 0;
  return isEmpty && diagnostics.every(({ severity }) => severity === 'notice');
}

/** Sets the status of the deployment to the environment with the name of the target, below the label if there is one. */
async function deploy(forge: Forge, { task, findings, exitCode }: ReportedTask): Promise<void> {
  const { plan, result } = findings;
  const { deployments } = forge;
  if (plan === undefined || deployments === undefined) return;
  const { commit, url } = task.run;
  const description = (result === undefined ? 'Not applied' : appliedText(result, plan)).slice(0, 140);
  const { label } = task.inputs;
  const { name } = plan.target;
  const deployment = await deployments.deployment(commit, label === undefined ? name : `${label}/${name}`);
  await deployments.setDeploymentStatus(deployment, { state: exitCode === 0 ? 'success' : 'failure', description, logUrl: url });
}
