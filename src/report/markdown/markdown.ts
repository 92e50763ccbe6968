import {
  approvesNothing,
  blocksOfType,
  labeledName,
  type PlanFacts,
  type ReportDocument,
  type ReportSection,
  type ReportSummary,
  type SubjectPlace,
} from '../document.ts';
import { type LinkOf } from '../links.ts';
import { codeSpan, escapeMarkdown } from '../escape.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { clip } from '../wrap.ts';
import { type Verdict, shortList, verdictText } from '../wording/phrases.ts';
import { linesBlocks, paragraph } from './lines.ts';
import { resultRows, rowsBlocks } from './rows.ts';
import type { LinesBlock, ListBlock } from '../blocks.ts';
import { commentLimit, diagnosticsMarkdown, fitToLimit, type MarkdownBlock } from './fit-to-limit.ts';

const longestText = 1000;
const listed = 10;

/** The labels of blocks, in the order in which a note counts those that were omitted. */
const labels = ['target', 'headline', 'refusal', 'allowance', 'failure', 'permission', 'object', 'list', 'detail'];

/** Renders a document for a comment, an issue or a job's summary. Where the limit requires it, rows have the differences, and details are omitted before headlines. */
export function renderMarkdown(
  document: ReportDocument,
  { limit = commentLimit, linkOf, fullReport, label }: MarkdownOptions = {},
): string {
  const sections = document.sections();
  const blocksOf = (isDense: boolean): readonly MarkdownBlock[] =>
    sections.flatMap((section) => sectionBlocks(section, { linkOf, label, isDense }));
  const whole = blocksOf(false);
  const blocks = whole.reduce((length, { text }) => length + text.length, 0) <= limit ? whole : blocksOf(true);
  const rest = fullReport === undefined ? document.completeIn : `[The full report](${fullReport}) has everything.`;
  return fitToLimit(blocks, limit, { labels, ...(rest === undefined ? {} : { rest }) });
}

/** The longest length in characters, the links to files, the URL of a report that omits nothing, and the label of the config. */
type MarkdownOptions = {
  readonly limit?: number | undefined;
  readonly linkOf?: LinkOf | undefined;
  readonly fullReport?: string | undefined;
  readonly label?: string | undefined;
};

type SectionOptions = Pick<MarkdownOptions, 'linkOf' | 'label'> & { readonly isDense: boolean };

function sectionBlocks(
  { verdict, place, summary, blocks }: ReportSection,
  { linkOf, label, isDense }: SectionOptions,
): readonly MarkdownBlock[] {
  const isShown = verdict !== undefined && verdict.after.length <= longestVerdict;
  const linesOf = (part: LinesBlock['part']): readonly MarkdownBlock[] =>
    paragraph(
      blocksOfType(blocks, 'lines')
        .filter((block) => block.part === part)
        .map(({ lines, ...block }) => ({ ...block, lines: isShown ? lines.filter(({ isInVerdict }) => isInVerdict !== true) : lines }))
        .flatMap((block) => linesBlocks(block, { linkOf, isDense })),
    );
  return [
    ...(verdict === undefined ? [] : [titleBlock(verdict, label)]),
    ...blocksOfType(blocks, 'findings').map(({ diagnostics }) => findingsBlock(diagnostics, linkOf)),
    ...linesOf('refusals'),
    ...(place === undefined ? [] : resultBlocks(place, summary)),
    ...linesOf('notices'),
    ...linesOf('headlines'),
    ...linesOf('permissions'),
    ...linesOf('replay'),
    ...linesOf('allowances'),
    ...blocksOfType(blocks, 'rows').flatMap((rows) => rowsBlocks(rows, linkOf)),
    ...blocksOfType(blocks, 'results').flatMap(resultRows),
    ...paragraph(blocksOfType(blocks, 'list').map(listBlock)),
    ...linesOf('warnings'),
    ...(summary?.type === 'plan' ? [digestBlock(summary.facts)] : []),
  ];
}

function findingsBlock(diagnostics: readonly Diagnostic[], linkOf: LinkOf | undefined): MarkdownBlock {
  return { text: diagnosticsMarkdown(diagnostics, findingsRoom, linkOf), rank: 1, label: 'list' };
}

const findingsRoom = 50_000;

function titleBlock({ before, name, after }: Verdict, label: string | undefined): MarkdownBlock {
  // Spaces and colons beside the name stay as they are.
  const [first, last] = [before, after].map((text) => clip(text, longestVerdict).replace(/[^ :.].*[^ ]/s, (own) => escapeMarkdown(own)));
  const nameText = (text: string): string => labeledName(codeSpan(text), label === undefined ? undefined : escapeMarkdown(label));
  return { text: `### ${verdictText({ before: first ?? '', name, after: last ?? '' }, nameText)}\n\n`, rank: 0, label: 'target' };
}

const longestVerdict = 400;

/** Returns what follows the verdict: the gateway, and the facts of the plan or of what was applied. */
function resultBlocks({ where }: SubjectPlace, summary: ReportSummary | undefined): readonly MarkdownBlock[] {
  switch (summary?.type) {
    case 'plan':
      return [resultBlock(planResult(where, summary.facts))];
    case 'apply':
      return [resultBlock(`${codeSpan(where)}, plan ${codeSpan(summary.digest)}.`)];
    case 'sentence':
      return [resultBlock(codeSpan(where)), resultBlock(escapeMarkdown(summary.sentence))];
    case undefined:
      return [resultBlock(codeSpan(where))];
  }
}

function resultBlock(text: string): MarkdownBlock {
  return { text: `${text}\n\n`, rank: 0, label: 'target' };
}

function planResult(where: string, { unchanged, highest, policies }: PlanFacts): string {
  const parts = [
    `${codeSpan(where)}${unchanged === '' ? '.' : `, ${unchanged}`}`,
    ...(highest === undefined || unchanged === '' ? [] : [`Highest risk: **${highest}**.`]),
    ...(policies === '' ? [] : [escapeMarkdown(policies)]),
  ];
  return parts.join(' ');
}

function digestBlock({ seals }: PlanFacts): MarkdownBlock {
  const text =
    seals === undefined ? approvesNothing : `Digest ${codeSpan(seals.digest)} of the manifests ${codeSpan(seals.tree.slice(0, 12))}.`;
  return { text: `${text}\n\n`, rank: 1, label: 'list' };
}

function listBlock({ title, entries, hasSentences, rank }: ListBlock): MarkdownBlock {
  if (hasSentences) {
    const lines = shortList(entries, listed).map((entry) => `  - ${escapeMarkdown(clip(entry, longestText))}\n`);
    return { text: `- ${escapeMarkdown(title)}:\n${lines.join('')}`, rank, label: 'list' };
  }
  const shown = shortList(entries, listed).map((entry, index) => (index < listed ? codeSpan(clip(entry, 200)) : entry));
  return { text: `- ${escapeMarkdown(title)}: ${shown.join(', ')}\n`, rank, label: 'list' };
}
