import * as fc from 'fast-check';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { AccessMode, AccessRule } from '../../src/model/live.ts';
import type { MemoryResource } from '../support/memory-store.ts';
import type { Manifest } from '../support/scenario.ts';
import { stateOf } from './declared-state.ts';
import { textOf } from './gateway-objects.ts';
import {
  approval,
  connectionFields,
  guardrailFields,
  hoopFields,
  hoopRuleFields,
  ignorable,
  maskingFields,
  resourceField,
  resources,
  secretFields,
  seldom,
  sides,
  some,
  type FieldChoices,
  type Side,
  type Sides,
} from './pair-fields.ts';
import { pools } from './pools.ts';

/** The manifests that were applied, the manifests now, and the gateway, which may have drifted. */
export type Pair = {
  readonly dialect: 'interface' | 'hoop';
  /** What the token of a pull request sees of secrets: all, no live values, or no values from outside the manifests. */
  readonly sight: 'shown' | 'hidden' | 'unresolved';
  /** Absent where nothing is known about earlier applies. */
  readonly base: readonly Manifest[] | undefined;
  readonly manifests: readonly Manifest[];
  readonly live: readonly MemoryResource[];
  readonly prune: boolean;
  /** Whether the gateway reports its own longest access, as `ostiary serve` does. */
  readonly reportsLimit: boolean;
  /** The access-request rules; absent where the token may not read them. */
  readonly accessRules: readonly AccessRule[] | undefined;
  /** The secrets of resources in base64, by the name of the resource; its connections inherit them. */
  readonly resources: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Connections that the gateway reports as unwritten since their creation, by `Connection/name`. */
  readonly untouched: readonly string[];
  /** The predecessor of each successor, by id. */
  readonly predecessors: Readonly<Record<string, string>>;
  /** The objects that no manifest ever declared. */
  readonly unmanaged: readonly string[];
};

type Drawn = Readonly<Record<string, Sides<Json | undefined>>>;

function fieldsOf(fields: FieldChoices, often?: number): fc.Arbitrary<Drawn> {
  return fc.record(Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, sides(value, often)])));
}

/** Where an attachment is declared; on the gateway every declaration is the same. */
const attachment = fc.constantFrom('nowhere', 'rule', 'connection', 'both');
const present = fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) });
const ignored = (kind: string): fc.Arbitrary<Sides<readonly string[] | undefined>> => sides(seldom(some(ignorable[kind] ?? []), 2));

/** `loose`, `hand` and `veil` are unmanaged. */
const connectionNames = ['c0', 'c1', 'c2', 'loose'] as const;
const ruleNames = ['g0', 'g1', 'm0', 'hand', 'veil'] as const;
const unmanagedNames: readonly string[] = ['loose', 'hand', 'veil'];
const isGuardrail = (name: string): boolean => !['m0', 'veil'].includes(name);

const accessRules = fc.tuple(
  ...pools.accessRules.map((name) =>
    fc.record({ name: fc.constant(name), connections: some(['c0', 'c1']), attributes: some(pools.attributes) }),
  ),
);

const drawing = fc.record({
  /** `accepted`: the gateway was changed by hand as the manifests are now. */
  scenario: fc.constantFrom('intent', 'intent', 'drift', 'both', 'first', 'accepted'),
  dialect: fc.constantFrom('interface' as const, 'interface' as const, 'hoop' as const),
  sight: fc.constantFrom('shown' as const, 'hidden' as const, 'unresolved' as const),
  reportsLimit: fc.boolean(),
  count: fc.integer({ min: 1, max: 3 }),
  ruleCount: fc.integer({ min: 0, max: 3 }),
  /** Unmanaged objects that exist. */
  unmanaged: fc.oneof(some([]), some(unmanagedNames)),
  /** Objects that another tool manages. */
  managed: fc.oneof({ weight: 5, arbitrary: some([]) }, { weight: 1, arbitrary: some(['c1', 'loose', 'g0', 'm0', 'hand']) }),
  hasSecrets: fc.boolean(),
  resources: fc.oneof(fc.constant({}), resources),
  prune: fc.boolean(),
  replaces: seldom(fc.constant(true), 2),
  replacesMasking: seldom(fc.constant(true)),
  renames: seldom(fc.constant(true)),
  /** An interrupted apply created the last connection, and did not open it. */
  interrupted: seldom(fc.constant(true)),
  accessRules: fc.oneof({ weight: 1, arbitrary: fc.constant(undefined) }, { weight: 4, arbitrary: accessRules }),
  connections: fc.tuple(
    ...connectionNames.map(() =>
      fc.record({
        fields: fieldsOf(connectionFields),
        extra: fieldsOf(hoopFields, 3),
        secrets: fieldsOf(secretFields, 4),
        resource: fieldsOf(resourceField, 3),
        approval: fc.record({ desired: seldom(approval, 2), live: seldom(approval, 2) }),
        ignored: ignored('Connection'),
        tag: sides(fc.constantFrom('prod', 'dev')),
        present: sides(present),
      }),
    ),
  ),
  rules: fc.tuple(
    ...ruleNames.map((name) =>
      fc.record({
        fields: fieldsOf(isGuardrail(name) ? guardrailFields : maskingFields, 3),
        extra: fieldsOf(hoopRuleFields),
        edges: fc.tuple(...connectionNames.map(() => sides(attachment, 2))),
        ignored: ignored(isGuardrail(name) ? 'GuardrailRule' : 'DataMaskingRule'),
        selector: sides(fc.constantFrom(undefined, undefined, undefined, 'prod')),
        present: sides(present),
      }),
    ),
  ),
});

type Drawing = typeof drawing extends fc.Arbitrary<infer Value> ? Value : never;
type DrawnConnection = Drawing['connections'][number] & { readonly name: string };
type DrawnRule = Drawing['rules'][number] & { readonly name: string };
type SideContext = { readonly side: Side; readonly drawn: Drawing };

/** The value of a side: its own where the scenario lets the side differ. */
function on<Value>({ side, drawn: { scenario } }: SideContext, value: Sides<Value>): Value {
  const differs = side === 'desired' ? scenario !== 'drift' : side === 'live' ? ['drift', 'both', 'accepted'].includes(scenario) : false;
  const own = side === 'base' ? undefined : value[scenario === 'accepted' ? 'desired' : side];
  return differs && own !== undefined ? own : value.base;
}

/** Generates projects of one to three connections and up to three rules, with changes in the manifests, on the gateway, or both. */
export const pairs: fc.Arbitrary<Pair> = drawing.map(pairOf);

function pairOf(drawn: Drawing): Pair {
  const exists = (name: string, index: number, count: number): boolean =>
    unmanagedNames.includes(name) ? drawn.unmanaged.includes(name) : index < count;
  const connections = drawn.connections
    .map((one, index) => ({ ...one, name: connectionNames[index] ?? '' }))
    .filter(({ name }, index) => exists(name, index, drawn.count));
  const rules = drawn.rules
    .map((one, index) => ({ ...one, name: ruleNames[index] ?? '' }))
    .filter(({ name }, index) => exists(name, index, drawn.ruleCount));
  const objectsOn = (side: Side): readonly Manifest[] => [
    ...connections.flatMap((one) => connectionManifest(one, rules, { side, drawn })),
    ...rules.flatMap((one) => ruleManifest(one, connections, { side, drawn })),
  ];
  const applied = objectsOn('base');
  const unfinished = drawn.interrupted === true ? [`Connection/${connectionNames[drawn.count - 1] ?? ''}`] : [];
  const live = stateOf(objectsOn('live')).map((one) => {
    const name = one.id.slice(one.id.indexOf('/') + 1);
    const found = unfinished.includes(one.id) ? closed(one) : one;
    return drawn.managed.includes(name) ? { ...found, managedBy: 'platform' } : found;
  });
  const isLive = (name: string): boolean => live.some(({ id }) => id === name);
  return {
    dialect: drawn.dialect,
    sight: drawn.sight,
    base: drawn.scenario === 'first' || applied.length === 0 ? undefined : applied,
    manifests: objectsOn('desired'),
    live,
    resources: drawn.resources,
    untouched: unfinished,
    prune: drawn.prune,
    reportsLimit: drawn.dialect === 'interface' && drawn.reportsLimit,
    accessRules:
      drawn.dialect === 'interface'
        ? []
        : drawn.accessRules?.map((rule) => ({ ...rule, text: 'asks its groups', modes: allModes, reviewsAll: true })),
    predecessors: {
      ...(replaces(drawn) && isLive('Connection/c0') ? { 'Connection/successor': 'Connection/c0' } : {}),
      ...(replacesMasking(drawn) && isLive('DataMaskingRule/m0') ? { 'DataMaskingRule/mask-next': 'DataMaskingRule/m0' } : {}),
    },
    unmanaged: [...connections, ...rules].flatMap(({ name }) => (unmanagedNames.includes(name) ? [idOf(name)] : [])),
  };
}

const allModes: readonly AccessMode[] = ['connect', 'exec', 'runbooks'];

function idOf(name: string): string {
  if (connectionNames.some((one) => one === name)) return `Connection/${name}`;
  return `${isGuardrail(name) ? 'GuardrailRule' : 'DataMaskingRule'}/${name}`;
}

function replaces({ replaces: wanted, scenario }: Drawing): boolean {
  return wanted === true && scenario !== 'drift';
}

function replacesMasking({ replacesMasking: wanted, scenario, ruleCount }: Drawing): boolean {
  return wanted === true && scenario !== 'drift' && ruleCount === 3;
}

function closed(one: MemoryResource): MemoryResource {
  return { ...one, spec: { ...one.spec, access_mode_connect: 'disabled', access_mode_exec: 'disabled', access_mode_runbooks: 'disabled' } };
}

/** The current manifests rename the first guardrail, and replace the first connection and the masking rule. */
function nameOn(name: string, { side, drawn }: SideContext): string {
  if (side !== 'desired') return name;
  if (name === 'g0' && drawn.renames === true && drawn.scenario !== 'drift') return 'renamed';
  if (name === 'c0' && replaces(drawn)) return 'successor';
  return name === 'm0' && replacesMasking(drawn) ? 'mask-next' : name;
}

type Named = { readonly present: Sides<boolean>; readonly name: string };

function isPresent({ present: there, name }: Named, context: SideContext): boolean {
  if (unmanagedNames.includes(name)) return context.side === 'live';
  return isReplacing(name, context) || on(context, there);
}

function isReplacing(name: string, { side, drawn }: SideContext): boolean {
  return side === 'desired' && ((name === 'c0' && replaces(drawn)) || (name === 'm0' && replacesMasking(drawn)));
}

/** Returns whether an object can be named on a side: unmanaged ones exist, so manifests may name them. */
function isKnown(one: Named, context: SideContext): boolean {
  return unmanagedNames.includes(one.name) || isPresent(one, context);
}

function valuesOn(drawnFields: Drawn, context: SideContext): JsonObject {
  const values = Object.entries(drawnFields).flatMap(([name, value]) => {
    const own = on(context, value);
    return own === undefined ? [] : [[name, own] as const];
  });
  return Object.fromEntries(values);
}

function metadataOf(one: Named & { readonly ignored: Sides<readonly string[] | undefined> }, context: SideContext): Manifest['metadata'] {
  const name = nameOn(one.name, context);
  const paths = context.side === 'live' ? [] : (on(context, one.ignored) ?? []);
  return {
    name,
    ...(paths.length === 0 ? {} : { ignore: paths }),
    ...(name === one.name ? {} : { [name === 'renamed' ? 'renamedFrom' : 'replaces']: one.name }),
  };
}

const sources: Readonly<Record<string, (text: string) => JsonObject>> = {
  env: (text) => ({ valueFrom: { env: `OSTIARY_SECRET_${text}` } }),
  inline: (text) => ({ value: text }),
  keep: () => ({ keep: true }),
};

function secretsOn(drawnSecrets: Drawn, context: SideContext): JsonObject {
  const given = Object.entries(valuesOn(drawnSecrets, context)).map(([key, source]) => {
    const [form = '', text = ''] = textOf(source).split(':');
    return [key, sources[form]?.(text) ?? {}] as const;
  });
  return given.length === 0 || !context.drawn.hasSecrets ? {} : { secret: Object.fromEntries(given) };
}

function connectionManifest(one: DrawnConnection, rules: readonly DrawnRule[], context: SideContext): readonly Manifest[] {
  if (!isPresent(one, context)) return [];
  const index = connectionNames.findIndex((name) => name === one.name);
  const attached = rules.filter((rule) => {
    const edge = rule.edges[index];
    return isGuardrail(rule.name) && isKnown(rule, context) && edge !== undefined && ['connection', 'both'].includes(on(context, edge));
  });
  const { kind, ...fields } = valuesOn(one.fields, context);
  const [type = '', subtype = ''] = textOf(kind).split(' ');
  const spec = {
    type,
    subtype,
    ...fields,
    ...on(context, { base: undefined, ...one.approval }),
    ...(context.drawn.dialect === 'hoop' ? valuesOn(one.extra, context) : {}),
    ...secretsOn(one.secrets, context),
    ...valuesOn(one.resource, context),
    connection_tags: { env: on(context, one.tag) },
    guardrail_rules: attached.map((rule) => nameOn(rule.name, context)),
  };
  return [{ kind: 'Connection', metadata: metadataOf(one, context), spec }];
}

function ruleManifest(one: DrawnRule, connections: readonly DrawnConnection[], context: SideContext): readonly Manifest[] {
  if (!isPresent(one, context)) return [];
  const attached = connections.filter((connection) => {
    const edge = one.edges[connectionNames.findIndex((name) => name === connection.name)];
    const how = edge === undefined ? 'nowhere' : on(context, edge);
    return isKnown(connection, context) && (how === 'rule' || how === 'both' || (how === 'connection' && !isGuardrail(one.name)));
  });
  const selector = unmanagedNames.includes(one.name) ? undefined : on(context, one.selector);
  const spec = {
    ...valuesOn(one.fields, context),
    ...(context.drawn.dialect === 'hoop' ? valuesOn(one.extra, context) : {}),
    connection_ids: attached.map((connection) => nameOn(connection.name, context)),
    ...(selector === undefined ? {} : { connection_selector: { match_tags: { env: selector }, allow_empty: true } }),
  };
  return [{ kind: isGuardrail(one.name) ? 'GuardrailRule' : 'DataMaskingRule', metadata: metadataOf(one, context), spec }];
}
