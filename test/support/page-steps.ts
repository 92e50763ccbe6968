/** One command of a page and the lines that the page shows below it. */
export type PageCommand = { readonly line: string; readonly shown: readonly string[] };

/** A part of a page: text, or a step that a reader takes. */
export type PagePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'commands'; readonly open: string; readonly commands: readonly PageCommand[]; readonly isServer: boolean }
  | { readonly kind: 'hidden'; readonly text: string; readonly lines: readonly string[] }
  | { readonly kind: 'file'; readonly text: string; readonly path: string; readonly content: string }
  | { readonly kind: 'edit'; readonly text: string; readonly path: string; readonly before: string; readonly after: string };

/** A fenced block of commands that the page does not run, with the reason in the comment before it. */
const notRun = /<!-- not run: [^>]+ -->\n```[^\n]*\n[\s\S]*?^```$/;
const step = /^```(?<info>[^\n]*)\n(?<body>[\s\S]*?)^```$|^<!-- run\n(?<hidden>[\s\S]*?)-->$/;
const parts = new RegExp(`${notRun.source}|${step.source}`, 'gm');

/**
 * Splits a page into its parts. `console` blocks are commands with their output (`console server` starts one that keeps running), a block with a
 * path after its language is a file to write, `diff PATH` edits a file, and the comment `<!-- run … -->` has commands that readers do not see.
 */
export function partsOf(page: string): readonly PagePart[] {
  const found: PagePart[] = [];
  let end = 0;
  for (const match of page.matchAll(parts)) {
    found.push({ kind: 'text', text: page.slice(end, match.index) }, partOf(match));
    end = match.index + match[0].length;
  }
  return [...found, { kind: 'text', text: page.slice(end) }];
}

/** Returns the reasons for which blocks of commands are not run. */
export function reasonsNotToRun(page: string): readonly string[] {
  return [...page.matchAll(/<!-- not run: ([^>]+) -->/g)].map((match) => match[1] ?? '');
}

/** Returns the fenced blocks of shell commands that are neither run nor excused. */
export function uncheckedCommands(page: string): readonly string[] {
  const rest = partsOf(page).flatMap((part) => (part.kind === 'text' ? [part.text.replaceAll(new RegExp(notRun.source, 'gm'), '')] : []));
  return rest.flatMap((text) => [...text.matchAll(/^```(?:sh|bash|shell)?\n(?:[\s\S]*?)^```$/gm)].map(([block]) => block));
}

function partOf(match: RegExpExecArray): PagePart {
  const [text] = match;
  const { info = '', body = '', hidden } = match.groups ?? {};
  if (hidden !== undefined) return { kind: 'hidden', text, lines: commandLines(hidden).map(([line]) => line) };
  const [language, path] = info.split(' ');
  if (language === 'console') {
    const commands = splitCommands(body);
    return { kind: 'commands', open: `\`\`\`${info}`, commands, isServer: path === 'server' };
  }
  if (path === undefined) return { kind: 'text', text };
  if (language !== 'diff') return { kind: 'file', text, path, content: body };
  const side = (left: string): string =>
    body
      .split('\n')
      .filter((line) => !line.startsWith(left))
      .map((line) => line.slice(1))
      .join('\n');
  return { kind: 'edit', text, path, before: side('+'), after: side('-') };
}

function splitCommands(body: string): readonly PageCommand[] {
  const blocks = body.trimEnd().split(/^(?=\$ )/m);
  return blocks.map((block) => {
    const [[line, shown] = ['', []]] = commandLines(block);
    return { line: line.slice(2), shown };
  });
}

/** Joins continued lines; each line comes with the lines after it. */
function commandLines(text: string): readonly (readonly [string, readonly string[]])[] {
  const lines = text
    .trimEnd()
    .replaceAll(/\\\n\s*/g, '\\\n    ')
    .split(/(?<!\\)\n/);
  return lines.map((line, index) => [line, lines.slice(index + 1)]);
}
