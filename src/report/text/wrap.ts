import type { Paint } from './terminal.ts';
import { startOf, visibleWidth } from './width.ts';

/** A stretch of escaped text that is not broken where it fits on a line; `glue` puts no space before it. */
export type Span = { readonly text: string; readonly paint?: Paint; readonly noBreak?: boolean };

/** Lines are no wider than the columns; all but the first begin at the indent. */
export type WrapOptions = { readonly columns: number; readonly indent: number };

/** Room that is too small to begin a text in that no line can hold. */
const narrowest = 16;

/** Sets pieces one after another into lines; a piece wider than a line is the only one that is cut. */
export function wrap(pieces: readonly Span[], { columns, indent }: WrapOptions): readonly string[] {
  const lines: string[] = [];
  let line: Span[] = [];
  let width = 0;
  let fresh = true;
  const add = (piece: Span): void => {
    line.push(piece);
    width += visibleWidth(piece.text);
    fresh = fresh && piece.text.trim() === '';
  };
  const breakLine = (): void => {
    lines.push(print(line));
    line = [{ text: ' '.repeat(indent) }];
    width = indent;
    fresh = true;
  };
  for (const piece of pieces) {
    const space = fresh || piece.noBreak === true ? '' : ' ';
    if (width + space.length + visibleWidth(piece.text) <= columns) {
      if (space !== '') add({ text: space });
      add(piece);
      continue;
    }
    if (!fresh && (indent + visibleWidth(piece.text) <= columns || columns - width < narrowest)) {
      breakLine();
      // Room between two texts is not needed where a line begins.
      if (piece.text.trim() === '') continue;
    } else if (space !== '') add({ text: space });
    let rest = piece.text;
    while (width + visibleWidth(rest) > columns) {
      const part = startOf(rest, columns - width);
      if (part === rest || part === '') break;
      add({ ...piece, text: part });
      rest = rest.slice(part.length);
      breakLine();
    }
    add({ ...piece, text: rest });
  }
  lines.push(print(line));
  return lines;
}

/** Two columns between texts of different sorts; what follows is glued to it. */
export const gap: readonly Span[] = [{ text: '  ', noBreak: true }];

/** Pieces that follow a gap. */
export function withoutBreak(pieces: readonly Span[]): readonly Span[] {
  return pieces.map((piece, index) => (index === 0 ? { ...piece, noBreak: true } : piece));
}

/** The words of a text as pieces of one color. */
export function words(text: string, paint?: Paint): readonly Span[] {
  return text.split(' ').map((word) => (paint === undefined ? { text: word } : { text: word, paint }));
}

function print(line: readonly Span[]): string {
  const last = line.findLastIndex((piece) => piece.text.trim() !== '');
  return line
    .slice(0, last + 1)
    .map(({ text, paint }, index) => {
      const shown = index === last ? text.trimEnd() : text;
      return paint === undefined || shown.trim() === '' ? shown : paint(shown);
    })
    .join('');
}
