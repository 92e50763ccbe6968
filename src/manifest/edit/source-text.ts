/** The text of a file without its byte order mark and with line feeds only, and the original line ending of each line (empty for the last). */
export type SourceText = { readonly mark: string; readonly text: string; readonly ends: readonly string[] };

/** Normalizes the text of a file. */
export function toSourceText(source: string): SourceText {
  const mark = source.startsWith('\ufeff') ? '\ufeff' : '';
  const lines = source.split('\n');
  const ends = lines.map((line, index) => (index === lines.length - 1 ? '' : line.endsWith('\r') ? '\r\n' : '\n'));
  return { mark, text: source.slice(mark.length).replaceAll('\r\n', '\n'), ends };
}

/**
 * Applies splices that do not overlap and returns the text of the file; insertions at one offset keep their order. Each line
 * that is partly kept has its original ending, a new line that of the line above.
 */
export function applySplices(source: SourceText, splices: readonly Splice[]): string {
  const written: string[] = [];
  let line = emptyLine;
  let ended = source.ends.find((end) => end !== '') ?? '\n';
  let [seen, number] = [0, 0];
  for (const { text, at } of cutPieces(source.text, splices)) {
    number += countLineBreaks(source.text.slice(seen, at ?? seen));
    seen = at ?? seen;
    const numberOf = (index: number): number | undefined => (at === undefined ? undefined : number + index);
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) {
        ended = findLineEnding(line, numberOf(index - 1), source) || ended;
        written.push(line.text, ended);
        line = emptyLine;
      }
      line = appendToLine(line, part, numberOf(index));
    }
  }
  return source.mark + written.join('') + line.text;
}

/** A piece of the original text with its offset, or an inserted piece. */
type TextPiece = { readonly text: string; readonly at?: number };

function cutPieces(text: string, splices: readonly Splice[]): readonly TextPiece[] {
  const ordered = splices.toSorted((left, right) => left.start - right.start || left.end - right.end);
  const pieces: TextPiece[] = [];
  let from = 0;
  for (const splice of ordered) {
    const { start, end, text: put } = splice.start < from ? splice : narrowSplice(text, splice);
    if (start > from) pieces.push({ text: text.slice(from, start), at: from });
    pieces.push({ text: put });
    from = Math.max(from, end);
  }
  return [...pieces, { text: text.slice(from), at: from }];
}

/** Removes the common start and end of the old and the new text from a splice. */
function narrowSplice(text: string, { start, end, text: put }: Splice): Splice {
  const most = Math.min(end - start, put.length);
  let head = 0;
  while (head < most && text[start + head] === put[head]) head += 1;
  let tail = 0;
  while (tail < most - head && text[end - 1 - tail] === put[put.length - 1 - tail]) tail += 1;
  return { start: start + head, end: end - tail, text: put.slice(head, put.length - tail) };
}

/** A line of the output. `of` is the line of the source that it continues; `isNamed` says whether more than blanks prove that. */
type OutputLine = { readonly text: string; readonly of?: number; readonly isNamed: boolean };

const emptyLine: OutputLine = { text: '', isNamed: false };

/** Blanks identify the source line only if nothing else does; when two lines are joined, the second one counts. */
function appendToLine(line: OutputLine, part: string, number: number | undefined): OutputLine {
  const text = line.text + part;
  if (number === undefined || part === '') return { ...line, text };
  const isNamed = part.trim() !== '';
  return isNamed || !line.isNamed ? { text, of: number, isNamed } : { ...line, text };
}

/** Returns the ending of a line, or the empty string if unknown. `broken` is the source line whose line break is being written. */
function findLineEnding({ text, of }: OutputLine, broken: number | undefined, { ends }: SourceText): string {
  const number = of ?? (text === '' ? broken : undefined);
  return (number === undefined ? undefined : ends[number]) ?? '';
}

function countLineBreaks(text: string): number {
  return text.split('\n').length - 1;
}

/** A replacement of a part of a text. `loses` is set if it would remove an unrelated comment. */
export type Splice = { readonly start: number; readonly end: number; readonly text: string; readonly loses?: true };

/** Returns the start of the offset's line. */
export function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
}

/** Returns the end of the offset's line, before its line break. */
export function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end;
}

/** Returns the start of the next line, or the end of the text. */
export function nextLineStart(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end + 1;
}

/** Returns the column of an offset, from 0. */
export function columnOf(text: string, offset: number): number {
  return offset - lineStart(text, offset);
}

/** Returns the offset of the line break before a line, or the line's start for the first line. */
export function lineBreakBefore(text: string, start: number): number {
  return text[start - 1] === '\n' ? start - 1 : start;
}

/** Returns the last offset of a range that ends at `end`, so that the offset is on the range's last line. */
export function lastOffset(text: string, end: number): number {
  return text[end - 1] === '\n' ? lineBreakBefore(text, end) : end;
}
