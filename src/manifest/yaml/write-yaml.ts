import { isObject, type Json, type JsonObject } from '../../model/json.ts';

/** How values are written that stand nowhere yet. */
export type YamlStyle = {
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

/** What follows an indicator: a text on the same line, and lines below it at `indent` columns. */
export type ValueText = { readonly inline: string; readonly lines: readonly string[] };

const maxFlowWidth = 100;
const maxMapWidth = 70;

/** Writes a value that follows a `:` at the column of its map. */
export function writeMapValue(value: Json, column: number, style: YamlStyle): ValueText {
  const text = style.literals ? writeMultiline(value, column + style.step) : undefined;
  if (text !== undefined) return text;
  if (isInline(value, style, 'maps')) return { inline: writeFlow(value, style), lines: [] };
  if (Array.isArray(value)) return { inline: '', lines: writeList(value, column + style.listStep, style) };
  return { inline: '', lines: writeMap(objectOf(value), column + style.step, style) };
}

/** Writes the lines of a map's pairs at a column. */
export function writeMap(map: JsonObject, column: number, style: YamlStyle): readonly string[] {
  return Object.entries(map).flatMap(([key, value]) => writePair(key, value, column, style));
}

/** Writes one pair at a column. */
export function writePair(key: string, value: Json, column: number, style: YamlStyle): readonly string[] {
  const { inline, lines } = writeMapValue(value, column, style);
  const head = `${' '.repeat(column)}${writeKey(key, style, false)}:`;
  return [inline === '' ? head : `${head} ${inline}`, ...lines];
}

/** Writes the entries of a list at a column. */
export function writeList(entries: readonly Json[], column: number, style: YamlStyle): readonly string[] {
  return entries.flatMap((entry) => writeEntry(entry, column, 2, style));
}

/** Writes one entry at a column; its content begins `gap` columns after the dash. */
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

/** Writes a key. */
export function writeKey(key: string, { keys, quote }: Pick<YamlStyle, 'keys' | 'quote'>, inFlow: boolean): string {
  return writeScalar(key, { inFlow, quoting: keys, quote });
}

/** A text of several lines that follows an indicator, indented to a column. */
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

/** Tells whether a value is better not put between others on one line. */
function isLarge(value: Json): boolean {
  return (
    (typeof value === 'object' && value !== null && Object.keys(value).length > 0) || (typeof value === 'string' && value.includes('\n'))
  );
}

function objectOf(value: Json): JsonObject {
  return isObject(value) ? value : {};
}

/** How a text is spelled where YAML leaves the choice. */
export type Quoting = 'plain' | 'single' | 'double';

type Spelling = {
  readonly inFlow: boolean;
  readonly quoting: Quoting;
  /** Quotes for what cannot stand plain. */ readonly quote?: Quoting;
};

/** Writes a scalar on one line: as wished where that reads back as the same value, else in quotes. */
export function writeScalar(value: Json, { inFlow, quoting, quote = 'single' }: Spelling): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (quoting === 'plain' && canBePlain(value, inFlow)) return value;
  const marks = quoting === 'plain' ? quote : quoting;
  return marks === 'double' || !isShown(value) ? writeDoubleQuoted(value) : `'${value.replaceAll("'", "''")}'`;
}

/** Words that some YAML reads as something else than text. */
const reserved = /^(?:~|y|n|yes|no|on|off|true|false|null|<<|=|[-+]?\.(?:inf|nan))$/i;
const numberLike = /^[-+]?\.?\d[\da-f_.:xo+-]*$/i;
const address = /^\d+\.\d+\.\d+\.\d+(?:\/\d+)?$/;
const dateLike = /^\d{4}-\d\d?-\d\d?(?:[Tt ]|$)/;
const marksFirst = /^(?:[,[\]{}#&*!|>'"%@`]|[-?:](?:\s|$)|---|\.\.\.)/;
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]|(?! )\p{Zs}/u;

/** Tells whether a text may stand without quotes, for every reader of YAML 1.1 or 1.2. */
export function canBePlain(text: string, inFlow: boolean): boolean {
  if (text === '' || text.trim() !== text || !isShown(text)) return false;
  if (reserved.test(text) || marksFirst.test(text) || /:(?:\s|$)|\s#/.test(text)) return false;
  if ((numberLike.test(text) && !address.test(text)) || dateLike.test(text)) return false;
  return !inFlow || !/[,[\]{}]|:(?=[^\w/])|^[-?:]$/.test(text);
}

/** Tells whether every character of a text is one that can be seen, on one line. */
function isShown(text: string): boolean {
  return !invisible.test(text);
}

/** A text in double quotes, with what cannot be seen escaped. */
function writeDoubleQuoted(text: string): string {
  return JSON.stringify(text).replaceAll(new RegExp(invisible, 'gu'), (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** A text of several lines as a block: its header, and its lines without indentation; undefined where a block cannot hold it. */
export function writeBlockText(text: string): { readonly header: string; readonly lines: readonly string[] } | undefined {
  const body = text.replace(/\n+$/, '');
  const ends = text.length - body.length;
  if (body === '' || /^[ \n]/.test(body) || body.split('\n').some((line) => invisible.test(line.replaceAll('\t', '')))) return undefined;
  if (body.split('\n').some((line) => /^\s+$/.test(line)) || body.startsWith('\t')) return undefined;
  const lines = body.split('\n');
  if (ends === 0) return { header: '|-', lines };
  return ends === 1 ? { header: '|', lines } : { header: '|+', lines: [...lines, ...Array.from({ length: ends - 1 }, () => '')] };
}
