import type { TableCell, Findable, FoldsBlock, TableBlock, TableRow } from '../blocks.ts';
import { distinctSorted } from '../../model/json.ts';
import type { LinkOf } from '../links.ts';
import { mark } from '../marks.ts';
import { plural } from '../wording/phrases.ts';
import { element, type Html, lineHtml } from './markup.ts';

const peopleInNone = 'people in no group';
const classes = { access: 'access', permissions: 'permissions stack', picture: 'picture' } as const;
const mostUnfolded = 20;

/** Returns a table below its title, with the choices that reduce it. */
export function tableSection(table: TableBlock, linkOf: LinkOf | undefined): readonly Html[] {
  const { title = '', more, verbs } = table;
  if (table.rows.length === 0) return [];
  return [
    element('h2', {}, title),
    ...(verbs === undefined ? [] : [choiceBoxes(table)]),
    element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': title }, [tableHtml(table, linkOf)]),
    ...moreHtml(more),
  ];
}

function moreHtml(more: string | undefined): readonly Html[] {
  return more === undefined ? [] : [element('p', { class: 'quiet' }, more)];
}

/** Returns a table; on a narrow screen each cell has its header before it. */
export function tableHtml({ look, caption, headers, rows }: TableBlock, linkOf: LinkOf | undefined): Html {
  const starts = [0, ...rows.flatMap(({ heads }, index) => (heads === 'group' && index > 0 ? [index] : []))];
  return element('table', { class: look === undefined ? 'stack' : classes[look] }, [
    ...(caption === undefined ? [] : [element('caption', {}, [lineHtml(caption, linkOf)])]),
    element('thead', {}, [
      element(
        'tr',
        {},
        headers.map((text) => element('th', { scope: 'col' }, text)),
      ),
    ]),
    ...starts.map((start, index) =>
      element(
        'tbody',
        { 'data-part': look === 'picture' },
        rows.slice(start, starts[index + 1]).map((row) => rowHtml(row, headers, linkOf)),
      ),
    ),
  ]);
}

function rowHtml({ cells, heads, ...row }: TableRow, headers: readonly string[], linkOf: LinkOf | undefined): Html {
  const [first = '', ...others] = cells;
  if (heads !== undefined) {
    const head = element('th', { scope: 'rowgroup', colspan: String(headers.length) }, cellContent(first, linkOf));
    return element('tr', { class: heads === 'group' ? 'group' : undefined }, [head]);
  }
  return element('tr', findableAttributes(row), [
    element('th', { scope: 'row', title: typeof first === 'string' ? undefined : first.title }, cellContent(first, linkOf)),
    ...others.map((cell, index) => cellHtml(cell, headers[index + 1], linkOf)),
  ]);
}

function cellHtml(cell: TableCell, label: string | undefined, linkOf: LinkOf | undefined): Html {
  if (typeof cell === 'string') return element('td', { 'data-label': label }, cellContent(cell, linkOf));
  const { look, title, lines } = cell;
  const attributes = { class: look, title, 'data-label': label };
  if (title === undefined || look === undefined || look === 'quiet' || look === 'none')
    return element('td', attributes, cellContent(cell, linkOf));
  return element('td', attributes, [
    element('span', { 'aria-hidden': 'true' }, [lineHtml(`${lines.join(' ')} ${mark('icon', look)}`, linkOf)]),
    element('span', { class: 'said' }, title),
  ]);
}

function cellContent(cell: TableCell, linkOf: LinkOf | undefined): readonly Html[] {
  const lines = typeof cell === 'string' ? [cell] : cell.lines;
  return lines.length === 1
    ? lines.map((line) => lineHtml(line, linkOf))
    : lines.map((line) => element('div', {}, [lineHtml(line, linkOf)]));
}

/** Returns the attributes by which a search and choices find a row or a fold. */
export function findableAttributes({ search, people, direction }: Findable): Readonly<Record<string, string | undefined>> {
  if (search === undefined && people === undefined) return {};
  const { connection, verbs, groups, except = [] } = people ?? {};
  const words = [connection, search, ...(people === undefined ? [] : (groups ?? ['everybody']))].filter((text) => text !== undefined);
  return {
    'data-name': words.join(' ').toLowerCase(),
    'data-direction': direction,
    'data-connection': connection,
    'data-verbs': verbs && JSON.stringify(verbs),
    'data-groups': groups && JSON.stringify(groups),
    'data-except': people !== undefined && groups === undefined ? JSON.stringify(except) : undefined,
  };
}

/** Returns a choice of a group, a connection and a verb. */
export function choiceBoxes({ title = 'Rows of the table', rows, verbs = [] }: TableBlock): Html {
  const people = rows.flatMap((row) => row.people ?? []);
  const groups = distinctSorted(people.flatMap((one) => [...(one.groups ?? []), ...(one.except ?? [])]));
  const choices = { group: [...groups, peopleInNone], connection: distinctSorted(people.map(({ connection }) => connection)), verb: verbs };
  const boxes = Object.entries(choices).map(([name, values]) => {
    const options = ['', ...values].map((value) => element('option', { value }, value === '' ? 'all' : value));
    return element('label', {}, [`${name} `, element('select', { 'data-choice': name }, options)]);
  });
  return element('div', { class: 'filters', role: 'group', 'aria-label': title }, boxes);
}

/** Returns folded tables below their title. */
export function foldsSection({ title, folds, more }: FoldsBlock, linkOf: LinkOf | undefined): readonly Html[] {
  if (folds.length === 0) return [];
  const details = folds.map(({ summary, table, ...findable }) =>
    element('details', findableAttributes(findable), [
      element('summary', {}, [lineHtml(summary, linkOf)]),
      element('div', { class: 'scroll' }, [tableHtml(table, linkOf)]),
    ]),
  );
  return [element('h2', {}, title), element('div', { 'data-part': true }, [...unfoldFirst(details, 'more connection'), ...moreHtml(more)])];
}

/** Returns the first elements, and the others in one fold, which a search opens. */
export function unfoldFirst(elements: readonly Html[], word: string): readonly Html[] {
  const rest = elements.slice(mostUnfolded);
  if (rest.length === 0) return elements;
  const fold = element('details', { 'data-part': true, 'data-rest': true }, [element('summary', {}, plural(rest.length, word)), ...rest]);
  return [...elements.slice(0, mostUnfolded), fold];
}
