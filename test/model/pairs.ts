import * as fc from 'fast-check';
import { isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { resourceId } from '../../src/model/resource.ts';
import type { MemoryResource } from '../support/memory-store.ts';
import type { Manifest } from '../support/scenario.ts';
import { pools } from './protection-model.ts';

/** The manifests that were applied, the manifests now, and the gateway, which may have drifted. */
export type Pair = {
  readonly dialect: 'interface' | 'hoop';
  /** Absent where nothing is known about earlier applies. */
  readonly base: readonly Manifest[] | undefined;
  readonly manifests: readonly Manifest[];
  readonly live: readonly MemoryResource[];
  readonly prune: boolean;
  /** Connections that the gateway reports as unwritten since their creation, by `Connection/name`. */
  readonly untouched: readonly string[];
  /** The predecessor of each successor, by `Connection/name`. */
  readonly predecessors: Readonly<Record<string, string>>;
};

/** A value that is the same everywhere unless a side has its own. */
type Sides<Value> = { readonly base: Value; readonly desired?: Value | undefined; readonly live?: Value | undefined };
type Side = 'base' | 'desired' | 'live';

const seldom = <Value>(value: fc.Arbitrary<Value>, often = 1): fc.Arbitrary<Value | undefined> =>
  fc.oneof({ withCrossShrink: true }, { weight: 12, arbitrary: fc.constant(undefined) }, { weight: often, arbitrary: value });

function sides<Value>(value: fc.Arbitrary<Value>, often = 1): fc.Arbitrary<Sides<Value>> {
  return fc.record({ base: value, desired: seldom(value, often), live: seldom(value, often) });
}

const some = (choices: readonly string[]): fc.Arbitrary<readonly string[]> => fc.subarray([...choices]);
const least = (choices: readonly string[]): fc.Arbitrary<readonly string[]> => fc.subarray([...choices], { minLength: 1 });
const mode = fc.constantFrom('disabled', 'enabled', 'enabled');

/** The fields of a connection; `undefined` leaves a field out of the manifest. */
const connectionFields: Readonly<Record<string, fc.Arbitrary<Json | undefined>>> = {
  subtype: fc.constantFrom('', '', 'postgres', 'tcp'),
  access_mode_connect: mode,
  access_mode_exec: mode,
  access_mode_runbooks: mode,
  access_schema: mode,
  access_max_duration: fc.constantFrom(null, ...pools.durations),
  reviewers: some(pools.groups),
  min_review_approvals: fc.constantFrom(undefined, null, 1, 2, 3),
  force_approve_groups: fc.oneof(fc.constant([]), some(['a', 'x'])),
  redact_types: fc.oneof(fc.constant([]), some(pools.redacted)),
};

const hoopFields: Readonly<Record<string, fc.Arbitrary<Json | undefined>>> = {
  mandatory_metadata_fields: fc.oneof(fc.constant(undefined), some(pools.metadata)),
  attributes: fc.oneof(fc.constant(undefined), some(pools.attributes)),
};

const word = least(pools.words).map((words) => ({ type: 'deny_words_list', words }));
const pattern = fc.constantFrom(...pools.patterns).map((regex) => ({ type: 'pattern_match', pattern_regex: regex }));
const unknown = pattern.map((known) => ({ ...known, type: 'pattern' }));
const ruleEntry = fc
  .tuple(
    fc.constantFrom('one', 'two'),
    fc.oneof({ weight: 8, arbitrary: word }, { weight: 8, arbitrary: pattern }, { weight: 1, arbitrary: unknown }),
  )
  .map(([name, content]) => ({ name, ...content }));
const rules = fc.uniqueArray(ruleEntry, { maxLength: 2, selector: ({ name }) => name }).map((list) => ({ rules: list }));
const guardrailFields = { input: rules, output: fc.oneof(fc.constant({ rules: [] }), rules) };

const registered = fc.uniqueArray(fc.record({ name: fc.constantFrom('G', 'H'), entity_types: least(pools.registered) }), {
  maxLength: 2,
  selector: ({ name }) => name,
});
const custom = fc.uniqueArray(
  fc.record(
    {
      name: fc.constantFrom('EMP', 'PERSON'),
      score: fc.constantFrom(...pools.scores),
      regex: fc.constantFrom(...pools.expressions),
      deny_list: some(pools.denied),
    },
    { requiredKeys: ['name', 'score', 'regex'] },
  ),
  { maxLength: 2, selector: ({ name }) => name },
);
const maskingFields = {
  score_threshold: fc.constantFrom(null, ...pools.thresholds),
  supported_entity_types: registered,
  custom_entity_types: custom,
};

type Drawn = Readonly<Record<string, Sides<Json | undefined>>>;

function fieldsOf(fields: Readonly<Record<string, fc.Arbitrary<Json | undefined>>>, often?: number): fc.Arbitrary<Drawn> {
  return fc.record(Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, sides(value, often)])));
}

/** Where an attachment is declared; on the gateway every declaration is the same. */
const attachment = fc.constantFrom('nowhere', 'rule', 'connection', 'both');
const present = fc.oneof({ weight: 15, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) });

const connectionNames = ['c0', 'c1', 'c2'] as const;
const ruleNames = ['g0', 'g1', 'm0'] as const;

const drawing = fc.record({
  scenario: fc.constantFrom('intent', 'intent', 'drift', 'both', 'first'),
  dialect: fc.constantFrom('interface' as const, 'interface' as const, 'hoop' as const),
  count: fc.integer({ min: 1, max: 3 }),
  ruleCount: fc.integer({ min: 0, max: 3 }),
  prune: fc.boolean(),
  replaces: seldom(fc.constant(true)),
  renames: seldom(fc.constant(true)),
  /** An interrupted apply created the last connection, and did not open it. */
  interrupted: seldom(fc.constant(true)),
  connections: fc.tuple(
    ...connectionNames.map(() =>
      fc.record({
        fields: fieldsOf(connectionFields),
        extra: fieldsOf(hoopFields),
        tag: sides(fc.constantFrom('prod', 'dev')),
        present: sides(present),
      }),
    ),
  ),
  rules: fc.tuple(
    ...ruleNames.map((name) =>
      fc.record({
        fields: fieldsOf(name.startsWith('g') ? guardrailFields : maskingFields, 3),
        extra: fieldsOf({ attributes: fc.oneof(fc.constant(undefined), some(pools.attributes)) }),
        edges: fc.tuple(...connectionNames.map(() => sides(attachment))),
        selector: sides(fc.constantFrom(undefined, undefined, undefined, 'prod')),
        present: sides(present),
      }),
    ),
  ),
});

type Drawing = typeof drawing extends fc.Arbitrary<infer Value> ? Value : never;
type DrawnConnection = Drawing['connections'][number] & { readonly name: string };
type DrawnRule = Drawing['rules'][number] & { readonly name: string };

/** The value of a side: its own where the scenario lets the side differ. */
function on<Value>(side: Side, { scenario }: Pick<Drawing, 'scenario'>, value: Sides<Value>): Value {
  const differs = side === 'desired' ? scenario !== 'drift' : side === 'live' ? scenario === 'drift' || scenario === 'both' : false;
  const own = side === 'base' ? undefined : value[side];
  return differs && own !== undefined ? own : value.base;
}

/** Generates projects of one to three connections and up to three rules, with changes in the manifests, on the gateway, or both. */
export const pairs: fc.Arbitrary<Pair> = drawing.map(pairOf);

function pairOf(drawn: Drawing): Pair {
  const connections = drawn.connections.slice(0, drawn.count).map((one, index) => ({ ...one, name: connectionNames[index] ?? '' }));
  const rulesUsed = drawn.rules.slice(0, drawn.ruleCount).map((one, index) => ({ ...one, name: ruleNames[index] ?? '' }));
  const [first] = connections;
  const replaces = drawn.replaces === true && first !== undefined && drawn.scenario !== 'drift';
  const manifestsOn = (side: Side): readonly Manifest[] => [
    ...connections.flatMap((one) => connectionManifest(one, rulesUsed, { side, drawn, replaces })),
    ...rulesUsed.flatMap((one) => ruleManifest(one, connections, { side, drawn, replaces })),
  ];
  const applied = manifestsOn('base');
  const unfinished = drawn.interrupted === true ? [`Connection/${connectionNames[drawn.count - 1] ?? ''}`] : [];
  return {
    dialect: drawn.dialect,
    base: drawn.scenario === 'first' || applied.length === 0 ? undefined : applied,
    manifests: manifestsOn('desired'),
    live: stateOf(manifestsOn('live')).map((one) => (unfinished.includes(one.id) ? closed(one) : one)),
    untouched: unfinished,
    prune: drawn.prune,
    predecessors: replaces && on('live', drawn, first.present) ? { 'Connection/successor': 'Connection/c0' } : {},
  };
}

type SideContext = { readonly side: Side; readonly drawn: Drawing; readonly replaces: boolean };

function closed(one: MemoryResource): MemoryResource {
  return { ...one, spec: { ...one.spec, access_mode_connect: 'disabled', access_mode_exec: 'disabled', access_mode_runbooks: 'disabled' } };
}

/** The current manifests rename the first guardrail. */
function ruleNameOn(name: string, { side, drawn }: SideContext): string {
  return drawn.renames === true && side === 'desired' && name === 'g0' && drawn.scenario !== 'drift' ? 'renamed' : name;
}

/** A successor takes the place of the first connection in the current manifests. */
function nameOn(name: string, { side, replaces }: SideContext): string {
  return replaces && side === 'desired' && name === 'c0' ? 'successor' : name;
}

function isPresent(
  { present: there, name }: { readonly present: Sides<boolean>; readonly name: string },
  { side, drawn, replaces }: SideContext,
): boolean {
  return (replaces && name === 'c0' && side === 'desired') || on(side, drawn, there);
}

function valuesOn(drawnFields: Drawn, { side, drawn }: SideContext): JsonObject {
  const values = Object.entries(drawnFields).flatMap(([name, value]) => {
    const own = on(side, drawn, value);
    return own === undefined ? [] : [[name, own] as const];
  });
  return Object.fromEntries(values);
}

function connectionManifest(one: DrawnConnection, all: readonly DrawnRule[], context: SideContext): readonly Manifest[] {
  if (!isPresent(one, context)) return [];
  const { side, drawn } = context;
  const index = connectionNames.findIndex((name) => name === one.name);
  const attached = all.filter((rule) => {
    const edge = rule.edges[index];
    return (
      rule.name.startsWith('g') && isPresent(rule, context) && edge !== undefined && ['connection', 'both'].includes(on(side, drawn, edge))
    );
  });
  const name = nameOn(one.name, context);
  const spec = {
    type: 'custom',
    agent_id: 'default',
    ...valuesOn(one.fields, context),
    ...(drawn.dialect === 'hoop' ? valuesOn(one.extra, context) : {}),
    connection_tags: { env: on(side, drawn, one.tag) },
    guardrail_rules: attached.map((rule) => ruleNameOn(rule.name, context)),
  };
  return [{ kind: 'Connection', metadata: { name, ...(name === 'successor' ? { replaces: 'c0' } : {}) }, spec }];
}

function ruleManifest(one: DrawnRule, all: readonly DrawnConnection[], context: SideContext): readonly Manifest[] {
  if (!isPresent(one, context)) return [];
  const { side, drawn } = context;
  const name = ruleNameOn(one.name, context);
  const isGuardrail = one.name.startsWith('g');
  const attached = all.filter((connection, index) => {
    const edge = one.edges[index];
    const how = edge === undefined ? 'nowhere' : on(side, drawn, edge);
    return isPresent(connection, context) && (how === 'rule' || how === 'both' || (how === 'connection' && !isGuardrail));
  });
  const selector = on(side, drawn, one.selector);
  const spec = {
    ...valuesOn(one.fields, context),
    ...(drawn.dialect === 'hoop' ? valuesOn(one.extra, context) : {}),
    connection_ids: attached.map((connection) => nameOn(connection.name, context)),
    ...(selector === undefined ? {} : { connection_selector: { match_tags: { env: selector }, allow_empty: true } }),
  };
  return [
    {
      kind: isGuardrail ? 'GuardrailRule' : 'DataMaskingRule',
      metadata: { name, ...(name === one.name ? {} : { renamedFrom: one.name }) },
      spec,
    },
  ];
}

/** Returns the gateway that has exactly what manifests declare, read without Ostiary's code. */
export function stateOf(manifests: readonly Manifest[]): readonly MemoryResource[] {
  const connections = manifests.filter(({ kind }) => kind === 'Connection');
  return manifests.map(({ kind, metadata: { name }, spec }): MemoryResource => {
    const { guardrail_rules: _, connection_ids: listed, connection_selector: selector, ...fields } = spec;
    const id = resourceId(kind, name);
    if (kind === 'Connection') return { id, spec: fields };
    const wanted = isObject(selector) ? JSON.stringify(selector['match_tags']) : undefined;
    const attached = connections.filter((connection) => {
      const isListed = [listed, connection.spec['guardrail_rules']].some(
        (list, index) => Array.isArray(list) && list.some((end: Json) => end === (index === 0 ? connection.metadata.name : name)),
      );
      return isListed || (wanted !== undefined && JSON.stringify(connection.spec['connection_tags']) === wanted);
    });
    return {
      id,
      spec: fields,
      edges: { connection_ids: attached.map((connection) => resourceId('Connection', connection.metadata.name)) },
    };
  });
}
