import type { Action, Change, Plan, Refusal } from '../model/plan/plan.ts';
import { highestRiskOf } from '../model/plan/plan-risk.ts';
import { edgeRowsOf, edgeText, rowsOf, symbols, type Part, type Row } from './change-rows.ts';
import { countsOf, countsText, plural, shortList, summaryText } from './counts.ts';
import { codeBlock, codeSpan, escapeHtml, escapeMarkdown } from './escape.ts';
import { flipBlocks, flipLine } from './flips.ts';
import { groupsOf, type Entry, type Group, type GroupName } from './groups.ts';
import { placeMarkdown, type LinkOf } from './links.ts';
import { sideListsOf } from './lists.ts';
import { policiesText } from './policies.ts';
import { headlineBlocks } from './protection.ts';
import { reachBlocks } from './reach.ts';
import { risksText } from './risks.ts';
import { commentLimit, shed, type Block } from './shed.ts';
import { distinctParts, pathText } from './value.ts';
import { clip } from './width.ts';

/** What is shown first and left out last. */
const importance: Readonly<Record<Action, number>> = { held: 0, delete: 0, blocked: 1, rename: 2, update: 3, create: 4 };

const longestLine = 100;
const longestValue = 1000;
const longestCell = 100;
const listed = 10;
const folded = 50;

/** Plans for a pull request's comment or a job's summary; details go before headlines where the limit asks for it. */
export function planMarkdown(plans: readonly Plan[], limit: number = commentLimit, linkOf?: LinkOf): string {
  return shed(
    plans.flatMap((plan) => planBlocks(plan, linkOf)),
    limit,
    {
      sorts: ['target', 'headline', 'refusal', 'cause', 'table row', 'list', 'detail'],
      rest: 'The text and the JSON of the plan have everything.',
    },
  );
}

const blank: Block = { text: '\n', rank: 1, sort: 'blank' };

function planBlocks(plan: Plan, linkOf: LinkOf | undefined): readonly Block[] {
  const { groups, others } = groupsOf(plan);
  const head = `### Plan for ${codeSpan(plan.target.name)}\n\n${headline(plan)}\n\n`;
  const told = [...headlineBlocks(plan, linkOf), ...flipBlocks(plan.protection)];
  const lists = sideListsOf(plan, others).map(({ title, entries }) => {
    const shown = shortList(entries, listed).map((entry, index) => (index < listed ? codeSpan(clip(entry, 200)) : entry));
    return { text: `- ${escapeMarkdown(title)}: ${shown.join(', ')}\n`, rank: rankOf('list'), sort: 'list' };
  });
  return [
    { text: head, rank: 0, sort: 'target' },
    ...told,
    ...(told.length === 0 ? [] : [blank]),
    ...reachBlocks(plan, linkOf),
    ...refusalBlocks(plan),
    ...groups.flatMap((group) => groupBlocks(group, linkOf)),
    ...lists,
    ...(lists.length === 0 ? [] : [blank]),
    { text: `Digest ${codeSpan(plan.digest)} of the manifests ${codeSpan(plan.tree.slice(0, 12))}\n\n`, rank: 1, sort: 'list' },
  ];
}

function headline(plan: Plan): string {
  const asked = policiesText(plan.policies);
  const policies = asked === '' ? '' : ` ${escapeMarkdown(asked)}.`;
  if (plan.changes.length === 0) return `${summaryText(plan)}${policies}`;
  const counts = countsOf(plan);
  const highest = highestRiskOf(plan);
  const risk = highest === undefined ? '' : ` Highest risk: **${highest}**.`;
  return `**${countsText(counts)}**, ${counts.unchanged} unchanged, at ${codeSpan(plan.target.url)}.${risk}${policies}`;
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
    ...(hint === undefined ? [] : [escapeMarkdown(clip(hint, longestValue))]),
    ...(allowable ? [`to go on all the same: ${codeSpan(`--allow ${code}=reason`)}`] : []),
  ].filter((text) => text !== '');
  const lines = [`- ${codeSpan(code)}${about} ${escapeMarkdown(clip(message, longestValue))}`, ...advice.map((text) => `  - ${text}`)];
  return `${lines.join('\n')}\n`;
}

/** What nobody would miss is left out first: what is held and the pull request's own come before all else, details and all. */
const shedding = ['held row', 'own row', 'held detail', 'own detail', 'also row', 'undone row', 'elsewhere', 'list', 'detail'] as const;

function rankOf(part: (typeof shedding)[number]): number {
  return 10 + 10 * shedding.indexOf(part);
}

const ranks: Readonly<Record<GroupName, { readonly row: number; readonly detail: number }>> = {
  held: { row: rankOf('held row'), detail: rankOf('held detail') },
  changed: { row: rankOf('own row'), detail: rankOf('detail') },
  own: { row: rankOf('own row'), detail: rankOf('own detail') },
  also: { row: rankOf('also row'), detail: rankOf('detail') },
  undone: { row: rankOf('undone row'), detail: rankOf('detail') },
  elsewhere: { row: rankOf('elsewhere'), detail: rankOf('elsewhere') },
};

function groupBlocks(group: Group, linkOf: LinkOf | undefined): readonly Block[] {
  const { name, title, entries, edges } = group;
  if (name === 'elsewhere') return [foldedBlock(group, linkOf)];
  const isHeaded = name === 'held' && title !== '';
  const heading = title === '' ? [] : [{ text: `#### ${escapeMarkdown(title)}\n\n`, rank: 1, sort: 'blank' }];
  const head = { text: '| | Resource | What | Where |\n|---|---|---|---|\n', rank: 1, sort: 'blank' };
  const rows = entries.map((entry) => ({
    text: rowText(isHeaded ? { ...entry, note: '' } : entry, linkOf),
    rank: ranks[name].row + importance[entry.change.action],
    sort: 'table row',
  }));
  const ties = edges.map((edge) => ({
    text: `| ${codeSpan('=')} | ${codeSpan(clip(edgeText(edge), 300))} | ${isHeaded ? 'edge' : 'edge, attached by hand, left so'} | |\n`,
    rank: ranks[name].row,
    sort: 'table row',
  }));
  return [...heading, head, ...rows, ...ties, blank, ...entries.flatMap((entry) => detailBlocks(entry, group))];
}

/** What is worth a line and no more, folded. */
function foldedBlock({ title, entries }: Group, linkOf: LinkOf | undefined): Block {
  const lines = entries.map((entry) => rowText(entry, linkOf));
  const shown = lines.slice(0, folded);
  const more = lines.length > folded ? `\nand ${lines.length - folded} more\n` : '';
  const table = `| | Resource | What | Where |\n|---|---|---|---|\n${shown.join('')}${more}`;
  const summary = `<summary>${escapeHtml(title)}</summary>`;
  return { text: `<details>${summary}\n\n${table}\n</details>\n\n`, rank: ranks.elsewhere.row, sort: 'list' };
}

function rowText(entry: Entry, linkOf: LinkOf | undefined): string {
  const { change } = entry;
  const place = change.at === undefined ? '' : placeMarkdown(change.at, linkOf);
  return `| ${[codeSpan(symbols[change.action]), codeSpan(change.id), whatText(entry), place].join(' | ')} |\n`;
}

function whatText({ change, edges, note }: Entry): string {
  if (change.action === 'held') return heldText(change, note);
  const fields = change.action === 'create' || change.action === 'delete' ? [] : [...new Set(rowsOf(change).map((row) => row.label))];
  const shown = shortList(fields, 4).map((label, index) => (index < 4 ? codeSpan(clip(label, 60)) : label));
  const parts = [
    note === '' ? change.action : escapeMarkdown(note),
    ...shown,
    ...(edges.length === 0 ? [] : [plural(edges.length, 'edge')]),
  ];
  const risks = risksText(change.risks);
  return `${parts.join(', ')}${risks === '' ? '' : `; ${escapeMarkdown(risks)}`}`;
}

/** What stays as it is, with its values: nobody should have to unfold that. */
function heldText(change: Change, note: string): string {
  const rows = rowsOf(change).map(({ label, parts, note: wish }) => {
    const value = clip(parts.map(textOf).join(', '), longestCell);
    return `${codeSpan(clip(label, 60))} ${codeSpan(value)} (${escapeMarkdown(clip(wish, longestCell))})`;
  });
  return [...(note === '' ? [] : [escapeMarkdown(note)]), ...shortList(rows, 4)].join(', ');
}

function detailBlocks({ change, edges, flips }: Entry, { name, title }: Group): readonly Block[] {
  const isSaid = name === 'undone' && title !== '';
  const lines = [
    ...rowsOf(change, isSaid).flatMap((row) => rowDiff(row, change.action)),
    ...edgeRowsOf(change, edges, isSaid).map(({ sign, text }) => `${sign} edge: ${text}`),
    ...flips.map(flipLine),
    ...(change.carried.length === 0 ? [] : [`  carries ${shortList(change.carried.map(pathText), 6).join(', ')}`]),
  ];
  if (lines.length === 0) return [];
  const summary = `<summary><code>${symbols[change.action]} ${escapeHtml(clip(change.id, 300))}</code></summary>`;
  return [
    {
      text: `<details>${summary}\n\n${codeBlock(shortList(lines, 100), 'diff')}\n\n</details>\n\n`,
      rank: ranks[name].detail + importance[change.action],
      sort: 'detail',
    },
  ];
}

/** A field as lines of a diff: `+`, `-`, `!` for what becomes another thing. */
export function rowDiff({ label: field, parts, note }: Row, action: Action): readonly string[] {
  if (action === 'held') return [`= ${field}: ${clip(parts.map(textOf).join(', '), longestValue)} (${note})`];
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

function textOf(part: Part): string {
  return part.sign === '~' ? part.before : part.text;
}
