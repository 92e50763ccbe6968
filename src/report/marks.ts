import { type Position, formatPosition, parsePosition } from '../model/diagnostic.ts';

/** How a piece of a line is meant; each format has its look for it. */
export type PieceRole = 'plain' | 'strong' | 'name' | 'code' | 'command' | 'place' | 'exact' | 'commit';

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
};
const marked = /([\ufdd1-\ufdd7])([^\ufdd0-\ufdd7]*)\ufdd0/;

/** Marks a text, so that each format shows it by its role. Marks that it has itself are removed. */
export function mark(role: Exclude<PieceRole, 'plain'>, text: string): string {
  const start = Object.keys(starts).find((one) => starts[one] === role) ?? '';
  return `${start}${text.replaceAll(/[\ufdd0-\ufdd7]/g, '')}\ufdd0`;
}

/** Marks a position; `exact` names its column in text, and other positions on one line are the same. */
export function markPlace(at: Position, role: 'place' | 'exact' = 'place'): string {
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
      const at = role === 'place' || role === 'exact' ? parsePosition(text) : undefined;
      return at === undefined ? { role: role === 'place' || role === 'exact' ? 'plain' : role, text } : { role, text, at };
    });
}
