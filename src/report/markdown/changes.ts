import type { Action, Change, Plan, Refusal } from '../../model/plan/plan.ts';
import { highestPlanRisk } from '../../model/plan/plan-risk.ts';
import { edgeRows, edgeText, changeRows, actionSymbols, type RowPart, type ChangeRow } from '../subjects/change-rows.ts';
import { countActions, countsText, plural, shortList, planSummaryText } from '../wording/counts.ts';
import { codeBlock, codeSpan, escapeHtmlText, escapeMarkdown } from '../escape.ts';
import { flipBlocks, flipLine } from '../wording/flips.ts';
import { groupPlan, type GroupedChange, type ChangeGroup, type GroupName } from '../subjects/groups.ts';
import { placeMarkdown, type LinkOf } from '../links.ts';
import { sideLists } from '../subjects/side-lists.ts';
import { policiesText } from '../policies.ts';
import { headlineBlocks } from '../text/protection.ts';
import { reachBlocks } from '../reach.ts';
import { risksText } from '../risks.ts';
import { commentLimit, fitToLimit, type MarkdownBlock } from './fit-to-limit.ts';
import { distinctParts, pathText } from '../wording/value.ts';
import { clip } from '../text/width.ts';

/** What is shown first and left out last. */
const importance: Readonly<Record<Action, number>> = { held: 0, delete: 0, blocked: 1, rename: 2, update: 3, create: 4 };

const longestLine = 100;
const longestValue = 1000;
const longestCell = 100;
const listed = 10;
const folded = 50;

/** Plans for a pull request's comment or a job's summary; details go before headlines where the limit asks for it. */
export function planMarkdown(plans: readonly Plan[], limit: number = commentLimit, linkOf?: LinkOf): string {
  return fitToLimit(
    plans.flatMap((plan) => planBlocks(plan, linkOf)),
    limit,
    {
      labels: ['target', 'headline', 'refusal', 'cause', 'table row', 'list', 'detail'],
      rest: 'The text and the JSON of the plan have everything.',
    },
  );
}

const blank: MarkdownBlock = { text: '\n', rank: 1, label: 'blank' };

function planBlocks(plan: Plan, linkOf: LinkOf | undefined): readonly MarkdownBlock[] {
  const { groups, others } = groupPlan(plan);
  const head = `### Plan for ${codeSpan(plan.target.name)}\n\n${headline(plan)}\n\n`;
  const told = [...headlineBlocks(plan, linkOf), ...flipBlocks(plan.protection)];
  const lists = sideLists(plan, others).map(({ title, entries }) => {
    const shown = shortList(entries, listed).map((entry, index) => (index < listed ? codeSpan(clip(entry, 200)) : entry));
    return { text: `- ${escapeMarkdown(title)}: ${shown.join(', ')}\n`, rank: rankOf('list'), label: 'list' };
  });
  return [
    { text: head, rank: 0, label: 'target' },
    ...told,
    ...(told.length === 0 ? [] : [blank]),
    ...reachBlocks(plan, linkOf),
    ...refusalBlocks(plan),
    ...groups.flatMap((group) => groupBlocks(group, linkOf)),
    ...lists,
    ...(lists.length === 0 ? [] : [blank]),
    { text: `Digest ${codeSpan(plan.digest)} of the manifests ${codeSpan(plan.tree.slice(0, 12))}\n\n`, rank: 1, label: 'list' },
  ];
}

function headline(plan: Plan): string {
  const asked = policiesText(plan.policies);
  const policies = asked === '' ? '' : ` ${escapeMarkdown(asked)}.`;
  if (plan.changes.length === 0) return `${planSummaryText(plan)}${policies}`;
  const counts = countActions(plan);
  const highest = highestPlanRisk(plan);
  const risk = highest === undefined ? '' : ` Highest risk: **${highest}**.`;
  return `**${countsText(counts)}**, ${counts.unchanged} unchanged, at ${codeSpan(plan.target.url)}.${risk}${policies}`;
}

function refusalBlocks({ refusals, allowed }: Plan): readonly MarkdownBlock[] {
  const lines = refusals.map((refusal) => ({ text: refusalLine(refusal), rank: 2, label: 'refusal' }));
  const overrides = allowed.map(({ code, reason }) => ({
    text: `- ${codeSpan(code)}: ${escapeMarkdown(clip(reason, longestValue))}\n`,
    rank: 2,
    label: 'refusal',
  }));
  const refused = { text: '**Refused: apply would not run this plan.**\n\n', rank: 1, label: 'refusal' };
  const allowing = { text: '**Allowed all the same:**\n\n', rank: 1, label: 'refusal' };
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

function groupBlocks(group: ChangeGroup, linkOf: LinkOf | undefined): readonly MarkdownBlock[] {
  const { name, title, changes: entries, edges } = group;
  if (name === 'elsewhere') return [foldedBlock(group, linkOf)];
  const isHeaded = name === 'held' && title !== '';
  const heading = title === '' ? [] : [{ text: `#### ${escapeMarkdown(title)}\n\n`, rank: 1, label: 'blank' }];
  const head = { text: '| | Resource | What | Where |\n|---|---|---|---|\n', rank: 1, label: 'blank' };
  const rows = entries.map((entry) => ({
    text: rowText(isHeaded ? { ...entry, note: '' } : entry, linkOf),
    rank: ranks[name].row + importance[entry.change.action],
    label: 'table row',
  }));
  const ties = edges.map((edge) => ({
    text: `| ${codeSpan('=')} | ${codeSpan(clip(edgeText(edge), 300))} | ${isHeaded ? 'edge' : 'edge, attached by hand, left so'} | |\n`,
    rank: ranks[name].row,
    label: 'table row',
  }));
  return [...heading, head, ...rows, ...ties, blank, ...entries.flatMap((entry) => detailBlocks(entry, group))];
}

/** What is worth a line and no more, folded. */
function foldedBlock({ title, changes: entries }: ChangeGroup, linkOf: LinkOf | undefined): MarkdownBlock {
  const lines = entries.map((entry) => rowText(entry, linkOf));
  const shown = lines.slice(0, folded);
  const more = lines.length > folded ? `\nand ${lines.length - folded} more\n` : '';
  const table = `| | Resource | What | Where |\n|---|---|---|---|\n${shown.join('')}${more}`;
  const summary = `<summary>${escapeHtmlText(title)}</summary>`;
  return { text: `<details>${summary}\n\n${table}\n</details>\n\n`, rank: ranks.elsewhere.row, label: 'list' };
}

function rowText(entry: GroupedChange, linkOf: LinkOf | undefined): string {
  const { change } = entry;
  const place = change.at === undefined ? '' : placeMarkdown(change.at, linkOf);
  return `| ${[codeSpan(actionSymbols[change.action]), codeSpan(change.id), whatText(entry), place].join(' | ')} |\n`;
}

function whatText({ change, edges, note }: GroupedChange): string {
  if (change.action === 'held') return heldText(change, note);
  const fields = change.action === 'create' || change.action === 'delete' ? [] : [...new Set(changeRows(change).map((row) => row.label))];
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
  const rows = changeRows(change).map(({ label, parts, note: wish }) => {
    const value = clip(parts.map(textOf).join(', '), longestCell);
    return `${codeSpan(clip(label, 60))} ${codeSpan(value)} (${escapeMarkdown(clip(wish, longestCell))})`;
  });
  return [...(note === '' ? [] : [escapeMarkdown(note)]), ...shortList(rows, 4)].join(', ');
}

function detailBlocks({ change, edges, flips }: GroupedChange, { name, title }: ChangeGroup): readonly MarkdownBlock[] {
  const isSaid = name === 'undone' && title !== '';
  const lines = [
    ...changeRows(change, isSaid).flatMap((row) => rowDiff(row, change.action)),
    ...edgeRows(change, edges, isSaid).map(({ sign, text }) => `${sign} edge: ${text}`),
    ...flips.map(flipLine),
    ...(change.carried.length === 0 ? [] : [`  carries ${shortList(change.carried.map(pathText), 6).join(', ')}`]),
  ];
  if (lines.length === 0) return [];
  const summary = `<summary><code>${actionSymbols[change.action]} ${escapeHtmlText(clip(change.id, 300))}</code></summary>`;
  return [
    {
      text: `<details>${summary}\n\n${codeBlock(shortList(lines, 100), 'diff')}\n\n</details>\n\n`,
      rank: ranks[name].detail + importance[change.action],
      label: 'detail',
    },
  ];
}

/** A field as lines of a diff: `+`, `-`, `!` for what becomes another thing. */
export function rowDiff({ label: field, parts, note }: ChangeRow, action: Action): readonly string[] {
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

function textOf(part: RowPart): string {
  return part.sign === '~' ? part.before : part.text;
}
