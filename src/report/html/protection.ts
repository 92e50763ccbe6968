import { parsePosition } from '../../model/diagnostic.ts';
import type { ControlChange, Cause, Impact, PostureChange, ConnectionRule } from '../../model/protection/protection.ts';
import { nameOf } from '../../model/resource.ts';
import { attachmentsText, causeName, tagTexts } from '../wording/impact.ts';
import { shortList } from '../wording/counts.ts';
import type { LinkOf } from '../links.ts';
import { pathText, controlText } from '../wording/value.ts';
import { element, type Html } from './markup.ts';
import { controlNames, searchText } from './matrix.ts';
import { verdictBadge, positionHtml } from './badges.ts';

const mostParts = 40;
const mostCauses = 5;
const mostImpacts = 100;
const mostNames = 12;
const mostTags = 12;
const mostPlaces = 3;

/** Returns the protection of one connection before and after, with the lines that cause the difference; folded. */
export function postureDetails(change: PostureChange, linkOf: LinkOf | undefined): Html {
  const { connection, way, comes, goes, tags, aspects, rules = [] } = change;
  const name = nameOf(connection);
  const note = comes === true ? 'comes' : goes === true ? 'goes' : aspects.map(({ aspect }) => controlNames[aspect]).join(', ');
  const rows = [...aspects.map((aspect) => aspectRow(aspect, linkOf)), ...(rules.length === 0 ? [] : [rulesRow(rules)])];
  const head = element('thead', {}, [
    element(
      'tr',
      {},
      ['what', 'before', 'after', 'which is', 'because of'].map((text) => element('th', { scope: 'col' }, text)),
    ),
  ]);
  return element('details', { 'data-name': searchText(name, tags), 'data-way': way }, [
    element('summary', {}, [
      verdictBadge(way),
      ' ',
      element('span', { class: 'mono' }, name),
      ' ',
      element('span', { class: 'quiet' }, note),
    ]),
    element('div', { class: 'scroll' }, [element('table', {}, [head, element('tbody', {}, rows)])]),
  ]);
}

function aspectRow({ aspect, way, before, after, atLeast, causes }: ControlChange, linkOf: LinkOf | undefined): Html {
  const spoken = (texts: readonly string[]): readonly string[] => texts.map((text) => controlText(aspect, text));
  const [first, last] = [spoken(before), spoken(after)];
  const least = atLeast === true ? element('div', { class: 'quiet' }, 'at least: there may be more') : '';
  return element('tr', {}, [
    element('th', { scope: 'row' }, controlNames[aspect]),
    element('td', {}, parts(first, last, 'loses')),
    element('td', {}, [...parts(last, first, 'gains'), least]),
    element('td', {}, [verdictBadge(way)]),
    element('td', {}, causesHtml(causes, linkOf)),
  ]);
}

/** Returns the rules on a connection with their attachments. A rule whose attachment alone changes is not marked. */
function rulesRow(rules: readonly ConnectionRule[]): Html {
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
    element('td', {}, side('before', 'loses')),
    element('td', {}, side('after', 'gains')),
    element('td', {}, ''),
    element('td', {}, ''),
  ]);
}

/** Returns one side; values that the other side lacks are marked by sign and color. */
function parts(own: readonly string[], other: readonly string[], kind: 'gains' | 'loses'): readonly Html[] {
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
      ...(byHand === true ? [element('span', { class: 'quiet' }, ' changed by hand')] : []),
    ]);
  });
  const more = causes.length - shown.length;
  return more > 0 ? [...shown, element('div', { class: 'quiet' }, `and ${more} more`)] : shown;
}

const impactHeaders = ['cause', 'which is', 'connections', 'their tags'];

/** Returns the impact as a table: each cause with the connections that it affects. */
export function impactTable(causes: readonly Impact[], linkOf: LinkOf | undefined): readonly Html[] {
  const head = element('thead', {}, [
    element(
      'tr',
      {},
      impactHeaders.map((text) => element('th', { scope: 'col' }, text)),
    ),
  ]);
  const rows = causes.slice(0, mostImpacts).map((cause) => impactRow(cause, linkOf));
  const more = causes.length - mostImpacts;
  return [
    element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'What each cause reaches' }, [
      element('table', {}, [head, element('tbody', {}, rows)]),
    ]),
    ...(more > 0 ? [element('p', { class: 'quiet' }, `and ${more} more`)] : []),
  ];
}

function impactRow(cause: Impact, linkOf: LinkOf | undefined): Html {
  const { connections, places, byHand, way } = cause;
  const names = shortList(connections.map(nameOf), mostNames).join(', ');
  const lines = places.slice(0, mostPlaces).flatMap((place) => parsePosition(place) ?? []);
  const more = places.length - lines.length;
  return element('tr', {}, [
    element('th', { scope: 'row' }, [
      element('div', { class: 'mono' }, causeName(cause)),
      ...(byHand === true ? [element('div', { class: 'quiet' }, 'by hand')] : []),
      ...lines.map((at) => element('div', {}, [positionHtml(at, linkOf)])),
      ...(more > 0 ? [element('div', { class: 'quiet' }, `and ${more} more`)] : []),
    ]),
    element('td', {}, [verdictBadge(way)]),
    element('td', {}, [element('strong', {}, String(connections.length)), ' ', element('span', { class: 'mono' }, names)]),
    element('td', { class: 'tags mono' }, tagTexts(cause, mostTags).join(', ')),
  ]);
}
