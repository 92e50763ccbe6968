import * as fc from 'fast-check';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { Manifest } from '../support/scenario.ts';
import { declaredNames } from './access-drawing.ts';
import { accessPairs, type AccessPair } from './access-pairs.ts';
import { seldom, type Side } from './pair-fields.ts';

/** What a manifest states of where a connection leads. */
type Route = { readonly secret?: JsonObject; readonly agent_id: string };

const source = fc.constantFrom<Json>(
  { value: 'first' },
  { value: 'second' },
  { valueFrom: { env: 'OSTIARY_SECRET_A' } },
  { valueFrom: { env: 'OSTIARY_SECRET_B' } },
);
const host = fc.constantFrom('one.internal', 'one.internal', 'two.internal', 'localhost');
const spelling = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => `${text}.`,
);
const port = fc.constantFrom('', '5432', '5432', '6432');
const user = fc.constantFrom('app', 'root');
const database = fc.constantFrom('', 'main', 'test');

const byParts = fc.record({ host, spelling, port, user, database, source }).map((drawn) => ({
  'envvar:HOST': { value: drawn.spelling(drawn.host) },
  ...(drawn.port === '' ? {} : { 'envvar:PORT': { value: drawn.port } }),
  ...(drawn.database === '' ? {} : { 'envvar:DB': { value: drawn.database } }),
  'envvar:USER': { value: drawn.user },
  'envvar:PASS': drawn.source,
}));
const byUrl = fc.record({ host, port, user, database, source }).map((drawn) => ({
  'envvar:URL': { value: `postgres://${drawn.user}@${drawn.host}${drawn.port === '' ? '' : `:${drawn.port}`}/${drawn.database}` },
  'envvar:PASS': drawn.source,
}));
const byToken = source.map((token) => ({ 'envvar:TOKEN': token }));

const route: fc.Arbitrary<Route> = fc.record({
  secret: fc.oneof(
    { weight: 8, arbitrary: byParts },
    { weight: 2, arbitrary: byUrl },
    { weight: 1, arbitrary: byToken },
    { weight: 1, arbitrary: fc.constant({}) },
  ),
  agent_id: fc.constantFrom('default', 'default', 'default', 'other'),
});

/** The routes of one connection; a manifest may leave the secrets to the gateway. */
const drawnRoute = fc.record({
  base: route,
  desired: fc.option(
    fc.oneof({ weight: 6, arbitrary: route }, { weight: 1, arbitrary: route.map(({ agent_id }): Route => ({ agent_id })) }),
    { nil: undefined },
  ),
  live: seldom(route),
});

/** The connections that lead where others led, by name. */
const moves = fc.constantFrom<Readonly<Record<string, string>>>(
  {},
  {},
  { orders: 'billing', billing: 'orders' },
  { ledger: 'orders' },
  { orders: 'ledger', successor: 'ledger' },
  { fresh: 'billing' },
  { fresh: 'orders', successor: 'billing' },
);

const drawnRoutes = fc.record({ routes: fc.tuple(...declaredNames.map(() => drawnRoute)), moves });
type DrawnRoutes = typeof drawnRoutes extends fc.Arbitrary<infer Value> ? Value : never;

function routeOf(name: string, side: Side, { routes, moves: moved }: DrawnRoutes): Route | undefined {
  const drawnOf = (own: string): DrawnRoutes['routes'][number] | undefined =>
    routes[declaredNames.indexOf(own === 'successor' ? 'orders' : own)];
  const from = moved[name];
  if (side === 'desired' && from !== undefined) return drawnOf(from)?.base;
  const drawn = drawnOf(name);
  return (side === 'base' ? undefined : drawn?.[side]) ?? drawn?.base;
}

/** Pairs whose connections lead to a few servers, as a few users, and which plans swap, share, copy and lead elsewhere. */
export const leadingPairs: fc.Arbitrary<AccessPair> = fc.tuple(accessPairs, drawnRoutes).map(([pair, drawn]) => {
  const leading = (list: readonly Manifest[], side: Side): readonly Manifest[] =>
    list.map((one) => ({ ...one, spec: { ...one.spec, ...routeOf(one.metadata.name, side, drawn) } }));
  return {
    ...pair,
    base: pair.base && leading(pair.base, 'base'),
    manifests: leading(pair.manifests, 'desired'),
    live: leading(pair.live, 'live'),
  };
});
