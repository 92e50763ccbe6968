import { memoizeByText } from '../../model/collections.ts';
import { isObject, type Json } from '../../model/json.ts';

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

/** The style of new manifests: the one that `fmt` leaves as it is. */
export const manifestStyle: YamlStyle = { ...defaultStyle, quote: 'double', entries: 'flow' };

/** The style of printed values: one entry or key per line. */
const printedStyle: YamlStyle = { ...defaultStyle, quote: 'double', literals: false, lists: 'block', maps: 'block', entries: 'block' };

/** Returns a value as YAML that a terminal shows unchanged. */
export function toYamlText(value: Json): string {
  const lines = isScalar(value) ? [writeFlow(value, printedStyle)] : writeBlock(value, 0, printedStyle);
  return lines.map((line) => `${line}\n`).join('');
}

/** The text of a value: `inline` follows the indicator on its line, `lines` follow below and include their indentation. */
export type ValueText = { readonly inline: string; readonly lines: readonly string[] };

const maxWidth = 100;

/** Writes the value after a `:` of a map at `column`, in a line of which `used` columns are taken. */
export function writeMapValue(value: Json, column: number, style: YamlStyle, used: number = column): ValueText {
  const text = style.literals ? writeMultiline(value, column + style.step) : undefined;
  if (text !== undefined) return text;
  const inline = writeInline(value, style, { where: 'maps', room: maxWidth - used });
  if (inline !== undefined) return { inline, lines: [] };
  return { inline: '', lines: writeBlock(value, column + (Array.isArray(value) ? style.listStep : style.step), style) };
}

/** Writes the lines of a map's pairs, or of a list's entries, at a column. */
export function writeBlock(value: Json, column: number, style: YamlStyle): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((entry: Json) => writeEntry(entry, column, 2, style));
  return Object.entries(isObject(value) ? value : {}).flatMap(([key, one]) => writePair(key, one, column, style));
}

// A key that shares a line with its value has at most 1024 characters.
const longestKey = 1000;

/** Writes one pair at a column. */
export function writePair(key: string, value: Json, column: number, style: YamlStyle): readonly string[] {
  const name = writeKey(key, style, false);
  const [above, head] = name.length > longestKey ? [[`${' '.repeat(column)}? ${name}`], ''] : [[], name];
  const { inline, lines } = writeMapValue(value, column, style, column + head.length + 2);
  const start = `${' '.repeat(column)}${head}:`;
  return [...above, inline === '' ? start : `${start} ${inline}`, ...lines];
}

/** Writes one list entry at a column; its content begins `gap` columns after the dash. */
export function writeEntry(entry: Json, column: number, gap: number, style: YamlStyle): readonly string[] {
  const head = `${' '.repeat(column)}-${' '.repeat(gap - 1)}`;
  const text = style.literals ? writeMultiline(entry, column + style.step) : undefined;
  if (text !== undefined) return [head + text.inline, ...text.lines];
  const inline = writeInline(entry, style, { where: 'entries', room: maxWidth - column - gap });
  if (inline !== undefined) return [head + inline];
  return writeBlock(entry, column + gap, style).map((line, index) => (index === 0 ? head + line.trimStart() : line));
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

type InlinePlace = { readonly where: 'maps' | 'entries'; readonly room: number };

/** Writes a value on one line if it is a scalar, or if it is small and the style wants that; returns undefined otherwise. */
function writeInline(value: Json, style: YamlStyle, { where, room }: InlinePlace): string | undefined {
  if (isScalar(value)) return writeFlow(value, style);
  const layout = Array.isArray(value) ? style.lists : style[where];
  if (layout === 'block' || !isSmall(value)) return undefined;
  const text = writeFlow(value, style);
  return text.length <= room ? text : undefined;
}

/** Returns whether a value is a list of words, a map of at most three, or a map of one such map. */
function isSmall(value: Json): boolean {
  if (Array.isArray(value)) return value.every(isWord);
  const values = Object.values(isObject(value) ? value : {});
  const [first = null] = values;
  return values.length <= 3 && (values.every(isWord) || (values.length === 1 && isObject(first) && isSmall(first)));
}

function isWord(value: Json): boolean {
  return isScalar(value) && !(typeof value === 'string' && value.includes('\n'));
}

/** Returns whether a value has no entries: empty lists and maps have none, too. */
function isScalar(value: Json): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0;
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
  if (quoting === 'plain' && (inFlow ? isPlainInFlow : isPlain)(value)) return value;
  const marks = quoting === 'plain' ? (escapes.test(value) ? 'single' : quote) : quoting;
  return marks === 'double' || !isShown(value) ? writeDoubleQuoted(value) : `'${value.replaceAll("'", "''")}'`;
}

/** Words that some YAML version does not read as a string. */
const reserved = /^(?:~|y|n|yes|no|on|off|true|false|null|<<|=|[-+]?\.(?:inf|nan))$/i;
const numberLike = /^[-+]?(?:\.?\d[\da-f_.:xo+-]*|\._*)$/i;
const address = /^\d+\.\d+\.\d+\.\d+(?:\/\d+)?$/;
const dateLike = /^\d{4}-\d\d?-\d\d?(?:[Tt ]|$)/;
const marksFirst = /^(?:[,[\]{}#&*!|>'"%@`]|[-?:](?:\s|$)|---|\.\.\.)/;
const invisible = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/u;

// In double quotes these would be escaped, which makes patterns hard to read.
const escapes = /["\\]/;

const isPlain = memoizeByText((text) => canBePlain(text, false));
const isPlainInFlow = memoizeByText((text) => canBePlain(text, true));

/** Most texts: the check of these takes a tenth of the time. */
const word = /^[A-Za-z][\w./@-]*$/;

/** Returns whether every reader of YAML 1.1 and 1.2 reads the text without quotes as the same string. */
function canBePlain(text: string, inFlow: boolean): boolean {
  if (word.test(text)) return !reserved.test(text);
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
