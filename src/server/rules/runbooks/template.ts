import type { Json, JsonObject } from '../../../model/json.ts';

/** The parameters of a template, or the reason why it is invalid. */
export type ParsedTemplate = { readonly metadata: JsonObject } | { readonly problem: string };

const parameterTypes: ReadonlySet<string> = new Set('text number tel time date url email select textarea password file'.split(' '));

/** Reads the parameters of a runbook: the actions `{{ .name | … }}` outside of every block. */
export function readTemplate(text: string): ParsedTemplate {
  const actions = readActions(text);
  if ('problem' in actions) return actions;
  const parameters = new Map<string, Record<string, Json>>();
  for (const action of actions.actions) {
    const name = parameterOf(action);
    if (name === undefined) return { problem: `template: :${action.line}: an action must begin with a parameter, such as {{ .name }}` };
    const known = parameters.get(name) ?? { type: 'text', required: false, description: '' };
    for (const command of action.commands.slice(1)) Object.assign(known, attributeOf(command));
    parameters.set(name, known);
  }
  return { metadata: Object.fromEntries(parameters) };
}

function parameterOf({ commands }: TemplateAction): string | undefined {
  const [first] = commands;
  return first?.words.length === 1 ? /^\.([A-Za-z0-9_]+)/.exec(first.words[0]?.text ?? '')?.[1] : undefined;
}

function attributeOf({ words }: TemplateCommand): Readonly<Record<string, Json>> {
  const [name, ...values] = words.map(({ value }) => value);
  const text = values.join(' ');
  if (name === 'required') return { required: true };
  if (name === 'type') return parameterTypes.has(text) ? { type: text } : {};
  if (name === 'options') return { options: values };
  if (name === 'order') return /^[+-]?\d{1,15}$/.test(text) ? { order: Number(text) } : {};
  return textAttributes.has(name ?? '') ? { [name ?? '']: text } : {};
}

const textAttributes: ReadonlySet<string> = new Set(['description', 'default', 'placeholder', 'asenv', 'minlength', 'maxlength']);

/** One step of a pipeline: a function with its arguments, or a value. */
type TemplateCommand = { readonly words: readonly TemplateWord[] };

/** An action between `{{` and `}}` that is outside of every block and outputs a value. */
type TemplateAction = { readonly line: number; readonly commands: readonly TemplateCommand[] };

const blockKeywords: ReadonlySet<string> = new Set(['if', 'range', 'with', 'define', 'block']);
const nonOutputKeywords: ReadonlySet<string> = new Set(['else', 'break', 'continue', 'template']);
const functions: ReadonlySet<string> = new Set(
  [
    'and or not len index slice print printf println html js urlquery call eq ne lt le gt ge',
    'required default pattern placeholder options description type squote dquote quotechar encodeb64 decodeb64',
    'asenv order minlength maxlength',
  ].flatMap((names) => names.split(' ')),
);

/** Far more than runbooks have; it keeps the parser and the listing short. */
const maxWords = 10_000;

/** Parses a text like Go's text/template, as far as runbooks need it; error messages are those of Go. */
function readActions(text: string): { readonly actions: readonly TemplateAction[] } | { readonly problem: string } {
  const actions: TemplateAction[] = [];
  let depth = 0;
  let at = text.indexOf('{{');
  let counted = { at: 0, line: 1 };
  let words = 0;
  while (at >= 0) {
    counted = { at, line: counted.line + lineBreaks(text, counted.at, at) };
    const { line } = counted;
    const read = readAction(text, at + 2, maxWords - words);
    if ('problem' in read)
      return { problem: `template: :${line + lineBreaks(text, at, read.at)}: ${locateProblem(read, text, { at, line })}` };
    for (const command of read.commands) words += command.words.length;
    const keyword = read.commands[0]?.words[0]?.text ?? '';
    if (blockKeywords.has(keyword)) depth += 1;
    else if (keyword === 'end') depth -= 1;
    else if (depth === 0 && !read.comment && !nonOutputKeywords.has(keyword)) actions.push({ line, commands: read.commands });
    if (depth < 0 || (depth === 0 && (keyword === 'else' || keyword === 'break' || keyword === 'continue'))) {
      return { problem: `template: :${line}: unexpected {{${keyword}}}` };
    }
    at = text.indexOf('{{', read.end);
  }
  return depth > 0 ? { problem: `template: :${1 + lineBreaks(text, 0, text.length)}: unexpected EOF` } : { actions };
}

type ReadAction = { readonly commands: readonly TemplateCommand[]; readonly comment: boolean; readonly end: number };
type TemplateError = { readonly problem: string; readonly at: number; readonly open?: true };

function readAction(text: string, start: number, mostWords: number): ReadAction | TemplateError {
  const first = /^-\s/.test(text.slice(start, start + 2)) ? start + 1 : start;
  const comment = /\s*\/\*/y;
  comment.lastIndex = first;
  if (comment.test(text)) return readComment(text, comment.lastIndex);
  const commands: TemplateWord[][] = [[]];
  let nested = 0;
  let at = first;
  for (let words = 0; ; words += 1) {
    const blank = /[ \t\r\n]*/y;
    blank.lastIndex = at;
    blank.test(text);
    const trims = /[ \t\r\n]-}}/.test(text.slice(blank.lastIndex - 1, blank.lastIndex + 3));
    at = trims ? blank.lastIndex + 1 : blank.lastIndex;
    if (text.startsWith('}}', at)) return finishAction(commands, { nested, at });
    if (words === mostWords) return { problem: `the template has more than ${maxWords} parts`, at };
    const word = readWord(text, at);
    if ('problem' in word) return word;
    at = word.end;
    if (word.text === '|') commands.push([]);
    else commands.at(-1)?.push(word);
    nested += word.text === '(' ? 1 : word.text === ')' ? -1 : 0;
    if (nested < 0) return { problem: 'unexpected right paren', at };
  }
}

function finishAction(
  commands: readonly (readonly TemplateWord[])[],
  { nested, at }: { readonly nested: number; readonly at: number },
): ReadAction | TemplateError {
  if (nested > 0) return { problem: 'unclosed left paren', at };
  if (commands.some((words) => words.length === 0)) return { problem: 'missing value for command', at };
  const [first] = commands;
  const keyword = first?.[0]?.text ?? '';
  if (!blockKeywords.has(keyword) && !nonOutputKeywords.has(keyword) && keyword !== 'end') {
    const unknown = commands.flat().find(({ text }) => /^[A-Za-z_]\w*$/.test(text) && !isKnown(text));
    if (unknown !== undefined) return { problem: `function ${JSON.stringify(unknown.text)} not defined`, at };
  }
  return { commands: commands.map((words) => ({ words })), comment: false, end: at + 2 };
}

function isKnown(name: string): boolean {
  return functions.has(name) || name === 'true' || name === 'false' || name === 'nil';
}

function readComment(text: string, at: number): ReadAction | TemplateError {
  const end = text.indexOf('*/', at);
  if (end < 0) return { problem: 'unclosed comment', at };
  const close = /(?:\s-)?}}/y;
  close.lastIndex = end + 2;
  if (!close.test(text)) return { problem: 'comment ends before closing delimiter', at: end };
  return { commands: [], comment: true, end: close.lastIndex };
}

/** Adds the start of the action to an error on a later line, as Go does. */
function locateProblem({ problem, at, open }: TemplateError, text: string, start: { readonly at: number; readonly line: number }): string {
  if (open === undefined || lineBreaks(text, start.at, at) === 0) return problem;
  return problem.endsWith(' action') ? `${problem} started at :${start.line}` : `${problem} in action started at :${start.line}`;
}

function lineBreaks(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** A word of an action: its text and its value. */
type TemplateWord = { readonly text: string; readonly value: string; readonly end: number };

type UnclosedError = { readonly problem: string; readonly at: number; readonly open: true };

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\u0007', b: '\b', f: '\f', v: '\v' };
const plainWord = /:=|[|(),=]|[.$]?[\p{L}\p{N}_]+(?:\.[\p{L}\p{N}_]+)*|[+-]?\.?\d[\w.+-]*|\.|\$/uy;

/** Reads the word at an offset. */
function readWord(text: string, at: number): TemplateWord | UnclosedError {
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
