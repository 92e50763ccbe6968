import type { Diagnostic } from '../../model/diagnostic.ts';
import type { ReportDocument } from '../document.ts';
import { codeSpan, escapeMarkdown } from '../escape.ts';
import type { LinkOf } from '../links.ts';
import { plural, verdictText } from '../wording/phrases.ts';
import { clip } from '../wrap.ts';
import { diagnosticsMarkdown } from './fit-to-limit.ts';
import { renderMarkdown } from './markdown.ts';

/** Where a report is from, and how its text is made. */
type ReportOrigin = {
  /** The commit of the run, and its page. */
  readonly at?: { readonly commit: string; readonly runUrl: string };
  readonly version: string;
  readonly linkOf?: LinkOf | undefined;
  /** The label of the config, for titles. */
  readonly label?: string | undefined;
};

/** The report of one run on one target. */
export type RunReport = ReportOrigin & {
  /** The headline if there is no body, if there are errors beside it, or if `isTitled`. */
  readonly title: string;
  readonly isTitled?: boolean;
  /** Sentences that come before everything else. */
  readonly notes: readonly string[];
  /** The overrides and approvals in comments that count. */
  readonly comments?: readonly CommentLink[] | undefined;
  /** What the run found or did, and the diagnostics above and below it. */
  readonly body?: ReportDocument | undefined;
  readonly errors: readonly Diagnostic[];
  readonly others: readonly Diagnostic[];
  readonly hasErrors: boolean;
};

/** A command in a comment on a pull request, its author, and the address of the comment. */
export type CommentLink = { readonly author: string; readonly command: string; readonly url: string };

/** With less room, a report would be cut before its verdict: one of so many targets that share a comment. */
const leastRoom = 400;

/** Returns a comment or a summary within the limit: title or verdict, notes and errors, the body, the other diagnostics, the footer. */
export function runReportMarkdown({ title, body, errors, others, ...report }: RunReport, limit: number): string {
  const { linkOf } = report;
  const partRoom = Math.min(room, Math.floor(limit / 5));
  const notes = report.notes.map((note) => `> ${escapeMarkdown(clip(note, 1000))}\n\n`).join('');
  const isTitled = report.isTitled === true || body === undefined || report.hasErrors;
  const verdict = isTitled ? undefined : body?.sections()[0]?.verdict;
  if (limit < leastRoom) return `- ${escapeMarkdown(clip(verdict === undefined ? title : verdictText(verdict), Math.floor(limit / 2)))}\n`;
  const titled = isTitled ? `### ${escapeMarkdown(clip(title, 300))}\n\n` : '';
  const below = `${notes}${commentsMarkdown(report)}${diagnosticsMarkdown(errors, partRoom, linkOf)}`;
  const tail = `${diagnosticsMarkdown(others, partRoom, linkOf)}${footer(report)}`;
  const whole = body === undefined ? '' : bodyMarkdown(body, report, limit - titled.length - below.length - tail.length);
  // Without a title, the heading of the body is the verdict.
  return `${titled}${isTitled ? `${below}${whole}` : belowVerdict(whole, below)}${tail}`;
}

function bodyMarkdown(document: ReportDocument, { linkOf, label, at }: ReportOrigin, limit: number): string {
  return renderMarkdown(document, { limit: Math.max(limit, 0), linkOf, label, fullReport: at?.runUrl });
}

function belowVerdict(markdown: string, text: string): string {
  const verdictEnd = markdown.indexOf('\n\n') + 2;
  return `${markdown.slice(0, verdictEnd)}${text}${markdown.slice(verdictEnd)}`;
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

function footer({ at, version }: ReportOrigin): string {
  if (at === undefined) return '';
  return `Ostiary ${codeSpan(version)} at commit ${codeSpan(at.commit.slice(0, 12))}, in [this run](${at.runUrl}).\n`;
}

const room = 12_000;

/** The issue about a drift: `note` is a sentence about the pull request that adopts it, `adoption` links to it, and `startPage` is where a person starts the job. */
type DriftIssue = ReportOrigin & {
  readonly body: ReportDocument;
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
export function driftIssue({ body, note = '', adoption, startPage, ...made }: DriftIssue, limit: number): string {
  const tail = `${adviceOn({ adoption, startPage })}${note === '' ? '' : `${note}\n\n`}${footer(made)}`;
  return `${bodyMarkdown(body, made, limit - tail.length)}${tail}`;
}

/** The pull request that adopts a drift, and the issue about it. */
type AdoptionRequest = ReportOrigin & { readonly body: ReportDocument; readonly issue?: number | undefined; readonly request?: string };

/** Returns the text of the pull request that adopts a drift, within the limit. */
export function adoptionRequest({ body, issue, request = 'pull request', ...made }: AdoptionRequest, limit: number): string {
  const about = issue === undefined ? '' : ` Belongs to #${issue}.`;
  const steps = [
    `To accept these changes, merge this ${request}. To reject them, close it and run \`ostiary drift --revert\`. `,
    `The manifests get no secret values; apply keeps the live ones.${about}\n\n`,
  ].join('');
  const tail = footer(made);
  return `${belowVerdict(bodyMarkdown(body, made, limit - steps.length - tail.length), steps)}${tail}`;
}
