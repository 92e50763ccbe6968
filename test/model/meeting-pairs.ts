import * as fc from 'fast-check';
import type { JsonObject } from '../../src/model/json.ts';
import type { Manifest } from '../support/scenario.ts';
import type { AccessPair } from './access-pairs.ts';
import { accessPools } from './access-pools.ts';
import { approval, asRule } from './rule-pairs.ts';

/** A pair with guardrails, on whose connections many changes meet. */
export type MeetingPair = AccessPair & { readonly guardrails: readonly Manifest[] };

/** A value before and after the plan; most do not change. */
type Both<Value> = { readonly before: Value; readonly after: Value };

const { groups, files, patterns } = accessPools;
const names = ['orders', 'billing', 'ledger'] as const;
const groupsOf = (least: number, most: number): fc.Arbitrary<string[]> => fc.subarray([...groups], { minLength: least, maxLength: most });
const connectionsOf = (least: number): fc.Arbitrary<string[]> => fc.subarray([...names, 'fresh'], { minLength: least });

/** Draws both values, the same one as often as the weight says, where another one has weight 1. */
function both<Value>(value: fc.Arbitrary<Value>, same: number): fc.Arbitrary<Both<Value>> {
  return fc
    .tuple(value, fc.oneof({ weight: same, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value.map((one) => ({ one })) }))
    .map(([before, other]) => ({ before, after: other === undefined ? before : other.one }));
}

const present = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ before: true, after: true }) },
  { weight: 1, arbitrary: fc.constant({ before: false, after: true }) },
  { weight: 1, arbitrary: fc.constant({ before: true, after: false }) },
);

const attribute = fc.record({ kind: fc.constant('Attribute' as const), present, granted: both(groupsOf(0, 2), 0) });
const requestRule = fc.record({
  kind: fc.constant('AccessRequestRule' as const),
  present,
  type: both(fc.constantFrom('jit', 'command', 'jit_command'), 4),
  approval: both(approval, 1),
  /** The numbers of the attributes that the rule has. */
  attributes: both(fc.uniqueArray(fc.nat(13), { maxLength: 3 }), 3),
  named: both(connectionsOf(0), 3),
  isNaming: fc.boolean(),
});
const runbookRule = fc.record({
  kind: fc.constant('RunbookRule' as const),
  present,
  groups: both(groupsOf(0, 2), 0),
  named: both(connectionsOf(1), 3),
  file: both(
    fc.record({
      repository: fc.constantFrom(...files.map(({ repository }) => repository)),
      name: fc.constantFrom(...patterns.filter((one) => one !== '')),
    }),
    2,
  ),
});
const guardrail = fc.record({
  kind: fc.constant('GuardrailRule' as const),
  present,
  words: both(fc.subarray(['drop', 'grant', 'truncate'], { minLength: 1 }), 1),
  named: both(connectionsOf(0), 2),
});

const connection = fc.record({
  attributes: both(fc.integer({ min: 0, max: 2 ** 14 - 1 }), 3),
  granted: both(groupsOf(0, 2), 2),
  reviewers: both(fc.oneof(fc.constant<string[]>([]), groupsOf(1, 2)), 3),
  modes: both(fc.tuple(...['connect', 'exec', 'runbooks'].map(() => fc.constantFrom('enabled', 'enabled', 'enabled', 'disabled'))), 3),
});

const drawn = fc
  .record({
    count: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 5, max: 9 }) }, { weight: 1, arbitrary: fc.constant(14) }),
    /** How many connections exist. */
    breadth: fc.integer({ min: 1, max: 3 }),
    isFresh: fc.boolean(),
    /** No manifest declares the last connection. */
    isLoose: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    connections: fc.tuple(...[...names, 'fresh'].map(() => connection)),
    /** The first apply creates everything. */
    isFirst: fc.oneof({ weight: 7, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    /** Whether connections have most attributes. */
    isDense: fc.boolean(),
  })
  .chain((rest) =>
    fc
      .array(
        fc.oneof(
          { weight: 6, arbitrary: attribute },
          { weight: 6, arbitrary: requestRule },
          { weight: 4, arbitrary: runbookRule },
          { weight: 1, arbitrary: guardrail },
        ),
        { minLength: rest.count, maxLength: rest.count },
      )
      .map((objects) => ({ ...rest, objects })),
  );

type Drawn = typeof drawn extends fc.Arbitrary<infer Value> ? Value : never;
type Side = 'before' | 'after';
type Placed = { readonly side: Side; readonly there: readonly string[] };

/** Pairs with five to fourteen objects that decide access, or guardrails, most of which change on the same one to three connections. */
export const meetingPairs: fc.Arbitrary<MeetingPair> = drawn.map((all) => {
  const existing = names.slice(0, all.breadth);
  const before = all.isFirst ? [] : sideOf(all, { side: 'before', there: existing });
  const after = sideOf(all, { side: 'after', there: all.isFresh ? [...existing, 'fresh'] : existing });
  const loose = all.isLoose && all.breadth > 1 ? existing.at(-1) : undefined;
  const declared = (list: readonly Manifest[]): readonly Manifest[] => list.filter(({ metadata }) => metadata.name !== loose);
  const ofKind = (kind: string): readonly Manifest[] => before.filter((one) => one.kind === kind);
  return {
    base: all.isFirst ? undefined : declared(before),
    manifests: declared(after),
    live: ofKind('Connection'),
    guardrails: ofKind('GuardrailRule'),
    prune: true,
    unread: undefined,
    predecessors: {},
    objects: {
      license: 'enterprise',
      rules: ofKind('AccessRequestRule').map(asRule),
      runbookRules: ofKind('RunbookRule').map(({ metadata: { name }, spec }) => ({
        name,
        groups: textsOf(spec['user_groups']),
        connections: textsOf(spec['connections']),
        files: JSON.parse(JSON.stringify(spec['runbooks'])),
      })),
      analyzers: [],
      machines: [],
      rows: Object.fromEntries(ofKind('Connection').map(({ metadata: { name }, spec }) => [name, textsOf(spec['access_groups'])])),
      granted: Object.fromEntries(ofKind('Attribute').map(({ metadata: { name }, spec }) => [name, textsOf(spec['access_groups'])])),
    },
  };
});

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

const needed: JsonObject = { type: 'database', subtype: 'postgres', agent_id: 'default', command: ['psql'], access_schema: 'disabled' };

function sideOf({ objects, connections, isDense }: Drawn, { side, there }: Placed): readonly Manifest[] {
  const isThere = (index: number): boolean => objects[index]?.present[side] === true;
  // An object of another kind shares its number with an attribute that grants nothing and always exists.
  const attributes = objects.flatMap((one, index) => (one.kind !== 'Attribute' || isThere(index) ? [`at-${index}`] : []));
  const taken = new Set<string>();
  const rest = objects.flatMap((one, index): readonly Manifest[] => {
    if (one.kind === 'Attribute') return isThere(index) ? [manifest('Attribute', `at-${index}`, { access_groups: one.granted[side] })] : [];
    const idle = manifest('Attribute', `at-${index}`, { access_groups: [] });
    if (!isThere(index)) return [idle];
    const named = one.named[side].filter((name) => there.includes(name));
    if (one.kind === 'GuardrailRule') {
      const rules = one.words[side].map((word) => ({ name: word, type: 'deny_words_list', words: [word] }));
      return [idle, manifest(one.kind, `rule-${index}`, { input: { rules }, connection_ids: named })];
    }
    if (one.kind === 'RunbookRule') {
      if (named.length === 0) return [idle];
      return [idle, manifest(one.kind, `rule-${index}`, { user_groups: one.groups[side], connections: named, runbooks: [one.file[side]] })];
    }
    const type = one.type[side];
    const steps = type === 'jit_command' ? ['jit', 'command'] : [type];
    const take = (target: string): boolean => {
      const slots = steps.map((step) => `${step} ${target}`);
      if (slots.some((slot) => taken.has(slot))) return false;
      for (const slot of slots) taken.add(slot);
      return true;
    };
    const governed = one.attributes[side].map((number) => `at-${number % objects.length}`).filter((name) => attributes.includes(name));
    const own = [...new Set(governed)].filter(take);
    const ends = one.isNaming || own.length === 0 ? named.filter(take) : [];
    if (own.length + ends.length === 0) return [idle];
    const { access_max_duration: longest, ...rules } = one.approval[side];
    const limit = type === 'command' || longest === undefined ? {} : { access_max_duration: longest };
    return [idle, manifest(one.kind, `rule-${index}`, { ...rules, ...limit, access_type: type, attributes: own, connection_names: ends })];
  });
  const all = [...names, 'fresh'].flatMap((name, index): readonly Manifest[] => {
    const fields = connections[index];
    if (fields === undefined || !there.includes(name)) return [];
    const [connect, exec, runbooks] = fields.modes[side];
    const bits = fields.attributes[side] | (isDense ? fields.attributes.before >> 1 : 0);
    return [
      manifest('Connection', name, {
        ...needed,
        attributes: attributes.filter((one) => ((bits >> Number(one.slice(3))) & 1) === 1),
        access_groups: fields.granted[side],
        reviewers: fields.reviewers[side],
        access_mode_connect: connect ?? 'enabled',
        access_mode_exec: exec ?? 'enabled',
        access_mode_runbooks: runbooks ?? 'enabled',
      }),
    ];
  });
  return [...all, ...rest];
}

function manifest(kind: string, name: string, spec: JsonObject): Manifest {
  return { kind, metadata: { name }, spec };
}
