import type { Action, Change, EdgeChange, Plan, Refusal } from '../model/plan.ts';
import { edgeRowsOf, groupEdges, noteText, rowsOf, symbols, type Row } from './change-rows.ts';
import { countsOf, countsText, plural, summaryText } from './counts.ts';
import { codeBlock, codeSpan, escapeHtml, escapeMarkdown } from './escape.ts';
import { placeMarkdown, type LinkOf } from './links.ts';
import { shortList, sideListsOf } from './lists.ts';
import { headlineBlocks } from './protection.ts';
import { commentLimit, shed, type Block } from './shed.ts';
import { distinctParts, pathText } from './value.ts';
import { clip } from './width.ts';

/** What is shown first and left out last. */
const importance: Readonly<Record<Action, number>> = { held: 0, delete: 0, blocked: 1, rename: 2, update: 3, create: 4 };

const longestLine = 100;
const longestValue = 1000;
const listed = 10;

/** Plans for a pull request's comment or a job's summary; details go before headlines where the limit asks for it. */
export function planMarkdown(plans: readonly Plan[], limit: number = commentLimit, linkOf?: LinkOf): string {
  const sorts = ['target', 'headline', 'refusal', 'table row', 'list', 'detail'];
  return shed(
    plans.flatMap((plan) => planBlocks(plan, linkOf)),
    limit,
    (left) => {
      const counted = sorts.flatMap((sort) => (left.has(sort) ? [plural(left.get(sort) ?? 0, sort)] : []));
      return `**Left out for length:** ${counted.join(', ')}. The text and the JSON of the plan have everything.\n\n`;
    },
  );
}

const blank: Block = { text: '\n', rank: 1, sort: 'blank' };

function planBlocks(plan: Plan, linkOf: LinkOf | undefined): readonly Block[] {
  const groups = groupEdges(plan);
  const edgesOf = (change: Change): readonly EdgeChange[] => groups.written.get(change.id) ?? [];
  const head = `### Plan for ${codeSpan(plan.target.name)}\n\n${headline(plan)}\n\n`;
  const told = headlineBlocks(plan.protection);
  const lists = sideListsOf(plan, groups).map(({ title, entries }) => {
    const shown = shortList(entries, listed).map((entry, index) => (index < listed ? codeSpan(clip(entry, 200)) : entry));
    return { text: `- ${escapeMarkdown(title)}: ${shown.join(', ')}\n`, rank: 20, sort: 'list' };
  });
  return [
    { text: head, rank: 0, sort: 'target' },
    ...told,
    ...(told.length === 0 ? [] : [blank]),
    ...refusalBlocks(plan),
    ...tableBlocks(plan, edgesOf, linkOf),
    ...plan.changes.flatMap((change) => detailBlocks(change, edgesOf(change))),
    ...lists,
    ...(lists.length === 0 ? [] : [blank]),
    { text: `Digest ${codeSpan(plan.digest)} of the manifests ${codeSpan(plan.tree.slice(0, 12))}\n\n`, rank: 1, sort: 'list' },
  ];
}

function headline(plan: Plan): string {
  if (plan.changes.length === 0) return summaryText(plan);
  const counts = countsOf(plan);
  return `**${countsText(counts)}**, ${counts.unchanged} unchanged, at ${codeSpan(plan.target.url)}.`;
}

function refusalBlocks({ refusals, allowed }: Plan): readonly Block[] {
  const lines = refusals.map((refusal) => ({ text: refusalLine(refusal), rank: 2, sort: 'refusal' }));
  const overrides = allowed.map(({ code, reason }) => ({
    text: `- ${codeSpan(code)}: ${escapeMarkdown(clip(reason, longestValue))}\n`,
    rank: 2,
    sort: 'refusal',
  }));
  const refused = { text: '**Refused: apply would not run this plan.**\n\n', rank: 1, sort: 'refusal' };
  const allowing = { text: '**Allowed all the same:**\n\n', rank: 1, sort: 'refusal' };
  return [...(lines.length === 0 ? [] : [refused, ...lines, blank]), ...(overrides.length === 0 ? [] : [allowing, ...overrides, blank])];
}

function refusalLine({ code, message, hint, allowable, resource, at }: Refusal): string {
  const place = at === undefined ? '' : ` ${codeSpan(`${at.file}:${at.line}`)}`;
  const about = `${place}${resource === undefined ? '' : ` ${codeSpan(resource)}:`}`;
  const advice = [
    ...(hint === undefined ? [] : [`: ${escapeMarkdown(clip(hint, longestValue))}`]),
    ...(allowable ? [`; to go on all the same: ${codeSpan(`--allow ${code}=reason`)}`] : []),
  ];
  return `- ${codeSpan(code)}${about} ${escapeMarkdown(clip(message, longestValue))}${advice.join('')}\n`;
}

function tableBlocks(plan: Plan, edgesOf: (change: Change) => readonly EdgeChange[], linkOf?: LinkOf): readonly Block[] {
  if (plan.changes.length === 0) return [];
  const rows = plan.changes.map((change) => {
    const cells = [codeSpan(symbols[change.action]), codeSpan(change.id), whatText(change, edgesOf(change)), placeCell(change, linkOf)];
    return { text: `| ${cells.join(' | ')} |\n`, rank: 10 + importance[change.action], sort: 'table row' };
  });
  const head = { text: '| | Resource | What | Where |\n|---|---|---|---|\n', rank: 1, sort: 'table row' };
  return [head, ...rows, blank];
}

function placeCell({ at }: Change, linkOf: LinkOf | undefined): string {
  return at === undefined ? '' : placeMarkdown(at, linkOf);
}

function whatText(change: Change, edges: readonly EdgeChange[]): string {
  const fields = change.action === 'create' || change.action === 'delete' ? [] : [...new Set(rowsOf(change).map((row) => row.label))];
  const shown = shortList(fields, 4).map((label, index) => (index < 4 ? codeSpan(clip(label, 60)) : label));
  const note = noteText(change);
  const parts = [
    note === '' ? change.action : escapeMarkdown(note),
    ...shown,
    ...(edges.length === 0 ? [] : [plural(edges.length, 'edge')]),
  ];
  return parts.join(', ');
}

function detailBlocks(change: Change, edges: readonly EdgeChange[]): readonly Block[] {
  const lines = [
    ...rowsOf(change).flatMap((row) => rowDiff(row, change.action)),
    ...edgeRowsOf(change, edges).map(({ sign, text }) => `${sign} edge: ${text}`),
    ...(change.carried.length === 0 ? [] : [`  carries ${shortList(change.carried.map(pathText), 6).join(', ')}`]),
  ];
  if (lines.length === 0) return [];
  const summary = `<summary><code>${symbols[change.action]} ${escapeHtml(clip(change.id, 300))}</code></summary>`;
  const shown = shortList(lines, 100);
  return [
    {
      text: `<details>${summary}\n\n${codeBlock(shown, 'diff')}\n\n</details>\n\n`,
      rank: 30 + importance[change.action],
      sort: 'detail',
    },
  ];
}

/** A field as lines of a diff: `+`, `-`, `!` for what becomes another thing. */
function rowDiff({ label: field, parts, note }: Row, action: Action): readonly string[] {
  const label = note === '' ? field : `${field} (${note})`;
  return parts.flatMap((part) => {
    if (part.sign !== '~') {
      const alone = action === 'create' ? '+' : action === 'delete' ? '-' : '!';
      return [`${part.sign === '' ? alone : part.sign} ${label}: ${clip(part.text, longestValue)}`];
    }
    const [before, after] = distinctParts(part.before, part.after, longestValue);
    const line = `! ${label}: ${before} → ${after}`;
    return line.length <= longestLine ? [line] : [`- ${label}: ${before}`, `+ ${label}: ${after}`];
  });
}
