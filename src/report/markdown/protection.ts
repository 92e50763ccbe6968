import { parsePosition } from '../../model/diagnostic.ts';
import type { Orphans } from '../document.ts';
import type { SampleChange, Headline, Impact } from '../../model/protection/protection.ts';
import { nameOf } from '../../model/resource.ts';
import { codeSpan, escapeMarkdown } from '../escape.ts';
import { positionMarkdown, type LinkOf } from '../links.ts';
import { clip } from '../text/width.ts';
import { plural, shortList } from '../wording/counts.ts';
import { sampleSign, sampleText, sampleTurn } from '../wording/sample-changes.ts';
import { causeName, causePlaces, causesText, headlineConnections, tagTexts } from '../wording/impact.ts';
import type { MarkdownBlock } from './fit-to-limit.ts';

const longestCauses = 3000;
const listed = 10;
const mostTags = 4;
const mostNames = 3;
const longestName = 60;
const longestCause = 200;

/** Returns headlines as a list, with links to the lines that cause them. */
export function headlineBlocks(headlines: readonly Headline[], orphans: Orphans, linkOf?: LinkOf): readonly MarkdownBlock[] {
  return headlines.map((headline) => {
    const causes = causesText(headline.causes, { orphans, position: (at) => positionMarkdown(at, linkOf), name: escapeMarkdown });
    const because = causes === '' || causes.length > longestCauses ? '' : `: ${causes}`;
    const text = `- **${escapeMarkdown(headline.text)}** (${headlineConnections(headline, codeSpan)})${because}\n`;
    return { text, rank: 1, label: 'headline' };
  });
}

/** Returns the samples that are less protected after the change, or may be, as a list. */
export function sampleBlocks(flips: readonly SampleChange[]): readonly MarkdownBlock[] {
  const losses = flips.filter((flip) => sampleSign(flip) !== '+');
  return losses.map((flip) => {
    const { text, note } = sampleText(flip);
    const end = note === '' ? '' : ` ${escapeMarkdown(note)}`;
    return {
      text: `- ${codeSpan(clip(flip.rule, 100))}: **${escapeMarkdown(sampleTurn(flip))}**: ${codeSpan(text)}${end}\n`,
      rank: 1,
      label: 'headline',
    };
  });
}

/** Returns the impact as a table: each cause with the connections that it affects. */
export function impactBlocks(causes: readonly Impact[], orphans: Orphans, linkOf?: LinkOf): readonly MarkdownBlock[] {
  if (causes.length === 0) return [];
  const rows = causes.slice(0, listed).map((cause): MarkdownBlock => {
    const places = causePlaces(cause, orphans, { place: (text) => placeLink(text, linkOf), name: escapeMarkdown });
    const names = shortList(
      cause.connections.map((id) => codeSpan(clip(nameOf(id), longestName))),
      mostNames,
    );
    const tags = tagTexts(cause, mostTags).map((text, index) => (index < mostTags ? codeSpan(text) : text));
    const cells = [
      `${codeSpan(clip(causeName(cause), longestCause))}${places === '' ? '' : ` ${places}`}`,
      cause.way,
      `${cause.connections.length}: ${names.join(', ')}`,
      tags.join(', '),
    ];
    return { text: `| ${cells.join(' | ')} |\n`, rank: 4, label: 'cause' };
  });
  const more = causes.length - listed;
  const head = '| Cause | Which way | Connections | Their tags |\n|---|---|---|---|\n';
  return [
    { text: head, rank: 3, label: 'blank' },
    ...rows,
    { text: more > 0 ? `\nand ${plural(more, 'more cause')}\n\n` : '\n', rank: 3, label: 'blank' },
  ];
}

function placeLink(place: string, linkOf: LinkOf | undefined): string {
  const at = parsePosition(place);
  return at === undefined ? codeSpan(place) : positionMarkdown(at, linkOf);
}
