import type { Json } from '../model/json.ts';

/** How a text is spelled where YAML leaves the choice. */
export type Quoting = 'plain' | 'single' | 'double';

type Spelling = {
  readonly inFlow: boolean;
  readonly quoting: Quoting;
  /** Quotes for what cannot stand plain. */ readonly quote?: Quoting;
};

/** Writes a scalar on one line: as wished where that reads back as the same value, else in quotes. */
export function scalarText(value: Json, { inFlow, quoting, quote = 'single' }: Spelling): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (quoting === 'plain' && isPlain(value, inFlow)) return value;
  const marks = quoting === 'plain' ? quote : quoting;
  return marks === 'double' || !isShown(value) ? doubleQuoted(value) : `'${value.replaceAll("'", "''")}'`;
}

/** Words that some YAML reads as something else than text. */
const reserved = /^(?:~|y|n|yes|no|on|off|true|false|null|<<|=|[-+]?\.(?:inf|nan))$/i;
const numberLike = /^[-+]?\.?\d[\da-f_.:xo+-]*$/i;
const address = /^\d+\.\d+\.\d+\.\d+(?:\/\d+)?$/;
const dateLike = /^\d{4}-\d\d?-\d\d?(?:[Tt ]|$)/;
const marksFirst = /^(?:[,[\]{}#&*!|>'"%@`]|[-?:](?:\s|$)|---|\.\.\.)/;
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]|(?! )\p{Zs}/u;

/** Tells whether a text may stand without quotes, for every reader of YAML 1.1 or 1.2. */
export function isPlain(text: string, inFlow: boolean): boolean {
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
function doubleQuoted(text: string): string {
  return JSON.stringify(text).replaceAll(new RegExp(invisible, 'gu'), (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** A text of several lines as a block: its header, and its lines without indentation; undefined where a block cannot hold it. */
export function blockText(text: string): { readonly header: string; readonly lines: readonly string[] } | undefined {
  const body = text.replace(/\n+$/, '');
  const ends = text.length - body.length;
  if (body === '' || /^[ \n]/.test(body) || body.split('\n').some((line) => invisible.test(line.replaceAll('\t', '')))) return undefined;
  if (body.split('\n').some((line) => /^\s+$/.test(line)) || body.startsWith('\t')) return undefined;
  const lines = body.split('\n');
  if (ends === 0) return { header: '|-', lines };
  return ends === 1 ? { header: '|', lines } : { header: '|+', lines: [...lines, ...Array.from({ length: ends - 1 }, () => '')] };
}
