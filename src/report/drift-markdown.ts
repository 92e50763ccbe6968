import type { Drift } from '../model/result/drift.ts';
import { adoptionSummary, driftRows, driftSummary, unwatchedList, type DriftRow } from './drift-rows.ts';
import { shortList } from './counts.ts';
import { codeBlock, codeSpan, escapeHtml, escapeMarkdown } from './escape.ts';
import { placeMarkdown, type LinkOf } from './links.ts';
import { rowDiff } from './plan-markdown.ts';
import { headlineBlocks } from './protection.ts';
import { reachBlocks } from './reach.ts';
import { commentLimit, shed, type Block } from './shed.ts';
import { clip } from './width.ts';

const listed = 10;

/** Drifts for an issue or a job's summary; details go before headlines where the limit asks for it. */
export function driftMarkdown(drifts: readonly Drift[], limit: number = commentLimit, linkOf?: LinkOf): string {
  return shed(
    drifts.flatMap((drift) => driftBlocks(drift, linkOf)),
    limit,
    { sorts: ['target', 'headline', 'cause', 'object', 'list', 'detail'], rest: 'The text and the JSON of the drift have everything.' },
  );
}

const blank: Block = { text: '\n', rank: 1, sort: 'blank' };

function driftBlocks(drift: Drift, linkOf: LinkOf | undefined): readonly Block[] {
  const { target } = drift.plan;
  const rows = driftRows(drift);
  const means = { protection: drift.protection, orphans: [] };
  const told = headlineBlocks(means, linkOf);
  const unwatched = unwatchedList(drift);
  const head = `### Drift on ${codeSpan(target.name)}\n\n${escapeMarkdown(driftSummary(drift, rows))} ${codeSpan(target.url)}\n\n`;
  const adopted = adoptionSummary(drift);
  return [
    { text: head, rank: 0, sort: 'target' },
    ...(adopted === undefined ? [] : [{ text: `${escapeMarkdown(adopted)}\n\n`, rank: 0, sort: 'target' }]),
    ...told,
    ...(told.length === 0 ? [] : [blank]),
    ...reachBlocks(means, linkOf),
    ...rows.map((row) => ({ text: objectLine(row, linkOf), rank: 10, sort: 'object' })),
    ...(rows.length === 0 ? [] : [blank]),
    ...rows.flatMap(detailBlocks),
    ...(unwatched === undefined ? [] : [{ text: unwatchedLine(unwatched), rank: 20, sort: 'list' }, blank]),
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

function detailBlocks({ change, sign, rows, edges, writers }: DriftRow): readonly Block[] {
  const lines = [
    ...rows.flatMap((row) => rowDiff(row, 'update')),
    ...edges.map((edge) => `${edge.sign} edge: ${edge.text}`),
    ...writers.map((writer) => `  ${writer}`),
  ];
  if (lines.length === 0) return [];
  const summary = `<summary><code>${sign} ${escapeHtml(clip(change.id, 300))}</code></summary>`;
  const text = `<details>${summary}\n\n${codeBlock(shortList(lines, 100), 'diff')}\n\n</details>\n\n`;
  return [{ text, rank: 30, sort: 'detail' }];
}

function unwatchedLine({ title, entries }: { readonly title: string; readonly entries: readonly string[] }): string {
  const shown = shortList(entries, listed).map((entry, index) => (index < listed ? codeSpan(clip(entry, 200)) : entry));
  return `- ${escapeMarkdown(title)}: ${shown.join(', ')}\n`;
}
