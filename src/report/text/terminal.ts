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

/** The colors and the width of a terminal; without `columns` nothing is wrapped or clipped. */
export type Terminal = { readonly color: Palette; readonly columns?: number | undefined };

/** A palette without colors. */
export const plainPalette: Palette = { green: same, yellow: same, red: same, cyan: same, dim: same, bold: same };

function same(text: string): string {
  return text;
}

/** Returns the width of the layout, at least 40 columns: narrower terminals wrap by themselves. */
export function widthFor(terminal: Terminal): number {
  return terminal.columns === undefined ? Number.POSITIVE_INFINITY : Math.max(40, terminal.columns);
}
