import { withForgeErrors } from '../forge/forge-errors.ts';
import type { Forge } from '../forge/forge.ts';
import { type ActionTask, openRunForge, type TaskResult } from './task.ts';
import { closeIssue, closePullRequest, findPullRequest, keepIssue, keepPullRequest } from '../forge/sticky-posts.ts';
import { adoptionBranch } from '../git/branch.ts';
import { openRepository } from '../git/repository.ts';
import { resolveConfig } from '../project/resolved-config.ts';
import { shortList } from '../report/wording/phrases.ts';
import type { Checked, Diagnostic } from '../model/diagnostic.ts';
import type { Drift } from '../model/result/drift.ts';
import { isDrifted, needsReport } from '../reconcile/drift/filter-drift.ts';
import { adoptionRequest, driftIssue, type RunReport } from '../report/markdown/comment.ts';
import { renderMarkdown } from '../report/markdown/markdown.ts';
import { adoptionDocument, driftDocument, driftTitleEnd } from '../report/subjects/drift.ts';
import { codeSpan } from '../report/escape.ts';
import { fileLinks } from '../report/links.ts';
import { labeledName } from '../report/document.ts';
import { projectKeyOf } from './inputs.ts';
import { missingTokenOf } from './pull-requests.ts';
import { version } from '../commands/context/version.ts';

type ReportedTask = TaskResult & { readonly task: ActionTask };

/** The number of an issue or pull request, and the requests that the forge refused. */
type KeptNumber = { readonly diagnostics: readonly Diagnostic[]; readonly number?: number | undefined };

/**
 * Keeps one issue for the target: open while there is drift, closed with a comment afterwards. It is an error if no issue reports the
 * drift. With the number of a pull request that was `opened` for it, the issue links to that, without a comment.
 */
export async function keepDriftIssue(
  result: ReportedTask,
  opened?: number,
): Promise<KeptNumber & { readonly linked?: number | undefined }> {
  const { drift } = result.findings;
  if (!result.task.inputs.issue || drift === undefined) return { diagnostics: [] };
  let linked = opened;
  const send = async (forge: Forge): Promise<Checked<number>> => {
    linked ??= await knownRequest(forge, result.task, drift);
    return keep(forge, result, { found: drift, linked, isNews: opened === undefined });
  };
  const kept = { ...(await keepNumber(result, send, 'the issue about the drift')), linked };
  if (kept.number !== undefined || !needsReport(remaining(result, drift))) return kept;
  return { ...kept, diagnostics: kept.diagnostics.map((one) => ({ ...one, severity: 'error' })) };
}

/** Returns the number of the pull request that adopts the drift, if there is one already. */
async function knownRequest(forge: Forge, task: ActionTask, drift: Drift): Promise<number | undefined> {
  const { home } = drift.adoption ?? {};
  return home === undefined ? undefined : findPullRequest(forge, { key: ['adopt', ...issueKey(task, drift)], head: home });
}

/** Keeps one pull request that adopts the drift, and closes it when there is nothing left to adopt. */
export async function keepAdoptionRequest(result: ReportedTask, issue: number | undefined): Promise<KeptNumber> {
  const { drift } = result.findings;
  const { flags } = result.task.inputs;
  if (drift === undefined) return { diagnostics: [] };
  if (isReverted(result)) {
    const { diagnostics } = await keepNumber(result, (forge) => closeAdoption(forge, result, drift));
    // A job that only reverts needs no permission for pull requests.
    return { diagnostics: diagnostics.filter(({ code }) => code !== 'forge/forbidden') };
  }
  if (flags['adopt'] === undefined || flags['commit'] === 'false') return { diagnostics: [] };
  return keepNumber(result, (forge) => request(forge, result, { drift, issue }));
}

/** Sends requests to the forge if there is a token; converts its errors to warnings. */
async function keepNumber(
  { task: { inputs, run }, waits, context }: ReportedTask,
  send: (forge: Forge) => Promise<Checked<number>>,
  missing?: string,
): Promise<KeptNumber> {
  if (inputs.token === '') return { diagnostics: missingTokenOf(run) };
  const forge = openRunForge({ inputs, run }, { waits, context });
  const { value: kept, diagnostics } = await withForgeErrors(() => send(forge), missing);
  const { value: number, diagnostics: more = [] } = kept ?? {};
  return { diagnostics: [...diagnostics, ...more], number };
}

/** Says whether the drift was reverted: completely (0), or except for changes that no manifest declares (2). */
function isReverted({ findings, exitCode }: ReportedTask): boolean {
  return findings.result !== undefined && (exitCode === 0 || exitCode === 2);
}

/** Closes the pull request that would adopt a drift that was reverted. */
async function closeAdoption(forge: Forge, { task, context }: ReportedTask, drift: Drift): Promise<Checked<number>> {
  const { flags, label } = task.inputs;
  const { root } = resolveConfig({ config: flags['config'] }, context);
  const repository = await openRepository({ folder: root, env: context.env });
  if (repository === undefined) return nothingKept;
  const head = adoptionBranch(repository, drift.plan.target.name, label);
  await closePullRequest(forge, { key: ['adopt', ...issueKey(task, drift)], head }, goodbye(task, true));
  return nothingKept;
}

const nothingKept: Checked<number> = { diagnostics: [] };

type Request = { readonly drift: Drift; readonly issue: number | undefined };

async function request(forge: Forge, { task, exitCode }: ReportedTask, { drift, issue }: Request): Promise<Checked<number>> {
  const key = ['adopt', ...issueKey(task, drift)];
  const { adoption, plan } = drift;
  const { run } = task;
  if (adoption?.branch?.pushed === true) {
    const body = adoptionDocument(adoption, plan.target.name);
    // Without the parts that differ from run to run.
    const content = `${issue ?? ''}\n${renderMarkdown(body)}`;
    const bodyWithin = (limit: number): string =>
      adoptionRequest({ body, issue, request: run.names.request, ...reportOrigin(task) }, limit);
    const title = `Accept drift on ${labeledName(plan.target.name, task.inputs.label)}`;
    const number = await keepPullRequest(forge, { key, title, bodyWithin, content, head: adoption.branch.name, base: run.branch });
    return number === undefined ? nothingKept : { value: number, diagnostics: [] };
  }
  if (adoption?.home === undefined || adoption.files.length > 0 || exitCode > 2) return nothingKept;
  const why = isDrifted(plan) ? 'No part of the drift can be accepted into the manifests' : 'The drift is gone';
  await closePullRequest(forge, { key, head: adoption.home }, `${why}, as found by [this run](${run.url}).`);
  return nothingKept;
}

/** The drift of an issue, the pull request that it links to, and whether a comment reports what changed. */
type IssueContent = { readonly found: Drift; readonly linked: number | undefined; readonly isNews: boolean };

async function keep(forge: Forge, result: ReportedTask, { found, linked, isNews }: IssueContent): Promise<Checked<number>> {
  const { task } = result;
  const { run } = task;
  const drift = remaining(result, found);
  const [label, ...labels] = task.inputs.labels;
  const key = issueKey(task, drift);
  if (!needsReport(drift)) {
    const closed = await closeIssue(forge, { key, label: { name: label } }, goodbye(task, isReverted(result)));
    return needsReport(found) ? closed : { diagnostics: closed.diagnostics };
  }
  // The pull request reports the adoption.
  const { plan, pending, unfinished, protection, writes, unmerged, unproven } = drift;
  const rest = {
    plan,
    pending,
    unfinished,
    protection,
    writes,
    unmerged,
    unproven,
  };
  const note = result.findings.diagnostics.some(isBranchTaken) ? takenBranch(task) : '';
  const adoption = linked === undefined ? undefined : `${run.names.request === 'merge request' ? '!' : '#'}${linked}`;
  return keepIssue(forge, {
    key,
    title: `Drift on ${labeledName(codeSpan(drift.plan.target.name), task.inputs.label)}${driftTitleEnd(drift)}`,
    bodyWithin: (limit) =>
      driftIssue({ body: driftDocument([rest]), note, adoption, startPage: run.startPage, ...reportOrigin(task) }, limit),
    // Links contain the commit, so the comparison uses the text without links.
    content: `${renderMarkdown(driftDocument([rest]))}${note}${adoption ?? ''}`,
    label: { name: label, description: 'Changed on the gateway outside Ostiary', color: 'd93f0b' },
    labels,
    assignees: task.inputs.assignees,
    ...(isNews ? { onChange: changedComment(task, drift, note) } : {}),
  });
}

/** Returns the drift that is left: after a revert, the changes of objects that no manifest declares. */
function remaining(result: ReportedTask, drift: Drift): Drift {
  if (!isReverted(result)) return drift;
  const { plan } = drift;
  const rest = { ...plan, changes: [], edges: [], orphans: [], unwatched: [], notCompared: [] };
  return { plan: rest, pending: 0, unfinished: 0, protection: { headlines: [], connections: [], losing: [] } };
}

const mostNamed = 10;

/** Returns the comment on an issue whose drift changed, or whose adoption did. */
function changedComment({ run }: ActionTask, { plan: { changes } }: Drift, note: string): string {
  const named = shortList(
    changes.map(({ id }) => codeSpan(id)),
    mostNamed,
  );
  const objects = named.length === 0 ? '' : ` It is now about ${named.join(', ')}.`;
  const what = note === '' ? 'The drift changed' : `The drift or its ${run.names.request} changed`;
  return `${what}, as found by [this run](${run.url}); the description above is up to date.${objects}`;
}

function takenBranch({ run: { names } }: ActionTask): string {
  const what = names.request;
  return `The branch that accepts this drift has commits by other people, so Ostiary leaves it and its ${what} alone. Merge the ${what}, or delete the branch.`;
}

function isBranchTaken({ code }: Diagnostic): boolean {
  return code === 'git/branch-taken';
}

/**
 * Returns the end of a job that found drift and left the branch of its adoption to the people who committed to it: that of the drift,
 * with a warning. Any other end stays as it is.
 */
export function withoutTakenBranch(ended: DriftEnd): DriftEnd {
  const { findings, exitCode } = ended;
  const { drift, diagnostics } = findings;
  const isOnlyError = diagnostics.every((one) => one.severity !== 'error' || isBranchTaken(one));
  if (exitCode !== 3 || drift === undefined || !diagnostics.some(isBranchTaken) || !isOnlyError) return ended;
  const warned = diagnostics.map((one): Diagnostic => (isBranchTaken(one) ? { ...one, severity: 'warning' } : one));
  return { findings: { ...findings, diagnostics: warned }, exitCode: needsReport(drift) ? 2 : 0 };
}

type DriftEnd = Pick<TaskResult, 'findings' | 'exitCode'>;

/** Returns the commit and run of the report, and the links to files. */
function reportOrigin({
  run,
  checkout: { commit, pathOf },
  inputs: { label },
}: ActionTask): Pick<RunReport, 'at' | 'version' | 'linkOf' | 'label'> {
  return { at: { commit, runUrl: run.url }, version, linkOf: fileLinks({ page: run.links ?? run.page, commit, pathOf }), label };
}

function issueKey({ inputs }: ActionTask, { plan: { target } }: Drift): readonly string[] {
  return ['drift', target.name, ...projectKeyOf(inputs)];
}

function goodbye({ run }: ActionTask, isUndone: boolean): string {
  const why = isUndone ? 'The drift was reverted by' : 'The drift is gone, as found by';
  return `${why} [this run](${run.url}).`;
}
