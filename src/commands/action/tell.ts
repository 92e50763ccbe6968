import { posix, relative, resolve, sep } from 'node:path';
import { appendRunnerFile } from '../../disk/runner-file.ts';
import { writeReport } from '../../disk/write.ts';
import { outputLines } from '../../github/outputs.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { annotationCommands, diagnosticAnnotations, outcomeAnnotations, planAnnotations, refusalsOf } from '../../report/annotations.ts';
import { messageMarkdown } from '../../report/comment.ts';
import { fileLinks } from '../../report/links.ts';
import { sarifText } from '../../report/sarif.ts';
import type { Findings } from './findings.ts';
import { outputsOf } from './outputs.ts';
import type { Step, Telling } from './step.ts';
import { tellPullRequests } from './pull-requests.ts';
import { absolute } from '../setting.ts';
import { version } from '../version.ts';
import type { World } from '../world.ts';

/** GitHub takes 1 MiB of a step's summary, and no character takes more than three bytes a unit. */
const summaryLimit = 340_000;

/** Tells GitHub what a command found: outputs, findings for code scanning, comments, annotations, the job's summary. Exit 0. */
export async function tellGitHub(telling: Telling): Promise<number> {
  const { step, findings, log, world } = telling;
  const { env } = world;
  const pathOf = pathsIn(env['GITHUB_WORKSPACE'] ?? world.cwd, world);
  if (step !== undefined) {
    writeSarif(step, telling, pathOf);
    append(env['GITHUB_OUTPUT'], outputLines(outputsOf(telling)));
  }
  const untold =
    step === undefined ? [] : await tellPullRequests({ ...telling, step, markdown: (limit) => markdownOf(telling, pathOf, limit) });
  const { plan, result } = findings;
  const annotations = [
    ...(plan === undefined || result === undefined ? [] : outcomeAnnotations(plan, result)),
    ...diagnosticAnnotations([...findings.diagnostics, ...untold]),
    ...(plan === undefined || result !== undefined ? [] : planAnnotations(plan)),
  ];
  log.command(annotationCommands(annotations, pathOf));
  append(env['GITHUB_STEP_SUMMARY'], markdownOf({ ...telling, findings: withAll(findings, untold) }, pathOf, summaryLimit));
  return 0;
}

function withAll(findings: Findings, more: readonly Diagnostic[]): Findings {
  return { ...findings, diagnostics: [...findings.diagnostics, ...more] };
}

/** A runner of another make may not ask for all of it. */
function append(path: string | undefined, text: string): void {
  if (path !== undefined && path !== '') appendRunnerFile(path, text);
}

type PathOf = (file: string) => string | undefined;

/** The path in the repository of a file as it is shown; undefined for one outside. */
function pathsIn(top: string, world: World): PathOf {
  return (file) => {
    const path = relative(top, resolve(world.cwd, file)).split(sep).join(posix.sep);
    return path === '..' || path.startsWith('../') || path === '' ? undefined : path;
  };
}

function writeSarif({ inputs }: Step, { findings, world }: Telling, pathOf: PathOf): void {
  if (inputs.sarif === undefined) return;
  const all = [...findings.diagnostics, ...(findings.plan === undefined ? [] : refusalsOf(findings.plan))];
  const fallback = pathOf(inputs.flags['config'] ?? 'ostiary.yaml') ?? 'ostiary.yaml';
  writeReport(absolute(inputs.sarif, world), sarifText(all, { version, pathOf, fallback }));
}

function markdownOf({ step, findings, exitCode }: Telling, pathOf: PathOf, limit: number): string {
  const { diagnostics, plan, result } = findings;
  if (step === undefined) return messageMarkdown({ title: 'Nothing was done', notes: [], diagnostics, version }, limit);
  const { run, course } = step;
  const linkOf = fileLinks({ page: run.page, commit: run.commit, pathOf });
  const at = { commit: run.commit, runUrl: run.url };
  return messageMarkdown({ title: titleOf(step, exitCode), notes: course.notes, diagnostics, plan, result, at, version, linkOf }, limit);
}

function titleOf({ inputs, course }: Step, exitCode: number): string {
  const target = inputs.flags['target'];
  const whom = target === undefined ? '' : ` for ${target}`;
  if (course.mode === 'validate') return exitCode === 0 ? `The manifests are valid${whom}` : `The manifests are not valid${whom}`;
  return course.mode === 'plan' ? `No plan${whom}` : `Nothing was applied${whom}`;
}
