import type { GitHub } from '../../github/github-client.ts';
import { openRunGitHub } from './open-run-github.ts';
import { closePullRequest, keepPullRequest, closeIssue, keepIssue, stickyLimit } from '../../github/sticky-posts.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Drift } from '../../model/result/drift.ts';
import { isDrifted } from '../../reconcile/drift/filter-drift.ts';
import { adoptionContent, adoptionRequest, driftIssue } from '../../report/markdown/drift-messages.ts';
import type { RunReport } from '../../report/markdown/comment.ts';
import { driftMarkdown } from '../../report/reports.ts';
import { codeSpan } from '../../report/escape.ts';
import { fileLinks } from '../../report/document.ts';
import { selectionKeyOf } from './inputs.ts';
import type { ActionTask, TaskResult } from './task.ts';
import { missingToken, withGitHubErrors } from './pull-requests.ts';
import { version } from '../context/version.ts';

type ReportedTask = TaskResult & { readonly task: ActionTask };

/** The number of an issue or pull request, and the requests that GitHub refused. */
type KeptNumber = { readonly diagnostics: readonly Diagnostic[]; readonly number?: number };

/** Keeps one issue for the target: open while there is drift, closed with a comment afterwards. */
export async function keepDriftIssue(result: ReportedTask): Promise<KeptNumber> {
  const { drift } = result.findings;
  const label = result.task.inputs.issue;
  if (label === undefined || drift === undefined) return { diagnostics: [] };
  return keepNumber(result, (github) => keep(github, result, { drift, label }));
}

/** Keeps one pull request that adopts the drift, and closes it when there is nothing left to adopt. */
export async function keepAdoptionRequest(result: ReportedTask, issue: number | undefined): Promise<KeptNumber> {
  const { drift } = result.findings;
  const { flags } = result.task.inputs;
  if (drift === undefined || flags['adopt'] === undefined || flags['commit'] === 'false') return { diagnostics: [] };
  return keepNumber(result, (github) => request(github, result, { drift, issue }));
}

/** Sends requests to GitHub if there is a token; converts errors of GitHub to warnings. */
async function keepNumber(
  { task: { inputs, run }, sleep, context }: ReportedTask,
  send: (github: GitHub) => Promise<number | undefined>,
): Promise<KeptNumber> {
  if (inputs.token === '') return { diagnostics: [missingToken] };
  const github = openRunGitHub({ inputs, run }, { sleep, context });
  let number: number | undefined;
  const diagnostics = await withGitHubErrors(async () => {
    number = await send(github);
    return [];
  });
  return { diagnostics, ...(number === undefined ? {} : { number }) };
}

type Request = { readonly drift: Drift; readonly issue: number | undefined };

async function request(github: GitHub, { task, exitCode }: ReportedTask, { drift, issue }: Request): Promise<number | undefined> {
  const key = ['adopt', ...keyOf(task, drift)];
  const { adoption, plan } = drift;
  const { run } = task;
  if (adoption?.branch?.pushed === true) {
    const content = adoptionContent(adoption, issue);
    const body = adoptionRequest({ adoption, issue, ...placeOf(task) }, stickyLimit);
    const title = `Accept what was changed by hand on ${plan.target.name}`;
    return keepPullRequest(github, { key, title, body, content, head: adoption.branch.name, base: run.branch });
  }
  if (adoption?.home === undefined || adoption.files.length > 0 || exitCode > 2) return undefined;
  const why = isDrifted(plan) ? 'There is nothing that manifests could accept' : 'There is no drift any more';
  await closePullRequest(github, { key, head: adoption.home }, `${why}, as found by [this run](${run.url}).`);
  return undefined;
}

type Subject = { readonly drift: Drift; readonly label: string };

async function keep(github: GitHub, result: ReportedTask, { drift, label }: Subject): Promise<number | undefined> {
  const { task, findings, exitCode } = result;
  const key = keyOf(task, drift);
  const isUndone = findings.result !== undefined && exitCode === 0;
  if (isUndone || !isDrifted(drift.plan)) {
    const number = await closeIssue(github, { key, label: { name: label } }, goodbye(task, isUndone));
    return isDrifted(drift.plan) ? number : undefined;
  }
  // The pull request reports the adoption.
  const { plan, pending, unfinished, protection, writes } = drift;
  const rest = { plan, pending, unfinished, protection, ...(writes === undefined ? {} : { writes }) };
  const body = driftIssue({ drift: rest, ...placeOf(task) }, stickyLimit);
  return keepIssue(github, {
    key,
    title: `Drift on ${codeSpan(drift.plan.target.name)}`,
    body,
    // Links contain the commit, so the comparison uses the text without links.
    content: driftMarkdown([rest]),
    label: { name: label, description: 'Changed on the gateway by hand', color: 'd93f0b' },
  });
}

/** Returns the commit and run of the report, and the links to files. */
function placeOf({ run, checkout: { commit, pathOf } }: ActionTask): Pick<RunReport, 'at' | 'version' | 'linkOf'> {
  return { at: { commit, runUrl: run.url }, version, linkOf: fileLinks({ page: run.page, commit, pathOf }) };
}

function keyOf({ inputs }: ActionTask, { plan: { target } }: Drift): readonly string[] {
  return ['drift', inputs.flags['config'] ?? '', target.name, ...selectionKeyOf(inputs.flags)];
}

function goodbye({ run }: ActionTask, isUndone: boolean): string {
  const why = isUndone ? 'The drift was undone by' : 'There is no drift any more, as found by';
  return `${why} [this run](${run.url}).`;
}
