import { highestPlanRisk, type Plan } from '../../model/plan/plan.ts';
import {
  blocksOfType,
  labeledName,
  type ReportDocument,
  type ReportSection,
  type ReportSummary,
  type RunFindings,
  type SubjectPlace,
} from '../document.ts';
import { type LinkOf } from '../links.ts';
import { codeSpan, escapeMarkdown } from '../escape.ts';
import { findingDiagnostics } from '../subjects/findings.ts';
import { hasSentences, type SideList } from '../rows/groups.ts';
import { clip } from '../wrap.ts';
import { plural, policiesText, shortList, showsSeveral, stayingEdgesText, type Verdict, verdictText } from '../wording/summary.ts';
import { rankOf } from '../rows/entries.ts';
import { linesBlocks, paragraph } from './lines.ts';
import { resultRows, rowsBlocks } from './rows.ts';
import type { LinesBlock, OutsideSection } from '../blocks.ts';
import { commentLimit, diagnosticsMarkdown, fitToLimit, type MarkdownBlock } from './fit-to-limit.ts';

const longestText = 1000;
const listed = 10;

/** The labels of blocks, in the order in which a note counts those that were omitted. */
const labels = ['target', 'headline', 'refusal', 'allowance', 'failure', 'permission', 'cause', 'table row', 'object', 'list', 'detail'];

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
        .map(({ lines, ...block }) => ({ ...block, lines: isShown ? lines.filter(({ statedBy }) => statedBy !== 'verdict') : lines }))
        .flatMap((block) => linesBlocks(block, { linkOf, isDense })),
    );
  const headlines = linesOf('headlines');
  const groups = blocksOfType(blocks, 'rows');
  const isOnly = groups.length === 1 && headlines.length > 0;
  return [
    ...(verdict === undefined ? [] : [titleBlock(verdict, label)]),
    ...blocksOfType(blocks, 'findings').map(({ run }) => findingsBlock(run, linkOf)),
    ...linesOf('refusals'),
    ...(place === undefined ? [] : resultBlocks(place, summary)),
    ...linesOf('notices'),
    ...headlines,
    ...linesOf('permissions'),
    ...linesOf('allowances'),
    ...groups.flatMap((rows) => rowsBlocks(rows, { linkOf, isOnly, isDense })),
    ...blocksOfType(blocks, 'outside').flatMap(({ section }) => outsideMarkdown(section)),
    ...blocksOfType(blocks, 'results').flatMap(resultRows),
    ...paragraph(blocksOfType(blocks, 'list').map(({ list }) => listBlock(list))),
    ...linesOf('warnings'),
    ...(summary?.type === 'plan' ? [digestBlock(summary.plan)] : []),
  ];
}

function findingsBlock(run: RunFindings, linkOf: LinkOf | undefined): MarkdownBlock {
  return { text: diagnosticsMarkdown(findingDiagnostics(run), findingsRoom, linkOf), rank: 1, label: 'list' };
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
      return [resultBlock(planResult(summary.plan))];
    case 'apply':
      return [resultBlock(`${codeSpan(where)}, plan ${codeSpan(summary.plan.seals.digest)}.`)];
    case 'sentence':
      return [resultBlock(codeSpan(where)), resultBlock(escapeMarkdown(summary.sentence))];
    case undefined:
      return [resultBlock(codeSpan(where))];
  }
}

function resultBlock(text: string): MarkdownBlock {
  return { text: `${text}\n\n`, rank: 0, label: 'target' };
}

function planResult(plan: Plan): string {
  const isNothing = plan.changes.length + plan.accepted.length === 0;
  const highest = !isNothing && showsSeveral(plan) ? highestPlanRisk(plan) : undefined;
  const parts = [
    codeSpan(plan.target.url),
    ...(isNothing ? [] : [`, ${plural(plan.unchanged, 'resource')} unchanged`]),
    '.',
    ...(isNothing ? [] : [stayingEdgesText(plan)]),
    ...(highest === undefined ? [] : [` Highest risk: **${highest}**.`]),
  ];
  const policies = policiesText(plan.policies);
  return `${parts.join('')}${policies === '' ? '' : ` ${escapeMarkdown(policies)}.`}`;
}

function digestBlock({ seals: { digest, tree } }: Plan): MarkdownBlock {
  return { text: `Digest ${codeSpan(digest)} of the manifests ${codeSpan(tree.slice(0, 12))}.\n\n`, rank: 1, label: 'list' };
}

function listBlock(list: SideList): MarkdownBlock {
  const { title, entries } = list;
  if (hasSentences(list)) {
    const lines = shortList(entries, listed).map((entry) => `  - ${escapeMarkdown(clip(entry, longestText))}\n`);
    return { text: `- ${escapeMarkdown(title)}:\n${lines.join('')}`, rank: rankOf('list'), label: 'list' };
  }
  const shown = shortList(entries, listed).map((entry, index) => (index < listed ? codeSpan(clip(entry, 200)) : entry));
  return { text: `- ${escapeMarkdown(title)}: ${shown.join(', ')}\n`, rank: rankOf('list'), label: 'list' };
}

/** Returns the changes in no manifest: what they do together, then each object. */
function outsideMarkdown({ title, headlines, rows }: OutsideSection): readonly MarkdownBlock[] {
  return [
    { text: `#### ${escapeMarkdown(title)}\n\n`, rank: 1, label: 'blank' },
    ...paragraph(linesBlocks(headlines, { linkOf: undefined, isDense: false })),
    ...rowsBlocks(rows, { linkOf: undefined, isOnly: false, isDense: false }),
  ];
}
