import { codeBlock, codeSpan, escapeHtmlText, escapeMarkdown } from '../escape.ts';
import { type LinkOf, positionMarkdown } from '../links.ts';
import type { Entry, ResultsBlock, RowsBlock, Sign } from '../blocks.ts';
import { diffLines } from '../rows/diff-lines.ts';
import { type FoldedEntry, mergeAlike, mostOthers, othersText, sortByEffect, withoutDetails } from '../rows/fold-similar.ts';
import { clip } from '../wrap.ts';
import { plural, shortList } from '../wording/phrases.ts';
import { blank, type MarkdownBlock } from './fit-to-limit.ts';
import { linesBlocks, paragraph } from './lines.ts';

const longestText = 1000;
const longestName = 300;
/** The longest differences, in characters, that the line of an entry has; longer ones are folded below. */
const longestInline = 200;
const mostLines = 100;
const mostNames = 200;
const mostUnfolded = 20;

/** The order in which entries are left out for length; the lowest stay longest. */
const order: Readonly<Record<Sign, number>> = { '=': 0, '-': 0, '!': 1, '~': 3, '+': 4 };

/** Returns the blocks of rows: the entries, the worst first, each with its differences; long ones are folded below. */
export function rowsBlocks(
  { title, headlines, entries, isShort = false, rank }: RowsBlock,
  linkOf: LinkOf | undefined,
): readonly MarkdownBlock[] {
  if (entries.length === 0) return [];
  const merged = mergeAlike(sortByEffect(isShort ? entries.map(withoutDetails) : entries));
  const lines = merged.map((one) => ({ text: lineText(one, linkOf), rank: rank.row + order[one.entry.sign], label: 'object' }));
  const details = merged.flatMap((one) => detailBlocks(one, rank.detail + order[one.entry.sign]));
  const heading = title === '' ? [] : [{ text: `#### ${escapeMarkdown(title)}\n\n`, rank: 1, label: 'blank' }];
  return [
    ...heading,
    ...(headlines === undefined ? [] : paragraph(linesBlocks(headlines, { linkOf, isDense: false }))),
    ...foldRest(lines, 'object'),
    blank,
    ...foldRest(details, 'difference'),
  ];
}

/** Returns an entry in one line: what it is, where, and its differences if they are short. */
function lineText({ entry, others }: FoldedEntry<Entry>, linkOf: LinkOf | undefined): string {
  const { sign, name, at, note, risk } = entry;
  const remarks = entry.lines.flatMap((line) => (line.sign === ' ' ? [line.text] : []));
  const facts = [
    `${codeSpan(sign)} ${codeSpan(clip(name, longestName))}`,
    ...(others.length === 0 ? [] : [othersText(others, (other) => codeSpan(clip(other, longestName)))]),
    ...(at === undefined ? [] : [positionMarkdown(at, linkOf)]),
    ...[note, risk, ...remarks].flatMap((text) => (text === '' ? [] : [escapeMarkdown(clip(text, longestText))])),
  ];
  const inline = inlineDifferences(entry).map(codeSpan);
  return `- ${facts.join(', ')}${inline.length === 0 ? '' : `: ${inline.join(' ')}`}\n`;
}

/** Returns what differs in an entry, without remarks. */
function differences(entry: Entry): readonly string[] {
  return diffLines({ ...entry, lines: entry.lines.filter(({ sign }) => sign !== ' ') });
}

/** Returns the differences that the line of an entry has: all if they are short, of a whole object those that protect. */
function inlineDifferences(entry: Entry): readonly string[] {
  const lines = differences({ ...entry, fields: entry.fields.filter(({ isMinor }) => isMinor !== true) });
  return lines.join('').length <= longestInline ? lines : [];
}

/** Returns the folded differences of an entry and the names of those like it, if its line does not have them all. */
function detailBlocks({ entry, others }: FoldedEntry<Entry>, rank: number): readonly MarkdownBlock[] {
  const lines = differences(entry);
  if (inlineDifferences(entry).length === lines.length && others.length <= mostOthers) return [];
  const names = shortList(
    others.map(({ name }) => `  on ${clip(name, longestName)}`),
    mostNames,
  );
  const title = `${entry.sign} ${clip(entry.name, longestName)}${others.length === 0 ? '' : ` and ${others.length} more`}`;
  const summary = `<summary><code>${escapeHtmlText(title)}</code></summary>`;
  const code = codeBlock([...shortList(lines, mostLines), ...names], 'diff');
  return [{ text: `<details>${summary}\n\n${code}\n\n</details>\n\n`, rank, label: 'detail' }];
}

/** Returns the first blocks, and the others in one fold, whose title counts those that are kept. */
function foldRest(blocks: readonly MarkdownBlock[], word: string): readonly MarkdownBlock[] {
  const rest = blocks.slice(mostUnfolded);
  if (rest.length === 0) return blocks;
  const frame = (textOf: (kept: number) => string): MarkdownBlock => ({
    text: textOf(rest.length),
    rank: 1,
    label: 'blank',
    frames: { blocks: rest, textOf },
  });
  const open = frame((kept) => `\n<details><summary>${escapeHtmlText(plural(kept, `more ${word}`))}</summary>\n\n`);
  return [...blocks.slice(0, mostUnfolded), open, ...rest, frame(() => '\n</details>\n')];
}

/** Returns every result with its reason, the failures first. */
export function resultRows({ results }: ResultsBlock): readonly MarkdownBlock[] {
  const sorted = results.toSorted((left, right) => Number(right.isFailure) - Number(left.isFailure));
  const blocks = sorted.map(({ word, name, code, message, hint, isFailure, order: rank }): MarkdownBlock => {
    const texts = [message, hint].flatMap((text) => (text === undefined ? [] : [escapeMarkdown(clip(text, longestText))]));
    const why = [...(code === undefined ? [] : [codeSpan(code)]), ...texts];
    const text = `- ${word} ${codeSpan(name)}${why.length === 0 ? '' : `: ${why.join('; ')}`}\n`;
    return isFailure ? { text, rank: 2, label: 'failure' } : { text, rank: 10 + rank, label: 'object' };
  });
  return paragraph(foldRest(blocks, 'result'));
}
