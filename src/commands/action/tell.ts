import { appendRunnerFile } from '../../disk/runner-file.ts';
import { writeReport } from '../../disk/write.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { outputLines } from '../../github/outputs.ts';
import {
  annotationCommands,
  diagnosticAnnotations,
  outcomeAnnotations,
  placed,
  planAnnotations,
  refusalsOf,
} from '../../report/annotations.ts';
import { messageMarkdown } from '../../report/comment.ts';
import { driftAnnotations } from '../../report/drift-annotations.ts';
import { fileLinks } from '../../report/links.ts';
import { sarifText } from '../../report/sarif.ts';
import { tellAdoption, tellIssue } from './drift-issue.ts';
import { outputsOf } from './outputs.ts';
import type { Step, Telling } from './step.ts';
import { tellPullRequests } from './pull-requests.ts';
import { absolute } from '../setting.ts';
import { version } from '../version.ts';

/** GitHub takes 1 MiB of a step's summary, and no character takes more than three bytes a unit. */
const summaryLimit = 340_000;

/** Tells GitHub what a command found: outputs, findings for code scanning, comments, annotations, the job's summary. Exit 0. */
export async function tellGitHub(found: Telling): Promise<number> {
  const { step, log, world, findings } = found;
  const { plan, result, drift } = findings;
  const diagnostics = plan === undefined ? findings.diagnostics : placed(findings.diagnostics, plan);
  const telling = { ...found, findings: { ...findings, diagnostics } };
  if (step !== undefined) {
    writeSarif(step, telling);
    append(world.env['GITHUB_OUTPUT'], outputLines(outputsOf(telling)));
  }
  const untold = step === undefined ? [] : await tellElsewhere({ ...telling, step });
  const all = [...diagnostics, ...untold];
  const annotations = [
    ...(plan === undefined || result === undefined ? [] : outcomeAnnotations(plan, result)),
    ...diagnosticAnnotations(all),
    ...(plan === undefined || result !== undefined ? [] : planAnnotations(plan)),
    ...(drift === undefined || result !== undefined ? [] : driftAnnotations(drift)),
  ];
  log.command(annotationCommands(annotations, step?.checkout.pathOf ?? none));
  const summary = markdownOf({ ...telling, findings: { ...findings, diagnostics: all } }, summaryLimit);
  append(world.env['GITHUB_STEP_SUMMARY'], summary);
  return 0;
}

async function tellElsewhere(telling: Telling & { readonly step: Step }): Promise<readonly Diagnostic[]> {
  if (telling.step.course.mode !== 'drift') return tellPullRequests({ ...telling, markdown: (limit) => markdownOf(telling, limit) });
  const issued = await tellIssue(telling);
  const adopted = await tellAdoption(telling, issued.outputs['issue']);
  append(telling.world.env['GITHUB_OUTPUT'], outputLines({ ...issued.outputs, ...adopted.outputs }));
  return [...issued.diagnostics, ...adopted.diagnostics];
}

function none(): undefined {}

/** A runner of another make may not ask for all of it. */
function append(path: string | undefined, text: string): void {
  if (path !== undefined && path !== '') appendRunnerFile(path, text);
}

function writeSarif({ inputs, checkout }: Step, { findings, world }: Telling): void {
  if (inputs.sarif === undefined) return;
  const { pathOf } = checkout;
  const all = [...findings.diagnostics, ...(findings.plan === undefined ? [] : refusalsOf(findings.plan))];
  const fallback = pathOf(inputs.flags['config'] ?? 'ostiary.yaml') ?? 'ostiary.yaml';
  writeReport(absolute(inputs.sarif, world), sarifText(all, { version, pathOf, fallback }));
}

function markdownOf({ step, findings, exitCode }: Telling, limit: number): string {
  const { diagnostics, plan, result, drift } = findings;
  if (step === undefined) return messageMarkdown({ title: 'Nothing was done', notes: [], diagnostics, version }, limit);
  const { run, course, checkout } = step;
  const { commit, pathOf } = checkout;
  const linkOf = fileLinks({ page: run.page, commit, pathOf });
  const at = { commit, runUrl: run.url };
  return messageMarkdown(
    { title: titleOf(step, exitCode), notes: course.notes, diagnostics, plan, result, drift, at, version, linkOf },
    limit,
  );
}

function titleOf({ inputs, course }: Step, exitCode: number): string {
  const target = inputs.flags['target'];
  const whom = target === undefined ? '' : ` for ${target}`;
  if (course.mode === 'validate') return exitCode === 0 ? `The manifests are valid${whom}` : `The manifests are not valid${whom}`;
  const titles = { plan: `No plan${whom}`, apply: `Nothing was applied${whom}`, drift: `What drifted is not known${whom}` } as const;
  return titles[course.mode];
}
