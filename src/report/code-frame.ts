import type { CodeFrame } from '../model/diagnostic.ts';
import { escapeTerminal } from './escape.ts';
import { wrap, words } from './text/wrap.ts';
import { widthFor, type Paint, type Terminal } from './text/terminal.ts';
import { clip, visibleWidth } from './text/width.ts';

/** The lines around a mistake with their numbers, a caret under it, and the hint beside or below the caret. */
export function frameLines(
  frame: CodeFrame,
  hint: string | undefined,
  { terminal, paint }: { readonly terminal: Terminal; readonly paint: Paint },
): readonly string[] {
  const columns = widthFor(terminal);
  const { dim } = terminal.color;
  const digits = Math.max(2, String(frame.line + frame.lines.length - 1).length);
  const gutter = digits + 5;
  const { cut, start, length } = markOf(frame, columns - gutter);
  const code = frame.lines.map((line, index) => {
    const number = String(frame.line + index).padStart(digits);
    return `${dim(`  ${number} |`)} ${clip(dropColumns(escapeTerminal(line), cut), columns - gutter)}`.trimEnd();
  });
  const margin = dim(`  ${' '.repeat(digits)} |`);
  const caret = `${margin} ${' '.repeat(start)}${paint('^'.repeat(length))}`;
  if (hint === undefined) return [...code, caret];
  const text = escapeTerminal(hint);
  if (gutter + start + length + 2 + visibleWidth(text) <= columns) return [...code, `${caret}  ${text}`.trimEnd()];
  return [...code, caret, ...wrap([{ text: ' '.repeat(gutter) }, ...words(text)], { columns, indent: gutter })];
}

type Mark = { readonly cut: number; readonly start: number; readonly length: number };

/** Where the caret stands in the room there is, and how many columns are left out before it so that it is seen. */
function markOf(frame: CodeFrame, room: number): Mark {
  const marked = frame.lines.at(-1) ?? '';
  const from = Math.max(0, frame.caret.column - 1);
  const start = visibleWidth(escapeTerminal(marked.slice(0, from)));
  const end = visibleWidth(escapeTerminal(marked.slice(0, from + frame.caret.length)));
  const length = Math.max(1, end - start);
  const cut = start + Math.min(length, 20) <= room ? 0 : start - Math.floor(room / 3);
  return { cut, start: start - cut, length: Math.min(length, room - start + cut) };
}

function dropColumns(text: string, columns: number): string {
  if (columns === 0 || text === '') return text;
  let width = 0;
  let end = 0;
  for (const character of text) {
    if (width > columns) break;
    width += visibleWidth(character);
    end += character.length;
  }
  return `…${text.slice(end)}`;
}
