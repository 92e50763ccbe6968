import type { EdgeChange } from '../../model/plan/plan.ts';
import type { ProtectionVerdict } from '../../model/protection/protection.ts';
import { edgeRows, edgeText, changeRows, actionSymbols, type ChangeRow } from '../subjects/change-rows.ts';
import { shortList } from '../wording/counts.ts';
import { flipSign, flipText } from '../wording/flips.ts';
import type { GroupedChange, ChangeGroup } from '../subjects/groups.ts';
import type { LinkOf } from '../links.ts';
import { risksText } from '../risks.ts';
import { pathText } from '../wording/value.ts';
import { element, type Html } from './markup.ts';
import { placeHtml } from './place.ts';

const mostLines = 200;

/** What a change means as a whole, where it has risks. */
type WayOf = (entry: GroupedChange) => ProtectionVerdict;

/** A group of changes, each with its differences folded. */
export function groupSection({ title, changes: entries, edges }: ChangeGroup, wayOf: WayOf, linkOf: LinkOf | undefined): Html {
  return element('section', { 'data-part': true }, [
    ...(title === '' ? [] : [element('h3', {}, title)]),
    ...entries.map((entry) => changeDetails(entry, wayOf(entry), linkOf)),
    ...edges.map((edge) => heldEdge(edge)),
  ]);
}

function changeDetails({ change, edges, note, flips }: GroupedChange, way: ProtectionVerdict, linkOf: LinkOf | undefined): Html {
  const lines = [
    ...changeRows(change).flatMap((row) => rowLines(row, change.action)),
    ...edgeRows(change, edges).map(({ sign, text }) => line(sign, `edge: ${text}`)),
    ...flips.map((flip) => line(flipSign(flip), flipText(flip))),
    ...(change.carried.length === 0 ? [] : [ended(element('span', { class: 'quiet' }, `  carries ${carriedText(change.carried)}`))]),
  ];
  const risks = risksText(change.risks);
  return element('details', { 'data-name': change.id.toLowerCase(), 'data-way': way }, [
    element('summary', {}, [
      element('span', { class: 'mono' }, `${actionSymbols[change.action]} ${change.id}`),
      ' ',
      element('span', { class: 'quiet' }, [note === '' ? change.action : note, risks === '' ? '' : ` · ${risks}`]),
    ]),
    ...(change.at === undefined ? [] : [element('p', {}, [placeHtml(change.at, linkOf)])]),
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

/** A line of preformatted text. */
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
