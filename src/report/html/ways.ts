import type { Way } from '../../model/protection.ts';
import { element, type Html } from './markup.ts';

/** A way by its sign and its word: colour never tells it alone. */
const shown: Readonly<Record<Way, { readonly sign: string; readonly word: string }>> = {
  weakens: { sign: '▼', word: 'weaker' },
  both: { sign: '◆', word: 'weaker and stronger' },
  unknown: { sign: '?', word: 'cannot be told' },
  neutral: { sign: '=', word: 'neither weaker nor stronger' },
  strengthens: { sign: '▲', word: 'stronger' },
};

/** The ways, the most dangerous first. */
export const ways: readonly Way[] = ['weakens', 'both', 'unknown', 'strengthens', 'neutral'];

/** What a way is called. */
export function wordOf(way: Way): string {
  return shown[way].word;
}

/** The sign alone. */
export function signOf(way: Way): string {
  return shown[way].sign;
}

/** A small label with sign and word. */
export function badge(way: Way): Html {
  return element('span', { class: `badge ${way}` }, [element('span', { 'aria-hidden': 'true' }, `${signOf(way)} `), wordOf(way)]);
}
