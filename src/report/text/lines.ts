import { appendAll } from '../../model/collections.ts';
import type { TableCell, EffectClass, LinesBlock, TableBlock } from '../blocks.ts';
import { escapeTerminal } from '../escape.ts';
import { type Piece, piecesOf, type PieceRole } from '../marks.ts';
import { placesText } from '../rows/equal-findings.ts';
import { foldSimilar } from '../rows/fold-similar.ts';
import { gap, type Paint, type Palette, type Span, type Terminal, widthFor, withoutBreak, words, wrap } from '../wrap.ts';
import { tableLines } from './table.ts';

/** Returns the color of an effect. */
export function effectPaint(effect: EffectClass, { dim, green, red, yellow }: Palette): Paint {
  if (effect === 'weakens') return red;
  if (effect === 'strengthens') return green;
  return effect === 'neutral' ? dim : yellow;
}

/** Returns the lines of a block, without those that the verdict states. */
export function blockLines({ part, title, lines: all, most }: LinesBlock, terminal: Terminal): readonly string[] {
  const { bold, dim, yellow } = terminal.color;
  const stated = all.filter(({ isInVerdict }) => isInVerdict !== true);
  // Warnings are printed as diagnostics.
  if (stated.length === 0 || part === 'warnings') return [];
  const isAlone = part === 'permissions' && stated.length === 1;
  const indent = { refusals: 2, notices: 2, headlines: 2, permissions: isAlone ? 2 : 4, replay: 2, allowances: 0, warnings: 2, facts: 2 }[
    part
  ];
  const start = { text: ' '.repeat(indent) };
  const shown = stated.slice(0, most?.whole ?? stated.length);
  const lines = foldSimilar(shown, ({ likeness = '', text }) => (likeness === '' ? text : likeness), terminal).flatMap(
    ({ entry, others }) => {
      const { text, effect = 'unknown', aside = '', below = [], places = [], full = [] } = entry;
      const paint = effect === 'neutral' ? yellow : effectPaint(effect, terminal.color);
      const paints: Partial<Readonly<Record<PieceRole, Paint>>> = {
        strong: paint,
        ...(part === 'refusals' ? { code: paint } : {}),
        command: bold,
        exact: dim,
      };
      const spans = spansOf(text, ({ role }) => paints[role]);
      const beside = aside === '' ? [] : [...gap, ...withoutBreak(spansOf(aside, () => dim))];
      return [
        ...wrap([start, ...spans, ...beside], terminal, indent === 0 ? 2 : indent + 4),
        ...below.flatMap((one) =>
          wrap([{ text: '      ' }, ...spansOf(one, ({ role }) => (role === 'command' ? bold : undefined))], terminal, 6),
        ),
        ...(places.length === 0 ? [] : wrap([{ text: '      ' }, ...words(placesText(places, terminal), dim)], terminal, 6)),
        ...(terminal.full === true
          ? full.flatMap((one) => wrap([{ text: '      ' }, ...spansOf(one, () => undefined)], terminal, 10))
          : []),
        ...(others.length === 0 ? [] : [`      and ${others.length} more of this code; --full prints them`]),
      ];
    },
  );
  const more = stated.length - shown.length;
  const rest = more > 0 ? [`${start.text}${most?.text(more) ?? ''}`] : [];
  return [...headingLines(part, isAlone ? undefined : title, terminal), ...lines, ...rest];
}

function headingLines(part: LinesBlock['part'], title: string | undefined, terminal: Terminal): readonly string[] {
  if (title === undefined) return [];
  const { bold, red } = terminal.color;
  if (part === 'facts') return wrap(words(escapeTerminal(title), bold), terminal, 2);
  return [part === 'refusals' ? red(bold(`${title}:`)) : `  ${title}:`];
}

/** Returns the lines of a table, what follows below each row, and the colors of the rows. */
export function tableBlockLines({ headers, rows }: TableBlock, terminal: Terminal): readonly string[] {
  if (rows.length === 0) return [];
  const { bold, dim } = terminal.color;
  const cells = rows.map((row) => row.cells.map(cellText));
  const [header = '', ...lines] = tableLines(headers, cells, terminal.columns === undefined ? undefined : widthFor(terminal));
  return [
    dim(header),
    ...rows.flatMap(({ effect, below = [] }, index) => [
      effect === undefined ? (lines[index] ?? '') : effectPaint(effect, terminal.color)(lines[index] ?? ''),
      ...below.flatMap((one) =>
        wrap(
          [{ text: '    ' }, ...spansOf(one, ({ role }) => (role === 'quiet' ? dim : role === 'command' ? bold : undefined))],
          terminal,
          6,
        ),
      ),
    ]),
  ];
}

function cellText(cell: TableCell): string {
  const lines = typeof cell === 'string' ? [cell] : cell.lines;
  return piecesOf(lines.join(', ')).map(shownText).join('');
}

/** Returns a line as spans: words, and a gap where it has two spaces. */
function spansOf(line: string, paintOf: (piece: Piece) => Paint | undefined): readonly Span[] {
  const spans: { text: string; paint?: Paint; noBreak?: boolean }[] = [];
  let between = ' ';
  for (const piece of piecesOf(line)) {
    const paint = paintOf(piece);
    // What people copy stays in one line.
    const parts = piece.role === 'command' ? [shownText(piece)] : shownText(piece).split(/( +)/);
    for (const part of parts) {
      if (part.trim() === '') between = part === '' ? between : part;
      else {
        const last = spans.at(-1);
        if (between === '' && last !== undefined && last.paint === paint) last.text += part;
        else {
          if (between.length > 1) appendAll(spans, gap);
          spans.push({ text: part, ...(paint === undefined ? {} : { paint }), ...(between === ' ' ? {} : { noBreak: true }) });
        }
        between = '';
      }
    }
  }
  return spans;
}

function shownText({ role, text, at }: Piece): string {
  if (role === 'commit') return escapeTerminal(text.slice(0, 7));
  return escapeTerminal(role === 'place' && at !== undefined ? `${at.file}:${at.line}` : text);
}
