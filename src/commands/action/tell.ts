import { appendRunnerFile } from '../../disk/runner-file.ts';
import { writeReport } from '../../disk/write.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { outputLines } from '../../github/job-log.ts';
import {
  annotationCommands,
  annotationsByTarget,
  diagnosticAnnotations,
  outcomeAnnotations,
  placed,
  planAnnotations,
  refusalsOf,
  type Annotation,
} from '../../report/annotations.ts';
import { messageMarkdown } from '../../report/markdown/comment.ts';
import { driftAnnotations } from '../../report/annotations.ts';
import { fileLinks } from '../../report/links.ts';
import { sarifText } from '../../report/sarif.ts';
import type { Findings } from './findings.ts';
import { keepAdoptionRequest, keepDriftIssue } from './drift-issue.ts';
import { reportOutputsOf, outputsOf, targetResultOf, type TargetResult } from './outputs.ts';
import { targetNameOf, type ActionTask, type TaskResult } from './task.ts';
import { commentOnPullRequests } from './pull-requests.ts';
import { absolutePath } from '../../project/resolved-config.ts';
import { version } from '../context/version.ts';

/** GitHub takes 1 MiB of a step's summary, and no character takes more than three bytes a unit. */
const summaryLimit = 340_000;

/** Tells GitHub what was found for each target: outputs, findings for code scanning, comments, annotations, the job's summary. Exit 0. */
export async function tellGitHub(found: readonly TaskResult[]): Promise<number> {
  const results = found.map(withPlaces);
  const [first] = results;
  if (first === undefined) return 0;
  const { task, log, context } = first;
  if (task !== undefined) {
    writeSarif(task, results, context);
    append(context.env['GITHUB_OUTPUT'], outputLines(outputsOf(results.map(targetResultOf), task.inputs)));
  }
  const told: Told[] = [];
  for (const telling of results) told.push(await tellElsewhere(telling));
  if (task !== undefined)
    append(
      context.env['GITHUB_OUTPUT'],
      outputLines(
        reportOutputsOf(
          told.map((one) => ({ target: targetNameOf(one.task), result: one.result })),
          task.inputs,
        ),
      ),
    );
  log.command(annotationCommands(annotationsOf(told), task?.checkout.pathOf ?? none));
  append(context.env['GITHUB_STEP_SUMMARY'], summaryOf(told));
  return 0;
}

/** What was told of one target, with what GitHub did not take. */
type Told = TaskResult & { readonly result: TargetResult };

function withPlaces(telling: TaskResult): TaskResult {
  const { findings } = telling;
  const { plan, diagnostics } = findings;
  return plan === undefined ? telling : { ...telling, findings: { ...findings, diagnostics: placed(diagnostics, plan) } };
}

async function tellElsewhere(telling: TaskResult): Promise<Told> {
  const result = targetResultOf(telling);
  const { task, findings } = telling;
  if (task === undefined) return { ...telling, result };
  const plus = (more: readonly Diagnostic[], outputs: Partial<TargetResult> = {}): Told => ({
    ...telling,
    findings: { ...findings, diagnostics: [...findings.diagnostics, ...more] },
    result: { ...result, ...outputs },
  });
  if (task.step.mode !== 'drift')
    return plus(await commentOnPullRequests({ ...telling, task, markdown: (limit) => markdownOf(telling, limit) }));
  const issued = await keepDriftIssue({ ...telling, task });
  const adopted = await keepAdoptionRequest({ ...telling, task }, issued.number);
  return plus([...issued.diagnostics, ...adopted.diagnostics], {
    ...(issued.number === undefined ? {} : { issue: issued.number }),
    ...(adopted.number === undefined ? {} : { 'pull-request': adopted.number }),
  });
}

/** The annotations of all targets; what some of them alone have, names them. */
function annotationsOf(told: readonly Told[]): readonly Annotation[] {
  const sorts: readonly ((findings: Findings) => readonly Annotation[])[] = [
    ({ plan, result }) => (plan === undefined || result === undefined ? [] : outcomeAnnotations(plan, result)),
    ({ diagnostics }) => diagnosticAnnotations(diagnostics),
    ({ plan, result }) => (plan === undefined || result !== undefined ? [] : planAnnotations(plan)),
    ({ drift, result }) => (drift === undefined || result !== undefined ? [] : driftAnnotations(drift)),
  ];
  return sorts.flatMap((sort) => annotationsByTarget(told.map(({ task, findings }) => [targetNameOf(task) ?? '', sort(findings)])));
}

/** The sections of all targets; those that need little room leave it to others. */
function summaryOf(told: readonly Told[]): string {
  let room = summaryLimit;
  const sections = told.map((telling, index) => {
    const section = markdownOf(telling, Math.floor(room / (told.length - index)));
    room -= section.length;
    return section;
  });
  return sections.join('\n');
}

function none(): undefined {}

/** A runner of another make may not ask for all of it. */
function append(path: string | undefined, text: string): void {
  if (path !== undefined && path !== '') appendRunnerFile(path, text);
}

function writeSarif({ inputs, checkout }: ActionTask, results: readonly TaskResult[], context: TaskResult['context']): void {
  if (inputs.sarif === undefined) return;
  const { pathOf } = checkout;
  const all = new Map<string, Diagnostic>();
  for (const {
    findings: { diagnostics, plan },
  } of results)
    for (const one of [...diagnostics, ...(plan === undefined ? [] : refusalsOf(plan))]) all.set(JSON.stringify(one), one);
  const fallback = pathOf(inputs.flags['config'] ?? 'ostiary.yaml') ?? 'ostiary.yaml';
  writeReport(absolutePath(inputs.sarif, context), sarifText([...all.values()], { version, pathOf, fallback }));
}

function markdownOf({ task, findings, exitCode }: TaskResult, limit: number): string {
  const { diagnostics, plan, result, drift } = findings;
  if (task === undefined) return messageMarkdown({ title: 'Nothing was done', notes: [], diagnostics, version }, limit);
  const { run, step, checkout } = task;
  const { commit, pathOf } = checkout;
  const linkOf = fileLinks({ page: run.page, commit, pathOf });
  const at = { commit, runUrl: run.url };
  return messageMarkdown(
    { title: titleOf(task, exitCode), notes: step.notes, diagnostics, plan, result, drift, at, version, linkOf },
    limit,
  );
}

function titleOf(task: ActionTask, exitCode: number): string {
  const { mode } = task.step;
  const target = targetNameOf(task);
  const whom = target === undefined ? '' : ` for ${target}`;
  if (mode === 'validate') return exitCode === 0 ? `The manifests are valid${whom}` : `The manifests are not valid${whom}`;
  const titles = { plan: `No plan${whom}`, apply: `Nothing was applied${whom}`, drift: `What drifted is not known${whom}` } as const;
  return titles[mode];
}
