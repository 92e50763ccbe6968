import { plural } from '../wording/phrases.ts';
import { type Diagnostic, type Severity, sortDiagnostics } from '../../model/diagnostic.ts';
import { mergeEqual, mostPlaces } from '../rows/equal-findings.ts';
import { diagnosticCounts } from '../wording/diagnostics.ts';
import { codeSpan, escapeMarkdown } from '../escape.ts';
import { type LinkOf, positionMarkdown } from '../links.ts';
import { clip } from '../wrap.ts';

/** A part of a document of limited length: blocks of the lowest rank are kept first; `label` names it when it is omitted. */
export type MarkdownBlock = {
  readonly text: string;
  readonly rank: number;
  readonly label: string;
  /** The blocks that this one frames: without any of them it is omitted; `textOf` is its text if some are omitted, not longer than `text`. */
  readonly frames?: { readonly blocks: readonly MarkdownBlock[]; readonly textOf: (kept: number) => string };
};

/** A blank line. It is kept as long as the headings. */
export const blank: MarkdownBlock = { text: '\n', rank: 1, label: 'blank' };

/** The longest comment that GitHub accepts, in characters. */
export const commentLimit = 65_536;

const noteRoom = 400;

/** The labels of omitted blocks that are counted, in this order, and a sentence that names the complete reports. */
type OmissionNote = { readonly labels: readonly string[]; readonly rest?: string };

/** Joins blocks in their order within the limit. If blocks are omitted, a note with their counts comes last. */
export function fitToLimit(blocks: readonly MarkdownBlock[], limit: number, note: OmissionNote): string {
  const whole = blocks.map((block) => block.text).join('');
  if (whole.length <= limit) return whole;
  const order = blocks
    .map((block, index) => ({ block, index }))
    .toSorted((left, right) => left.block.rank - right.block.rank || left.index - right.index)
    .map(({ block }) => block);
  const kept = new Set<MarkdownBlock>();
  const omitted = new Map<string, number>();
  let room = limit - noteRoom - (note.rest?.length ?? 0);
  for (const block of order) {
    if (block.text.length <= room) {
      kept.add(block);
      room -= block.text.length;
    } else omitted.set(block.label, (omitted.get(block.label) ?? 0) + 1);
  }
  const body = blocks.filter((block) => kept.has(block)).map((block) => keptText(block, kept));
  const end = noteText(omitted, note);
  return `${body.join('')}${end}`.slice(0, limit);
}

function keptText({ text, frames }: MarkdownBlock, all: ReadonlySet<MarkdownBlock>): string {
  if (frames === undefined) return text;
  const kept = frames.blocks.filter((one) => all.has(one)).length;
  return kept === 0 ? '' : frames.textOf(kept);
}

function noteText(omitted: ReadonlyMap<string, number>, { labels, rest }: OmissionNote): string {
  const counted = labels.flatMap((label) => (omitted.has(label) ? [plural(omitted.get(label) ?? 0, label)] : []));
  return `**Shortened to fit:** left out ${counted.join(', ')}.${rest === undefined ? '' : ` ${rest}`}\n\n`;
}

const importance: Readonly<Record<Severity, number>> = { error: 0, warning: 1, notice: 2 };

const longestMessage = 1000;

/** Returns the counts of diagnostics, then a line each. Where the limit requires it, the least severe ones are omitted. */
export function diagnosticsMarkdown(diagnostics: readonly Diagnostic[], limit: number = commentLimit, linkOf?: LinkOf): string {
  if (diagnostics.length === 0) return '';
  const head: MarkdownBlock = { text: `**${diagnosticCounts(diagnostics)}**\n\n`, rank: 0, label: 'count' };
  const lines = mergeEqual(sortDiagnostics(diagnostics)).map(({ first, messages, all }) => ({
    text:
      all.length === 1
        ? diagnosticLine(first, linkOf)
        : `${diagnosticLine({ ...first, message: messages.join('; '), at: undefined, resource: undefined }, linkOf, all.length)}${equalPlaces(all, linkOf)}`,
    rank: 1 + importance[first.severity],
    label: first.severity,
  }));
  const blocks = [head, ...lines, { text: '\n', rank: 0, label: 'blank' }];
  return fitToLimit(blocks, limit, { labels: ['error', 'warning', 'notice'], rest: 'The log has more.' });
}

/** Returns the connections and places of equal findings, as an entry below their own. */
export function equalPlaces(all: readonly Pick<Diagnostic, 'resource' | 'at'>[], linkOf: LinkOf | undefined): string {
  const texts = all.map(({ resource, at }) => {
    const parts = [
      ...(resource === undefined ? [] : [codeSpan(clip(resource, 200))]),
      ...(at === undefined ? [] : [positionMarkdown(at, linkOf)]),
    ];
    return parts.join(' ');
  });
  const known = [...new Set(texts)].filter((text) => text !== '');
  const more = known.length - mostPlaces;
  return known.length === 0 ? '' : `  - ${[...known.slice(0, mostPlaces), ...(more > 0 ? [`and ${more} more`] : [])].join(', ')}\n`;
}

function diagnosticLine({ at, resource, severity, code, message, hint }: Diagnostic, linkOf: LinkOf | undefined, count = 1): string {
  const place = at === undefined ? resource && codeSpan(clip(resource, 200)) : positionMarkdown(at, linkOf);
  const texts = [message, hint].flatMap((text) => (text === undefined ? [] : [escapeMarkdown(clip(text, longestMessage))]));
  return `- ${place === undefined ? '' : `${place} `}${count === 1 ? severity : plural(count, severity)} ${codeSpan(code)} ${texts.join('; ')}\n`;
}
