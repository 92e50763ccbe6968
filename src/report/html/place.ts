import type { Position } from '../../model/diagnostic.ts';
import type { LinkOf } from '../links.ts';
import { element, type Html } from './markup.ts';

/** `file:line`, as a link where the file can be looked at. */
export function placeHtml(at: Position, linkOf: LinkOf | undefined): Html {
  const text = `${at.file}:${at.line}`;
  const href = linkOf?.(at);
  return href === undefined
    ? element('span', { class: 'mono quiet' }, text)
    : element('a', { class: 'mono', href, rel: 'noreferrer' }, text);
}
