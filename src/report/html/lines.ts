import type { Line, LinesBlock } from '../blocks.ts';
import type { LinkOf } from '../links.ts';
import { type Piece, piecesOf } from '../marks.ts';
import { element, type Html, joinHtml, positionHtml, verdictBadge } from './markup.ts';

/** Returns lines as a list; those that need attention have a frame. */
export function linesHtml(block: LinesBlock, linkOf: LinkOf | undefined): readonly Html[] {
  const { part, title, lines } = block;
  if (part === 'permissions' || part === 'warnings') return [];
  if (lines.length === 0) return part === 'headlines' ? [element('p', { class: 'quiet' }, 'No connection gains or loses protection.')] : [];
  const list = element(
    'ul',
    part === 'headlines' || part === 'notices' ? { class: 'headlines' } : {},
    lines.map((one) => lineHtml(one, block, linkOf)),
  );
  return title === undefined ? [list] : [element('section', { class: 'refusals' }, [element('h2', {}, title), list])];
}

function lineHtml({ text, effect, aside = '', below = [], places = [] }: Line, { part }: LinesBlock, linkOf: LinkOf | undefined): Html {
  return element('li', { class: part === 'headlines' || part === 'notices' ? (effect ?? 'weakens') : undefined }, [
    ...(part === 'headlines' && effect !== undefined ? [verdictBadge(effect), ' '] : []),
    piecesHtml(text, linkOf),
    ...(aside === '' ? [] : [': ', piecesHtml(aside, linkOf)]),
    ...below.map((one) => element('div', {}, piecesHtml(one, linkOf))),
    ...places.map(({ resource = '', at }) =>
      element('div', {}, [element('span', { class: 'mono' }, resource), ...(at === undefined ? [] : [' ', positionHtml(at, linkOf)])]),
    ),
  ]);
}

function piecesHtml(line: string, linkOf: LinkOf | undefined): Html {
  return joinHtml(piecesOf(line.replaceAll(/ {2,}/g, ' ')).map((piece) => pieceHtml(piece, linkOf)));
}

function pieceHtml({ role, text, at }: Piece, linkOf: LinkOf | undefined): string | Html {
  if (at !== undefined) return positionHtml(at, linkOf);
  if (role === 'strong') return element('strong', {}, text);
  if (role === 'name') return element('span', { class: 'mono' }, text);
  if (role === 'commit') {
    const href = linkOf?.({ commit: text });
    const hash = element('span', { class: 'mono' }, text.slice(0, 7));
    return href === undefined ? hash : element('a', { href, rel: 'noreferrer' }, [hash]);
  }
  return role === 'plain' ? text : element('code', {}, text);
}
