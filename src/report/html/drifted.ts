import type { ReportBlock } from '../document.ts';
import type { LinkOf } from '../links.ts';
import type { DriftedObject, DriftedRow, RowPart } from '../rows/change-rows.ts';
import { foldSimilar, likenessOfDrift, othersText } from '../rows/fold-similar.ts';
import type { DriftChoice } from '../rows/drift-choices.ts';
import { unfoldFirst } from './changes.ts';
import { element, type Html, joinHtml, positionHtml, verdictBadge, verdicts } from './markup.ts';

const mostRows = 200;

/** Returns the drifted objects, the most severe first: who changed each, both sides of each field, and what the next apply does. */
export function driftedSection(rows: readonly DriftedObject[], linkOf: LinkOf | undefined): Html {
  const sorted = rows.toSorted((left, right) => verdicts.indexOf(left.direction) - verdicts.indexOf(right.direction));
  const details = foldSimilar(sorted, likenessOfDrift).map(({ entry, others }) =>
    joinHtml([
      driftedDetails(entry, linkOf),
      ...(others.length === 0 ? [] : [element('p', { class: 'quiet' }, othersText(others.map(({ change }) => change.id)))]),
    ]),
  );
  return element('section', { 'data-part': true }, unfoldFirst(details, 'more object'));
}

function driftedDetails({ change, sign, direction, note, rows, edges, writers }: DriftedObject, linkOf: LinkOf | undefined): Html {
  const lines = [
    ...rows.slice(0, mostRows).map(fieldRow),
    ...edges.slice(0, mostRows).map(({ next, ...edge }) => fieldRow({ label: 'attachment', parts: [edge], next })),
  ];
  const more = rows.length + edges.length - lines.length;
  const [first = 'the gateway does not say by whom or when'] = writers;
  const shown = change.action === 'create' && direction === 'neutral' ? 'availability' : direction;
  const head = ['field', 'manifests', 'gateway', 'next apply'].map((text) => element('th', { scope: 'col' }, text));
  return element('details', { open: true, 'data-name': change.id.toLowerCase(), 'data-direction': shown }, [
    element('summary', {}, [
      verdictBadge(shown),
      ' ',
      element('span', { class: 'mono' }, `${sign} ${change.id}`),
      element('span', { class: 'quiet' }, ` ${first}`),
    ]),
    ...(change.at === undefined ? [] : [element('p', {}, [positionHtml(change.at, linkOf)])]),
    ...(note === '' ? [] : [element('p', {}, note)]),
    ...(lines.length === 0
      ? []
      : [
          element('div', { class: 'scroll' }, [
            element('table', { class: 'stack' }, [element('thead', {}, [element('tr', {}, head)]), element('tbody', {}, lines)]),
          ]),
        ]),
    ...(more > 0 ? [element('p', { class: 'quiet' }, `and ${more} more; the JSON of the drift has them`)] : []),
    ...writers.slice(1).map((writer) => element('p', { class: 'quiet' }, writer)),
  ]);
}

function fieldRow({ label, parts, next }: Omit<DriftedRow, 'note'>): Html {
  const side = (which: 'manifests' | 'gateway'): Html =>
    element(
      'td',
      { 'data-label': which },
      parts.flatMap((part) => valueOn(part, which)),
    );
  return element('tr', {}, [
    element('th', { scope: 'row' }, label),
    side('manifests'),
    side('gateway'),
    element('td', { 'data-label': 'next apply' }, next),
  ]);
}

/** Returns the value that one side has; what it has alone is marked by sign and color. */
function valueOn(part: RowPart, which: 'manifests' | 'gateway'): readonly Html[] {
  const isGateway = which === 'gateway';
  const kind = isGateway ? 'gains' : 'loses';
  if (part.sign === '~') return [element('div', { class: `mono ${kind}` }, isGateway ? part.after : part.before)];
  if (part.sign === '') return isGateway ? [element('div', { class: 'mono' }, part.text)] : [];
  return (part.sign === '+') === isGateway ? [element('div', { class: `mono ${kind}` }, `${isGateway ? '+' : '−'} ${part.text}`)] : [];
}

/** Returns what a person can do about the drift, with the effect of each. */
export function choiceList(choices: Extract<ReportBlock, { readonly type: 'choices' }>['choices']): readonly Html[] {
  if (choices.length === 0) return [];
  return [element('h2', {}, 'What to do'), element('ul', {}, choices.map(choiceItem))];
}

function choiceItem({ goal, command, text }: DriftChoice): Html {
  return element('li', {}, [element('strong', {}, goal), ', ', element('code', {}, command), ` ${text}.`]);
}
