import * as fc from 'fast-check';
import { registry } from '../../src/kinds/index.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { ResourceId } from '../../src/model/resource.ts';
import { connection } from './manifests.ts';
import type { MemoryResource } from './memory-store.ts';
import { manifestId, type Manifest } from './scenario.ts';

/** The manifests of two commits for the public gateway. */
export type SmallPlan = readonly [before: readonly Manifest[], after: readonly Manifest[]];

type Sides<T> = readonly [before: T, after: T];

/** Of most fields, both sides are alike: a plan in which everything changes has no order that could be wrong. */
function sidesOf<T>(one: fc.Arbitrary<T>): fc.Arbitrary<Sides<T>> {
  return fc.oneof(
    one.map((value): Sides<T> => [value, value]),
    fc.tuple(one, one),
  );
}

const presence = fc.constantFrom<Sides<boolean>>([true, true], [true, true], [true, true], [false, true], [true, false]);
const groups = fc.subarray(['g1', 'g2', 'g3']);
const someGroups = fc.subarray(['g1', 'g2', 'g3'], { minLength: 1 });
const mode = fc.constantFrom('enabled', 'enabled', 'enabled', 'disabled');
const connectionNames = ['c0', 'c1', 'c2'];
const attributeNames = ['a0', 'a1'];

const drawnConnection = fc.record({
  is: presence,
  reviewers: sidesOf(fc.oneof(fc.constant<string[]>([]), someGroups)),
  attributes: sidesOf(fc.subarray(attributeNames)),
  access_groups: sidesOf(someGroups),
  redact_types: sidesOf(fc.constantFrom<readonly string[]>([], [], ['EMAIL_ADDRESS'])),
  access_mode_connect: sidesOf(mode),
  access_mode_exec: sidesOf(mode),
});

const drawnAttribute = fc.record({ is: presence, access_groups: sidesOf(groups) });

const approval = fc.record({
  access_type: fc.constantFrom('jit', 'command', 'jit_command'),
  reviewers_groups: someGroups,
  approvals: fc.constantFrom<JsonObject>({ all_groups_must_approve: true }, { min_approvals: 1 }),
  force_approval_groups: fc.oneof(fc.constant<string[]>([]), groups),
  approval_required_groups: fc.oneof(fc.constant<string[]>([]), someGroups),
});

const drawnRule = fc.record({
  is: presence,
  kind: fc.constantFrom('GuardrailRule', 'DataMaskingRule', 'RunbookRule', 'AccessRequestRule', 'AccessRequestRule'),
  named: sidesOf(fc.subarray(connectionNames)),
  attributes: sidesOf(fc.subarray(attributeNames)),
  words: sidesOf(fc.subarray(['x', 'y', 'z'], { minLength: 1 })),
  user_groups: sidesOf(groups),
  approval: sidesOf(approval),
});

type Drawn<T> = T extends fc.Arbitrary<infer Value> ? Value : never;
type DrawnRule = Drawn<typeof drawnRule>;
type DrawnPlan = {
  readonly connections: readonly Drawn<typeof drawnConnection>[];
  readonly attributes: readonly Drawn<typeof drawnAttribute>[];
  readonly rules: readonly DrawnRule[];
};

/** Plans of up to three connections, two attributes and four rules of every kind. */
export const smallPlan: fc.Arbitrary<SmallPlan> = fc
  .record({
    connections: fc.array(drawnConnection, { minLength: 1, maxLength: 3 }),
    attributes: fc.array(drawnAttribute, { maxLength: 2 }),
    rules: fc.array(drawnRule, { minLength: 1, maxLength: 4 }),
  })
  .map((drawn): SmallPlan => [manifestsOf(drawn, 0), manifestsOf(drawn, 1)])
  .filter((sides) => sides.every((manifests) => manifests.length > 0));

function manifestsOf({ connections, attributes, rules }: DrawnPlan, side: 0 | 1): readonly Manifest[] {
  const has = attributeNames.filter((_, at) => attributes[at]?.is[side] === true);
  const named = connectionNames.filter((_, at) => connections[at]?.is[side] === true);
  const taken = new Set<string>();
  return [
    ...connections.flatMap(({ is, access_mode_exec: exec, ...fields }, at) => {
      const spec = { ...onSide(fields, side), access_mode_exec: exec[side], access_mode_runbooks: exec[side] };
      const joined = fields.attributes[side].filter((name) => has.includes(name));
      return is[side] ? [connection(connectionNames[at] ?? '', { ...spec, attributes: joined, access_schema: 'disabled' })] : [];
    }),
    ...attributes.flatMap(({ is, access_groups: granted }, at): readonly Manifest[] =>
      is[side] ? [{ kind: 'Attribute', metadata: { name: attributeNames[at] ?? '' }, spec: { access_groups: granted[side] } }] : [],
    ),
    ...rules.flatMap((rule, at): readonly Manifest[] => {
      const ends = { connections: rule.named[side].filter((one) => named.includes(one)), attributes: rule.attributes[side] };
      const joined = { ...ends, attributes: ends.attributes.filter((one) => has.includes(one)) };
      const spec = rule.is[side] ? ruleSpec(rule, side, { ...joined, taken }) : undefined;
      return spec === undefined ? [] : [{ kind: rule.kind, metadata: { name: `r${at}` }, spec }];
    }),
  ];
}

function onSide(fields: Readonly<Record<string, Sides<string | readonly string[]>>>, side: 0 | 1): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([name, sides]) => [name, sides[side]]));
}

type Ends = {
  readonly connections: readonly string[];
  readonly attributes: readonly string[];
  /** What an access-request rule of a step governs already: the gateway lets only one do so. */
  readonly taken: Set<string>;
};

function ruleSpec({ kind, words, user_groups: users, approval: asked }: DrawnRule, side: 0 | 1, ends: Ends): JsonObject | undefined {
  const { connections, attributes, taken } = ends;
  if (kind === 'GuardrailRule') {
    const rules = words[side].map((word) => ({ name: word, type: 'deny_words_list', words: [word] }));
    return { input: { rules }, connection_ids: connections, attributes };
  }
  if (kind === 'DataMaskingRule') {
    const types = words[side].map((word) => ({ name: word, entity_types: ['PERSON'] }));
    return { supported_entity_types: types, connection_ids: connections, attributes };
  }
  if (kind === 'RunbookRule') {
    const runbooks = words[side].map((name) => ({ repository: 'books', name }));
    return { user_groups: users[side], connections, runbooks };
  }
  const { approvals, ...spec } = asked[side];
  const steps = spec.access_type === 'jit_command' ? ['jit', 'command'] : [spec.access_type];
  const take = (target: string): boolean => {
    const slots = steps.map((step) => `${step} ${target}`);
    if (slots.some((slot) => taken.has(slot))) return false;
    for (const slot of slots) taken.add(slot);
    return true;
  };
  const joined = attributes.filter((name) => take(`attribute ${name}`));
  const named = connections.filter(take);
  return named.length + joined.length === 0 ? undefined : { ...spec, ...approvals, connection_names: named, attributes: joined };
}

/** Returns what a gateway stores of a manifest without references by selector. */
export function storedAs(one: Manifest): MemoryResource {
  const edges = (registry.get(one.kind)?.fields ?? []).flatMap(({ name, edge }) => {
    const ends = edge === undefined ? undefined : one.spec[name];
    return Array.isArray(ends) ? [[name, ends.map((end): ResourceId => `Connection/${String(end)}`)] as const] : [];
  });
  const own = Object.entries(one.spec).filter(([name]) => edges.every(([field]) => field !== name));
  return { id: manifestId(one), spec: Object.fromEntries(own), edges: Object.fromEntries(edges) };
}
