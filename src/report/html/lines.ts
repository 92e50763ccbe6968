import type { Line, LinesBlock } from '../blocks.ts';
import type { LinkOf } from '../links.ts';
import { element, type Html, lineHtml, positionHtml, verdictBadge } from './markup.ts';

/** Returns lines as a list; those that need attention have a frame. */
export function linesHtml(block: LinesBlock, linkOf: LinkOf | undefined): readonly Html[] {
  const { part, title, lines } = block;
  if (part === 'permissions' || part === 'warnings') return [];
  if (part === 'facts') return lines.map(({ text }) => element('p', {}, [lineHtml(text, linkOf)]));
  if (lines.length === 0) return part === 'headlines' ? [element('p', { class: 'quiet' }, 'No connection gains or loses protection.')] : [];
  const list = element(
    'ul',
    part === 'headlines' || part === 'notices' ? { class: 'headlines' } : {},
    lines.map((one) => itemHtml(one, block, linkOf)),
  );
  return title === undefined ? [list] : [element('section', { class: 'refusals' }, [element('h2', {}, title), list])];
}

function itemHtml({ text, effect, aside = '', below = [], places = [] }: Line, { part }: LinesBlock, linkOf: LinkOf | undefined): Html {
  return element('li', { class: part === 'headlines' || part === 'notices' ? (effect ?? 'weakens') : undefined }, [
    ...(part === 'headlines' && effect !== undefined ? [verdictBadge(effect), ' '] : []),
    lineHtml(text, linkOf),
    ...(aside === '' ? [] : [': ', lineHtml(aside, linkOf)]),
    ...below.map((one) => element('div', {}, lineHtml(one, linkOf))),
    ...places.map(({ resource = '', at }) =>
      element('div', {}, [element('span', { class: 'mono' }, resource), ...(at === undefined ? [] : [' ', positionHtml(at, linkOf)])]),
    ),
  ]);
}
