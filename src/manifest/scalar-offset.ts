/** How many characters of the source an escape in double quotes takes, by the character behind the backslash. */
const escapes: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 };

/**
 * Finds where in the source the character of a YAML text stands: the text begins at `start`, and may be plain, quoted, or a
 * block. Where source and text cannot be followed side by side, the beginning is all there is to say.
 */
export function offsetInScalar(
  source: string,
  start: number,
  { value, offset }: { readonly value: string; readonly offset: number },
): number {
  const style = source[start];
  const isBlock = style === '|' || style === '>';
  const isQuoted = style === '"' || style === "'";
  const body = isBlock ? blockStart(source, start) : start + (isQuoted ? 1 : 0);
  const indent = isBlock ? indentAt(source, body) : 0;
  let at = isBlock ? skipIndent(source, body, indent) : body;
  for (let index = 0; index < offset && index < value.length; index += 1) {
    const next = step(source, at, { character: value[index] ?? '', style: style ?? '', indent, isBlock });
    if (next === undefined) return start;
    at = next;
  }
  return at;
}

type Following = { readonly character: string; readonly style: string; readonly indent: number; readonly isBlock: boolean };

/** One character further in both; a line's end in the source may be a space, or several of them one end each. */
function step(source: string, at: number, { character, style, indent, isBlock }: Following): number | undefined {
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
  return end > 0 ? step(source, at + end, { character, style, indent, isBlock }) : undefined;
}

function blockStart(source: string, start: number): number {
  const end = source.indexOf('\n', start);
  return end === -1 ? source.length : end + 1;
}

/** The indentation of the first line that has anything. */
function indentAt(source: string, body: number): number {
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
