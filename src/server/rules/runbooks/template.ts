import type { Json, JsonObject } from '../../../model/json.ts';

/** The parameters of a template, or the reason why it is invalid. */
export type ParsedTemplate = { readonly metadata: JsonObject } | { readonly problem: string };

const parameterTypes: ReadonlySet<string> = new Set('text number tel time date url email select textarea password file'.split(' '));
const textAttributes: ReadonlySet<string> = new Set(['description', 'default', 'placeholder', 'asenv', 'minlength', 'maxlength']);
const blockKeywords: ReadonlySet<string> = new Set(['if', 'range', 'with', 'define', 'block']);
const otherKeywords: ReadonlySet<string> = new Set(['else', 'end', 'break', 'continue', 'template']);
const functions: ReadonlySet<string> = new Set(
  [
    'and or not len index slice print printf println html js urlquery call eq ne lt le gt ge true false nil',
    'required default pattern placeholder options description type squote dquote quotechar encodeb64 decodeb64',
    'asenv order minlength maxlength',
  ].flatMap((names) => names.split(' ')),
);

// Far more than runbooks have; it keeps the parser and the listing short.
const maxWords = 10_000;

/** A word of an action: its text, and its value where it is a string. */
type TemplateWord = { readonly text: string; readonly value: string };

// A string, a raw string, a character, a mark, or a name, a field or a number.
const word =
  /"((?:[^"\\\n]|\\.)*)"|`([^`]*)`|'(?:[^'\\\n]|\\.)+'|:=|[|(),=]|[.$]?[\p{L}\p{N}_]+(?:\.[\p{L}\p{N}_]+)*|[+-]?\.?\d[\w.+-]*|[.$]/uy;
const start = /\{\{(?:-(?=\s))?\s*(\/\*)?/g;
const blank = /\s*/y;
const end = /(?<=\s)-\}\}|\}\}/y;

/** Reads the parameters of a runbook: the actions `{{ .name | … }}` outside of every block, in the language of Go's text/template. */
export function readTemplate(text: string): ParsedTemplate {
  const parameters = new Map<string, Record<string, Json>>();
  let [depth, words] = [0, 0];
  start.lastIndex = 0;
  for (let opening = start.exec(text); opening !== null; opening = start.exec(text)) {
    const fail = (problem: string): ParsedTemplate => ({ problem: `template: :${lineAt(text, opening?.index)}: ${problem}` });
    if (opening[1] !== undefined) {
      const close = /\*\/(?:\s-)?\}\}/g;
      close.lastIndex = start.lastIndex;
      if (!close.test(text)) return fail('unclosed comment');
      start.lastIndex = close.lastIndex;
      continue;
    }
    const action = readAction(text, start.lastIndex, maxWords - words);
    if (typeof action === 'string') return fail(action);
    start.lastIndex = action.end;
    const { commands } = action;
    for (const command of commands) words += command.length;
    const keyword = commands[0]?.[0]?.text ?? '';
    if (blockKeywords.has(keyword)) depth += 1;
    else if (otherKeywords.has(keyword)) {
      if (depth === 0 && keyword !== 'template') return fail(`unexpected {{${keyword}}}`);
      if (keyword === 'end') depth -= 1;
    } else {
      const unknown = commands.flat().find((one) => /^[A-Za-z_]\w*$/.test(one.text) && !functions.has(one.text));
      if (unknown !== undefined) return fail(`function ${JSON.stringify(unknown.text)} not defined`);
      if (depth > 0) continue;
      const name = commands[0]?.length === 1 ? /^\.([A-Za-z0-9_]+)/.exec(keyword)?.[1] : undefined;
      if (name === undefined) return fail('an action must begin with a parameter, such as {{ .name }}');
      const known = parameters.get(name) ?? { type: 'text', required: false, description: '' };
      for (const command of commands.slice(1)) Object.assign(known, attributeOf(command));
      parameters.set(name, known);
    }
  }
  if (depth > 0) return { problem: `template: :${lineAt(text)}: unexpected EOF` };
  return { metadata: Object.fromEntries(parameters) };
}

/** Reads an action up to its end; returns its problem when it has none. */
function readAction(
  text: string,
  from: number,
  mostWords: number,
): { readonly commands: readonly (readonly TemplateWord[])[]; readonly end: number } | string {
  const commands: TemplateWord[][] = [[]];
  let at = from;
  for (let words = 0; ; words += 1) {
    blank.lastIndex = at;
    blank.test(text);
    word.lastIndex = blank.lastIndex;
    end.lastIndex = blank.lastIndex;
    if (end.test(text)) break;
    if (words === mostWords) return `the template has more than ${maxWords} parts`;
    const [found, quoted, raw] = word.exec(text) ?? [];
    if (found === undefined) return `unclosed action, or unexpected ${JSON.stringify(text[blank.lastIndex] ?? 'end')} in it`;
    at = word.lastIndex;
    if (found === '|') commands.push([]);
    else commands.at(-1)?.push({ text: found, value: raw ?? (quoted === undefined ? found : unescape(quoted)) });
  }
  return commands.some((command) => command.length === 0) ? 'missing value for command' : { commands, end: end.lastIndex };
}

function attributeOf(command: readonly TemplateWord[]): Readonly<Record<string, Json>> {
  const [name = '', ...values] = command.map(({ value }) => value);
  const text = values.join(' ');
  if (name === 'required') return { required: true };
  if (name === 'type') return parameterTypes.has(text) ? { type: text } : {};
  if (name === 'options') return { options: values };
  if (name === 'order') return /^[+-]?\d{1,15}$/.test(text) ? { order: Number(text) } : {};
  return textAttributes.has(name) ? { [name]: text } : {};
}

function unescape(text: string): string {
  return text.replaceAll(/\\(.)/g, (_, letter: string) => ({ n: '\n', t: '\t', r: '\r' })[letter] ?? letter);
}

function lineAt(text: string, index?: number): number {
  return text.slice(0, index).split('\n').length;
}
