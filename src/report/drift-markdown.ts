import type { Drift } from '../model/result/drift.ts';
import { adoptionSummary, driftRows, driftSummary, unwatchedList, type DriftRow } from './subjects/drift.ts';
import { shortList } from './wording/counts.ts';
import { codeBlock, codeSpan, escapeHtmlText, escapeMarkdown } from './escape.ts';
import { placeMarkdown, type LinkOf } from './links.ts';
import { rowDiff } from './markdown/changes.ts';
import { headlineBlocks } from './text/protection.ts';
import { reachBlocks } from './reach.ts';
import { commentLimit, fitToLimit, type MarkdownBlock } from './markdown/fit-to-limit.ts';
import { clip } from './text/width.ts';

const listed = 10;

/** Drifts for an issue or a job's summary; details go before headlines where the limit asks for it. */
export function driftMarkdown(drifts: readonly Drift[], limit: number = commentLimit, linkOf?: LinkOf): string {
  return fitToLimit(
    drifts.flatMap((drift) => driftBlocks(drift, linkOf)),
    limit,
    { labels: ['target', 'headline', 'cause', 'object', 'list', 'detail'], rest: 'The text and the JSON of the drift have everything.' },
  );
}

const blank: MarkdownBlock = { text: '\n', rank: 1, label: 'blank' };

function driftBlocks(drift: Drift, linkOf: LinkOf | undefined): readonly MarkdownBlock[] {
  const { target } = drift.plan;
  const rows = driftRows(drift);
  const means = { protection: drift.protection, orphans: [] };
  const told = headlineBlocks(means, linkOf);
  const unwatched = unwatchedList(drift);
  const head = `### Drift on ${codeSpan(target.name)}\n\n${escapeMarkdown(driftSummary(drift, rows))} ${codeSpan(target.url)}\n\n`;
  const adopted = adoptionSummary(drift);
  return [
    { text: head, rank: 0, label: 'target' },
    ...(adopted === undefined ? [] : [{ text: `${escapeMarkdown(adopted)}\n\n`, rank: 0, label: 'target' }]),
    ...told,
    ...(told.length === 0 ? [] : [blank]),
    ...reachBlocks(means, linkOf),
    ...rows.map((row) => ({ text: objectLine(row, linkOf), rank: 10, label: 'object' })),
    ...(rows.length === 0 ? [] : [blank]),
    ...rows.flatMap(detailBlocks),
    ...(unwatched === undefined ? [] : [{ text: unwatchedLine(unwatched), rank: 20, label: 'list' }, blank]),
  ];
}

function objectLine({ change, sign, note, writers }: DriftRow, linkOf: LinkOf | undefined): string {
  const parts = [
    `${codeSpan(sign)} ${codeSpan(clip(change.id, 300))}`,
    ...(change.at === undefined ? [] : [placeMarkdown(change.at, linkOf)]),
    ...(note === '' ? [] : [escapeMarkdown(note)]),
    ...writers.slice(0, 1).map((writer) => escapeMarkdown(clip(writer, 300))),
  ];
  return `- ${parts.join(', ')}\n`;
}

function detailBlocks({ change, sign, rows, edges, writers }: DriftRow): readonly MarkdownBlock[] {
  const lines = [
    ...rows.flatMap((row) => rowDiff(row, 'update')),
    ...edges.map((edge) => `${edge.sign} edge: ${edge.text}`),
    ...writers.map((writer) => `  ${writer}`),
  ];
  if (lines.length === 0) return [];
  const summary = `<summary><code>${sign} ${escapeHtmlText(clip(change.id, 300))}</code></summary>`;
  const text = `<details>${summary}\n\n${codeBlock(shortList(lines, 100), 'diff')}\n\n</details>\n\n`;
  return [{ text, rank: 30, label: 'detail' }];
}

function unwatchedLine({ title, entries }: { readonly title: string; readonly entries: readonly string[] }): string {
  const shown = shortList(entries, listed).map((entry, index) => (index < listed ? codeSpan(clip(entry, 200)) : entry));
  return `- ${escapeMarkdown(title)}: ${shown.join(', ')}\n`;
}
