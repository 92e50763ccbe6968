import * as fc from 'fast-check';
import type { Manifest } from '../support/scenario.ts';
import { accessPairs, type AccessPair, withoutRow } from './access-pairs.ts';
import { accessPools } from './access-pools.ts';
import type { Side } from './pair-fields.ts';
import { approval, asRule } from './rule-pairs.ts';

const { attributes, connections } = accessPools;
const names = ['one', 'two', 'three'] as const;
const types = ['jit', 'command', 'jit_command'] as const;
const owner = fc.constantFrom(undefined, 0, 0, 1, 1, 2);

/** Which rule has each connection and each attribute, at each step; the gateway accepts one for each. */
type Owners = readonly (readonly [jit: number | undefined, command: number | undefined])[];

const owners = (count: number): fc.Arbitrary<Owners> =>
  fc
    .array(fc.tuple(owner, fc.boolean(), owner), { minLength: count, maxLength: count })
    .map((all) => all.map(([jit, isBoth, command]): Owners[number] => [jit, isBoth ? jit : command]));

const drawnSide = fc.record({
  types: fc.tuple(...names.map(() => fc.constantFrom('jit', ...types))),
  named: owners(connections.length),
  attached: fc.oneof({ weight: 2, arbitrary: fc.constant<Owners>([]) }, { weight: 1, arbitrary: owners(2) }),
  approvals: fc.tuple(...names.map(() => approval)),
});

type DrawnSide = typeof drawnSide extends fc.Arbitrary<infer Value> ? Value : never;

const drawnMoves = fc.record({
  base: drawnSide,
  /** Most moves change neither what rules ask for nor at which step. */
  desired: fc.record({ to: drawnSide, isOnlyMove: fc.boolean(), keepsTypes: fc.boolean() }),
  live: fc.option(drawnSide, { nil: undefined, freq: 2 }),
});

/** Pairs whose access-request rules take connections and attributes from each other, on a gateway with every other object that decides access. */
export const movePairs: fc.Arbitrary<AccessPair> = fc
  .tuple(accessPairs, drawnMoves)
  .map(([pair, { base: first, desired, live: other }]) => {
    const { to, isOnlyMove, keepsTypes } = desired;
    const last = {
      ...to,
      ...(isOnlyMove ? { approvals: first.approvals } : {}),
      ...(keepsTypes || isOnlyMove ? { types: first.types } : {}),
    };
    const sides: Readonly<Record<Side, DrawnSide>> = { base: first, desired: last, live: other ?? first };
    const on = (side: Side, among: readonly Manifest[]): readonly Manifest[] => rulesOn(sides[side], among);
    const { base, manifests, live, objects } = pair;
    return {
      ...pair,
      base: base && [...base.map((one) => withoutRow(one, objects.rows)), ...on('base', base)],
      manifests: [...manifests, ...on('desired', manifests)],
      unread: undefined,
      objects: { ...objects, license: 'enterprise', analyzers: [], rules: (base === undefined ? [] : on('live', live)).map(asRule) },
    };
  });

function rulesOn(side: DrawnSide, among: readonly Manifest[]): readonly Manifest[] {
  const declared = new Set(among.map(({ metadata }) => metadata.name));
  return names.flatMap((name, index) => {
    const type = side.types[index] ?? 'jit';
    const owns = ([jit, command]: Owners[number]): boolean =>
      type === 'jit_command' ? jit === index && command === index : type === 'jit' ? jit === index : command === index;
    const named = connections.filter((one, at) => declared.has(one) && owns(side.named[at] ?? [undefined, undefined]));
    const attached = attributes.filter((_, at) => owns(side.attached[at] ?? [undefined, undefined]));
    if (named.length + attached.length === 0) return [];
    const { access_max_duration: longest, ...rest } = side.approvals[index] ?? {};
    const limit = type === 'command' || longest === undefined ? {} : { access_max_duration: longest };
    const spec = { ...rest, ...limit, access_type: type, connection_names: named, attributes: attached };
    return [{ kind: 'AccessRequestRule', metadata: { name }, spec }];
  });
}
