import { describe, expect, test } from 'vitest';
import { readableKinds } from '../../../src/kinds/watched.ts';
import { registry } from '../../../src/kinds/index.ts';
import { hoopDialect } from '../../../src/gateway/dialects/hoop/index.ts';
import { watchedLists } from '../../../src/model/protection/access-objects.ts';
import { type CoverageTable, findGaps, type RouteList } from '../../gateway-coverage.js';
import coverage from '../../support/gateway-coverage.json' with { type: 'json' };
import routes from '../../support/gateway-routes.json' with { type: 'json' };

const table: CoverageTable = coverage;
const list: RouteList = routes;

test('every route of the public gateway, and every field of what is managed or watched, is in the table', () => {
  expect(findGaps(list, table)).toEqual([]);
});

describe('what another version has is found', () => {
  const fields = (route: string, ...names: readonly string[]): RouteList => ({
    ...list,
    fields: { ...list.fields, [route]: [...(list.fields[route] ?? []), ...names] },
  });
  test.each<readonly [string, RouteList, string]>([
    ['a route', { ...list, routes: [...list.routes, 'GET /tool-policies'] }, 'GET /tool-policies is new'],
    ['a method', { ...list, routes: [...list.routes, 'PATCH /guardrails/{id}'] }, 'PATCH /guardrails/{id} is new'],
    ['a route less', { ...list, routes: list.routes.filter((one) => one !== 'GET /search') }, 'GET /search is in the table, and no longer'],
    ['a field', fields('POST /connections', 'max_result_kb'), 'POST /connections has a new field max_result_kb: Connection has none'],
    [
      'a field of an entry',
      fields('POST /datamasking-rules', 'custom_entity_types[].case'),
      'POST /datamasking-rules has a new field custom_entity_types[].case',
    ],
    ['a field of what is watched', fields('GET /api-keys', 'scopes[]'), 'GET /api-keys has a new field scopes: ApiKey has none'],
    [
      'a field less',
      { ...list, fields: { ...list.fields, 'POST /connections': ['name'] } },
      'POST /connections has no field effective_features any more',
    ],
  ])('%s', (_, changed, gap) => {
    expect(findGaps(changed, table).join('\n')).toContain(gap);
  });
});

test('every kind that is read has its routes in the table, and no other one has', () => {
  const named = (is: string): ReadonlySet<string> =>
    new Set(table.rows.flatMap((row) => (row.is === is ? [(row.as ?? '').replace(/:.*/, '')] : [])));
  expect([...named('managed')].toSorted()).toEqual(Object.keys(hoopDialect.kinds).toSorted());
  expect([...named('watched')].toSorted()).toEqual(Object.keys(watchedLists).toSorted());
  expect([...new Set(table.rows.map(({ is }) => is))].toSorted()).toEqual(['ignored', 'managed', 'used', 'watched']);
});

/** Returns whether a path is one of a route with parameters. */
function isOf(route: string, path: string): boolean {
  return new RegExp(`^GET ${route.slice(4).replaceAll(/\{[^}]+\}/g, '[^/]+')}$`).test(`GET ${path}`);
}

test('every list that the dialect reads is a route of the gateway, and not an ignored one', () => {
  // The document of the gateway leaves these out.
  const undocumented = new Set(['/event-routing/subscriptions']);
  const paths = [
    ...Object.values(hoopDialect.kinds).map(({ list: { path } }) => path),
    ...Object.values(hoopDialect.access).map(({ list: { path } }) => path),
  ];
  const known = table.rows.flatMap((row) => (row.is === 'ignored' ? [] : row.routes.filter((one) => one.startsWith('GET '))));
  expect(paths.filter((path) => !undocumented.has(path) && !known.some((route) => isOf(route, path)))).toEqual([]);
});

test('every field of a manifest that the public gateway has is sent by a route of the table', () => {
  const missing = [...registry].flatMap(([kind, { fields }]) => {
    const own = table.fields.filter((entry) => entry.kind === kind);
    const sent = own.flatMap(({ of }) => list.fields[of] ?? []).map((path) => path.split(/[.[]/)[0]);
    const nameOf = (name: string): string => own.map(({ names = {} }) => names[name]).find((one) => one !== undefined) ?? name;
    const writable = fields.filter(({ name, dialect = 'hoop' }) => dialect === 'hoop' && !['connection_selector'].includes(name));
    return writable.filter(({ name }) => !sent.includes(nameOf(name))).map(({ name }) => `${kind}.${name}`);
  });
  expect(missing).toEqual([]);
  expect(readableKinds.size).toBe(registry.size + Object.keys(watchedLists).length);
});
