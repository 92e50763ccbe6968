import { isObject, type Json, type JsonObject } from '../model/json.ts';
import { blockText, scalarText, type Quoting } from './yaml-scalar.ts';

/** How values are written that stand nowhere yet. */
export type TextStyle = {
  /** Columns that a map stands deeper than the map that holds it. */
  readonly step: number;
  /** Columns that a list stands deeper than the map that holds it. */
  readonly listStep: number;
  /** How texts are spelled that may stand plain. */
  readonly quoting: Quoting;
  /** How keys are spelled that may stand plain. */
  readonly keys: Quoting;
  /** Quotes for texts that may not. */
  readonly quote: 'single' | 'double';
  /** Texts of several lines stand as they are, not in quotes. */
  readonly literals: boolean;
  /** Lists of scalars: in brackets, or an entry a line. */
  readonly lists: 'flow' | 'block';
  /** Small maps: in braces, or a key a line. */
  readonly maps: 'flow' | 'block';
  /** Maps that are entries of lists. */
  readonly entries: 'flow' | 'block';
  /** What stands between braces and their content. */
  readonly padding: string;
  readonly listPadding: string;
};

/** The form in which manifests are written where nothing shows another. */
export const plainStyle: TextStyle = {
  step: 2,
  listStep: 2,
  quoting: 'plain',
  keys: 'plain',
  quote: 'single',
  literals: true,
  lists: 'flow',
  maps: 'flow',
  entries: 'block',
  padding: ' ',
  listPadding: '',
};

/** What follows an indicator: a text on the same line, and lines below it at `indent` columns. */
export type ValueText = { readonly inline: string; readonly lines: readonly string[] };

const widestFlow = 100;
const widestMap = 70;

/** Writes a value that follows a `:` at the column of its map. */
export function mapValueText(value: Json, column: number, style: TextStyle): ValueText {
  const text = style.literals ? multiline(value, column + style.step) : undefined;
  if (text !== undefined) return text;
  if (isInline(value, style, 'maps')) return { inline: flowText(value, style), lines: [] };
  if (Array.isArray(value)) return { inline: '', lines: listLines(value, column + style.listStep, style) };
  return { inline: '', lines: mapLines(objectOf(value), column + style.step, style) };
}

/** Writes the lines of a map's pairs at a column. */
export function mapLines(map: JsonObject, column: number, style: TextStyle): readonly string[] {
  return Object.entries(map).flatMap(([key, value]) => pairLines(key, value, column, style));
}

/** Writes one pair at a column. */
export function pairLines(key: string, value: Json, column: number, style: TextStyle): readonly string[] {
  const { inline, lines } = mapValueText(value, column, style);
  const head = `${' '.repeat(column)}${keyText(key, style, false)}:`;
  return [inline === '' ? head : `${head} ${inline}`, ...lines];
}

/** Writes the entries of a list at a column. */
export function listLines(entries: readonly Json[], column: number, style: TextStyle): readonly string[] {
  return entries.flatMap((entry) => entryLines(entry, column, 2, style));
}

/** Writes one entry at a column; its content begins `gap` columns after the dash. */
export function entryLines(entry: Json, column: number, gap: number, style: TextStyle): readonly string[] {
  const head = `${' '.repeat(column)}-${' '.repeat(gap - 1)}`;
  const text = style.literals ? multiline(entry, column + style.step) : undefined;
  if (text !== undefined) return [head + text.inline, ...text.lines];
  if (isInline(entry, style, 'entries')) return [head + flowText(entry, style)];
  const lines = Array.isArray(entry) ? listLines(entry, column + gap, style) : mapLines(objectOf(entry), column + gap, style);
  return lines.map((line, index) => (index === 0 ? head + line.trimStart() : line));
}

/** Writes a value on one line. */
export function flowText(value: Json, style: TextStyle): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[${style.listPadding}${value.map((entry: Json) => flowText(entry, style)).join(', ')}${style.listPadding}]`;
  }
  if (!isObject(value)) return scalarText(value, { inFlow: true, quoting: style.quoting, quote: style.quote });
  const pairs = Object.entries(value).map(([key, one]) => flowPairText(key, one, style));
  return pairs.length === 0 ? '{}' : `{${style.padding}${pairs.join(', ')}${style.padding}}`;
}

/** Writes a pair of a map in braces. */
export function flowPairText(key: string, value: Json, style: TextStyle): string {
  return `${keyText(key, style, true)}: ${flowText(value, style)}`;
}

/** Writes a key. */
export function keyText(key: string, { keys, quote }: Pick<TextStyle, 'keys' | 'quote'>, inFlow: boolean): string {
  return scalarText(key, { inFlow, quoting: keys, quote });
}

/** A text of several lines that follows an indicator, indented to a column. */
function multiline(value: Json, column: number): ValueText | undefined {
  if (typeof value !== 'string' || !value.includes('\n')) return undefined;
  const block = blockText(value);
  if (block === undefined) return undefined;
  return { inline: block.header, lines: block.lines.map((line) => (line === '' ? '' : ' '.repeat(column) + line)) };
}

function isInline(value: Json, style: TextStyle, where: 'maps' | 'entries'): boolean {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return true;
  if (Array.isArray(value)) return style.lists === 'flow' && !value.some(isLarge) && flowText(value, style).length <= widestFlow;
  if (style[where] === 'block') return false;
  return !Object.values(value).some(Array.isArray) && flowText(value, style).length <= widestMap;
}

/** Tells whether a value is better not put between others on one line. */
function isLarge(value: Json): boolean {
  return (
    (typeof value === 'object' && value !== null && Object.keys(value).length > 0) || (typeof value === 'string' && value.includes('\n'))
  );
}

function objectOf(value: Json): JsonObject {
  return isObject(value) ? value : {};
}
