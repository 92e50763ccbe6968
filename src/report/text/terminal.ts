/** Colours a text; picocolors' formatters are such functions. */
export type Paint = (text: string) => string;

/** The colours that text renderers use. */
export type Palette = {
  readonly green: Paint;
  readonly yellow: Paint;
  readonly red: Paint;
  readonly cyan: Paint;
  readonly dim: Paint;
  readonly bold: Paint;
};

/** Where text goes: `columns` is the terminal's width; without one nothing is wrapped or clipped. */
export type Terminal = { readonly color: Palette; readonly columns?: number | undefined };

/** No colours at all. */
export const plainPalette: Palette = { green: same, yellow: same, red: same, cyan: same, dim: same, bold: same };

function same(text: string): string {
  return text;
}

/** The width that renderers lay out for: terminals narrower than 40 columns wrap by themselves. */
export function widthFor(terminal: Terminal): number {
  return terminal.columns === undefined ? Number.POSITIVE_INFINITY : Math.max(40, terminal.columns);
}
