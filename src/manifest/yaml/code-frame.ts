import type { CodeFrame, Position } from '../../model/diagnostic.ts';

const maxWidth = 120;

/** Cuts out the line of a position and the line before it; clips long lines around the caret. Columns start at 1. */
export function cutCodeFrame(text: string, at: Position, length = 1): CodeFrame {
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

/** Returns the line of a number (from 1) and the line before it, if there is one. */
function linesUpTo(text: string, number: number): readonly string[] {
  let before = -1;
  let start = 0;
  for (let line = 1; line < number; line += 1) {
    const end = text.indexOf('\n', start);
    if (end === -1) break;
    before = start;
    start = end + 1;
  }
  const end = text.indexOf('\n', start);
  const line = text.slice(start, end === -1 ? text.length : end);
  return before === -1 ? [line] : [text.slice(before, start - 1), line];
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
