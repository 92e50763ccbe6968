import type { CodeFrame, Position } from '../../model/diagnostic.ts';

/** Creates a function that converts offsets to lines and columns, both from 1. It counts the lines on first use. */
export function createLineFinder(text: string): (offset: number) => { readonly line: number; readonly column: number } {
  let starts: readonly number[] | undefined;
  let counted = 0;
  return (offset) => {
    if (starts === undefined && offset <= nearLimit && counted < fewCounts) {
      counted += 1;
      return countFromTop(text, offset);
    }
    starts ??= findLineStarts(text);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: Math.min(offset, text.length) - (starts[low] ?? 0) + 1 };
  };
}

/** Smaller offsets are counted from the start of the text: every document needs one, few need another. */
const nearLimit = 256;
/** More positions in one text are looked up among the starts of all lines. */
const fewCounts = 3;

function countFromTop(text: string, offset: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1 && end < offset; end = text.indexOf('\n', end + 1)) {
    line += 1;
    start = end + 1;
  }
  return { line, column: Math.min(offset, text.length) - start + 1 };
}

function findLineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  return starts;
}

const maxWidth = 120;

/** Cuts out the line of a position and the line before it; clips long lines around the caret. Columns start at 1. */
export function cutCodeFrame(text: TextLines, at: Position, length = 1): CodeFrame {
  const lines = linesUpTo(text, at.line);
  const line = lines.at(-1) ?? '';
  const from = line.length <= maxWidth ? 0 : Math.max(0, Math.min(at.column - 1 - maxWidth / 2, line.length - maxWidth));
  const column = Math.max(1, at.column - from);
  const room = clip(line, from).length - column + 1;
  return {
    line: at.line - lines.length + 1,
    lines: lines.map((each) => clip(each, from)),
    caret: { column, length: Math.max(1, Math.min(length, room)) },
  };
}

/** The lines of one text, numbered from 1. */
export type TextLines = { readonly count: () => number; readonly lineAt: (number: number) => string };

/** Creates the lines of a text; it is searched for line breaks once, on first use. */
export function createLines(text: string): TextLines {
  let starts: readonly number[] | undefined;
  return {
    count: () => (starts ??= findLineStarts(text)).length,
    lineAt(number) {
      starts ??= findLineStarts(text);
      const start = starts[number - 1];
      const next = starts[number];
      return start === undefined ? '' : text.slice(start, next === undefined ? text.length : next - 1);
    },
  };
}

/** Returns the line of a number (from 1; the last one for a larger number) and the line before it, if there is one. */
function linesUpTo({ count, lineAt }: TextLines, number: number): readonly string[] {
  const line = Math.max(1, Math.min(number, count()));
  return line === 1 ? [lineAt(1)] : [lineAt(line - 1), lineAt(line)];
}

function clip(line: string, from: number): string {
  const end = from + maxWidth;
  const head = from > 0 && line.length > from ? '…' : '';
  const tail = line.length > end ? '…' : '';
  const clipped = `${head}${line.slice(from + head.length, end - tail.length)}${tail}`;
  return clipped
    .replace(/\r$/, '')
    .replaceAll('\t', ' ')
    .replaceAll(/\p{Cc}/gu, '\ufffd');
}
