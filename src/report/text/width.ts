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
