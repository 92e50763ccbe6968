import { codeBlock, codeSpan, escapeHtmlText, escapeMarkdown } from '../escape.ts';
import { type LinkOf, positionMarkdown } from '../links.ts';
import type { Entry, FieldRow, Result, ResultsBlock, RowsBlock } from '../blocks.ts';
import { diffLines } from '../rows/diff-lines.ts';
import { mergeAlike } from '../rows/fold-similar.ts';
import { clip } from '../wrap.ts';
import { plural, shortList } from '../wording/phrases.ts';
import { blank, type MarkdownBlock } from './fit-to-limit.ts';
import { paragraph } from './lines.ts';

const longestValue = 1000;
const longestCell = 100;
const mostFolded = 50;
const mostRows = 20;
const mostAlike = 3;

const longestDense = 200;
const mostHeld = 4;
const mostIds = 200;
const longestLabel = 60;

/** The links of rows; `isOnly` if headlines state what the only rows of the report mean; `isDense` if rows have the differences that fit. */
type RowsOptions = { readonly linkOf: LinkOf | undefined; readonly isOnly: boolean; readonly isDense: boolean };

/** Entries that differ in nothing but their names, or one. */
type Alike = { readonly first: Entry; readonly all: readonly Entry[] };

/** Returns the blocks of rows: the entries, the most severe first, then their differences, folded. A single entry has no table. */
export function rowsBlocks({ title, entries, form, rank }: RowsBlock, { linkOf, isOnly, isDense }: RowsOptions): readonly MarkdownBlock[] {
  const heading = title === '' ? [] : [{ text: `#### ${escapeMarkdown(title)}\n\n`, rank: 1, label: 'blank' }];
  if (form === 'list') return [...heading, ...listBlocks(entries, rank, linkOf)];
  const merged = mergeAlike(entries).flatMap((all) => all.slice(0, 1).map((first): Alike => ({ first, all })));
  if (form === 'short') return [foldedBlock({ title, merged, rank: rank.row }, linkOf)];
  const dense = new Map(isDense ? merged.map((alike) => [alike, denseCells(alike, linkOf)]) : []);
  const rows = merged.map((alike) => ({ cells: dense.get(alike) ?? rowCells(alike, linkOf), rank: rank.row + alike.first.order }));
  const [only] = merged;
  const isStated = isOnly && rows.length === 1 && only?.first.briefNote === '' && only.first.sign !== '=';
  const details = merged
    .filter((alike) => dense.get(alike) === undefined && !isComplete(alike))
    .flatMap((alike) => detailBlocks(alike, rank.detail, isStated));
  return [...heading, ...(isStated && details.length > 0 ? [] : rowBlocks(rows)), ...foldRest(details, 'difference')];
}

/** Returns entries, a line each, and their differences, folded. */
function listBlocks(entries: readonly Entry[], rank: RowsBlock['rank'], linkOf: LinkOf | undefined): readonly MarkdownBlock[] {
  if (entries.length === 0) return [];
  const lines = entries.map((one) => ({ text: listLine(one, linkOf), rank: rank.row, label: 'object' }));
  const details = entries.flatMap((one) => {
    const changed = diffLines(one);
    return changed.length === 0 ? [] : [detailsBlock(detailTitle(one), { lines: shortList(changed, 100), risks: '' }, rank.detail)];
  });
  return [...lines, blank, ...details];
}

function listLine({ sign, name, said = '', at, briefNote, quiet }: Entry, linkOf: LinkOf | undefined): string {
  const parts = [
    `${codeSpan(sign)} ${codeSpan(clip(name, 300))}${escapeSaid(said)}`,
    ...(at === undefined ? [] : [positionMarkdown(at, linkOf)]),
    ...(briefNote === '' ? [] : [escapeMarkdown(briefNote)]),
    ...quiet.slice(0, 1).map((text) => escapeMarkdown(clip(text, 300))),
  ];
  return `- ${parts.join(', ')}\n`;
}

/** Escapes what follows a name; its first mark stays as it is. */
function escapeSaid(said: string): string {
  return said.replace(/^([:,] )?(.*)$/s, (_, mark: string | undefined, text: string) => `${mark ?? ''}${escapeMarkdown(text)}`);
}

function detailTitle({ sign, name, said = '' }: Entry): string {
  return `${sign} ${clip(`${name}${said}`, 300)}`;
}

type TableRow = { readonly cells: readonly string[]; readonly rank: number };

/** Returns one row as a list entry, and several as a table. */
function rowBlocks(rows: readonly TableRow[]): readonly MarkdownBlock[] {
  const [only] = rows;
  if (rows.length === 1 && only !== undefined) {
    const [sign = '', ...cells] = only.cells;
    return [rowBlock(`- ${sign} ${cells.filter((cell) => cell !== '').join(', ')}\n`, only.rank), blank];
  }
  const lines = rows.map(({ cells, rank }) => rowBlock(rowText(cells), rank));
  const rest = lines.slice(mostRows);
  const folded = rest.length === 0 ? [] : foldBlocks(rest, 'more row', [frameOf(rest, () => tableHead), ...rest, blank]);
  const shown = lines.slice(0, mostRows);
  return [frameOf(shown, () => tableHead), ...shown, blank, ...folded];
}

function rowBlock(text: string, rank: number): MarkdownBlock {
  return { text, rank, label: 'table row' };
}

/** Returns the first blocks, and the others in one fold. */
function foldRest(blocks: readonly MarkdownBlock[], word: string): readonly MarkdownBlock[] {
  const rest = blocks.slice(mostRows);
  if (rest.length === 0) return blocks;
  return [...blocks.slice(0, mostRows), ...foldBlocks(rest, `more ${word}`, rest)];
}

/** Returns a fold whose title counts those of the blocks that are kept; without any of them there is no fold. */
function foldBlocks(counted: readonly MarkdownBlock[], word: string, content: readonly MarkdownBlock[]): readonly MarkdownBlock[] {
  const open = (kept: number): string => `<details><summary>${escapeHtmlText(plural(kept, word))}</summary>\n\n`;
  return [frameOf(counted, open), ...content, frameOf(counted, () => '</details>\n\n')];
}

/** Returns a block that is kept only with one of the blocks that it frames. */
function frameOf(blocks: readonly MarkdownBlock[], textOf: (kept: number) => string): MarkdownBlock {
  return { text: textOf(blocks.length), rank: 1, label: 'blank', frames: { blocks, textOf } };
}

const tableHead = '| | Resource | What | Where |\n|---|---|---|---|\n';

/** Returns entries that get one line each, folded. */
function foldedBlock(
  { title, merged, rank }: { readonly title: string; readonly merged: readonly Alike[]; readonly rank: number },
  linkOf: LinkOf | undefined,
): MarkdownBlock {
  const lines = merged.map((alike) => rowText(rowCells(alike, linkOf)));
  const shown = lines.slice(0, mostFolded);
  const more = lines.length > mostFolded ? `\nand ${lines.length - mostFolded} more\n` : '';
  const summary = `<summary>${escapeHtmlText(title)}</summary>`;
  return { text: `<details>${summary}\n\n${tableHead}${shown.join('')}${more}\n</details>\n\n`, rank, label: 'list' };
}

function rowText(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

function rowCells({ first, all }: Alike, linkOf: LinkOf | undefined): readonly string[] {
  const places = all.flatMap(({ changedAt }) => (changedAt === undefined ? [] : [positionMarkdown(changedAt, linkOf)]));
  const ids = shortList(
    all.map(({ name }) => codeSpan(clip(name, 300))),
    mostAlike,
  );
  const resource = all.length === 1 ? codeSpan(first.name) : `**${all.length} objects**: ${ids.join(', ')}`;
  return [codeSpan(first.sign), resource, whatText(first), shortList([...new Set(places)], mostAlike).join(', ')];
}

/** Returns the cells of an entry with its differences, so that it needs no fold; undefined if they are too long for a row. */
function denseCells({ first, all }: Alike, linkOf: LinkOf | undefined): readonly string[] | undefined {
  const { name, changedAt, briefNote, effect, sign } = first;
  const lines = diffLines(first).map((line) => line.trim());
  if (all.length > 1 || lines.length === 0 || lines.join('').length > longestDense) return undefined;
  const link = changedAt === undefined ? undefined : linkOf?.(changedAt);
  const what = [
    ...(effect === 'neutral' ? [] : [effect]),
    ...(briefNote === '' ? [] : [escapeMarkdown(briefNote)]),
    ...lines.map(codeSpan),
  ];
  return [sign, link === undefined ? codeSpan(name) : `[${codeSpan(name)}](${link})`, what.join(' ')];
}

function whatText({ sign, verb, fields, endCount, briefNote, risk }: Entry): string {
  if (sign === '=') return heldText(fields, [briefNote === '' && fields.length === 0 ? verb : escapeMarkdown(briefNote)]);
  const labels = sign === '+' || sign === '-' ? [] : [...new Set(fields.map(({ label }) => label))];
  const shown = shortList(labels, 4).map((label, index) => (index < 4 ? codeSpan(clip(label, longestLabel)) : label));
  const parts = [
    briefNote === '' ? verb : escapeMarkdown(briefNote),
    ...shown,
    ...(endCount === 0 ? [] : [plural(endCount, 'attachment')]),
  ];
  return `${parts.join(', ')}${risk === '' ? '' : `; ${escapeMarkdown(risk)}`}`;
}

/** Returns fields that stay with their values, so that a reader sees them without unfolding. */
function heldText(fields: readonly FieldRow[], notes: readonly string[]): string {
  const rows = fields.map((row) => {
    const value = clip(valueOf(row), longestCell);
    return `${codeSpan(clip(row.label, longestLabel))} ${codeSpan(value)} (${escapeMarkdown(clip(row.note, longestCell))})`;
  });
  return [...notes.filter((note) => note !== ''), ...shortList(rows, mostHeld)].join(', ');
}

/** Returns whether the row of an entry shows all of it. */
function isComplete({ first: { sign, fields, endCount, samples, quiet }, all }: Alike): boolean {
  if (sign !== '=' || all.length > mostAlike || endCount + samples.length + quiet.length > 0) return false;
  const fits = fields.every(
    ({ label, note, ...row }) => label.length <= longestLabel && Math.max(note.length, valueOf(row).length) <= longestCell,
  );
  return fits && fields.length <= mostHeld;
}

function valueOf({ parts }: Pick<FieldRow, 'parts'>): string {
  return parts.map((part) => (part.sign === '~' ? part.before : part.text)).join(', ');
}

/** Returns the folded difference of an entry; if `isStated`, the fold also names the risks, because no row does. */
function detailBlocks({ first, all }: Alike, rank: number, isStated: boolean): readonly MarkdownBlock[] {
  const lines = diffLines(first);
  if (lines.length === 0 && all.length <= mostAlike) return [];
  const ids = shortList(all.length === 1 ? [] : all.map(({ name }) => `  on ${clip(name, 300)}`), mostIds);
  const title = `${detailTitle(first)}${all.length === 1 ? '' : ` and ${all.length - 1} more`}`;
  return [detailsBlock(title, { lines: [...shortList(lines, 100), ...ids], risks: isStated ? first.risk : '' }, rank + first.order)];
}

function detailsBlock(
  title: string,
  { lines, risks }: { readonly lines: readonly string[]; readonly risks: string },
  rank: number,
): MarkdownBlock {
  const summary = `<summary><code>${escapeHtmlText(risks === '' ? title : `${title}: ${risks}`)}</code></summary>`;
  return { text: `<details>${summary}\n\n${codeBlock(lines, 'diff')}\n\n</details>\n\n`, rank, label: 'detail' };
}

/** Returns the failures with their hints, then every result. */
export function resultRows({ results }: ResultsBlock): readonly MarkdownBlock[] {
  const failures = results.filter(({ isFailure }) => isFailure).map(failureBlock);
  const rows = results.map(({ word, name, order }) => rowBlock(`| ${word} | ${codeSpan(name)} |\n`, 10 + order));
  return [...paragraph(failures), ...(rows.length === 0 ? [] : paragraph([rowBlock('| | Resource |\n|---|---|\n', 1), ...rows]))];
}

function failureBlock({ name, word, code, message, hint }: Result): MarkdownBlock {
  const texts = [message, hint].flatMap((text) => (text === undefined ? [] : [escapeMarkdown(clip(text, longestValue))]));
  const why = code === undefined ? texts : [codeSpan(code), ...texts];
  return { text: `- ${codeSpan(name)} ${word}${why.length === 0 ? '' : `: ${why.join('; ')}`}\n`, rank: 2, label: 'failure' };
}
