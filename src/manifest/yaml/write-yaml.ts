import { isObject, type Json, type JsonObject } from '../../model/json.ts';

/** How new values are written. */
export type YamlStyle = {
  /** The indentation of a map inside a map, in columns. */
  readonly step: number;
  /** The indentation of a list inside a map, in columns. */
  readonly listStep: number;
  /** Quotes for strings that need none. */
  readonly quoting: Quoting;
  /** Quotes for keys that need none. */
  readonly keys: Quoting;
  /** Quotes for strings that need them. */
  readonly quote: 'single' | 'double';
  /** Whether strings with several lines are block scalars instead of quoted strings. */
  readonly literals: boolean;
  /** The layout of lists of scalars: in brackets, or one entry per line. */
  readonly lists: 'flow' | 'block';
  /** The layout of small maps: in braces, or one key per line. */
  readonly maps: 'flow' | 'block';
  /** The layout of maps that are list entries. */
  readonly entries: 'flow' | 'block';
  /** The space between braces and their content. */
  readonly padding: string;
  readonly listPadding: string;
};

/** The style for manifests that show no other. */
export const defaultStyle: YamlStyle = {
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

/** The text of a value: `inline` follows the indicator on its line, `lines` follow below and include their indentation. */
export type ValueText = { readonly inline: string; readonly lines: readonly string[] };

const maxFlowWidth = 100;
const maxMapWidth = 70;

/** Writes the value after a `:` of a map at `column`. */
export function writeMapValue(value: Json, column: number, style: YamlStyle): ValueText {
  const text = style.literals ? writeMultiline(value, column + style.step) : undefined;
  if (text !== undefined) return text;
  if (isInline(value, style, 'maps')) return { inline: writeFlow(value, style), lines: [] };
  if (Array.isArray(value)) return { inline: '', lines: writeList(value, column + style.listStep, style) };
  return { inline: '', lines: writeMap(objectOf(value), column + style.step, style) };
}

/** Writes the lines of a map's pairs at a column. */
function writeMap(map: JsonObject, column: number, style: YamlStyle): readonly string[] {
  return Object.entries(map).flatMap(([key, value]) => writePair(key, value, column, style));
}

/** Writes one pair at a column. */
export function writePair(key: string, value: Json, column: number, style: YamlStyle): readonly string[] {
  const { inline, lines } = writeMapValue(value, column, style);
  const head = `${' '.repeat(column)}${writeKey(key, style, false)}:`;
  return [inline === '' ? head : `${head} ${inline}`, ...lines];
}

/** Writes the entries of a list at a column. */
function writeList(entries: readonly Json[], column: number, style: YamlStyle): readonly string[] {
  return entries.flatMap((entry) => writeEntry(entry, column, 2, style));
}

/** Writes one list entry at a column; its content begins `gap` columns after the dash. */
export function writeEntry(entry: Json, column: number, gap: number, style: YamlStyle): readonly string[] {
  const head = `${' '.repeat(column)}-${' '.repeat(gap - 1)}`;
  const text = style.literals ? writeMultiline(entry, column + style.step) : undefined;
  if (text !== undefined) return [head + text.inline, ...text.lines];
  if (isInline(entry, style, 'entries')) return [head + writeFlow(entry, style)];
  const lines = Array.isArray(entry) ? writeList(entry, column + gap, style) : writeMap(objectOf(entry), column + gap, style);
  return lines.map((line, index) => (index === 0 ? head + line.trimStart() : line));
}

/** Writes a value on one line. */
export function writeFlow(value: Json, style: YamlStyle): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[${style.listPadding}${value.map((entry: Json) => writeFlow(entry, style)).join(', ')}${style.listPadding}]`;
  }
  if (!isObject(value)) return writeScalar(value, { inFlow: true, quoting: style.quoting, quote: style.quote });
  const pairs = Object.entries(value).map(([key, one]) => writeFlowPair(key, one, style));
  return pairs.length === 0 ? '{}' : `{${style.padding}${pairs.join(', ')}${style.padding}}`;
}

/** Writes a pair of a map in braces. */
export function writeFlowPair(key: string, value: Json, style: YamlStyle): string {
  return `${writeKey(key, style, true)}: ${writeFlow(value, style)}`;
}

function writeKey(key: string, { keys, quote }: Pick<YamlStyle, 'keys' | 'quote'>, inFlow: boolean): string {
  return writeScalar(key, { inFlow, quoting: keys, quote });
}

/** Writes a string with several lines as a block scalar at a column; returns undefined for any other value. */
function writeMultiline(value: Json, column: number): ValueText | undefined {
  if (typeof value !== 'string' || !value.includes('\n')) return undefined;
  const block = writeBlockText(value);
  if (block === undefined) return undefined;
  return { inline: block.header, lines: block.lines.map((line) => (line === '' ? '' : ' '.repeat(column) + line)) };
}

function isInline(value: Json, style: YamlStyle, where: 'maps' | 'entries'): boolean {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return true;
  if (Array.isArray(value)) return style.lists === 'flow' && !value.some(isLarge) && writeFlow(value, style).length <= maxFlowWidth;
  if (style[where] === 'block') return false;
  return !Object.values(value).some(Array.isArray) && writeFlow(value, style).length <= maxMapWidth;
}

/** Returns whether a value is too large to share a line with others. */
function isLarge(value: Json): boolean {
  return (
    (typeof value === 'object' && value !== null && Object.keys(value).length > 0) || (typeof value === 'string' && value.includes('\n'))
  );
}

function objectOf(value: Json): JsonObject {
  return isObject(value) ? value : {};
}

/** The quotes of a string. */
export type Quoting = 'plain' | 'single' | 'double';

type Spelling = {
  readonly inFlow: boolean;
  readonly quoting: Quoting;
  /** Quotes for strings that cannot be plain. */ readonly quote?: Quoting;
};

/** Writes a scalar on one line: with the wanted quotes if the result reads back as the same value, else with other quotes. */
export function writeScalar(value: Json, { inFlow, quoting, quote = 'single' }: Spelling): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (quoting === 'plain' && canBePlain(value, inFlow)) return value;
  const marks = quoting === 'plain' ? quote : quoting;
  return marks === 'double' || !isShown(value) ? writeDoubleQuoted(value) : `'${value.replaceAll("'", "''")}'`;
}

/** Words that some YAML version does not read as a string. */
const reserved = /^(?:~|y|n|yes|no|on|off|true|false|null|<<|=|[-+]?\.(?:inf|nan))$/i;
const numberLike = /^[-+]?\.?\d[\da-f_.:xo+-]*$/i;
const address = /^\d+\.\d+\.\d+\.\d+(?:\/\d+)?$/;
const dateLike = /^\d{4}-\d\d?-\d\d?(?:[Tt ]|$)/;
const marksFirst = /^(?:[,[\]{}#&*!|>'"%@`]|[-?:](?:\s|$)|---|\.\.\.)/;
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]|(?! )\p{Zs}/u;

/** Returns whether every reader of YAML 1.1 and 1.2 reads the text without quotes as the same string. */
function canBePlain(text: string, inFlow: boolean): boolean {
  if (text === '' || text.trim() !== text || !isShown(text)) return false;
  if (reserved.test(text) || marksFirst.test(text) || /:(?:\s|$)|\s#/.test(text)) return false;
  if ((numberLike.test(text) && !address.test(text)) || dateLike.test(text)) return false;
  return !inFlow || !/[,[\]{}]|:(?=[^\w/])|^[-?:]$/.test(text);
}

/** Returns whether every character of a text is visible and on one line. */
function isShown(text: string): boolean {
  return !invisible.test(text);
}

/** Writes a string in double quotes and escapes invisible characters. */
function writeDoubleQuoted(text: string): string {
  return JSON.stringify(text).replaceAll(new RegExp(invisible, 'gu'), (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** Returns the header and the lines (without indentation) of a block scalar; undefined if a block scalar cannot hold the text. */
export function writeBlockText(text: string): { readonly header: string; readonly lines: readonly string[] } | undefined {
  const body = text.replace(/\n+$/, '');
  const ends = text.length - body.length;
  if (body === '' || /^[ \n]/.test(body) || body.split('\n').some((line) => invisible.test(line.replaceAll('\t', '')))) return undefined;
  if (body.split('\n').some((line) => /^\s+$/.test(line)) || body.startsWith('\t')) return undefined;
  const lines = body.split('\n');
  if (ends === 0) return { header: '|-', lines };
  return ends === 1 ? { header: '|', lines } : { header: '|+', lines: [...lines, ...Array.from({ length: ends - 1 }, () => '')] };
}
