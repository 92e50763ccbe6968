/** A file's text without the mark before it, all lines ended by a line feed; and what each ended with, the last one with nothing. */
export type SourceText = { readonly mark: string; readonly text: string; readonly ends: readonly string[] };

/** The source of a file's text. */
export function toSourceText(source: string): SourceText {
  const mark = source.startsWith('\ufeff') ? '\ufeff' : '';
  const lines = source.split('\n');
  const ends = lines.map((line, index) => (index === lines.length - 1 ? '' : line.endsWith('\r') ? '\r\n' : '\n'));
  return { mark, text: source.slice(mark.length).replaceAll('\r\n', '\n'), ends };
}

/**
 * The text of the file after splices that do not overlap; what is put in at one place stands in the order given. Every line
 * of which something stays ends as it did, a new one as the line above it.
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

/** A part of the text that stays, and where it stood there; or one that is put in. */
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

/** The splice without what is the same before and after it. */
function narrowSplice(text: string, { start, end, text: put }: Splice): Splice {
  const most = Math.min(end - start, put.length);
  let head = 0;
  while (head < most && text[start + head] === put[head]) head += 1;
  let tail = 0;
  while (tail < most - head && text[end - 1 - tail] === put[put.length - 1 - tail]) tail += 1;
  return { start: start + head, end: end - tail, text: put.slice(head, put.length - tail) };
}

/** A line that is being written; `of`: the line of the source that it is, as far as something of that stands on it. */
type OutputLine = { readonly text: string; readonly of?: number; readonly isNamed: boolean };

const emptyLine: OutputLine = { text: '', isNamed: false };

/** Blanks tell which line it is only where nothing else does; two lines that become one are the second. */
function appendToLine(line: OutputLine, part: string, number: number | undefined): OutputLine {
  const text = line.text + part;
  if (number === undefined || part === '') return { ...line, text };
  const isNamed = part.trim() !== '';
  return isNamed || !line.isNamed ? { text, of: number, isNamed } : { ...line, text };
}

/** What the line ends with, as far as that is known; `broken`: the line whose line break comes now, if it is one of the source. */
function findLineEnding({ text, of }: OutputLine, broken: number | undefined, { ends }: SourceText): string {
  const number = of ?? (text === '' ? broken : undefined);
  return (number === undefined ? undefined : ends[number]) ?? '';
}

function countLineBreaks(text: string): number {
  return text.split('\n').length - 1;
}

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
export function nextLineStart(text: string, offset: number): number {
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
export function lastOffset(text: string, end: number): number {
  return text[end - 1] === '\n' ? lineBreakBefore(text, end) : end;
}
