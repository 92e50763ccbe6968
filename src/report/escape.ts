/** Characters that print nothing, move the cursor, reorder text or look like a plain space without being one. */
const unsafe = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu;
const printableAscii = /^[ -~]*$/;
const printableLines = /^[\n -~]*$/;
const short: Readonly<Record<string, string>> = { '\n': String.raw`\n`, '\r': String.raw`\r`, '\t': String.raw`\t` };

/** Makes every character visible: control, format and bidi characters and line ends come out as `\u001b`; the result is one line. */
export function escapeTerminal(text: string): string {
  if (printableAscii.test(text)) return text;
  return text.replace(unsafe, (character) => short[character] ?? codePoint(character));
}

function codePoint(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}

/** Escapes a finished JSON text (indented with line feeds) so that a terminal shows it as it is; its meaning stays. */
export function escapeJson(json: string): string {
  if (printableLines.test(json)) return json;
  return json.replace(unsafe, (character) => {
    if (character === '\n') return character;
    return Array.from({ length: character.length }, (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`).join(
      '',
    );
  });
}

/** Escapes text for HTML content and quoted attributes. */
export function escapeHtmlText(text: string): string {
  return escapeTerminal(text).replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Escapes text for XML content and quoted attributes: what XML 1.0 cannot hold comes out as `\u001b`. */
export function escapeXml(text: string): string {
  const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
  return escapeTerminal(text).replace(/[&<>"']/g, (character) => names[character] ?? character);
}

/**
 * Returns text as Markdown code spans, in which nothing is a mention, link, reference or HTML. A pipe becomes an entity between
 * two spans, because a backslash does not stop every renderer from ending the table cell there.
 */
export function codeSpan(text: string): string {
  const spans = escapeTerminal(text)
    .split('|')
    .map((part) => (part === '' ? '' : span(part)));
  return text === '' ? '` `' : spans.join('&#124;');
}

function span(text: string): string {
  const fence = '`'.repeat(longestRun(text) + 1);
  const padded = /^`|`$|^ .* $/.test(text) && text.trim() !== '' ? ` ${text} ` : text;
  return `${fence}${padded}${fence}`;
}

/** Puts lines into a fenced code block that nothing in them can close. */
export function codeBlock(lines: readonly string[], language: string): string {
  const escaped = lines.map(escapeTerminal);
  const fence = '`'.repeat(Math.max(3, longestRun(escaped.join('\n')) + 1));
  return `${fence}${language}\n${escaped.join('\n')}\n${fence}`;
}

/** Matches a word that has no meaning in Markdown. */
const plainWord = /^["'(]{0,2}(?:\p{L}+(?:['’-]\p{L}+)*|[0-9]{1,6})["')]{0,2}[,.;:!?%…]?["')]{0,2}$/u;
const plainSign = /^(?:[%→–—,;]|)$/;
const commitHash = /^["'(]*[0-9a-f]{7,}\W*$/;
const clauseEnd = /[^,.;:][,.;:]$/;
const reference = /^\W*gh-|www\./i;

/** Escapes prose for Markdown: plain words stay, every run of anything else and all between its brackets becomes a code span. */
export function escapeMarkdown(text: string): string {
  const parts: string[] = [];
  let run: string[] = [];
  let depth = 0;
  let end = 0;
  const words = escapeTerminal(text).split(' ');
  for (const [index, word] of words.entries()) {
    depth = Math.max(0, depth + count(word, /[{[]/g) - count(word, /[}\]]/g));
    const quoted = index >= end ? quotedEnd(words, index) : end;
    const isOutside = depth === 0 && index >= end && isPlain(word) && quoted === index;
    if (!isOutside) {
      run.push(word);
      if (index >= end) end = Math.max(closingIndex(words, index) + 1, quoted);
    }
    const isEnded = isOutside || index === words.length - 1 || (depth === 0 && index >= end - 1 && clauseEnd.test(word));
    if (isEnded && run.length > 0) {
      parts.push(runSpan(run.join(' ')));
      run = [];
    }
    if (isOutside) parts.push(word);
  }
  return parts.join(' ').trim();
}

/** Returns the index after a quotation that begins with the word at `start`, if not all of its words are plain; otherwise `start`. */
function quotedEnd(words: readonly string[], start: number): number {
  if (!/^\(?"/.test(words[start] ?? '') || /[^(]"\W*$/.test(words[start] ?? '')) return start;
  const length = words.slice(start + 1, start + longestCondition).findIndex((word) => /"[,.;:)]*$/.test(word)) + 2;
  const isQuotation = length > 1 && words.slice(start, start + length).some((word) => !isPlain(word));
  return isQuotation ? start + length : start;
}

/** Returns the index of the word that closes the parentheses of the word at `start`; `start` if nothing closes them. */
function closingIndex(words: readonly string[], start: number): number {
  let open = 0;
  for (let index = start; index < words.length && index < start + longestCondition; index += 1) {
    const word = words[index] ?? '';
    open += count(word, /\(/g) - count(word, /\)/g);
    if (open <= 0) return index;
  }
  return start;
}

/** The words of the longest condition that one code span shows. */
const longestCondition = 100;

/** Returns a run as a code span. A comma or colon at its end, and parentheses around it or opened before it, stay outside. */
function runSpan(run: string): string {
  const sentence = /[^,.;:][,.;:]$/.test(run) ? run.slice(-1) : '';
  const text = run.slice(0, run.length - sentence.length);
  if (isEnclosed(text)) return `(${codeSpan(text.slice(1, -1))})${sentence}`;
  const closes = text.length > 1 && text.endsWith(')') && count(text, /\)/g) > count(text, /\(/g);
  return closes ? `${codeSpan(text.slice(0, -1))})${sentence}` : `${codeSpan(text)}${sentence}`;
}

/** Returns whether the first and the last character are parentheses that belong to each other. */
function isEnclosed(text: string): boolean {
  if (text.length < 3 || !text.startsWith('(') || !text.endsWith(')')) return false;
  let open = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (text[index] === '(') open += 1;
    else if (text[index] === ')') open -= 1;
    if (open <= 0) return index === text.length - 1;
  }
  return false;
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function isPlain(word: string): boolean {
  return (plainSign.test(word) || plainWord.test(word)) && !commitHash.test(word) && !reference.test(word);
}

/** Escapes the message of a workflow command. */
export function escapeCommandData(text: string): string {
  return escapeCommand(text, /[%\r\n]/g);
}

/** Escapes a property of a workflow command. */
export function escapeCommandProperty(text: string): string {
  return escapeCommand(text, /[%\r\n:,]/g);
}

/** Escapes text for a workflow command: line ends are the only control characters that it can carry, as percent codes. */
function escapeCommand(text: string, special: RegExp): string {
  const lines = text.split(/(\r\n|\r|\n)/).map((part, index) => (index % 2 === 1 ? part : escapeTerminal(part)));
  return lines.join('').replace(special, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}

/** Returns the length of the longest run of backticks. */
function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}

/** Quotes a word for a shell where it needs quotes. */
export function quoteWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
