import type { Orphans } from '../../model/plan/plan.ts';
import type { Headline } from '../../model/protection/protection.ts';
import type { Effect } from '../blocks.ts';
import { escapeTerminal } from '../escape.ts';
import { causesText, headlineConnections } from '../wording/causes.ts';
import { shortPosition } from '../wording/value.ts';
import { gap, type Paint, type Palette, type Terminal, withoutBreak, words, wrap } from '../wrap.ts';

/** Returns the lines of headlines: the connections that become less or more protected, and the manifest lines that cause it. */
export function headlineLines(headlines: readonly Headline[], orphans: Orphans, terminal: Terminal): readonly string[] {
  return headlines.flatMap((headline) => {
    const text = words(
      escapeTerminal(headline.text),
      effectPaint(headline.direction === 'neutral' ? 'unknown' : headline.direction, terminal.color),
    );
    const causes = causesText(headline.causes, { orphans, position: shortPosition, name: escapeTerminal, named: headline.connections });
    const because = causes === '' ? [] : [...gap, ...withoutBreak(words(causes, terminal.color.dim))];
    const beside = headlineConnections(headline, escapeTerminal);
    return wrap([{ text: '  ' }, ...text, ...(beside === '' ? [] : words(beside)), ...because], terminal, 6);
  });
}

/** Returns the color of an effect. */
export function effectPaint(effect: Effect, { dim, green, red, yellow }: Palette): Paint {
  if (effect === 'weakens') return red;
  if (effect === 'strengthens') return green;
  return effect === 'neutral' ? dim : yellow;
}
