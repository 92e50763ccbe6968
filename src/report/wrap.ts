/** Colors a text; picocolors' formatters are such functions. */
export type Paint = (text: string) => string;

/** The colors that text renderers use. */
export type Palette = {
  readonly green: Paint;
  readonly yellow: Paint;
  readonly red: Paint;
  readonly cyan: Paint;
  readonly dim: Paint;
  readonly bold: Paint;
};

/** The colors and the width of a terminal; without `columns` nothing is wrapped or clipped. `full` prints long lists whole; `isExact` allows fewer than 40 columns. */
export type Terminal = {
  readonly color: Palette;
  readonly columns?: number | undefined;
  readonly full?: boolean;
  readonly isExact?: boolean;
};

/** A palette without colors. */
export const plainPalette: Palette = { green: same, yellow: same, red: same, cyan: same, dim: same, bold: same };

function same(text: string): string {
  return text;
}

/** Returns the width of the layout, at least 40 columns: narrower terminals wrap by themselves. */
export function widthFor(terminal: Terminal): number {
  return terminal.columns === undefined
    ? Number.POSITIVE_INFINITY
    : terminal.isExact === true
      ? Math.max(1, terminal.columns)
      : Math.max(40, terminal.columns);
}

const narrow = /^[ -~]*$/;
const combining = /^[\p{Mn}\p{Me}]$/u;
const wide =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation})$/u;

/** Returns the columns that escaped text takes in a terminal; never too few. */
export function visibleWidth(text: string): number {
  if (narrow.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

function widthOf(character: string): number {
  if (narrow.test(character)) return 1;
  if (combining.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

/** Cuts text to a number of columns, with … at the cut. */
export function clip(text: string, columns: number): string {
  if (visibleWidth(text) <= columns) return text;
  return columns < 1 ? '' : `${startOf(text, columns - 1)}…`;
}

/** Pads text with spaces to a number of columns. */
export function pad(text: string, columns: number): string {
  return `${text}${' '.repeat(Math.max(0, columns - visibleWidth(text)))}`;
}

/** Returns the longest prefix that fits; at least one character if there is one and `columns` is not 0. */
export function startOf(text: string, columns: number): string {
  if (columns < 1) return '';
  let width = 0;
  let end = 0;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns && end > 0) break;
    end += character.length;
    if (width > columns) break;
  }
  return text.slice(0, end);
}

/** Escaped text that is broken only if no line can hold it; `noBreak` puts no space before it. */
export type Span = { readonly text: string; readonly paint?: Paint; readonly noBreak?: boolean };

/** The narrowest room, in columns, in which a text that fits no line may start. */
const narrowest = 16;

/** Wraps spans into lines; all but the first are indented, in columns. Only a span that is wider than a line is cut. */
export function wrap(pieces: readonly Span[], terminal: Terminal, indent: number): readonly string[] {
  const columns = widthFor(terminal);
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
      // A gap is not needed at the start of a line.
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

/** Two columns between different facts of a line; the next span needs `withoutBreak`. */
export const gap: readonly Span[] = [{ text: '  ', noBreak: true }];

/** Returns spans whose first one has no space before it. */
export function withoutBreak(pieces: readonly Span[]): readonly Span[] {
  return pieces.map((piece, index) => (index === 0 ? { ...piece, noBreak: true } : piece));
}

/** Returns the words of a text as spans of one color. */
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
