import * as fc from 'fast-check';
import type { Json, JsonObject } from '../../src/model/json.ts';
import { pools } from './pools.ts';

/** A value that is the same everywhere unless a side has its own. */
export type Sides<Value> = { readonly base: Value; readonly desired?: Value | undefined; readonly live?: Value | undefined };
export type Side = 'base' | 'desired' | 'live';

/** Draws a value in one of 13 cases, or more often. */
export const seldom = <Value>(value: fc.Arbitrary<Value>, often = 1): fc.Arbitrary<Value | undefined> =>
  fc.oneof({ withCrossShrink: true }, { weight: 12, arbitrary: fc.constant(undefined) }, { weight: often, arbitrary: value });

export function sides<Value>(value: fc.Arbitrary<Value>, often = 1): fc.Arbitrary<Sides<Value>> {
  return fc.record({ base: value, desired: seldom(value, often), live: seldom(value, often) });
}

export const some = (choices: readonly string[]): fc.Arbitrary<readonly string[]> => fc.subarray([...choices]);
const least = (choices: readonly string[]): fc.Arbitrary<readonly string[]> => fc.subarray([...choices], { minLength: 1 });
const mode = fc.constantFrom('disabled', 'enabled', 'enabled');

/** The fields of an object; `undefined` leaves a field out of the manifest. */
export type FieldChoices = Readonly<Record<string, fc.Arbitrary<Json | undefined>>>;

/** Types with subtypes: documented commands and databases, forwarding proxies, and types that no documentation describes. */
const kinds: readonly string[] = [
  'custom ',
  'custom ',
  'custom ',
  'database postgres',
  'database mysql',
  'custom dynamodb',
  'application tcp',
  'application ssh',
  'database mssql',
  'application httpproxy',
  'custom rdp',
  'application ',
  'custom kafka',
  'database kafka',
];

export const connectionFields: FieldChoices = {
  kind: fc.constantFrom(...kinds),
  access_mode_connect: mode,
  access_mode_exec: mode,
  access_mode_runbooks: mode,
  access_schema: mode,
  access_max_duration: fc.constantFrom(null, null, ...pools.durations),
  reviewers: fc.oneof({ weight: 3, arbitrary: some(pools.groups) }, { weight: 1, arbitrary: fc.constant([]) }),
  min_review_approvals: fc.constantFrom(undefined, null, 1, 2, 3),
  force_approve_groups: fc.oneof(fc.constant([]), some(['a', 'x'])),
  redact_types: fc.oneof(fc.constant([]), some(pools.redacted)),
  command: fc.constantFrom(['bash'], ['bash'], ['bash'], ['sh', '-c', 'x']),
  agent_id: fc.constantFrom('default', 'default', 'default', 'other'),
};

/** The groups that approve, and those that may force an approval, where a side changes both. */
export const approval: fc.Arbitrary<JsonObject> = fc.record({
  reviewers: some(pools.groups),
  min_review_approvals: fc.constantFrom(null, 1, 2, 3),
  force_approve_groups: some(['a', 'x']),
});

/** The resource of a connection; most have one of their own. */
export const resourceField: FieldChoices = { resource_name: fc.constantFrom(undefined, undefined, 'vault', 'vault', 'store') };

/** The secrets of a resource, which its connections inherit; absent where it has none. */
const variables = fc.record({
  'envvar:HOST': fc.constantFrom(undefined, 'h1', 'h2'),
  'envvar:PASS': fc.constantFrom(undefined, 'r', 'r'),
  'envvar:TOKEN': fc.constantFrom(undefined, 'r'),
  'envvar:USER': fc.constantFrom(undefined, 'u'),
});

/** Resources of several connections, and some that have the name of a connection, which may not exist any more. */
export const resources: fc.Arbitrary<Readonly<Record<string, Readonly<Record<string, string>>>>> = fc
  .tuple(...['vault', 'store', 'c0', 'c1', 'successor'].map((name) => variables.map((values) => [name, values] as const)))
  .map((all) => Object.fromEntries(all.map(([name, values]) => [name, encoded(values)])));

/** Leaves out absent values, and encodes the others as a gateway stores them. */
function encoded(values: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, btoa(value)]])));
}

const attributes = fc.oneof(fc.constant(undefined), some(pools.attributes));

/** The fields that only the public gateway has. */
export const hoopFields: FieldChoices = {
  mandatory_metadata_fields: fc.oneof(fc.constant(undefined), some(pools.metadata)),
  attributes,
};

export const hoopRuleFields: FieldChoices = { attributes };

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

export const guardrailFields: FieldChoices = { input: rules, output: fc.oneof(fc.constant({ rules: [] }), rules) };

const registered = fc.uniqueArray(fc.record({ name: fc.constantFrom('G', 'H'), entity_types: least(pools.registered) }), {
  maxLength: 2,
  selector: ({ name }) => name,
});
const score = fc.constantFrom(...pools.scores);
const entityName = fc.constantFrom('EMP', 'PERSON');
const byPattern = fc.record(
  { name: entityName, score, regex: fc.constantFrom(...pools.expressions), deny_list: some(pools.denied) },
  { requiredKeys: ['name', 'regex'] },
);
const byWords = fc.record({ name: entityName, score, deny_list: least(pools.denied) }, { requiredKeys: ['name', 'deny_list'] });
const custom = fc.uniqueArray(fc.oneof({ weight: 3, arbitrary: byPattern }, { weight: 1, arbitrary: byWords }), {
  maxLength: 2,
  selector: ({ name }) => name,
});

export const maskingFields: FieldChoices = {
  score_threshold: fc.constantFrom(null, ...pools.thresholds),
  supported_entity_types: registered,
  custom_entity_types: custom,
};

/** A secret: a source outside the manifests, a value in the manifest, or the value that is live; absent in most cases. */
const credential = fc.constantFrom(undefined, undefined, 'env:A', 'env:A', 'env:B', 'inline:p', 'keep');
export const secretFields: FieldChoices = {
  'envvar:HOST': fc.constantFrom(undefined, 'inline:h1', 'inline:h1', 'inline:h2'),
  'envvar:PASS': credential,
  'envvar:TOKEN': credential,
  'envvar:USER': fc.constantFrom(undefined, 'inline:u'),
};

/** Fields that a manifest may ignore. */
export const ignorable: Readonly<Record<string, readonly string[]>> = {
  Connection: ['/reviewers', '/access_mode_exec', '/access_max_duration', '/redact_types', '/force_approve_groups', '/guardrail_rules'],
  GuardrailRule: ['/input', '/connection_ids'],
  DataMaskingRule: ['/score_threshold', '/custom_entity_types', '/connection_ids'],
};
