import { positionOf } from '../model/diagnostic.ts';
import type { Plan } from '../model/plan/plan.ts';
import type { Impact } from '../model/protection/protection.ts';
import { nameOf } from '../model/resource.ts';
import { orphanRemovalText } from './subjects/change-rows.ts';
import { plural, shortList } from './wording/counts.ts';
import { codeSpan, escapeMarkdown, escapeTerminal } from './escape.ts';
import { wrap, gap, withoutBreak, words, type Span } from './text/wrap.ts';
import { placeMarkdown, type LinkOf } from './links.ts';
import { wayPaint, type Told } from './text/protection.ts';
import type { MarkdownBlock } from './markdown/fit-to-limit.ts';
import { widthFor, type Terminal } from './text/terminal.ts';
import { pathText } from './wording/value.ts';
import { clip } from './text/width.ts';

const listed = { text: 5, markdown: 10 } as const;
const mostTags = 4;
const mostPlaces = 3;
const mostNames = 3;
const longest = 60;
const longestMarkdown = 200;

/** What a cause is: a rule and what of it changes, or what the connections change by themselves; only its path is escaped. */
export function causeName({ by, path, edges }: Impact): string {
  const what = path === undefined ? (edges === true ? ['edges'] : []) : [pathText(path)];
  return [...(by === undefined ? [] : [by]), ...what].join(' ');
}

/** The tags of those whom a cause reaches, each with how many have it: `env=prod: 12`. */
export function tagTexts({ tags, connections: { length } }: Impact, most: number): readonly string[] {
  return shortList(
    tags.map(({ tag, connections }) => (length === 1 ? clip(tag, longest) : `${clip(tag, longest)}: ${connections}`)),
    most,
  );
}

/** How far each cause of a plan reaches, for a terminal. */
export function reachLines({ protection, orphans }: Told, terminal: Terminal): readonly string[] {
  const all = protection?.reach ?? [];
  if (all.length === 0) return [];
  const columns = widthFor(terminal);
  const lines = all.slice(0, listed.text).flatMap((reach) => {
    const name: Span = { text: escapeTerminal(clip(causeName(reach), longest)), paint: wayPaint(reach.way, terminal.color) };
    const tags = tagTexts(reach, mostTags).map(escapeTerminal).join(', ');
    const whom = `${plural(reach.connections.length, 'connection')}${tags === '' ? '' : ` (${tags})`}`;
    const why = placesText(reach, { orphans, place: (text) => escapeTerminal(placeText(text)), name: String });
    const where = why === '' ? [] : [...gap, ...withoutBreak(words(why, terminal.color.dim))];
    return wrap([{ text: '    ' }, name, ...gap, ...withoutBreak(words(whom)), ...where], { columns, indent: 8 });
  });
  const more = all.length - listed.text;
  return ['  What each cause reaches:', ...lines, ...(more > 0 ? [`    and ${plural(more, 'more cause')}`] : [])];
}

/** How far each cause of a plan reaches, as a Markdown table. */
export function reachBlocks({ protection, orphans }: Told, linkOf?: LinkOf): readonly MarkdownBlock[] {
  const all = protection?.reach ?? [];
  if (all.length === 0) return [];
  const rows = all.slice(0, listed.markdown).map((reach): MarkdownBlock => {
    const why = placesText(reach, { orphans, place: (text) => placeLink(text, linkOf), name: escapeMarkdown });
    const names = shortList(
      reach.connections.map((id) => codeSpan(clip(nameOf(id), longest))),
      mostNames,
    );
    const tags = tagTexts(reach, mostTags).map((text, index) => (index < mostTags ? codeSpan(text) : text));
    const cells = [
      `${codeSpan(clip(causeName(reach), longestMarkdown))}${why === '' ? '' : ` ${why}`}`,
      reach.way,
      `${reach.connections.length}: ${names.join(', ')}`,
      tags.join(', '),
    ];
    return { text: `| ${cells.join(' | ')} |\n`, rank: 4, label: 'cause' };
  });
  const more = all.length - listed.markdown;
  const head = '| Cause | Which way | Connections | Their tags |\n|---|---|---|---|\n';
  return [
    { text: head, rank: 3, label: 'blank' },
    ...rows,
    { text: more > 0 ? `\nand ${plural(more, 'more cause')}\n\n` : '\n', rank: 3, label: 'blank' },
  ];
}

/** How places are printed, and what is known of manifests that are gone. */
type Telling = { readonly orphans: Plan['orphans']; readonly place: (text: string) => string; readonly name: (text: string) => string };

/** The lines that say so; of a manifest that is gone the commit that removed it; and that it was done by hand. */
function placesText(reach: Impact, { orphans, place, name }: Telling): string {
  const { by, places, byHand } = reach;
  const shown = shortList(places.map(place), mostPlaces).join(', ');
  if (byHand === true) return shown === '' ? 'by hand' : `changed by hand: ${shown}`;
  if (shown !== '' || by === undefined || causeName(reach) !== by) return shown;
  const orphan = orphans.find(({ id }) => id === by);
  const removed = orphan === undefined ? '' : orphanRemovalText(orphan);
  return removed === '' ? 'deleted' : name(removed);
}

function placeText(place: string): string {
  const at = positionOf(place);
  return at === undefined ? place : `${at.file}:${at.line}`;
}

function placeLink(place: string, linkOf: LinkOf | undefined): string {
  const at = positionOf(place);
  return at === undefined ? codeSpan(place) : placeMarkdown(at, linkOf);
}
