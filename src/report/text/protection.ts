import { parsePosition, type Position } from '../../model/diagnostic.ts';
import type { Orphans } from '../document.ts';
import { highestRisk, type Risk, type RiskClass } from '../../model/plan/risk.ts';
import type { Headline, Impact, ProtectionVerdict } from '../../model/protection/protection.ts';
import { escapeTerminal } from '../escape.ts';
import { plural } from '../wording/counts.ts';
import { causeName, causePlaces, causesText, headlineConnections, tagTexts } from '../wording/impact.ts';
import { widthFor, type Paint, type Palette, type Terminal } from './terminal.ts';
import { clip } from './width.ts';
import { gap, withoutBreak, words, wrap, type Span } from './wrap.ts';

const listed = 5;
const mostTags = 4;
const longestName = 60;

/** Returns the lines of headlines: the connections that become less or more protected, and the manifest lines that cause it. */
export function headlineLines(headlines: readonly Headline[], orphans: Orphans, terminal: Terminal): readonly string[] {
  const options = { columns: widthFor(terminal), indent: 6 };
  return headlines.flatMap((headline) => {
    const text = words(escapeTerminal(headline.text), wayPaint(headline.way, terminal.color));
    const causes = causesText(headline.causes, { orphans, position: shortPosition, name: escapeTerminal });
    const because = causes === '' ? [] : [...gap, ...withoutBreak(words(causes, terminal.color.dim))];
    return wrap([{ text: '  ' }, ...text, ...words(`(${headlineConnections(headline, escapeTerminal)})`), ...because], options);
  });
}

/** Returns the lines of the impact: each cause with the connections that it affects. */
export function impactLines(causes: readonly Impact[], orphans: Orphans, terminal: Terminal): readonly string[] {
  if (causes.length === 0) return [];
  const columns = widthFor(terminal);
  const lines = causes.slice(0, listed).flatMap((cause) => {
    const name: Span = { text: escapeTerminal(clip(causeName(cause), longestName)), paint: wayPaint(cause.way, terminal.color) };
    const tags = tagTexts(cause, mostTags).map(escapeTerminal).join(', ');
    const connections = `${plural(cause.connections.length, 'connection')}${tags === '' ? '' : ` (${tags})`}`;
    const places = causePlaces(cause, orphans, { place: (text) => escapeTerminal(shortPlace(text)), name: String });
    const where = places === '' ? [] : [...gap, ...withoutBreak(words(places, terminal.color.dim))];
    return wrap([{ text: '    ' }, name, ...gap, ...withoutBreak(words(connections)), ...where], { columns, indent: 8 });
  });
  const more = causes.length - listed;
  return ['  What each cause reaches:', ...lines, ...(more > 0 ? [`    and ${plural(more, 'more cause')}`] : [])];
}

/** Returns `file:line`, escaped. */
export function shortPosition({ file, line }: Position): string {
  return `${escapeTerminal(file)}:${line}`;
}

function shortPlace(place: string): string {
  const at = parsePosition(place);
  return at === undefined ? place : `${at.file}:${at.line}`;
}

function wayPaint(way: ProtectionVerdict, { green, red, yellow }: Palette): Paint {
  if (way === 'weakens') return red;
  return way === 'strengthens' ? green : yellow;
}

/** Returns the color of the highest risk. */
export function riskPaint(risks: readonly Pick<Risk, 'class'>[] | undefined, color: Palette): Paint {
  return riskClassPaint(highestRisk(risks ?? []), color);
}

/** Returns the color of a risk class. */
export function riskClassPaint(riskClass: RiskClass | undefined, { dim, green, red, yellow }: Palette): Paint {
  if (riskClass === 'weakens') return red;
  if (riskClass === 'strengthens') return green;
  return riskClass === undefined || riskClass === 'neutral' ? dim : yellow;
}
