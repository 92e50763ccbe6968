import type { Json, JsonObject } from '../model/json.ts';
import type { AspectChange, Cause, Headline, PostureChange, Protection, Way } from '../model/protection.ts';
import { nameOf } from '../model/resource.ts';
import { codeSpan, escapeMarkdown, escapeTerminal } from './escape.ts';
import { flow, words } from './flow.ts';
import { shortList } from './lists.ts';
import type { Block } from './shed.ts';
import { widthFor, type Paint, type Palette, type Terminal } from './terminal.ts';
import { clip } from './width.ts';

const longestName = 60;

/** The headlines of a plan for a terminal: whom it leaves with less protection, and whom with more. */
export function headlineLines(protection: Protection | undefined, terminal: Terminal): readonly string[] {
  const frame = { columns: widthFor(terminal), indent: 6 };
  return (protection?.headlines ?? []).flatMap((headline) => {
    const text = words(escapeTerminal(headline.text), paintOf(headline.way, terminal.colour));
    return flow([{ text: '  ' }, ...text, ...words(`(${reachOf(headline, escapeTerminal)})`)], frame);
  });
}

/** The headlines of a plan as a Markdown list. */
export function headlineBlocks(protection: Protection | undefined): readonly Block[] {
  return (protection?.headlines ?? []).map((headline) => {
    return { text: `- **${escapeMarkdown(headline.text)}** (${reachOf(headline, codeSpan)})\n`, rank: 1, sort: 'headline' };
  });
}

/** What a plan means for connections as the JSON value that the plan's schema describes. */
export function protectionObject({ headlines, connections, losing }: Protection): JsonObject {
  return { headlines: headlines.map((headline) => ({ ...headline })), connections: connections.map(postureObject), losing };
}

function postureObject({ connection, way, comes, goes, tags, aspects }: PostureChange): JsonObject {
  return {
    connection,
    way,
    ...(comes === undefined ? {} : { comes }),
    ...(goes === undefined ? {} : { goes }),
    tags,
    aspects: aspects.map(aspectObject),
  };
}

function aspectObject({ aspect, way, before, after, atLeast, causes }: AspectChange): JsonObject {
  return { aspect, way, before, after, ...(atLeast === undefined ? {} : { atLeast }), causes: causes.map(causeObject) };
}

function causeObject({ by, path, edge, place, byHand }: Cause): JsonObject {
  return {
    by,
    ...(path === undefined ? {} : { path }),
    ...(edge === undefined ? {} : { edge }),
    ...(place === undefined ? {} : { place }),
    ...(byHand === undefined ? {} : { byHand }),
  };
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

function paintOf(way: Way, { green, red, yellow }: Palette): Paint {
  if (way === 'weakens') return red;
  return way === 'strengthens' ? green : yellow;
}
