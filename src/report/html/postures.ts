import type { Cause, ConnectionRule, ControlChange, ControlColumn, PostureChange } from '../../model/protection/protection.ts';
import { shortList } from '../wording/summary.ts';
import { controlText, pathText } from '../wording/value.ts';
import type { PostureSides } from '../document.ts';
import type { LinkOf } from '../links.ts';
import { columnOf, element, type Html, positionHtml, searchText, verdictBadge } from './markup.ts';
import { parsePosition } from '../../model/diagnostic.ts';
import { nameOf } from '../../model/resource.ts';
import { attachmentsText, driftCause } from '../wording/causes.ts';

const mostParts = 40;
const mostCauses = 5;

type PostureTable = { readonly columns: readonly ControlColumn[]; readonly sides?: PostureSides };

/** Returns the protection of one connection before and after, with the lines that cause the difference; folded. */
export function postureDetails(
  change: PostureChange,
  { columns, sides = ['before', 'after'] }: PostureTable,
  linkOf: LinkOf | undefined,
): Html {
  const { connection, direction, created, deleted, tags, controls, rules = [] } = change;
  const name = nameOf(connection);
  const isWhole = created === true || deleted === true;
  const note =
    created === true
      ? 'created'
      : deleted === true
        ? 'deleted'
        : controls.map(({ control }) => columnOf(columns, control).heading).join(', ');
  const rows = [
    ...controls.map((control) => aspectRow(control, { column: columnOf(columns, control.control), sides, linkOf })),
    ...(rules.length === 0 ? [] : [rulesRow(rules, sides)]),
  ];
  const head = element('thead', {}, [
    element(
      'tr',
      {},
      ['control', ...sides, 'effect', 'cause'].map((text) => element('th', { scope: 'col' }, text)),
    ),
  ]);
  return element('details', { 'data-name': searchText(name, tags), 'data-direction': direction }, [
    element('summary', {}, [
      ...(isWhole && direction === 'neutral' ? [] : [verdictBadge(direction), ' ']),
      element('span', { class: 'mono' }, name),
      ' ',
      element('span', { class: 'quiet' }, note),
    ]),
    element('div', { class: 'scroll' }, [element('table', { class: 'stack' }, [head, element('tbody', {}, rows)])]),
  ]);
}

type AspectContext = { readonly column: ControlColumn; readonly sides: PostureSides; readonly linkOf: LinkOf | undefined };

function aspectRow({ direction, before, after, atLeast, causes }: ControlChange, { column, sides, linkOf }: AspectContext): Html {
  const spoken = (texts: readonly string[]): readonly string[] => texts.map((text) => controlText(column, text));
  const [first, last] = [spoken(before), spoken(after)];
  // Rules can differ in what no entry of the list names.
  const isAlike = first.join('\n') === last.join('\n') ? element('div', { class: 'quiet' }, 'other conditions') : '';
  const least = atLeast === true ? element('div', { class: 'quiet' }, 'at least; more are possible') : '';
  return element('tr', {}, [
    element('th', { scope: 'row' }, column.heading),
    element('td', { 'data-label': sides[0] }, partsOnOneSide(first, last, 'loses')),
    element('td', { 'data-label': sides[1] }, [...partsOnOneSide(last, first, 'gains'), isAlike, least]),
    element('td', {}, [verdictBadge(direction)]),
    element('td', {}, causesHtml(causes, linkOf)),
  ]);
}

/** Returns the rules on a connection with their attachments. A rule whose attachment alone changes is not marked. */
function rulesRow(rules: readonly ConnectionRule[], sides: PostureSides): Html {
  const side = (name: 'before' | 'after', kind: 'gains' | 'loses'): readonly Html[] => {
    const own = rules.filter((rule) => rule[name] !== undefined);
    if (own.length === 0) return [element('span', { class: 'quiet' }, 'nothing')];
    return own.slice(0, mostParts).map((rule) => {
      const isAlone = rule.before === undefined || rule.after === undefined;
      const sign = isAlone ? (kind === 'gains' ? '+ ' : '− ') : '';
      return element(
        'div',
        { class: `mono${isAlone ? ` ${kind}` : ''}` },
        `${sign}${rule.rule} (${attachmentsText(rule[name]?.by ?? [])})`,
      );
    });
  };
  return element('tr', {}, [
    element('th', { scope: 'row' }, 'rules on it'),
    element('td', { 'data-label': sides[0] }, side('before', 'loses')),
    element('td', { 'data-label': sides[1] }, side('after', 'gains')),
    element('td', {}, ''),
    element('td', {}, ''),
  ]);
}

/** Returns one side; values that are missing on the other side are marked by sign and color. */
function partsOnOneSide(own: readonly string[], other: readonly string[], kind: 'gains' | 'loses'): readonly Html[] {
  if (own.length === 0) return [element('span', { class: 'quiet' }, 'nothing')];
  const there = new Set(other);
  const sign = kind === 'gains' ? '+ ' : '− ';
  return shortList(own, mostParts).map((text) =>
    element('div', { class: `mono${there.has(text) ? '' : ` ${kind}`}` }, `${there.has(text) ? '' : sign}${text}`),
  );
}

function causesHtml(causes: readonly Cause[], linkOf: LinkOf | undefined): readonly Html[] {
  const shown = causes.slice(0, mostCauses).map(({ by, path, edge, place, byHand }) => {
    const at = place === undefined ? undefined : parsePosition(place);
    const what = [by, ...(path === undefined ? [] : [pathText(path)]), ...(edge === undefined ? [] : [`↔ ${edge}`])].join(' ');
    return element('div', {}, [
      element('span', { class: 'mono' }, what),
      ...(at === undefined ? [] : [' ', positionHtml(at, linkOf)]),
      ...(byHand === true ? [element('span', { class: 'quiet' }, ` ${driftCause('')}`)] : []),
    ]);
  });
  const more = causes.length - shown.length;
  return more > 0 ? [...shown, element('div', { class: 'quiet' }, `and ${more} more`)] : shown;
}
