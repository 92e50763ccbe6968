import { isWritten, type Change, type Plan } from '../../model/plan/plan.ts';
import { highestPlanRisk } from '../../model/plan/plan-risk.ts';
import type { SampleChange } from '../../model/protection/protection.ts';
import { edgeRows, edgeText, changePosition, changeRows, actionSymbols } from '../subjects/change-rows.ts';
import { shortList, planSummaryText } from '../wording/counts.ts';
import { escapeTerminal } from '../escape.ts';
import { flipLine, flipSign } from '../wording/flips.ts';
import { wrap, gap, withoutBreak, words, type Span } from './wrap.ts';
import { groupPlan, type GroupedChange, type ChangeGroup, type GroupedPlan } from '../subjects/groups.ts';
import { sideLists } from '../subjects/side-lists.ts';
import { policiesText } from '../policies.ts';
import { headlineLines } from './protection.ts';
import { reachLines } from '../reach.ts';
import { classPaint, riskPaint, risksText } from '../risks.ts';
import { rowLines } from './rows.ts';
import { pathText } from '../wording/value.ts';
import { widthFor, type Paint, type Palette, type Terminal } from './terminal.ts';

const listed = 5;

/** Plans for people at a terminal: one section a target, what is refused and the summary last. */
export function planText(plans: readonly Plan[], terminal: Terminal): string {
  return plans.map((plan) => `${sectionLines(plan, terminal).join('\n')}\n`).join('\n\n');
}

function sectionLines(plan: Plan, terminal: Terminal): readonly string[] {
  const grouped = groupPlan(plan);
  const { bold, dim } = terminal.color;
  const columns = widthFor(terminal);
  const title: Span[] = [
    { text: escapeTerminal(plan.target.name), paint: bold },
    ...gap,
    { text: escapeTerminal(plan.target.url), paint: dim, noBreak: true },
  ];
  const told = headlineLines(plan, terminal);
  const reach = reachLines(plan, terminal);
  const heads = [told, reach].flatMap((list) => (list.length === 0 ? [] : [...list, '']));
  const lines = [...wrap(title, { columns, indent: 2 }), '', ...heads];
  const groups = grouped.groups.map((group) => groupLines(group, terminal));
  for (const list of [...groups, ...sideListLines(plan, grouped, terminal), refusalLines(plan, terminal), allowedLines(plan, terminal)]) {
    if (list.length > 0) lines.push(...(lines.at(-1) === '' ? [] : ['']), ...list);
  }
  if (lines.at(-1) !== '') lines.push('');
  const highest = highestPlanRisk(plan);
  const asked = policiesText(plan.policies);
  return [
    ...lines,
    ...wrap(words(planSummaryText(plan), bold), { columns, indent: 0 }),
    ...(asked === '' ? [] : wrap(words(escapeTerminal(`${asked}.`)), { columns, indent: 0 })),
    ...(highest === undefined ? [] : [classPaint(highest, terminal.color)(`Highest risk: ${highest}`)]),
    ...wrap(words(`Digest ${escapeTerminal(plan.digest)}`, dim), { columns, indent: 0 }),
  ];
}

function groupLines(group: ChangeGroup, terminal: Terminal): readonly string[] {
  const { title, changes: entries, edges } = group;
  const { bold, cyan } = terminal.color;
  const columns = widthFor(terminal);
  const lines = title === '' ? [] : [...wrap(words(title, bold), { columns, indent: 2 }), ''];
  if (group.name === 'elsewhere') return [...lines.slice(0, -1), ...entries.flatMap((entry) => shortLines(entry, terminal))];
  let detailed = false;
  for (const entry of entries) {
    const details = detailLines(entry, group, terminal);
    if (detailed || (details.length > 0 && lines.length > 0 && lines.at(-1) !== '')) lines.push('');
    lines.push(...headline(entry, group, terminal), ...details);
    detailed = details.length > 0;
  }
  if (detailed && edges.length > 0) lines.push('');
  const note = title === '' ? ', attached by hand, left so' : '';
  for (const edge of edges) {
    const pieces = [{ text: '  ' }, { text: '=', paint: cyan }, { text: edgeText(edge), paint: cyan }, ...words(note)];
    lines.push(...wrap(pieces, { columns, indent: 6 }));
  }
  return lines;
}

/** A change in a line: what differs, without values. */
function shortLines(entry: GroupedChange, terminal: Terminal): readonly string[] {
  const { change } = entry;
  const { color } = terminal;
  const what = whatText(entry);
  const named = { text: `${actionSymbols[change.action]} ${escapeTerminal(change.id)}`, paint: paintOf(change, color) };
  const pieces = [{ text: '  ' }, named, ...(what === '' ? [] : [...gap, ...withoutBreak(words(what, color.dim))])];
  return wrap(pieces, { columns: widthFor(terminal), indent: 6 });
}

/** What differs in one line without values, escaped. */
function whatText({ change, edges, note }: GroupedChange): string {
  const isWhole = change.action === 'create' || change.action === 'delete';
  const labels = isWhole ? [] : [...new Set(changeRows(change).map(({ label }) => label))];
  const ends = edgeRows(change, edges, true).map(({ sign, text }) => `${sign} ${text}`);
  const risks = escapeTerminal(risksText(change.risks));
  const what = [...(note === '' ? [] : [note]), ...shortList(labels, 4), ...shortList(ends, 2)].join(', ');
  return [what, risks].filter((text) => text !== '').join('; ');
}

function headline({ change, note: said }: GroupedChange, { name, title }: ChangeGroup, terminal: Terminal): readonly string[] {
  const paint = paintOf(change, terminal.color);
  const note = name === 'held' && title !== '' ? '' : said;
  const place = changePosition(change);
  const pieces: Span[] = [{ text: '  ' }, { text: `${actionSymbols[change.action]} ${escapeTerminal(change.id)}`, paint }];
  if (place !== '') pieces.push(...gap, { text: place, paint: terminal.color.dim, noBreak: true });
  if (note !== '') pieces.push(...gap, ...withoutBreak(words(note)));
  return wrap(pieces, { columns: widthFor(terminal), indent: 6 });
}

function paintOf(change: Change, color: Palette): Paint {
  const { cyan, green, red, yellow } = color;
  const paints = { create: green, update: yellow, rename: yellow, delete: red, blocked: cyan, held: cyan } as const;
  return paints[change.action];
}

function detailLines({ change, edges, flips }: GroupedChange, { name, title }: ChangeGroup, terminal: Terminal): readonly string[] {
  const { color } = terminal;
  const isSaid = name === 'undone' && title !== '';
  const columns = widthFor(terminal);
  const ends: Span[] = edgeRows(change, edges, isSaid).map(({ sign, text }) => ({
    text: `${sign} ${text}`,
    paint: sign === '+' ? color.green : color.red,
  }));
  return [
    ...rowLines(changeRows(change, isSaid), terminal),
    ...ends.flatMap((end) => wrap([{ text: '      ' }, end], { columns, indent: 8 })),
    ...flips.flatMap((flip) => flipLines(flip, terminal)),
    ...carriedLines(change, terminal),
    ...riskLines(change, terminal),
  ];
}

/** What the change may do, where that is worth a word. */
function riskLines({ risks }: Change, terminal: Terminal): readonly string[] {
  const text = risksText(risks);
  if (text === '') return [];
  const pieces = words(`risk: ${escapeTerminal(text)}`, riskPaint(risks, terminal.color));
  return wrap([{ text: '      ' }, ...pieces], { columns: widthFor(terminal), indent: 8 });
}

/** A sample that comes out otherwise: what protects less in red. */
function flipLines(flip: SampleChange, terminal: Terminal): readonly string[] {
  const { green, red, yellow } = terminal.color;
  const paint = { '-': red, '+': green, '!': yellow }[flipSign(flip)];
  return wrap([{ text: '      ' }, ...words(flipLine(flip), paint)], { columns: widthFor(terminal), indent: 8 });
}

/** What the write carries although the manifest does not state it; a change that is not carried out writes nothing. */
function carriedLines(change: Change, { color, ...terminal }: Terminal): readonly string[] {
  if (change.carried.length === 0 || !isWritten(change)) return [];
  const names = shortList(change.carried.map(pathText), 6).join(', ');
  return wrap([{ text: '      ' }, ...words(`carries ${names}`, color.dim)], { columns: widthFor({ color, ...terminal }), indent: 8 });
}

function sideListLines(plan: Plan, { others }: GroupedPlan, terminal: Terminal): readonly (readonly string[])[] {
  const columns = widthFor(terminal);
  return sideLists(plan, others).map(({ title, entries }) => {
    const shown = shortList(entries, listed);
    const pieces = words(shown.join(', '), terminal.color.dim);
    return [...wrap(words(title), { columns, indent: 2 }), ...wrap([{ text: '    ' }, ...pieces], { columns, indent: 4 })];
  });
}

function refusalLines(plan: Plan, terminal: Terminal): readonly string[] {
  if (plan.refusals.length === 0) return [];
  const { bold, dim, red } = terminal.color;
  const columns = widthFor(terminal);
  const lines = plan.refusals.flatMap((refusal) => {
    const about = refusal.resource === undefined ? [] : words(escapeTerminal(`${refusal.resource}:`));
    const code = { text: escapeTerminal(refusal.code), paint: red };
    const place = refusal.at === undefined ? '' : escapeTerminal(`${refusal.at.file}:${refusal.at.line}:${refusal.at.column}`);
    const where = place === '' ? [] : [...gap, { text: place, paint: dim, noBreak: true }];
    const advice = [
      ...(refusal.hint === undefined ? [] : [words(escapeTerminal(refusal.hint))]),
      ...(refusal.allowable
        ? [[{ text: 'to go on all the same:' }, { text: escapeTerminal(`--allow ${refusal.code}=reason`), paint: bold }]]
        : []),
    ];
    return [
      ...wrap([{ text: '  ' }, code, ...where, ...gap, ...withoutBreak([...about, ...words(escapeTerminal(refusal.message))])], {
        columns,
        indent: 6,
      }),
      ...advice.flatMap((pieces) => wrap([{ text: '      ' }, ...pieces], { columns, indent: 6 })),
    ];
  });
  return [red(bold('Refused: apply would not run this plan.')), ...lines];
}

function allowedLines(plan: Plan, terminal: Terminal): readonly string[] {
  const columns = widthFor(terminal);
  return plan.allowed.flatMap(({ code, reason }) =>
    wrap([{ text: 'Allowed', paint: terminal.color.yellow }, ...words(escapeTerminal(`${code}: ${reason}`))], { columns, indent: 2 }),
  );
}
