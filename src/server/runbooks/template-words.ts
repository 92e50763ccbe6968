/** One word of an action: as it is written, and what it stands for. */
export type TemplateWord = { readonly text: string; readonly value: string; readonly end: number };

type UnclosedError = { readonly problem: string; readonly at: number; readonly open: true };

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\u0007', b: '\b', f: '\f', v: '\v' };
const plainWord = /:=|[|(),=]|[.$]?[\p{L}\p{N}_]+(?:\.[\p{L}\p{N}_]+)*|[+-]?\.?\d[\w.+-]*|\.|\$/uy;

/** Reads the word that begins at a place of an action. */
export function readWord(text: string, at: number): TemplateWord | UnclosedError {
  const first = text[at];
  if (first === undefined) return { problem: 'unclosed action', at, open: true };
  if (first === '"') return readQuoted(text, at);
  if (first === '`') {
    const end = text.indexOf('`', at + 1);
    return end < 0
      ? { problem: 'unterminated raw quoted string', at: text.length, open: true }
      : { text: text.slice(at, end + 1), value: text.slice(at + 1, end), end: end + 1 };
  }
  if (first === "'") return readCharacter(text, at);
  plainWord.lastIndex = at;
  const [word] = plainWord.exec(text) ?? [];
  if (word !== undefined) return { text: word, value: word, end: at + word.length };
  const code = text.codePointAt(at) ?? 0;
  if (code > 0x20 && code < 0x7f) return { problem: `unexpected ${JSON.stringify(first)} in operand`, at, open: true };
  return { problem: `unrecognized character in action: U+${code.toString(16).toUpperCase().padStart(4, '0')}`, at, open: true };
}

function readQuoted(text: string, start: number): TemplateWord | UnclosedError {
  const string = /"((?:[^"\\\n]|\\[^\n])*)"/y;
  string.lastIndex = start;
  const [whole, inner = ''] = string.exec(text) ?? [];
  if (whole !== undefined) return { text: whole, value: unescape(inner), end: start + whole.length };
  const line = text.indexOf('\n', start);
  return { problem: 'unterminated quoted string', at: line < 0 ? text.length : line, open: true };
}

function readCharacter(text: string, start: number): TemplateWord | UnclosedError {
  const character = /'((?:[^'\\\n]|\\[^\n])+)'/y;
  character.lastIndex = start;
  const [whole, inner = ''] = character.exec(text) ?? [];
  if (whole === undefined) return { problem: 'unterminated character constant', at: start, open: true };
  return { text: whole, value: unescape(inner), end: start + whole.length };
}

function unescape(text: string): string {
  return text.replaceAll(
    /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|([0-7]{3})|(.))/gi,
    (_, hex?: string, unicode?: string, octal?: string, plainly?: string) => {
      if (plainly !== undefined) return escapes[plainly] ?? plainly;
      return String.fromCharCode(octal === undefined ? Number.parseInt(hex ?? unicode ?? '0', 16) : Number.parseInt(octal, 8));
    },
  );
}
