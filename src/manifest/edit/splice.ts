/** A part of a text to be replaced; `loses` says that a comment would go that has nothing to do with the change. */
export type Splice = { readonly start: number; readonly end: number; readonly text: string; readonly loses?: true };

/** Carries out splices that do not overlap; what is put in at one place stands in the order given. */
export function spliced(text: string, splices: readonly Splice[]): string {
  const ordered = splices.toSorted((left, right) => left.start - right.start || left.end - right.end);
  const parts: string[] = [];
  let from = 0;
  for (const { start, end, text: put } of ordered) {
    parts.push(text.slice(from, Math.max(from, start)), put);
    from = Math.max(from, end);
  }
  return parts.join('') + text.slice(from);
}

/** Where the line of the offset begins; a byte order mark belongs to no line. */
export function lineStart(text: string, offset: number): number {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return start === 0 && text.startsWith('\ufeff') ? Math.min(1, offset) : start;
}

/** Where the line of the offset ends, before its line break. */
export function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  if (end === -1) return text.length;
  return end > offset && text[end - 1] === '\r' ? end - 1 : end;
}

/** Where the next line begins, or the text ends. */
export function nextLine(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end + 1;
}

/** The column of an offset, from 0. */
export function columnOf(text: string, offset: number): number {
  return offset - lineStart(text, offset);
}

/** The line break that a text has. */
export function newlineOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n';
}

/** Where the line break before a line begins; the line's beginning where it is the first. */
export function lineBreakBefore(text: string, start: number): number {
  if (text[start - 1] !== '\n') return start;
  return text[start - 2] === '\r' ? start - 2 : start - 1;
}

/** The last offset within what ends there, so that it is on the last line of it. */
export function lastOf(text: string, end: number): number {
  return text[end - 1] === '\n' ? lineBreakBefore(text, end) : end;
}
