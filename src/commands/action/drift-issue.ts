import { openGitHub, type GitHub } from '../../github/client.ts';
import { closeIssue, keepIssue } from '../../github/sticky-issue.ts';
import { stickyLimit } from '../../github/sticky.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Drift } from '../../model/drift.ts';
import { isDrifted } from '../../plan/drift.ts';
import { driftIssue } from '../../report/drift-issue.ts';
import { driftMarkdown } from '../../report/drift-markdown.ts';
import { codeSpan } from '../../report/escape.ts';
import { fileLinks } from '../../report/links.ts';
import type { Step, Telling } from './step.ts';
import { noToken, tolerant } from './pull-requests.ts';
import { version } from '../version.ts';

type Told = Telling & { readonly step: Step };

/** What was told beside the job, and what GitHub did not let be told. */
export type Issued = { readonly diagnostics: readonly Diagnostic[]; readonly outputs: Readonly<Record<string, string>> };

/** Keeps the one issue of the target: open as long as there is a drift, and closed with a word when it is gone. */
export async function tellIssue(telling: Told): Promise<Issued> {
  const { step, findings, sleep } = telling;
  const { inputs, run } = step;
  const { drift } = findings;
  const label = inputs.issue;
  if (label === undefined || drift === undefined) return { diagnostics: [], outputs: {} };
  if (inputs.token === '') return { diagnostics: [noToken], outputs: {} };
  const github = openGitHub({ ...run, token: inputs.token, version, sleep });
  let number: number | undefined;
  const diagnostics = await tolerant(async () => {
    number = await keep(github, telling, { drift, label });
    return [];
  });
  return { diagnostics, outputs: number === undefined ? {} : { issue: String(number) } };
}

type Subject = { readonly drift: Drift; readonly label: string };

async function keep(github: GitHub, telling: Told, { drift, label }: Subject): Promise<number | undefined> {
  const { step, findings, exitCode } = telling;
  const key = keyOf(step, drift);
  const isUndone = findings.result !== undefined && exitCode === 0;
  if (isUndone || !isDrifted(drift.plan)) {
    const number = await closeIssue(github, { key, label: { name: label } }, goodbye(step, isUndone));
    return isDrifted(drift.plan) ? number : undefined;
  }
  const { run, checkout } = step;
  const { commit, pathOf } = checkout;
  const linkOf = fileLinks({ page: run.page, commit, pathOf });
  const body = driftIssue({ drift, at: { commit, runUrl: run.url }, version, linkOf }, stickyLimit);
  return keepIssue(github, {
    key,
    title: `Drift on ${codeSpan(drift.plan.target.name)}`,
    body,
    // Links lead to a commit: without them only what is told counts.
    content: driftMarkdown([drift]),
    label: { name: label, description: 'Changed on the gateway by hand', color: 'd93f0b' },
  });
}

function keyOf({ inputs }: Step, { plan: { target } }: Drift): readonly string[] {
  const { paths = '', config = '', only = '' } = inputs.flags;
  return ['drift', config, target.name, paths, only];
}

function goodbye({ run }: Step, isUndone: boolean): string {
  const why = isUndone ? 'The drift was undone by' : 'There is no drift any more, as found by';
  return `${why} [this run](${run.url}).`;
}
