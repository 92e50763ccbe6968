import { planMark, mergedPullRequests } from '../forge/approved-plan.ts';
import type { CiRun } from '../forge/ci-system.ts';
import type { PullRequestSummary } from '../forge/forge.ts';
import { withForgeErrors } from '../forge/forge-errors.ts';
import type { PullRequest } from '../forge/forge.ts';
import type { Forge } from '../forge/forge.ts';
import { openRunForge, type ActionTask, type Checkout, type Findings, type TaskResult } from './task.ts';
import { keepSections, sectionLimit, type SectionUpdate } from '../forge/comment-sections.ts';
import { historyRoom, withOlderRun, withRunHistory } from '../forge/run-history.ts';
import { resolveConfig } from '../project/resolved-config.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { remainingOrphans } from '../model/plan/plan.ts';
import { appliedText } from '../report/subjects/apply.ts';
import { projectKeyOf, type ActionInputs, type ActionMode, type ProjectInputs } from './inputs.ts';
import { commitsSince, containsCommit, findCommit } from '../git/repository.ts';

type ReportedTask = TaskResult & { readonly task: ActionTask; readonly markdown: (limit: number) => string };

/**
 * Comments on the pull request, open or merged, with a section for each target, and reports deployments. Returns the diagnostics of each
 * result; requests that the forge refuses are warnings.
 */
export async function commentOnPullRequests(results: readonly ReportedTask[]): Promise<readonly (readonly Diagnostic[])[]> {
  const names = targetNamesIn(results);
  const written = await Promise.all(
    results.map((result) => sectionsOf(result, sectionLimit(Math.max(names?.length ?? 0, results.length)))),
  );
  const posted = await postSections(results, written, names);
  const deployed: (readonly Diagnostic[])[] = [];
  for (const result of results) deployed.push(await reportDeployment(result));
  return results.map((_, index) => [...(written[index]?.diagnostics ?? []), ...(posted[index] ?? []), ...(deployed[index] ?? [])]);
}

/** The sections that a result has in comments. */
type WrittenSections = { readonly sections: readonly PlacedSection[]; readonly diagnostics: readonly Diagnostic[] };

type PlacedSection = { readonly number: number; readonly update: SectionUpdate };

async function sectionsOf(result: ReportedTask, limit: number): Promise<WrittenSections> {
  const { inputs, run } = result.task;
  if (inputs.mode === 'validate') return nothingWritten;
  if (inputs.token === '') return { sections: [], diagnostics: inputs.comment ? missingTokenOf(run) : [] };
  if (!inputs.comment) return nothingWritten;
  const forge = openRunForge(result.task, result);
  const { value = nothingWritten, diagnostics } = await withForgeErrors(
    async () => (inputs.mode === 'apply' ? outcomeSections(forge, result, limit) : planSection(forge, result, limit)),
    'a comment',
  );
  return { sections: value.sections, diagnostics: [...value.diagnostics, ...diagnostics] };
}

const nothingWritten: WrittenSections = { sections: [], diagnostics: [] };

/** Writes each comment once, with the sections of all results; each of these gets the diagnostics. */
async function postSections(
  results: readonly ReportedTask[],
  written: readonly WrittenSections[],
  names: readonly string[] | undefined,
): Promise<readonly (readonly Diagnostic[])[]> {
  let found: readonly (readonly Diagnostic[])[] = results.map(() => []);
  const numbers = new Set(written.flatMap(({ sections }) => sections.map(({ number }) => number)));
  for (const number of numbers) {
    const updates = written.flatMap(({ sections }) => sections.flatMap((one) => (one.number === number ? [one.update] : [])));
    const involved = written.map(({ sections }) => sections.some((one) => one.number === number));
    const result = results[involved.indexOf(true)];
    if (result === undefined) continue;
    const { task, waits } = result;
    const comment = { number, key: commentKeyOf(task.inputs, task.inputs.mode), names, updates };
    const { value = [], diagnostics } = await withForgeErrors(
      () => keepSections(openRunForge(task, result), comment, waits.sleep),
      `the comment on ${task.run.names.request} ${number}`,
    );
    found = found.map((own, index) => (involved[index] === true ? [...own, ...value, ...diagnostics] : own));
  }
  return found;
}

/** Returns the names of the config's targets in their order; undefined without a config, and if a run failed before it had a plan, so that its config may be another one. */
function targetNamesIn(results: readonly ReportedTask[]): readonly string[] | undefined {
  const [first] = results;
  if (first === undefined || results.some(({ findings }) => findings.plan === undefined)) return undefined;
  const { config, target, url } = first.task.inputs.flags;
  if (target === undefined) return [''];
  return url === undefined ? resolveConfig({ only: [], paths: [], config }, first.context).targets.map(({ name }) => name) : undefined;
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

/** Returns the key of a mode's comment: the steps for all targets of a config share one. */
export function commentKeyOf(inputs: ProjectInputs, mode: ActionMode): readonly string[] {
  return [mode, ...projectKeyOf(inputs)];
}

/** Returns the name of the section of a step: that of its target. */
export function sectionNameOf({ flags }: Pick<ProjectInputs, 'flags'>): string {
  return flags['target'] ?? '';
}

async function planSection(forge: Forge, result: ReportedTask, limit: number): Promise<WrittenSections> {
  const { task, findings } = result;
  const { inputs, run } = task;
  const { pullRequest } = run;
  // The token of a fork's run is read-only; the job summary has the report.
  if (pullRequest === undefined || (pullRequest.fork && run.event === 'pull_request')) return nothingWritten;
  const { number } = pullRequest;
  const known = await forge.pullRequest(number);
  // What the comment showed at the merge is what was approved.
  if (known.merged || pullRequest.merged) return { sections: [], diagnostics: [mergedAlready(run, number)] };
  if (known.head !== pullRequest.head && !(await isOutdated(known, pullRequest, task.checkout)))
    return { sections: [], diagnostics: [outrun(run, number)] };
  // What is refused is not approved by a merge.
  const isRefused = findings.plan === undefined || findings.plan.refusals.length > 0;
  const mark = isRefused ? '' : planMark(findings.plan.seals.digest, pullRequest.head);
  const body = `${mark}${result.markdown(limit - mark.length)}`;
  const update = { name: sectionNameOf(inputs), textAfter: () => body, onlyUpdate: isQuiet(result) };
  return { sections: [{ number, update }], diagnostics: [] };
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

/** Returns a section for every pull request that was merged since the last complete apply, because this run applied all of them or none. */
async function outcomeSections(forge: Forge, result: ReportedTask, limit: number): Promise<WrittenSections> {
  const { task, findings, exitCode } = result;
  const { numbers, diagnostics } = await findMergedSince(forge, task, findings);
  const room = historyRoom(limit);
  const body = result.markdown(limit - room);
  // What a run for a newer commit applied stays the last word.
  const isOlder = findings.result === undefined && findings.plan?.refusals.some(({ code }) => code === 'git/older-commit') === true;
  const end = { url: task.run.url, text: outcomeText(findings) };
  const update: SectionUpdate = {
    name: sectionNameOf(task.inputs),
    textAfter: (previous) =>
      isOlder && previous !== undefined ? withOlderRun(end, previous, room) : withRunHistory(body, end, previous, room),
    onlyUpdate: exitCode === 0 && (findings.result?.outcomes ?? []).length + orphansOf(findings) === 0,
  };
  return { sections: numbers.map((number) => ({ number, update })), diagnostics };
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
