import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Adoption, Drift } from '../../model/result/drift.ts';
import type { ApplyResult } from '../../model/result/outcome.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { codeSpan, escapeMarkdown } from '../escape.ts';
import type { LinkOf } from '../links.ts';
import { applyDocument } from '../subjects/apply.ts';
import { adoptionDocument, driftDocument } from '../subjects/drift.ts';
import { planDocument } from '../subjects/plan.ts';
import { plural, shortList } from '../wording/summary.ts';
import { diagnosticsMarkdown } from './fit-to-limit.ts';
import { renderMarkdown } from './markdown.ts';
import { clip } from '../wrap.ts';

/** The report of one run on one target. */
export type RunReport = {
  /** The headline if there is no plan, if there are errors beside it, or if `isTitled`. */
  readonly title: string;
  readonly isTitled?: boolean;
  /** Sentences that come before everything else. */
  readonly notes: readonly string[];
  /** The overrides and approvals in comments that count. */
  readonly comments?: readonly CommentLink[] | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly plan?: Plan | undefined;
  readonly result?: ApplyResult | undefined;
  readonly drift?: Drift | undefined;
  /** The commit of the run, and its page. */
  readonly at?: { readonly commit: string; readonly runUrl: string };
  readonly version: string;
  readonly linkOf?: LinkOf | undefined;
  /** The label of the config, for titles. */
  readonly label?: string | undefined;
};

/** A command in a comment on a pull request, its author, and the address of the comment. */
export type CommentLink = { readonly author: string; readonly command: string; readonly url: string };

/** Returns a comment or a summary within the limit: title or verdict, notes and errors, the plan or its result, the other diagnostics, the footer. */
export function runReportMarkdown(report: RunReport, limit: number): string {
  const { title, plan, drift, diagnostics, linkOf } = report;
  const partRoom = Math.min(12_000, Math.floor(limit / 5));
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const isStated = plan !== undefined && report.result === undefined && drift === undefined;
  const others = diagnostics.filter((one) => one.severity !== 'error' && !(isStated && isOfPolicy(one)));
  const notes = report.notes.map((note) => `> ${escapeMarkdown(clip(note, 1000))}\n\n`).join('');
  const isTitled = report.isTitled === true || (plan === undefined && drift === undefined) || errors.length > 0;
  const titled = isTitled ? `### ${escapeMarkdown(clip(title, 300))}\n\n` : '';
  const below = `${notes}${commentsMarkdown(report)}${diagnosticsMarkdown(withoutRefusals(errors, report), partRoom, linkOf)}`;
  const tail = `${diagnosticsMarkdown(others, partRoom, linkOf)}${footer(report)}`;
  const body = bodyOf(report, Math.max(limit - titled.length - below.length - tail.length, 0));
  // Without a title, the heading of the body is the verdict.
  const verdictEnd = isTitled ? 0 : body.indexOf('\n\n') + 2;
  return `${titled}${body.slice(0, verdictEnd)}${below}${body.slice(verdictEnd)}${tail}`;
}

const mostComments = 20;

/** Lists who decided what, and where, so that a reviewer sees it before the merge. */
function commentsMarkdown({ comments = [] }: Pick<RunReport, 'comments'>): string {
  if (comments.length === 0) return '';
  const lines = comments.slice(-mostComments).map(({ author, command, url }) => {
    return `- ${codeSpan(author)}: ${codeSpan(clip(command, 300))} ([comment](${url}))\n`;
  });
  const rest = comments.length - lines.length;
  return `**${plural(comments.length, 'decision')} in comments:**\n\n${lines.join('')}${rest === 0 ? '' : `- and ${rest} earlier\n`}\n`;
}

/** Returns the errors without the refusals that the report of the plan states. */
function withoutRefusals(errors: readonly Diagnostic[], { plan, result }: RunReport): readonly Diagnostic[] {
  if (plan === undefined || result !== undefined) return errors;
  const stated = new Set(plan.refusals.map(({ code, message }) => JSON.stringify([code, message])));
  return errors.filter(({ code, message }) => !stated.has(JSON.stringify([code, message])));
}

/** Returns the result where there is one; otherwise the drift or the plan. */
function bodyOf({ plan, result, drift, linkOf, at, label }: RunReport, room: number): string {
  const options = { limit: room, linkOf, fullReport: at?.runUrl, label };
  if (plan !== undefined && result !== undefined) return renderMarkdown(applyDocument([{ plan, result }]), options);
  if (drift !== undefined) return renderMarkdown(driftDocument([drift]), options);
  return plan === undefined ? '' : renderMarkdown(planDocument([plan]), options);
}

/** Returns whether the report of a plan lists the diagnostic with the warnings of policies. */
function isOfPolicy({ code, resource }: Diagnostic): boolean {
  return resource !== undefined && (code === 'policy/violated' || code === 'policy/unknown' || code === 'policy/expression');
}

function footer({ at, version }: Pick<RunReport, 'at' | 'version'>): string {
  if (at === undefined) return '';
  return `Ostiary ${codeSpan(version)} at commit ${codeSpan(at.commit.slice(0, 12))}, in [this run](${at.runUrl}).\n`;
}

const room = 12_000;

/** The issue about a drift: `note` is a sentence about the pull request that adopts it, `adoption` links to it, and `startPage` is where a person starts the job. */
type DriftIssue = Pick<RunReport, 'at' | 'version' | 'linkOf' | 'label'> & {
  readonly drift: Drift;
  readonly note?: string;
  readonly adoption?: string | undefined;
  readonly startPage?: string | undefined;
};

function adviceOn({ adoption, startPage }: Pick<DriftIssue, 'adoption' | 'startPage'>): string {
  const merge = adoption === undefined ? '' : `merge ${adoption}, or run `;
  const start = startPage === undefined ? '' : `, or start [the job](${startPage}) with \`revert: true\` and a key that may write`;
  return [
    `**To accept it**, ${merge}\`ostiary drift --adopt\`${adoption === undefined ? ' edits the manifests on a separate branch (in the workflow: `adopt: true`)' : ''}, with \`--only KIND/NAME\` for a part of it. `,
    `**To revert it**, run \`ostiary drift --revert\`${start}. The next apply also reverts it, except for held drift.\n\n`,
  ].join('');
}

/** Returns the text of the issue that reports a drift, within the limit. */
export function driftIssue({ drift, linkOf, label, note = '', adoption, startPage, ...made }: DriftIssue, limit: number): string {
  const tail = `${adviceOn({ adoption, startPage })}${note === '' ? '' : `${note}\n\n`}${footer(made)}`;
  return `${renderMarkdown(driftDocument([drift]), { limit: limit - tail.length, linkOf, label, fullReport: made.at?.runUrl })}${tail}`;
}

/** Returns the text of the pull request that adopts a drift, within the limit. */
export function adoptionRequest(
  {
    adoption,
    target,
    issue,
    request = 'pull request',
    linkOf,
    label,
    ...made
  }: { readonly adoption: Adoption; readonly target: string; readonly issue?: number | undefined; readonly request?: string } & Pick<
    RunReport,
    'at' | 'version' | 'linkOf' | 'label'
  >,
  limit: number,
): string {
  const accepted = renderMarkdown(adoptionDocument(adoption, target), { limit: limit - 3 * room, linkOf, label });
  const verdictEnd = accepted.indexOf('\n\n') + 2;
  const about = issue === undefined ? '' : ` Belongs to #${issue}.`;
  const steps = [
    `To accept these changes, merge this ${request}. To reject them, close it and run \`ostiary drift --revert\`. `,
    `The manifests get no secret values; apply keeps the live ones.${about}\n\n`,
  ].join('');
  const rest = `${accepted.slice(verdictEnd)}${createdMarkdown(adoption)}${notAdoptedMarkdown(adoption, linkOf)}${footer(made)}`;
  return `${accepted.slice(0, verdictEnd)}${steps}${rest}`;
}

/** Returns what the pull request adopts and what it cannot, without the parts that differ from run to run. */
export function adoptionContent(adoption: Adoption, target: string, issue: number | undefined): string {
  const accepted = renderMarkdown(adoptionDocument(adoption, target), { limit: room * 4 });
  return `${issue ?? ''}\n${accepted}${createdMarkdown(adoption)}${notAdoptedMarkdown(adoption, undefined)}`;
}

/** Returns the new manifests. Their files are on the branch alone, so nothing links to them. */
function createdMarkdown({ created = [] }: Adoption): string {
  if (created.length === 0) return '';
  const lines = shortList(
    created.map(({ id, file }) => `${codeSpan(id)} in ${codeSpan(file)}`),
    mostCreated,
  );
  return `**${plural(created.length, 'new manifest')}:**\n\n${lines.map((line) => `- ${line}\n`).join('')}\n`;
}

const mostCreated = 50;

function notAdoptedMarkdown({ left }: Adoption, linkOf: RunReport['linkOf']): string {
  if (left.length === 0) return '';
  const parts = left.filter(({ severity }) => severity !== 'notice').length;
  return `**${parts === 0 ? 'Notes' : `${plural(parts, 'part')} not accepted`}:**\n\n${diagnosticsMarkdown(left, room, linkOf)}`;
}
