import * as fc from 'fast-check';
import { connection } from './manifests.ts';
import type { Manifest } from './scenario.ts';
import type { SmallPlan } from './small-plans.ts';

/** What happens to an object between both commits; `reverted` takes its former name back. */
type Fate = 'both' | 'created' | 'deleted' | 'renamed' | 'reverted';

const connections = ['c0', 'c1', 'c2', 'c3'];
const attributes = ['a0', 'a1'];
const groups = ['g1', 'g2', 'g3'];

function bothSides<T>(one: fc.Arbitrary<T>): fc.Arbitrary<readonly [before: T, after: T]> {
  return fc.tuple(one, one);
}

const someAttributes = fc.oneof(fc.constant<string[]>([]), fc.subarray(attributes));

const drawnConnection = fc.record({
  fate: fc.constantFrom<Fate>('both', 'both', 'renamed', 'reverted', 'created', 'deleted'),
  attributes: bothSides(someAttributes),
  reviewers: bothSides(fc.oneof(fc.constant<string[]>([]), fc.subarray(['g1', 'g2']))),
  access_groups: bothSides(fc.subarray(groups, { minLength: 1 })),
  isSame: fc.boolean(),
});

const drawnRule = fc.record({
  fate: fc.constantFrom<Fate>('both', 'both', 'both', 'created', 'deleted', 'renamed', 'reverted'),
  type: bothSides(fc.constantFrom('jit', 'command', 'jit_command')),
  named: bothSides(fc.subarray(connections)),
  attributes: bothSides(someAttributes),
  reviewers: bothSides(fc.subarray(groups, { minLength: 1 })),
  approvals: bothSides(fc.constantFrom(1, 1, 2)),
});

type Drawn<T> = T extends fc.Arbitrary<infer Value> ? Value : never;
type DrawnPlan = {
  readonly connections: readonly Drawn<typeof drawnConnection>[];
  readonly rules: readonly Drawn<typeof drawnRule>[];
};

/** Plans in which access-request rules exchange connections, attributes and steps while both are renamed, created and deleted. */
export const tangledPlan: fc.Arbitrary<SmallPlan> = fc
  .record({
    connections: fc.array(drawnConnection, { minLength: 2, maxLength: 4 }),
    rules: fc.array(drawnRule, { minLength: 2, maxLength: 4 }),
  })
  .map((drawn): SmallPlan => [manifestsOf(drawn, 0), manifestsOf(drawn, 1)])
  .filter((sides) => sides.every((manifests) => manifests.some(({ kind }) => kind === 'Connection')));

function manifestsOf(drawn: DrawnPlan, side: 0 | 1): readonly Manifest[] {
  const names = new Map(drawn.connections.flatMap(({ fate }, at) => (isOn(fate, side) ? [[`c${at}`, nameOn(fate, `c${at}`, side)]] : [])));
  const taken = new Set<string>();
  return [
    ...drawn.connections.flatMap(({ fate, isSame, ...fields }, at): readonly Manifest[] => {
      const name = names.get(`c${at}`);
      if (name === undefined) return [];
      const from = isSame ? 0 : side;
      const spec = Object.fromEntries(Object.entries(fields).map(([field, sides]) => [field, sides[from]]));
      const one = connection(name, { ...spec, access_schema: 'disabled', access_mode_runbooks: 'enabled' });
      return [{ ...one, metadata: { ...one.metadata, ...(isRenamed(fate, side) ? { replaces: `c${at}` } : {}) } }];
    }),
    ...attributes.map((name): Manifest => ({ kind: 'Attribute', metadata: { name }, spec: {} })),
    ...drawn.rules.flatMap(({ fate, ...rule }, at): readonly Manifest[] => {
      if (!isOn(fate, side)) return [];
      const type = rule.type[side];
      const take = (target: string): boolean => {
        const slots = (type === 'jit_command' ? ['jit', 'command'] : [type]).map((step) => `${step} ${target}`);
        if (slots.some((slot) => taken.has(slot))) return false;
        for (const slot of slots) taken.add(slot);
        return true;
      };
      const named = rule.named[side].flatMap((one) => names.get(one) ?? []).filter(take);
      const joined = rule.attributes[side].filter((one) => take(`attribute ${one}`));
      if (named.length + joined.length === 0) return [];
      const reviewers = rule.reviewers[side];
      const metadata = { name: nameOn(fate, `r${at}`, side), ...(isRenamed(fate, side) ? { renamedFrom: `r${at}` } : {}) };
      const approval = { reviewers_groups: reviewers, min_approvals: Math.min(rule.approvals[side], reviewers.length) };
      return [
        { kind: 'AccessRequestRule', metadata, spec: { access_type: type, connection_names: named, attributes: joined, ...approval } },
      ];
    }),
  ];
}

function isOn(fate: Fate, side: 0 | 1): boolean {
  return fate !== (side === 0 ? 'created' : 'deleted');
}

function isRenamed(fate: Fate, side: 0 | 1): boolean {
  return fate === 'renamed' && side === 1;
}

function nameOn(fate: Fate, name: string, side: 0 | 1): string {
  return fate === (side === 1 ? 'renamed' : 'reverted') ? `new-${name}` : name;
}
