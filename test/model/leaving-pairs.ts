import * as fc from 'fast-check';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { Manifest } from '../support/scenario.ts';
import { declaredNames } from './access-drawing.ts';
import type { AccessPair } from './access-pairs.ts';
import { accessPools } from './access-pools.ts';
import { fieldsOf, type Fields } from './gateway-objects.ts';
import { leadingPairs } from './leading-pairs.ts';
import { seldom, sides, type Side, type Sides } from './pair-fields.ts';
import { appliedOf, remainingOf, settled, stateAfter, withOwnRows } from './settled-pair.ts';

/** An entry of an access test: what a group may not do on some connections. */
export type Covering = { readonly group: string; readonly on: JsonObject | string };

/** A pair whose manifests no longer state what they stated: fields that the gateway keeps, and tags by which access tests cover connections. */
export type LeavingPair = AccessPair & { readonly entries: readonly Covering[] };

/** The fields that protect a connection, and that the gateway keeps where a manifest leaves them out. */
const fields: Readonly<Record<string, fc.Arbitrary<Json>>> = {
  access_groups: fc.subarray([...accessPools.groups], { maxLength: 2 }),
  attributes: fc.subarray([...accessPools.attributes], { maxLength: 2 }),
  min_review_approvals: fc.constantFrom(null, 1, 2),
  mandatory_metadata_fields: fc.subarray(['ticket', 'reason']),
};

/** What a manifest stated of a field, whether it leaves it out now, and what somebody wrote there by hand. */
const left = fc.record(
  Object.fromEntries(
    Object.entries(fields).map(([name, stated]) => [name, fc.record({ stated, isLeft: fc.boolean(), byHand: seldom(stated, 12) })]),
  ),
);
type Left = typeof left extends fc.Arbitrary<infer Value> ? Value : never;

const tags = sides(fc.constantFrom<Json | undefined>({ env: 'prod' }, { env: 'prod', tier: 'pci' }, { env: 'dev' }, {}, undefined), 8);

const selector = fc.constantFrom<Covering['on']>(
  { match_tags: { env: 'prod' } },
  { match_tags: { tier: 'pci' } },
  { match_tags: { env: 'prod', tier: 'pci' } },
  'orders',
  '*er',
  '*',
);

type Drawn = { readonly fields: Left | undefined; readonly tags: Sides<Json | undefined> };

const drawnConnection: fc.Arbitrary<Drawn> = fc.record({ fields: seldom(left, 12), tags });

/** Pairs whose manifests leave fields to the gateway, which may have been edited there since, and change tags. */
export const leavingPairs: fc.Arbitrary<LeavingPair> = fc
  .record({
    pair: leadingPairs,
    connections: fc.tuple(...declaredNames.map(() => drawnConnection)),
    selectors: fc.array(selector, { minLength: 1, maxLength: 3 }),
  })
  .map(({ pair, connections, selectors }) => {
    const on = (side: Side, list: readonly Manifest[]): readonly Manifest[] =>
      list.map((one) => {
        const { name } = one.metadata;
        const drawn = connections[declaredNames.indexOf(name === 'successor' ? 'orders' : name)];
        return drawn === undefined ? one : { ...one, spec: specOn(side, drawn, one.spec) };
      });
    const base = on('base', pair.base ?? pair.live);
    const entries = selectors.map((own, index) => ({ group: accessPools.groups[index] ?? '', on: own }));
    return { ...withOwnRows({ ...pair, base, live: on('live', base), manifests: on('desired', pair.manifests) }), entries };
  });

function specOn(side: Side, { fields: drawn = {}, tags: tagged }: Drawn, spec: JsonObject): JsonObject {
  const { connection_tags: _, ...rest } = spec;
  const result: Record<string, Json> = { ...rest };
  for (const [name, { stated, isLeft, byHand }] of Object.entries(drawn)) {
    if (side === 'base') result[name] = stated;
    else if (isLeft && side === 'desired') delete result[name];
    else if (isLeft && byHand !== undefined) result[name] = byHand;
  }
  const own = (side === 'base' ? undefined : tagged[side]) ?? tagged.base;
  return own === undefined ? result : { ...result, connection_tags: own };
}

/** Returns a pair after the apply of its manifests, on whose gateway somebody wrote to the fields that they left: what the first pair has there by hand. */
export function editedAfter(pair: AccessPair): AccessPair {
  const byHand = new Map(pair.live.map(({ metadata, spec }) => [metadata.name, spec]));
  const applied = settled(pair);
  const edited = new Set(leftFieldsOf(applied));
  const live = appliedOf(applied).map((one) => {
    const { name } = one.metadata;
    const written = byHand.get(name) ?? byHand.get(applied.predecessors[name] ?? name) ?? {};
    const values = Object.entries(written).filter(([field]) => edited.has(`${name} /${field}`));
    return { ...one, spec: { ...one.spec, ...Object.fromEntries(values) } };
  });
  const objects = { ...pair.objects, rows: stateAfter(applied).rows };
  return withOwnRows({ ...pair, base: pair.manifests, live, objects });
}

/** Lists the fields that a manifest stated and leaves out now, as `name /field`. */
export function leftFieldsOf({ base = [], manifests, predecessors }: AccessPair): readonly string[] {
  const stated = new Map(base.map(({ metadata, spec }) => [metadata.name, spec]));
  return manifests.flatMap(({ metadata: { name }, spec }) => {
    const before = stated.get(name) ?? stated.get(predecessors[name] ?? name) ?? {};
    return Object.keys(fields).flatMap((field) => (before[field] !== undefined && spec[field] === undefined ? [`${name} /${field}`] : []));
  });
}

/** Lists the connections that stay, and that an entry covered as they were applied and does not cover any more, as `group name`. */
export function uncoveredOf(pair: LeavingPair): readonly string[] {
  const { base = [], live, manifests, predecessors, entries } = pair;
  const former = new Map([...live, ...base].map(({ metadata, spec }) => [metadata.name, spec]));
  return entries.flatMap(({ group, on }) =>
    [...manifests, ...remainingOf(pair)].flatMap(({ metadata: { name }, spec }) => {
      const was = former.has(name) ? name : (predecessors[name] ?? name);
      const before = former.get(was);
      const isLeft = before !== undefined && isCovered(on, was, before) && !isCovered(on, name, spec);
      return isLeft ? [`${group} ${name}`] : [];
    }),
  );
}

/** Returns whether a connection has all tags, or a name that the pattern matches, whose asterisks stand for any text. */
function isCovered(on: Covering['on'], name: string, { connection_tags: own }: Fields): boolean {
  if (typeof on === 'string') return new RegExp(`^${on.replaceAll('*', '.*')}$`).test(name);
  return Object.entries(fieldsOf(on['match_tags'])).every(([key, value]) => fieldsOf(own)[key] === value);
}
