import fc from 'fast-check';
import type { JsonObject } from '../../src/model/json.ts';
import { resourceId, type ResourceId } from '../../src/model/resource.ts';
import type { MemoryResource } from './memory-store.ts';

/** A manifest as a plain value. */
export type Manifest = { readonly kind: string; readonly metadata: JsonObject & { readonly name: string }; readonly spec: JsonObject };

/** Manifests, and what a gateway holds when they meet it. */
export type Scenario = { readonly manifests: readonly Manifest[]; readonly live: readonly MemoryResource[] };

const groups = ['dba', 'sre', 'security'] as const;
const words = ['DROP', 'TRUNCATE', 'DELETE', 'GRANT'] as const;
const connections = ['c0', 'c1', 'c2', 'c3'] as const;
const guardrails = ['g0', 'g1', 'g2'] as const;
const maskings = ['m0', 'm1'] as const;

const mode = fc.constantFrom('enabled', 'disabled');
const subset = (choices: readonly string[]): fc.Arbitrary<string[]> => fc.subarray([...choices]);

/** Plain fields of a connection, as they stand in manifests and live alike. */
const connectionFields = fc.record(
  {
    type: fc.constantFrom('database', 'custom'),
    subtype: fc.constantFrom('postgres', 'mysql', ''),
    agent_id: fc.constantFrom('default', 'other'),
    access_mode_connect: mode,
    access_mode_exec: mode,
    access_mode_runbooks: mode,
    access_schema: mode,
    access_max_duration: fc.option(fc.integer({ min: 60, max: 7200 })),
    command: fc.constantFrom(['bash'], ['sh', '-c', 'x']),
    connection_tags: fc.dictionary(fc.constantFrom('env', 'team'), fc.constantFrom('prod', 'dev')),
    reviewers: subset(groups),
    force_approve_groups: subset(groups),
    redact_types: subset(['EMAIL_ADDRESS', 'PERSON']),
  },
  { requiredKeys: ['type', 'agent_id', 'access_mode_connect', 'access_mode_exec', 'access_mode_runbooks', 'access_schema'] },
);

const rule = fc.oneof(
  fc.record({
    name: fc.constantFrom('a', 'b'),
    type: fc.constant('deny_words_list'),
    words: subset(words).filter((list) => list.length > 0),
  }),
  fc.record({ type: fc.constant('pattern_match'), pattern_regex: fc.constantFrom('x+', 'y+') }),
);
const rules = fc.record({
  rules: fc.uniqueArray(rule, { maxLength: 3, selector: (one) => ('name' in one ? one.name : one.pattern_regex) }),
});
const guardrailFields = fc.record({ description: fc.constantFrom('', 'why'), input: rules, output: rules }, { requiredKeys: [] });

const entityGroups = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('CONTACT', 'MONEY'),
    entity_types: subset(['PERSON', 'URL', 'CRYPTO']).filter((list) => list.length > 0),
  }),
  { maxLength: 2, selector: (one) => one.name },
);
const custom = fc.uniqueArray(
  fc.record({ name: fc.constantFrom('EMP', 'DOC'), score: fc.constantFrom(0, 0.5), regex: fc.constantFrom('E[0-9]+', 'D[0-9]+') }),
  { maxLength: 2, selector: (one) => one.name },
);
const maskingFields = fc.record(
  {
    description: fc.constantFrom('', 'why'),
    score_threshold: fc.option(fc.constantFrom(0.2, 0.6)),
    supported_entity_types: entityGroups,
    custom_entity_types: custom,
  },
  { requiredKeys: [] },
);
const secretValue = fc.constantFrom('one', 'two');

type Entry = { readonly manifest?: Manifest; readonly live?: MemoryResource };
type Where = 'manifest' | 'live' | 'both' | 'same' | 'managed' | 'nowhere';

const where: fc.Arbitrary<Where> = fc.constantFrom('manifest', 'live', 'both', 'both', 'same', 'managed', 'nowhere');

function entry(kind: string, name: string, fields: fc.Arbitrary<JsonObject>, extras: Extras): fc.Arbitrary<Entry> {
  return fc
    .record({ where, desired: fields, found: fields, wished: extras.desired, present: extras.live })
    .map(({ where: place, desired, found, wished, present }) => {
      const spec = { ...desired, ...wished };
      const manifest = { kind, metadata: { name }, spec };
      const id = resourceId(kind, name);
      const live = { id, spec: place === 'same' ? desired : found, ...present, ...(place === 'managed' ? { managedBy: 'platform' } : {}) };
      if (place === 'nowhere') return {};
      if (place === 'manifest') return { manifest };
      return place === 'live' ? { live } : { manifest, live };
    });
}

type Extras = { readonly desired: fc.Arbitrary<JsonObject>; readonly live: fc.Arbitrary<Pick<MemoryResource, 'secrets' | 'edges'>> };

const connectionExtras: Extras = {
  desired: fc.record(
    {
      guardrail_rules: subset(guardrails),
      secret: fc.dictionary(fc.constantFrom('envvar:HOST', 'envvar:PASS'), fc.record({ value: secretValue })),
    },
    { requiredKeys: [] },
  ),
  live: fc.record({
    secrets: fc.dictionary(
      fc.constantFrom('/secret/envvar:HOST', '/secret/envvar:PASS', '/secret/envvar:OLD'),
      secretValue.map((value) => btoa(value)),
    ),
  }),
};

function ruleExtras(field: string): Extras {
  return {
    desired: fc.option(subset(connections)).map((names): JsonObject => (names === null ? {} : { [field]: names })),
    live: subset(connections).map((names) => ({ edges: { [field]: names.map((name): ResourceId => resourceId('Connection', name)) } })),
  };
}

/** Any manifests meeting any gateway: shared, missing, managed and unmanaged objects, edges from both sides. */
export const scenario: fc.Arbitrary<Scenario> = fc
  .tuple(
    ...connections.map((name) => entry('Connection', name, connectionFields, connectionExtras)),
    ...guardrails.map((name) => entry('GuardrailRule', name, guardrailFields, ruleExtras('connection_ids'))),
    ...maskings.map((name) => entry('DataMaskingRule', name, maskingFields, ruleExtras('connection_ids'))),
  )
  .map((entries) => settle(entries));

/** Leaves out references to what exists nowhere, so that every scenario is valid. */
function settle(entries: readonly Entry[]): Scenario {
  const declared = new Set(
    entries.flatMap(({ manifest }) => (manifest === undefined ? [] : [resourceId(manifest.kind, manifest.metadata.name)])),
  );
  const live = entries.flatMap((one) => one.live ?? []);
  const liveIds = new Set(live.map((one) => one.id));
  const known = (kind: string, names: unknown): string[] =>
    Array.isArray(names) ? names.filter((name) => declared.has(resourceId(kind, name)) || liveIds.has(resourceId(kind, name))) : [];
  return {
    manifests: entries.flatMap(({ manifest }) => {
      if (manifest === undefined) return [];
      const { spec } = manifest;
      return [
        {
          ...manifest,
          spec: {
            ...spec,
            ...(spec['guardrail_rules'] === undefined ? {} : { guardrail_rules: known('GuardrailRule', spec['guardrail_rules']) }),
            ...(spec['connection_ids'] === undefined ? {} : { connection_ids: known('Connection', spec['connection_ids']) }),
          },
        },
      ];
    }),
    live: live.map((one) => ({
      ...one,
      edges: Object.fromEntries(Object.entries(one.edges ?? {}).map(([field, ids]) => [field, ids.filter((id) => liveIds.has(id))])),
    })),
  };
}
