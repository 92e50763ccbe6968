/** The number of source characters that an escape in double quotes takes, by the character after the backslash. */
const escapes: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 };

/**
 * Returns the source offset of a character of a YAML scalar. The scalar begins at `start` and may be plain, quoted or a
 * block. Returns `start` if source and value cannot be matched character by character.
 */
export function findScalarOffset(
  source: string,
  start: number,
  { value, offset }: { readonly value: string; readonly offset: number },
): number {
  const style = source[start];
  const isBlock = style === '|' || style === '>';
  const isQuoted = style === '"' || style === "'";
  const body = isBlock ? findBlockStart(source, start) : start + (isQuoted ? 1 : 0);
  const indent = isBlock ? measureIndent(source, body) : 0;
  let at = isBlock ? skipIndent(source, body, indent) : body;
  for (let index = 0; index < offset && index < value.length; index += 1) {
    const next = advance(source, at, { character: value[index] ?? '', style: style ?? '', indent, isBlock });
    if (next === undefined) return start;
    at = next;
  }
  return at;
}

type ScalarStep = { readonly character: string; readonly style: string; readonly indent: number; readonly isBlock: boolean };

/** Advances by one character of the value. A line break in the source may be a space or one of several line breaks in the value. */
function advance(source: string, at: number, { character, style, indent, isBlock }: ScalarStep): number | undefined {
  const found = source[at];
  if (style === "'" && character === "'") return source.startsWith("''", at) ? at + 2 : undefined;
  if (style === '"' && found === '\\') return at + (escapes[source[at + 1] ?? ''] ?? 2);
  if (found === '\n' || found === '\r') {
    if (character !== ' ' && character !== '\n') return undefined;
    const line = at + (source.startsWith('\r\n', at) ? 2 : 1);
    return isBlock ? skipIndent(source, line, indent) : skipBlank(source, line);
  }
  if (found === character) return at + 1;
  // Spaces before the end of a folded line are not part of the text.
  const end = /^[ \t]+(?=\r?\n)/.exec(source.slice(at, at + 200))?.[0].length ?? 0;
  return end > 0 ? advance(source, at + end, { character, style, indent, isBlock }) : undefined;
}

function findBlockStart(source: string, start: number): number {
  const end = source.indexOf('\n', start);
  return end === -1 ? source.length : end + 1;
}

/** Returns the indentation of the first line that is not blank. */
function measureIndent(source: string, body: number): number {
  return /^(?:[ \t]*\r?\n)*( *)/.exec(source.slice(body, body + 10_000))?.[1]?.length ?? 0;
}

function skipIndent(source: string, at: number, indent: number): number {
  let found = at;
  while (found < at + indent && source[found] === ' ') found += 1;
  return found;
}

function skipBlank(source: string, at: number): number {
  let found = at;
  while (source[found] === ' ' || source[found] === '\t') found += 1;
  return found;
}
