import { appendRunnerFile, writeReport } from '../disk/write.ts';
import { hasErrors, type Diagnostic } from '../model/diagnostic.ts';
import { renderReport } from '../report/formats.ts';
import { findingsDocument, withManifestPositions } from '../report/subjects/findings.ts';
import type { RunFindings } from '../report/subjects/found.ts';
import { runReportMarkdown } from '../report/markdown/comment.ts';
import { runBody } from '../report/subjects/run-end.ts';
import { fileLinks } from '../report/links.ts';
import { labeledName } from '../report/document.ts';
import { type ActionTask, targetNameOf, type TaskResult } from './task.ts';
import { keepAdoptionRequest, keepDriftIssue } from './drift-issue.ts';
import { setCommitStatus } from './commit-status.ts';
import { commentOnPullRequests } from './pull-requests.ts';
import { absolutePath, outputPath } from '../project/resolved-config.ts';
import { affectedText } from '../commands/planning/affected-targets.ts';
import { version } from '../commands/context/version.ts';
import type { Json } from '../model/json.ts';
import { hasDifferences, highestPlanRisk, riskClasses } from '../model/plan/plan.ts';
import { needsReport } from '../reconcile/drift/filter-drift.ts';
import { countActions } from '../report/wording/summary.ts';
import { driftCounts } from '../report/subjects/drift.ts';
import { outcomeCounts } from '../report/subjects/apply.ts';
import type { ActionInputs } from './inputs.ts';

/** The most bytes of a summary: GitHub drops one above 1 MiB, and masks secrets in it, which can make it longer. */
const summaryLimit = 1024 * 1024 - 16_384;

/** Receives the results with the diagnostics of reporting them, and those from before. */
export type OnReported = (reported: readonly TaskResult[], before: readonly TaskResult[]) => void;

/** Reports the results of each target: outputs, findings for code scanning, comments, annotations, the job's summary. Exit 4 if no issue reports a drift, otherwise 0. */
export async function reportRun(found: readonly TaskResult[], onReported?: OnReported): Promise<number> {
  const results = found.map(withPositions);
  const [first] = results;
  if (first === undefined) return 0;
  const { task, log, system, context } = first;
  const files = system.filesOf(context.env);
  const sarif = task?.inputs.sarif === undefined ? undefined : outputPath(task.inputs.sarif, context);
  if (sarif !== undefined) writeReport(sarif, await renderReport(findingsDocument(findingsOf(results, task)), 'sarif'));
  const inputs = { several: task?.inputs.several === true, sarif };
  const write = (outputs: Readonly<Record<string, string>>): void => append(files.outputs, system.outputLines(outputs));
  // Before any request to the forge, because a canceled job has only seconds left.
  write(outputsOf(results.map(targetResultOf), inputs));
  const reported: ReportedTarget[] = [];
  const commented = await commentsOf(results);
  for (const [index, target] of results.entries()) reported.push(await reportTarget(target, commented[index] ?? []));
  write(
    reportOutputsOf(
      reported.map((one) => ({ target: targetNameOf(one.task), result: one.result })),
      inputs,
    ),
  );
  log.command(await renderReport(findingsDocument(findingsOf(reported, task)), 'annotations'));
  onReported?.(reported, results);
  append(files.summary, summaryOf(reported));
  return reported.some(({ isUnreported }) => isUnreported) ? 4 : 0;
}

/** The reported results of one target, with the diagnostics of failed requests to the forge. */
type ReportedTarget = TaskResult & {
  readonly result: TargetResult;
  /** Whether a drift should be in an issue, and is in none. */
  readonly isUnreported: boolean;
};

function withPositions(target: TaskResult): TaskResult {
  const { findings } = target;
  const { plan, diagnostics } = findings;
  return plan === undefined ? target : { ...target, findings: { ...findings, diagnostics: withManifestPositions(diagnostics, plan) } };
}

/** Comments on pull requests; returns the diagnostics of each result. */
async function commentsOf(results: readonly TaskResult[]): Promise<readonly (readonly Diagnostic[])[]> {
  const commenting = results.flatMap((target, index) =>
    target.task === undefined || target.task.step.mode === 'drift'
      ? []
      : [{ ...target, task: target.task, index, markdown: (limit: number, unaffected?: string) => markdownOf(target, limit, unaffected) }],
  );
  const found = await commentOnPullRequests(commenting);
  return results.map((_, index) => found[commenting.findIndex((one) => one.index === index)] ?? []);
}

async function reportTarget(target: TaskResult, commented: readonly Diagnostic[]): Promise<ReportedTarget> {
  const reported = await postReports(target, commented);
  const { task, findings, result } = reported;
  if (task === undefined) return reported;
  const refused = await setCommitStatus({ ...reported, task, exitCode: result['exit-code'] });
  return { ...reported, findings: { ...findings, diagnostics: [...findings.diagnostics, ...refused] } };
}

/** Posts issues and pull requests, after the comments. */
async function postReports(target: TaskResult, commented: readonly Diagnostic[]): Promise<ReportedTarget> {
  const result = targetResultOf(target);
  const { task, findings } = target;
  if (task === undefined) return { ...target, result, isUnreported: false };
  const plus = (more: readonly Diagnostic[], outputs: Partial<TargetResult> = {}): ReportedTarget => ({
    ...target,
    findings: { ...findings, diagnostics: [...findings.diagnostics, ...more] },
    result: { ...result, ...outputs },
    isUnreported: false,
  });
  if (task.step.mode !== 'drift') return plus(commented);
  const issued = await keepDriftIssue({ ...target, task });
  const adopted = await keepAdoptionRequest({ ...target, task }, issued.number);
  const isNew = issued.number !== undefined && adopted.number !== undefined && adopted.number !== issued.linked;
  const linked = isNew ? await keepDriftIssue({ ...target, task }, adopted.number) : issued;
  const isUnreported = hasErrors(issued.diagnostics);
  const reported = plus([...issued.diagnostics, ...adopted.diagnostics, ...(isNew ? linked.diagnostics : [])], {
    ...(isUnreported && target.exitCode <= 2 ? { 'exit-code': 4 } : {}),
    ...(issued.number === undefined ? {} : { issue: issued.number }),
    ...(adopted.number === undefined ? withoutAdoption(result.outcome, task) : { 'pull-request': adopted.number }),
  });
  return { ...reported, isUnreported };
}

/** Returns the outcome of a drift that no pull request adopts, because the forge refused it or a person closed it. */
function withoutAdoption(outcome: TargetResult['outcome'], { inputs: { flags } }: ActionTask): Partial<TargetResult> {
  return outcome === 'adopted' && flags['commit'] === undefined ? { outcome: 'drifted' } : {};
}

/** Returns the sections of all targets; short sections leave their room to the others. */
function summaryOf(reported: readonly ReportedTarget[]): string {
  let room = summaryLimit;
  const sections = reported.map((target, index) => {
    const section = withinBytes((limit) => markdownOf(target, limit), Math.floor(room / (reported.length - index)));
    room -= Buffer.byteLength(section) + 1;
    return section;
  });
  return sections.join('\n');
}

/** Renders as many characters as take at most so many bytes; a character, a UTF-16 unit, takes at most three. */
function withinBytes(render: (limit: number) => string, most: number): string {
  let limit = most;
  for (;;) {
    const text = render(limit);
    const bytes = Buffer.byteLength(text);
    if (bytes <= most || limit <= most / 3) return text;
    limit = Math.max(Math.floor(most / 3), Math.floor(limit * Math.min(most / bytes, 0.95)));
  }
}

function none(): undefined {}

/** Appends to a file of the runner; runners other than GitHub's may not set its variable. */
function append(path: string | undefined, text: string): void {
  if (path !== undefined && path !== '') appendRunnerFile(path, text);
}

function findingsOf(results: readonly TaskResult[], task: ActionTask | undefined): RunFindings {
  const pathOf = task?.checkout.pathOf ?? none;
  const fallback = pathOf(task?.inputs.flags['config'] ?? 'ostiary.yaml') ?? 'ostiary.yaml';
  return { targets: results.map((one) => ({ ...one.findings, target: targetNameOf(one.task) })), version, pathOf, fallback };
}

/** Renders the report of a target, or of one that is no longer affected. */
function markdownOf({ task, findings, exitCode }: TaskResult, limit: number, unaffected?: string): string {
  const { diagnostics, plan, result } = findings;
  if (task === undefined) return runReportMarkdown({ title: 'Nothing was done', notes: [], ...runBody({ diagnostics }), version }, limit);
  const { run, step, checkout, inputs } = task;
  const { commit, pathOf } = checkout;
  const linkOf = fileLinks({ page: run.links ?? run.page, commit, pathOf });
  const at = { commit: knownCommit(task), runUrl: run.url };
  const isRefused = step.mode === 'apply' && exitCode === 6 && plan !== undefined && result === undefined;
  return runReportMarkdown(
    {
      title: unaffected === undefined ? titleOf(task, exitCode, findings) : unaffectedTitle(unaffected, inputs),
      isTitled: isRefused,
      notes: isRefused ? [...step.notes, liveText(plan.base)] : step.notes,
      comments: task.comments,
      ...runBody(findings),
      at,
      version,
      linkOf,
      label: inputs.label,
    },
    limit,
  );
}

/** Returns the commit that people know: of a test merge, which a forge makes for an open pull request, the head of the pull request. */
function knownCommit({ run, checkout: { commit } }: ActionTask): string {
  const { pullRequest, mention } = run;
  return pullRequest !== undefined && !pullRequest.merged && mention === undefined && commit === run.commit ? pullRequest.head : commit;
}

function unaffectedTitle(target: string, { label }: ActionInputs): string {
  return `The plan of ${labeledName(target, label)} is the same as without this change`;
}

/** Returns what is live after an apply that was refused. */
function liveText(base: string | undefined): string {
  const last = base === undefined ? 'no complete apply is recorded' : `the last complete apply is of commit ${base.slice(0, 12)}`;
  return `This run wrote nothing: the gateway keeps what earlier runs applied, and ${last}.`;
}

function titleOf(task: ActionTask, exitCode: number, { drift, affected }: TaskResult['findings']): string {
  const { mode } = task.step;
  const target = targetNameOf(task) ?? '';
  const name = labeledName(target, task.inputs.label).trimStart();
  const whom = name === '' ? '' : ` for ${name}`;
  if (mode === 'validate') return exitCode === 0 ? `The manifests are valid${whom}` : `The manifests are not valid${whom}`;
  if (mode === 'targets') return affectedText(affected);
  const unreported = drift === undefined ? 'Drift could not be checked' : 'The report of the drift failed';
  const titles = { plan: `No plan${whom}`, apply: `Not applied${whom}`, drift: `${unreported}${whom}` } as const;
  return titles[mode];
}

/** The result of the step for one target, or for all; without a plan, its fields are left out. */
type TargetResult = {
  readonly outcome: Outcome;
  readonly 'exit-code': number;
  readonly changed?: boolean;
  readonly counts?: Readonly<Record<string, number>>;
  readonly 'max-risk'?: string;
  readonly 'not-compared'?: number;
  readonly 'protection-lost'?: boolean;
  readonly digest?: string;
  readonly affected?: readonly string[];
  readonly 'plan-path'?: string;
  readonly issue?: number;
  readonly 'pull-request'?: number;
};

/** The outcomes of a step, the most important first. */
const outcomes = [
  'error',
  'invalid',
  'unreachable',
  'unfinished',
  'refused',
  'drifted',
  'reverted',
  'adopted',
  'applied',
  'planned',
  'clean',
  'valid',
  'listed',
  'skipped',
] as const;

type Outcome = (typeof outcomes)[number];

function targetResultOf(done: TaskResult): TargetResult {
  const { findings, exitCode } = done;
  const { plan, result, saved, drift, affected } = findings;
  const counts = result === undefined ? plan && countActions(plan) : outcomeCounts(result.outcomes, plan ?? {});
  return {
    outcome: outcomeOf(done),
    'exit-code': exitCode,
    ...(drift === undefined
      ? {}
      : {
          changed: needsReport(drift),
          counts: driftCounts(drift),
          'not-compared': drift.plan.notCompared.length,
          'protection-lost':
            drift.protection.losing.length > 0 || drift.plan.outside?.headlines.some(({ direction }) => direction === 'weakens') === true,
        }),
    ...(plan === undefined
      ? {}
      : {
          changed: hasDifferences(plan),
          ...(plan.snapshot === undefined ? { digest: plan.seals.digest } : {}),
          'max-risk': highestPlanRisk(plan) ?? 'none',
          'not-compared': plan.notCompared.length,
          'protection-lost': plan.protection.losing.length > 0,
        }),
    ...(counts === undefined ? {} : { counts }),
    ...(affected === undefined ? {} : { affected }),
    ...(saved === undefined ? {} : { 'plan-path': absolutePath(saved, done.context) }),
  };
}

const failures: Readonly<Record<number, Outcome>> = { 3: 'invalid', 4: 'unreachable', 5: 'unfinished', 6: 'refused' };

function outcomeOf({ task, findings: { drift, plan, result }, exitCode }: TaskResult): Outcome {
  const isAccepted = (drift?.adoption?.files ?? []).length > 0;
  const drifted = isAccepted ? 'adopted' : drift !== undefined && needsReport(drift) ? 'drifted' : 'clean';
  const done = {
    validate: 'valid',
    targets: 'listed',
    plan: 'planned',
    apply: 'applied',
    drift: result === undefined ? drifted : 'reverted',
  } as const;
  if (task?.step.mode === 'plan' && exitCode === 0 && plan === undefined) return 'skipped';
  if (task !== undefined && (exitCode === 0 || exitCode === 2)) return done[task.step.mode];
  return failures[exitCode] ?? 'error';
}

/** Returns the outputs that are known before anything is reported to the forge. */
function outputsOf(
  results: readonly TargetResult[],
  { several, sarif }: Pick<ActionInputs, 'several'> & { readonly sarif: string | undefined },
): Readonly<Record<string, string>> {
  const [only] = results;
  const { 'exit-code': _, ...found } = several || only === undefined ? joined(results) : only;
  return words({ ...found, 'sarif-path': sarif });
}

/** Returns the outputs that come from reporting: the final outcome, numbers of issues and pull requests; with several targets, all results by target. */
function reportOutputsOf(results: readonly NamedResult[], { several }: Pick<ActionInputs, 'several'>): Readonly<Record<string, string>> {
  const [only] = results;
  const { outcome } = joined(results.map(({ result }) => result));
  if (!several) return words({ outcome, issue: only?.result.issue, 'pull-request': only?.result['pull-request'] });
  const targets = results.flatMap(({ target, result }) => (target === undefined ? [] : [[target, result] as const]));
  return words({ outcome, targets: Object.fromEntries(targets) });
}

type NamedResult = { readonly target: string | undefined; readonly result: TargetResult };

/** Merges the results of all targets: adds up the counts, keeps the most important outcome and the highest risk. */
function joined(results: readonly TargetResult[]): TargetResult {
  const given = <T>(one: (result: TargetResult) => T | undefined): readonly T[] => results.map(one).filter((value) => value !== undefined);
  const changed = given((one) => one.changed);
  const lost = given((one) => one['protection-lost']);
  const counts = given((one) => one.counts);
  const risks = given((one) => one['max-risk']);
  const uncompared = given((one) => one['not-compared']);
  return {
    outcome: outcomes.find((outcome) => results.some((one) => one.outcome === outcome)) ?? 'error',
    'exit-code': 0,
    ...(changed.length === 0 ? {} : { changed: changed.includes(true) }),
    ...(counts.length === 0 ? {} : { counts: summed(counts) }),
    ...(risks.length === 0 ? {} : { 'max-risk': riskClasses.findLast((one) => risks.includes(one)) ?? 'none' }),
    ...(uncompared.length === 0 ? {} : { 'not-compared': uncompared.reduce((sum, count) => sum + count, 0) }),
    ...(lost.length === 0 ? {} : { 'protection-lost': lost.includes(true) }),
  };
}

function summed(all: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const counts of all) for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

function words(values: Readonly<Record<string, Json | undefined>>): Readonly<Record<string, string>> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]));
}
