import { type Position, formatPosition, parsePosition } from '../model/diagnostic.ts';

/** How a piece of a line is meant; each format has its look for it. */
export type PieceRole =
  | 'plain'
  | 'strong'
  | 'name'
  | 'code'
  | 'command'
  | 'place'
  | 'exact'
  | 'commit'
  | 'quiet'
  | 'added'
  | 'removed'
  | 'badge'
  | 'icon'
  | 'line';

/** A piece of a line; a place has a position. */
export type Piece = { readonly role: PieceRole; readonly text: string; readonly at?: Position };

/** Characters that no text can have: they stand for nothing in Unicode. */
const starts: Readonly<Record<string, PieceRole>> = {
  '\ufdd1': 'strong',
  '\ufdd2': 'name',
  '\ufdd3': 'code',
  '\ufdd4': 'command',
  '\ufdd5': 'place',
  '\ufdd6': 'exact',
  '\ufdd7': 'commit',
  '\ufdd8': 'quiet',
  '\ufdd9': 'added',
  '\ufdda': 'removed',
  '\ufddb': 'badge',
  '\ufddc': 'icon',
  '\ufddd': 'line',
};
const marked = /([\ufdd1-\ufddd])([^\ufdd0-\ufddd]*)\ufdd0/;

/** Marks a text, so that each format shows it by its role. Marks that it has itself are removed. */
export function mark(role: Exclude<PieceRole, 'plain'>, text: string): string {
  const start = Object.keys(starts).find((one) => starts[one] === role) ?? '';
  return `${start}${text.replaceAll(/[\ufdd0-\ufddd]/g, '')}\ufdd0`;
}

/** Marks a position; `exact` names its column in text, and other positions on one line are the same; `line` follows one in the same file. */
export function markPlace(at: Position, role: 'place' | 'exact' | 'line' = 'place'): string {
  return mark(role, formatPosition(role === 'exact' ? at : { ...at, column: 1 }));
}

/** Returns the pieces of a line in their order. */
export function piecesOf(line: string): readonly Piece[] {
  return line
    .split(new RegExp(`(${marked.source.replaceAll(/\((?!\?)/g, '(?:')})`))
    .filter((part) => part !== '')
    .map((part): Piece => {
      const [, start = '', text = part] = marked.exec(part) ?? [];
      const role = starts[start] ?? 'plain';
      const isPlace = role === 'place' || role === 'exact' || role === 'line';
      const at = isPlace ? parsePosition(text) : undefined;
      return at === undefined ? { role: isPlace ? 'plain' : role, text } : { role, text, at };
    });
}
