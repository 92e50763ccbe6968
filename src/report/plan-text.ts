import { isWritten, type Change, type Plan } from '../model/plan/plan.ts';
import { highestRiskOf } from '../model/plan/plan-risk.ts';
import type { Flip } from '../model/protection/protection.ts';
import { edgeRowsOf, edgeText, placeText, rowsOf, symbols } from './change-rows.ts';
import { shortList, summaryText } from './counts.ts';
import { escapeTerminal } from './escape.ts';
import { flipLine, flipSign } from './flips.ts';
import { flow, gap, glued, words, type Piece } from './flow.ts';
import { groupsOf, type Entry, type Group, type Grouped } from './groups.ts';
import { sideListsOf } from './lists.ts';
import { policiesText } from './policies.ts';
import { headlineLines } from './protection.ts';
import { reachLines } from './reach.ts';
import { classPaint, riskPaint, risksText } from './risks.ts';
import { rowLines } from './row-text.ts';
import { pathText } from './value.ts';
import { widthFor, type Paint, type Palette, type Terminal } from './terminal.ts';

const listed = 5;

/** Plans for people at a terminal: one section a target, what is refused and the summary last. */
export function planText(plans: readonly Plan[], terminal: Terminal): string {
  return plans.map((plan) => `${sectionLines(plan, terminal).join('\n')}\n`).join('\n\n');
}

function sectionLines(plan: Plan, terminal: Terminal): readonly string[] {
  const grouped = groupsOf(plan);
  const { bold, dim } = terminal.colour;
  const columns = widthFor(terminal);
  const title: Piece[] = [
    { text: escapeTerminal(plan.target.name), paint: bold },
    ...gap,
    { text: escapeTerminal(plan.target.url), paint: dim, glue: true },
  ];
  const told = headlineLines(plan, terminal);
  const reach = reachLines(plan, terminal);
  const heads = [told, reach].flatMap((list) => (list.length === 0 ? [] : [...list, '']));
  const lines = [...flow(title, { columns, indent: 2 }), '', ...heads];
  const groups = grouped.groups.map((group) => groupLines(group, terminal));
  for (const list of [...groups, ...sideLists(plan, grouped, terminal), refusalLines(plan, terminal), allowedLines(plan, terminal)]) {
    if (list.length > 0) lines.push(...(lines.at(-1) === '' ? [] : ['']), ...list);
  }
  if (lines.at(-1) !== '') lines.push('');
  const highest = highestRiskOf(plan);
  const asked = policiesText(plan.policies);
  return [
    ...lines,
    ...flow(words(summaryText(plan), bold), { columns, indent: 0 }),
    ...(asked === '' ? [] : flow(words(escapeTerminal(`${asked}.`)), { columns, indent: 0 })),
    ...(highest === undefined ? [] : [classPaint(highest, terminal.colour)(`Highest risk: ${highest}`)]),
    ...flow(words(`Digest ${escapeTerminal(plan.digest)}`, dim), { columns, indent: 0 }),
  ];
}

function groupLines(group: Group, terminal: Terminal): readonly string[] {
  const { title, entries, edges } = group;
  const { bold, cyan } = terminal.colour;
  const columns = widthFor(terminal);
  const lines = title === '' ? [] : [...flow(words(title, bold), { columns, indent: 2 }), ''];
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
    lines.push(...flow(pieces, { columns, indent: 6 }));
  }
  return lines;
}

/** A change in a line: what differs, without values. */
function shortLines(entry: Entry, terminal: Terminal): readonly string[] {
  const { change } = entry;
  const { colour } = terminal;
  const what = whatText(entry);
  const named = { text: `${symbols[change.action]} ${escapeTerminal(change.id)}`, paint: paintOf(change, colour) };
  const pieces = [{ text: '  ' }, named, ...(what === '' ? [] : [...gap, ...glued(words(what, colour.dim))])];
  return flow(pieces, { columns: widthFor(terminal), indent: 6 });
}

/** What differs in one line without values, escaped. */
function whatText({ change, edges, note }: Entry): string {
  const isWhole = change.action === 'create' || change.action === 'delete';
  const labels = isWhole ? [] : [...new Set(rowsOf(change).map(({ label }) => label))];
  const ends = edgeRowsOf(change, edges, true).map(({ sign, text }) => `${sign} ${text}`);
  const risks = escapeTerminal(risksText(change.risks));
  const what = [...(note === '' ? [] : [note]), ...shortList(labels, 4), ...shortList(ends, 2)].join(', ');
  return [what, risks].filter((text) => text !== '').join('; ');
}

function headline({ change, note: said }: Entry, { name, title }: Group, terminal: Terminal): readonly string[] {
  const paint = paintOf(change, terminal.colour);
  const note = name === 'held' && title !== '' ? '' : said;
  const place = placeText(change);
  const pieces: Piece[] = [{ text: '  ' }, { text: `${symbols[change.action]} ${escapeTerminal(change.id)}`, paint }];
  if (place !== '') pieces.push(...gap, { text: place, paint: terminal.colour.dim, glue: true });
  if (note !== '') pieces.push(...gap, ...glued(words(note)));
  return flow(pieces, { columns: widthFor(terminal), indent: 6 });
}

function paintOf(change: Change, colour: Palette): Paint {
  const { cyan, green, red, yellow } = colour;
  const paints = { create: green, update: yellow, rename: yellow, delete: red, blocked: cyan, held: cyan } as const;
  return paints[change.action];
}

function detailLines({ change, edges, flips }: Entry, { name, title }: Group, terminal: Terminal): readonly string[] {
  const { colour } = terminal;
  const isSaid = name === 'undone' && title !== '';
  const columns = widthFor(terminal);
  const ends: Piece[] = edgeRowsOf(change, edges, isSaid).map(({ sign, text }) => ({
    text: `${sign} ${text}`,
    paint: sign === '+' ? colour.green : colour.red,
  }));
  return [
    ...rowLines(rowsOf(change, isSaid), terminal),
    ...ends.flatMap((end) => flow([{ text: '      ' }, end], { columns, indent: 8 })),
    ...flips.flatMap((flip) => flipLines(flip, terminal)),
    ...carriedLines(change, terminal),
    ...riskLines(change, terminal),
  ];
}

/** What the change may do, where that is worth a word. */
function riskLines({ risks }: Change, terminal: Terminal): readonly string[] {
  const text = risksText(risks);
  if (text === '') return [];
  const pieces = words(`risk: ${escapeTerminal(text)}`, riskPaint(risks, terminal.colour));
  return flow([{ text: '      ' }, ...pieces], { columns: widthFor(terminal), indent: 8 });
}

/** A sample that comes out otherwise: what protects less in red. */
function flipLines(flip: Flip, terminal: Terminal): readonly string[] {
  const { green, red, yellow } = terminal.colour;
  const paint = { '-': red, '+': green, '!': yellow }[flipSign(flip)];
  return flow([{ text: '      ' }, ...words(flipLine(flip), paint)], { columns: widthFor(terminal), indent: 8 });
}

/** What the write carries although the manifest does not state it; a change that is not carried out writes nothing. */
function carriedLines(change: Change, { colour, ...terminal }: Terminal): readonly string[] {
  if (change.carried.length === 0 || !isWritten(change)) return [];
  const names = shortList(change.carried.map(pathText), 6).join(', ');
  return flow([{ text: '      ' }, ...words(`carries ${names}`, colour.dim)], { columns: widthFor({ colour, ...terminal }), indent: 8 });
}

function sideLists(plan: Plan, { others }: Grouped, terminal: Terminal): readonly (readonly string[])[] {
  const columns = widthFor(terminal);
  return sideListsOf(plan, others).map(({ title, entries }) => {
    const shown = shortList(entries, listed);
    const pieces = words(shown.join(', '), terminal.colour.dim);
    return [...flow(words(title), { columns, indent: 2 }), ...flow([{ text: '    ' }, ...pieces], { columns, indent: 4 })];
  });
}

function refusalLines(plan: Plan, terminal: Terminal): readonly string[] {
  if (plan.refusals.length === 0) return [];
  const { bold, dim, red } = terminal.colour;
  const columns = widthFor(terminal);
  const lines = plan.refusals.flatMap((refusal) => {
    const about = refusal.resource === undefined ? [] : words(escapeTerminal(`${refusal.resource}:`));
    const code = { text: escapeTerminal(refusal.code), paint: red };
    const place = refusal.at === undefined ? '' : escapeTerminal(`${refusal.at.file}:${refusal.at.line}:${refusal.at.column}`);
    const where = place === '' ? [] : [...gap, { text: place, paint: dim, glue: true }];
    const advice = [
      ...(refusal.hint === undefined ? [] : [words(escapeTerminal(refusal.hint))]),
      ...(refusal.allowable
        ? [[{ text: 'to go on all the same:' }, { text: escapeTerminal(`--allow ${refusal.code}=reason`), paint: bold }]]
        : []),
    ];
    return [
      ...flow([{ text: '  ' }, code, ...where, ...gap, ...glued([...about, ...words(escapeTerminal(refusal.message))])], {
        columns,
        indent: 6,
      }),
      ...advice.flatMap((pieces) => flow([{ text: '      ' }, ...pieces], { columns, indent: 6 })),
    ];
  });
  return [red(bold('Refused: apply would not run this plan.')), ...lines];
}

function allowedLines(plan: Plan, terminal: Terminal): readonly string[] {
  const columns = widthFor(terminal);
  return plan.allowed.flatMap(({ code, reason }) =>
    flow([{ text: 'Allowed', paint: terminal.colour.yellow }, ...words(escapeTerminal(`${code}: ${reason}`))], { columns, indent: 2 }),
  );
}
