import type { Json } from '../../model/json.ts';
import type { Cause, Headline, ProtectionVerdict } from '../../model/protection/protection.ts';
import { positionOf, type Position } from '../../model/diagnostic.ts';
import type { Orphan, Plan } from '../../model/plan/plan.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import { shortList } from '../wording/counts.ts';
import { codeSpan, escapeMarkdown, escapeTerminal } from '../escape.ts';
import { orphanRemovalText } from '../subjects/change-rows.ts';
import { wrap, gap, withoutBreak, words } from './wrap.ts';
import { placeMarkdown, type LinkOf } from '../links.ts';
import type { MarkdownBlock } from '../markdown/fit-to-limit.ts';
import { widthFor, type Paint, type Palette, type Terminal } from './terminal.ts';
import { clip } from './width.ts';

const longestName = 60;
const longestCauses = 3000;

/** What there is to tell of a plan's protection, and of manifests that are gone. */
export type Told = Pick<Plan, 'protection' | 'orphans'>;

/** The headlines of a plan for a terminal: whom it leaves with less protection, whom with more, and which lines do it. */
export function headlineLines({ protection, orphans: left }: Told, terminal: Terminal): readonly string[] {
  const orphans = byId(left);
  const frame = { columns: widthFor(terminal), indent: 6 };
  return (protection?.headlines ?? []).flatMap((headline) => {
    const text = words(escapeTerminal(headline.text), wayPaint(headline.way, terminal.color));
    const why = causesText(headline.causes, { orphans, place: terminalPlace, name: escapeTerminal });
    const because = why === '' ? [] : [...gap, ...withoutBreak(words(why, terminal.color.dim))];
    return wrap([{ text: '  ' }, ...text, ...words(`(${reachOf(headline, escapeTerminal)})`), ...because], frame);
  });
}

/** The headlines of a plan as a Markdown list, with links to the lines that do it. */
export function headlineBlocks({ protection, orphans: left }: Told, linkOf?: LinkOf): readonly MarkdownBlock[] {
  const orphans = byId(left);
  return (protection?.headlines ?? []).map((headline) => {
    const why = causesText(headline.causes, { orphans, place: (at) => placeMarkdown(at, linkOf), name: escapeMarkdown });
    const because = why === '' || why.length > longestCauses ? '' : `: ${why}`;
    return { text: `- **${escapeMarkdown(headline.text)}** (${reachOf(headline, codeSpan)})${because}\n`, rank: 1, label: 'headline' };
  });
}

function byId(orphans: Plan['orphans']): ReadonlyMap<ResourceId, Orphan> {
  return new Map(orphans.map((orphan) => [orphan.id, orphan]));
}

/** How places and names are printed, and what is known of manifests that are gone. */
type Telling = {
  readonly orphans: ReadonlyMap<ResourceId, Orphan>;
  readonly place: (at: Position) => string;
  readonly name: (text: string) => string;
};

/** The lines that bring it about, then those that undo what somebody did by hand. */
function causesText(causes: readonly Cause[], telling: Telling): string {
  const shown = (some: readonly Cause[]): string =>
    shortList([...new Set(some.map((cause) => causeText(cause, telling)).filter((text) => text !== ''))], 3).join(', ');
  const written = shown(causes.filter(({ byHand }) => byHand !== true));
  const undone = causes.filter(({ byHand }) => byHand === true);
  const places = shown(undone);
  const byHand = undone.length === 0 ? '' : places === '' ? 'by hand' : `changed by hand: ${places}`;
  return [written, byHand].filter((text) => text !== '').join('; ');
}

/** Where a manifest says so; what is there no more is named, with the commit that removed it. */
function causeText({ by, place, byHand }: Cause, { orphans, place: show, name }: Telling): string {
  const at = place === undefined ? undefined : positionOf(place);
  if (at !== undefined) return show(at);
  if (byHand === true) return '';
  const orphan = orphans.get(by);
  const removed = orphan === undefined ? '' : orphanRemovalText(orphan);
  return name(`${clip(by, longestName)} ${removed === '' ? 'deleted' : removed}`);
}

function terminalPlace({ file, line }: Position): string {
  return `${escapeTerminal(file)}:${line}`;
}

/** How far a headline reaches: the connections, and what several of them have in common. */
function reachOf({ connections, tags }: Headline, escape: (text: string) => string): string {
  const shown = (texts: readonly string[], most: number): string =>
    shortList(
      texts.map((text) => escape(clip(text, longestName))),
      most,
    ).join(', ');
  const common = connections.length < 2 ? [] : Object.entries(tags).map(([key, value]) => `${key}=${tagText(value)}`);
  const names = shown(connections.map(nameOf), 5);
  return common.length === 0 ? names : `${names}; all ${shown(common, 3)}`;
}

function tagText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The color of a way. */
export function wayPaint(way: ProtectionVerdict, { green, red, yellow }: Palette): Paint {
  if (way === 'weakens') return red;
  return way === 'strengthens' ? green : yellow;
}
