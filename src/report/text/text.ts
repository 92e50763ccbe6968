import { largestOf } from '../../model/collections.ts';
import {
  approvesNothing,
  type ReportBlock,
  type ReportDocument,
  type ReportSection,
  type ReportSummary,
  type SubjectPlace,
} from '../document.ts';
import type { Choice, LinesBlock, ListBlock } from '../blocks.ts';
import { escapeTerminal } from '../escape.ts';
import { shortList, verdictText } from '../wording/phrases.ts';
import { blockLines as linesOf, effectPaint, tableBlockLines } from './lines.ts';
import { resultLines, rowsLines } from './rows.ts';
import { diagnosticsLines } from './diagnostics.ts';
import { casesLines } from './cases.ts';
import { type Terminal, pad, gap, withoutBreak, words, wrap, type Span } from '../wrap.ts';

const listed = 5;
/** As many lines are seen at once. */
const screen = 20;

/** Renders a document for people at a terminal: a section per target, the verdict first, its blocks between blank lines, the facts last. */
export function renderReportText(document: ReportDocument, terminal: Terminal): string {
  return document
    .sections()
    .map((section) => `${sectionLines(section, terminal).join('\n')}\n`)
    .join('\n\n');
}

function sectionLines({ verdict, place, summary, blocks }: ReportSection, terminal: Terminal): readonly string[] {
  const parts = [
    [
      ...(verdict === undefined ? [] : wrap(words(escapeTerminal(verdictText(verdict)), terminal.color.bold), terminal, 2)),
      ...placeLines(place, summary, terminal),
    ],
    ...joinedBlocks(blocks).map((joined) => joined.flatMap((block) => blockLines(block, terminal))),
  ];
  const isFar = parts.reduce((sum, { length }) => sum + length, 0) > screen;
  return [...parts, ...(summary === undefined ? [] : [summaryLines(summary, terminal, isFar)])]
    .filter((lines) => lines.length > 0)
    .flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

/** Groups blocks without a blank line between them: who can do what continues the headlines. */
function joinedBlocks(blocks: readonly ReportBlock[]): readonly (readonly ReportBlock[])[] {
  return blocks.flatMap((block, index) => {
    const next = blocks[index + 1];
    if (isPart(block, 'headlines') && next !== undefined && isPart(next, 'permissions')) return [[block, next]];
    return isPart(block, 'permissions') && isPart(blocks[index - 1], 'headlines') ? [] : [[block]];
  });
}

function isPart(block: ReportBlock | undefined, part: LinesBlock['part']): boolean {
  return block?.type === 'lines' && block.part === part;
}

/** Returns where a section is about, with the digest of its plan. A plan without changes shows its digest on request. */
function placeLines(place: SubjectPlace | undefined, summary: ReportSummary | undefined, terminal: Terminal): readonly string[] {
  const { dim } = terminal.color;
  const spans = (text: string | undefined): readonly Span[] =>
    text === undefined ? [] : [...gap, ...withoutBreak(words(escapeTerminal(text), dim))];
  const digest = shownDigest(summary, terminal);
  const about = digest === undefined ? [] : [...gap, { text: escapeTerminal(digest), paint: dim, noBreak: true }];
  if (place === undefined) return [];
  return wrap([{ text: '  ' }, { text: escapeTerminal(place.where), paint: dim }, ...spans(place.config), ...about], terminal, 2);
}

function shownDigest(summary: ReportSummary | undefined, { full }: Terminal): string | undefined {
  if (summary === undefined || summary.type === 'sentence') return undefined;
  if (summary.type === 'apply') return `Digest ${summary.digest}`;
  const { seals } = summary.facts;
  if (seals === undefined) return approvesNothing;
  return summary.isQuiet && full !== true ? undefined : `Digest ${seals.digest}`;
}

function blockLines(block: ReportBlock, terminal: Terminal): readonly string[] {
  switch (block.type) {
    case 'lines':
      return linesOf(block, terminal);
    case 'rows':
      return rowsLines(block, terminal);
    case 'list':
      return listLines(block, terminal);
    case 'results':
      return resultLines(block, terminal);
    case 'cases':
      return casesLines(block, terminal);
    case 'table':
      return tableBlockLines(block, terminal);
    case 'findings':
      return diagnosticsLines(block.diagnostics, terminal);
    case 'choices':
      return choiceLines(block.choices, terminal);
    case 'folds':
      return [];
  }
}

/** Returns the commands that accept and revert a drift, one below the other. */
function choiceLines(choices: readonly Choice[], { color }: Terminal): readonly string[] {
  const commands = choices.filter(({ isDefault }) => isDefault !== true);
  const width = largestOf(
    commands.map(({ goal }) => goal.length),
    0,
  );
  return commands.map(({ goal, command }) => `  ${goal}:${pad('', width - goal.length)} ${color.bold(escapeTerminal(command))}`);
}

/** Returns what ends the text of several changes: the counts again, where the verdict is far above, and the facts. */
function summaryLines(summary: ReportSummary, terminal: Terminal, isFar: boolean): readonly string[] {
  const sentenceLines = (text: string): readonly string[] => wrap(words(escapeTerminal(text), terminal.color.bold), terminal, 0);
  if (summary.type === 'sentence') return sentenceLines(summary.sentence);
  if (summary.type === 'apply') return [];
  const { counts, policies, isSeveral, highest = 'neutral' } = summary.facts;
  const isLong = isFar && isSeveral;
  return [
    ...(isLong && counts !== '' ? sentenceLines(counts) : []),
    ...(policies === '' ? [] : wrap(words(escapeTerminal(policies)), terminal, 0)),
    ...(isLong && highest !== 'neutral' && highest !== 'strengthens'
      ? [effectPaint(highest, terminal.color)(`Highest risk: ${highest}`)]
      : []),
  ];
}

function listLines({ title, entries, hasSentences }: ListBlock, terminal: Terminal): readonly string[] {
  const shown = shortList(entries, listed);
  const lines = hasSentences ? shown : [shown.join(', ')];
  const below = lines.flatMap((line) => wrap([{ text: '    ' }, ...words(line, terminal.color.dim)], terminal, 6));
  return [...wrap(words(title), terminal, 2), ...below];
}
