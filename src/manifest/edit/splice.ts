/** A part of a text to be replaced; `loses` says that a comment would go that has nothing to do with the change. */
export type Splice = { readonly start: number; readonly end: number; readonly text: string; readonly loses?: true };

/** Where the line of the offset begins. */
export function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
}

/** Where the line of the offset ends, before its line break. */
export function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end;
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

/** Where the line break before a line begins; the line's beginning where it is the first. */
export function lineBreakBefore(text: string, start: number): number {
  return text[start - 1] === '\n' ? start - 1 : start;
}

/** The last offset within what ends there, so that it is on the last line of it. */
export function lastOf(text: string, end: number): number {
  return text[end - 1] === '\n' ? lineBreakBefore(text, end) : end;
}
