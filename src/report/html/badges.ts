import type { ProtectionVerdict } from '../../model/protection/protection.ts';
import { icon, type IconName } from './icons.ts';
import { element, type Html } from './markup.ts';

/** A way by its sign and its word: color never tells it alone. */
const shown: Readonly<Record<ProtectionVerdict, { readonly sign: IconName; readonly word: string }>> = {
  weakens: { sign: 'down', word: 'weaker' },
  both: { sign: 'diamond', word: 'weaker and stronger' },
  unknown: { sign: 'question', word: 'cannot be told' },
  neutral: { sign: 'bars', word: 'neither weaker nor stronger' },
  strengthens: { sign: 'up', word: 'stronger' },
};

/** The ways, the most dangerous first. */
export const ways: readonly ProtectionVerdict[] = ['weakens', 'both', 'unknown', 'strengthens', 'neutral'];

/** What a way is called. */
export function wordOf(way: ProtectionVerdict): string {
  return shown[way].word;
}

/** The sign alone. */
export function signOf(way: ProtectionVerdict): Html {
  return icon(shown[way].sign);
}

/** A small label with sign and word. */
export function badge(way: ProtectionVerdict): Html {
  return element('span', { class: `badge ${way}` }, [signOf(way), ' ', wordOf(way)]);
}
