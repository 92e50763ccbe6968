import type { ApplyResult, Outcome } from '../../model/result/outcome.ts';
import type { EdgeChange } from '../../model/plan/plan.ts';
import type { ProtectionVerdict } from '../../model/protection/protection.ts';
import { plural, shortList } from '../wording/counts.ts';
import { sampleSign, sampleChangeText } from '../wording/sample-changes.ts';
import type { GroupedChange, ChangeGroup } from '../subjects/groups.ts';
import type { LinkOf } from '../links.ts';
import { actionSymbols, changeRows, edgeChangeRows, edgeText, risksText, type ChangeRow } from '../subjects/change-rows.ts';
import { pathText } from '../wording/value.ts';
import { appliedText, isUnfinished, outcomeWord } from '../subjects/apply.ts';
import { element, type Html } from './markup.ts';
import { positionHtml } from './badges.ts';

const mostLines = 200;
const mostOutcomes = 2_000;

/** Returns a group of changes, each with its differences folded. */
export function groupSection(
  { title, changes: entries, edges }: ChangeGroup,
  verdictOf: (grouped: GroupedChange) => ProtectionVerdict,
  linkOf: LinkOf | undefined,
): Html {
  return element('section', { 'data-part': true }, [
    ...(title === '' ? [] : [element('h3', {}, title)]),
    ...entries.map((entry) => changeDetails(entry, verdictOf(entry), linkOf)),
    ...edges.map((edge) => heldEdge(edge)),
  ]);
}

function changeDetails({ change, edges, note, flips }: GroupedChange, way: ProtectionVerdict, linkOf: LinkOf | undefined): Html {
  const lines = [
    ...changeRows(change).flatMap((row) => rowLines(row, change.action)),
    ...edgeChangeRows(change, edges).map(({ sign, text }) => line(sign, `edge: ${text}`)),
    ...flips.map((flip) => line(sampleSign(flip), sampleChangeText(flip))),
    ...(change.carried.length === 0 ? [] : [ended(element('span', { class: 'quiet' }, `  carries ${carriedText(change.carried)}`))]),
  ];
  const risks = risksText(change.risks);
  return element('details', { 'data-name': change.id.toLowerCase(), 'data-way': way }, [
    element('summary', {}, [
      element('span', { class: 'mono' }, `${actionSymbols[change.action]} ${change.id}`),
      ' ',
      element('span', { class: 'quiet' }, [note === '' ? change.action : note, risks === '' ? '' : ` · ${risks}`]),
    ]),
    ...(change.at === undefined ? [] : [element('p', {}, [positionHtml(change.at, linkOf)])]),
    lines.length === 0
      ? element('p', { class: 'quiet' }, 'No field of its own.')
      : element('pre', { tabindex: '0' }, lines.slice(0, mostLines)),
    ...(lines.length > mostLines ? [element('p', { class: 'quiet' }, `and ${lines.length - mostLines} more lines`)] : []),
  ]);
}

function carriedText(carried: GroupedChange['change']['carried']): string {
  return shortList(carried.map(pathText), 10).join(', ');
}

function rowLines({ label, parts, note }: ChangeRow, action: GroupedChange['change']['action']): readonly Html[] {
  const name = note === '' ? label : `${label} (${note})`;
  return parts.flatMap((part) => {
    if (part.sign === '~') return [line('-', `${name}: ${part.before}`), line('+', `${name}: ${part.after}`)];
    const alone = action === 'create' ? '+' : action === 'delete' ? '-' : '!';
    return [line(part.sign === '' ? alone : part.sign, `${name}: ${part.text}`)];
  });
}

const kinds = { '+': 'gains', '-': 'loses', '!': 'becomes' } as const;

function line(sign: keyof typeof kinds, text: string): Html {
  return ended(element('span', { class: kinds[sign] }, `${sign} ${text}`));
}

/** Returns a line of preformatted text. */
function ended(one: Html): Html {
  return { html: `${one.html}\n` };
}

function heldEdge(edge: EdgeChange): Html {
  return element(
    'p',
    { class: 'mono', 'data-name': `${edge.rule} ${edge.connection}`.toLowerCase(), 'data-way': 'strengthens' },
    `= ${edgeText(edge)}`,
  );
}

/** Returns the outcomes of an apply: failures first, then what is left to do, what stays as it is, and what is done. */
export function outcomeSection(result: ApplyResult): Html {
  const { outcomes } = result;
  const failed = outcomes.filter(({ status }) => status === 'failed');
  const left = outcomes.filter((one) => isUnfinished(one) && one.status !== 'failed');
  const stays = outcomes.filter(({ status }) => status === 'blocked' || status === 'held');
  const done = outcomes.filter(({ status }) => status === 'done' || status === 'already');
  const isFinished = failed.length + left.length === 0 && !result.interrupted;
  return element('section', { class: isFinished ? undefined : 'refusals', 'aria-label': 'What became of it' }, [
    element('h2', {}, 'What became of it'),
    element('p', {}, [element('span', { class: 'count' }, appliedText(result))]),
    ...listed('Failed', failed, true),
    ...listed('Left to do: plan and apply again', left, true),
    ...listed('Left as it is', stays, false),
    ...listed('Done', done, false),
  ]);
}

function listed(title: string, outcomes: readonly Outcome[], isOpen: boolean): readonly Html[] {
  if (outcomes.length === 0) return [];
  const more = outcomes.length - mostOutcomes;
  return [
    element('details', { open: isOpen, 'data-part': true }, [
      element('summary', {}, `${title} · ${plural(outcomes.length, 'object')}`),
      element('ul', {}, outcomes.slice(0, mostOutcomes).map(outcomeLine)),
      ...(more > 0 ? [element('p', { class: 'quiet' }, `and ${more} more`)] : []),
    ]),
  ];
}

function outcomeLine(outcome: Outcome): Html {
  const { id, code, message, hint } = outcome;
  return element('li', { 'data-name': id.toLowerCase() }, [
    outcomeWord(outcome),
    ' ',
    element('span', { class: 'mono' }, id),
    ...(code === undefined ? [] : [' ', element('code', {}, code)]),
    ...(message === undefined ? [] : [` ${message}`]),
    ...(hint === undefined ? [] : [element('div', { class: 'quiet' }, hint)]),
  ]);
}
