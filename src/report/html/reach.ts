import { positionOf } from '../../model/diagnostic.ts';
import type { Impact } from '../../model/protection/protection.ts';
import { nameOf } from '../../model/resource.ts';
import { shortList } from '../wording/counts.ts';
import type { LinkOf } from '../links.ts';
import { causeName, tagTexts } from '../reach.ts';
import { element, type Html } from './markup.ts';
import { placeHtml } from './place.ts';
import { badge } from './badges.ts';

const mostCauses = 100;
const mostNames = 12;
const mostTags = 12;
const mostPlaces = 3;

const headers = ['cause', 'which is', 'connections', 'their tags'];

/** What each cause reaches, as a table. */
export function reachTable(all: readonly Impact[], linkOf: LinkOf | undefined): readonly Html[] {
  const head = element('thead', {}, [
    element(
      'tr',
      {},
      headers.map((text) => element('th', { scope: 'col' }, text)),
    ),
  ]);
  const rows = all.slice(0, mostCauses).map((reach) => reachRow(reach, linkOf));
  const more = all.length - mostCauses;
  return [
    element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'What each cause reaches' }, [
      element('table', {}, [head, element('tbody', {}, rows)]),
    ]),
    ...(more > 0 ? [element('p', { class: 'quiet' }, `and ${more} more`)] : []),
  ];
}

function reachRow(reach: Impact, linkOf: LinkOf | undefined): Html {
  const { connections, places, byHand, way } = reach;
  const names = shortList(connections.map(nameOf), mostNames).join(', ');
  const lines = places.slice(0, mostPlaces).flatMap((place) => positionOf(place) ?? []);
  const more = places.length - lines.length;
  return element('tr', {}, [
    element('th', { scope: 'row' }, [
      element('div', { class: 'mono' }, causeName(reach)),
      ...(byHand === true ? [element('div', { class: 'quiet' }, 'by hand')] : []),
      ...lines.map((at) => element('div', {}, [placeHtml(at, linkOf)])),
      ...(more > 0 ? [element('div', { class: 'quiet' }, `and ${more} more`)] : []),
    ]),
    element('td', {}, [badge(way)]),
    element('td', {}, [element('strong', {}, String(connections.length)), ' ', element('span', { class: 'mono' }, names)]),
    element('td', { class: 'tags mono' }, tagTexts(reach, mostTags).join(', ')),
  ]);
}
