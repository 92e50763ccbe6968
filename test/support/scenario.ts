import * as fc from 'fast-check';
import { isObject, type Json, type JsonObject, textsIn } from '../../src/model/json.ts';
import { resourceId, type ResourceId } from '../../src/model/resource.ts';
import type { MemoryResource } from './memory-store.ts';

/** A manifest as a JSON value. */
export type Manifest = { readonly kind: string; readonly metadata: JsonObject & { readonly name: string }; readonly spec: JsonObject };

/** `Kind/metadata.name`. */
export function manifestId({ kind, metadata }: Manifest): ResourceId {
  return resourceId(kind, metadata.name);
}

/** Manifests, and the state of a gateway. */
export type Scenario = { readonly manifests: readonly Manifest[]; readonly live: readonly MemoryResource[] };

const groups = ['dba', 'sre', 'security'] as const;
const words = ['DROP', 'TRUNCATE', 'DELETE', 'GRANT'] as const;
const connections = ['c0', 'c1', 'c2', 'c3'] as const;
const guardrails = ['g0', 'g1', 'g2'] as const;
const maskings = ['m0', 'm1'] as const;

const mode = fc.constantFrom('enabled', 'disabled');
const subset = (choices: readonly string[]): fc.Arbitrary<string[]> => fc.subarray([...choices]);
/** Mostly absent: rare cases that must work too. */
const seldom = <T>(choice: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(choice, { nil: undefined, freq: 2 });

/** Fields of a connection that have the same form in manifests and on the gateway. */
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
    command: fc.constantFrom(['bash'], ['sh', '-c', 'x'], null),
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
/** A gateway can contain values that a manifest cannot: duplicate names and unknown keys. */
const strangeRules = fc.record({
  rules: fc.array(
    rule.map((one) => ({ ...one, severity: 'high' })),
    { maxLength: 3 },
  ),
});
const strangeGuardrail = fc.record({ description: fc.constantFrom('', 'why'), input: strangeRules, output: rules }, { requiredKeys: [] });

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

/** Each repository has two spellings that the gateway treats as one. */
function runbookFields(repository: string): fc.Arbitrary<JsonObject> {
  return fc.record(
    {
      git_url: fc.constantFrom(`https://git.example.com/${repository}.git`, `git@git.example.com:${repository}`),
      git_hook_ttl: fc.constantFrom(0, 60),
      git_user: fc.constantFrom('', 'bot'),
    },
    { requiredKeys: ['git_url'] },
  );
}

const secretValue = fc.constantFrom('one', 'two');
const wishedSecret = fc.oneof(fc.record({ value: secretValue }), fc.constant({ keep: true }));

type Where = 'manifest' | 'live' | 'both' | 'same' | 'managed' | 'nowhere';
const where: fc.Arbitrary<Where> = fc.constantFrom('manifest', 'live', 'both', 'both', 'same', 'managed', 'nowhere');

type Entry = { readonly manifest?: Manifest; readonly live?: MemoryResource };

/** One resource in the manifests, on the gateway, or in both: the compared fields, and the fields of only one side. */
type Parts = {
  readonly name: string;
  readonly id: ResourceId;
  readonly fields: fc.Arbitrary<JsonObject>;
  readonly found?: fc.Arbitrary<JsonObject>;
  readonly extras: fc.Arbitrary<JsonObject>;
  readonly ignore: readonly string[];
  readonly present: fc.Arbitrary<Pick<MemoryResource, 'secrets' | 'edges'>>;
};

function entry(kind: string, parts: Parts): fc.Arbitrary<Entry> {
  const { name, id, fields, found = fields, extras, present } = parts;
  return fc.record({ where, desired: fields, found, extras, present, ignore: seldom(subset(parts.ignore)) }).map((one) => {
    const metadata = { name, ...(one.ignore === undefined || one.ignore.length === 0 ? {} : { ignore: one.ignore }) };
    const manifest = { kind, metadata, spec: { ...one.desired, ...one.extras } };
    const spec = one.where === 'same' ? one.desired : one.found;
    const live = { id, spec, ...one.present, ...(one.where === 'managed' ? { managedBy: 'platform' } : {}) };
    if (one.where === 'nowhere') return {};
    if (one.where === 'manifest') return { manifest };
    return one.where === 'live' ? { live } : { manifest, live };
  });
}

function connectionEntry(name: string): fc.Arbitrary<Entry> {
  return entry('Connection', {
    name,
    id: resourceId('Connection', name),
    fields: connectionFields,
    extras: fc.record(
      {
        resource_name: fc.constantFrom('shared', null),
        guardrail_rules: subset(guardrails),
        secret: fc.dictionary(fc.constantFrom('envvar:HOST', 'envvar:PASS'), wishedSecret),
      },
      { requiredKeys: [] },
    ),
    ignore: ['/reviewers', '/redact_types', '/connection_tags/team', '/subtype', '/guardrail_rules', '/secret/envvar:OLD'],
    present: fc.record({
      secrets: fc.dictionary(
        fc.constantFrom('/secret/envvar:HOST', '/secret/envvar:PASS', '/secret/envvar:OLD'),
        secretValue.map((value) => btoa(value)),
      ),
    }),
  });
}

const selector = fc.record({
  match_tags: fc.constantFrom({ env: 'prod' }, { env: 'dev' }),
  except: subset(connections),
  allow_empty: fc.constant(true),
});

function ruleEntry(kind: string, name: string, fields: Pick<Parts, 'fields' | 'found' | 'ignore'>): fc.Arbitrary<Entry> {
  return entry(kind, {
    ...fields,
    name,
    id: resourceId(kind, name),
    extras: fc.record({ connection_ids: subset(connections), connection_selector: selector }, { requiredKeys: [] }),
    present: subset(connections).map((names) => ({
      edges: { connection_ids: names.map((one): ResourceId => resourceId('Connection', one)) },
    })),
  });
}

function runbookEntry(repository: string): fc.Arbitrary<Entry> {
  return entry('RunbookConfiguration', {
    name: `books-${repository}`,
    id: resourceId('RunbookConfiguration', `git.example.com/${repository}`),
    fields: runbookFields(repository),
    extras: fc.record({ git_password: fc.oneof(wishedSecret, fc.constant(null)) }, { requiredKeys: [] }),
    ignore: ['/git_user'],
    present: fc.record({ secrets: fc.dictionary(fc.constant('/git_password'), secretValue) }),
  });
}

/** Any manifests and any gateway: shared, missing, managed and unmanaged objects, and edges from both sides. */
export const scenario: fc.Arbitrary<Scenario> = fc
  .tuple(
    ...connections.map(connectionEntry),
    ...guardrails.map((name) =>
      ruleEntry('GuardrailRule', name, {
        fields: guardrailFields,
        found: fc.oneof(guardrailFields, strangeGuardrail),
        ignore: ['/description', '/connection_ids', '/connection_ids/c1', '/input/rules/a'],
      }),
    ),
    ...maskings.map((name) =>
      ruleEntry('DataMaskingRule', name, { fields: maskingFields, ignore: ['/score_threshold', '/connection_ids/c0'] }),
    ),
    runbookEntry('r0'),
  )
  .map((entries) => settle(entries))
  .filter((one) => one.manifests.length > 0);

/** Returns the manifests of a scenario as they are without a gateway: no reference leaves them. */
export function selfContained({ manifests }: Scenario): readonly Manifest[] {
  return settle(manifests.map((manifest) => ({ manifest }))).manifests;
}

/** Removes references to missing objects and kept secrets without a live value, so that every scenario is valid. */
function settle(entries: readonly Entry[]): Scenario {
  const live = entries.flatMap((one) => one.live ?? []);
  const liveIds = new Set<string>(live.map((one) => one.id));
  const declared = new Set<string>(entries.flatMap(({ manifest }) => (manifest === undefined ? [] : [manifestId(manifest)])));
  const known = (kind: string, names: Json): readonly string[] =>
    textsIn(names).filter((name) => declared.has(`${kind}/${name}`) || liveIds.has(`${kind}/${name}`));
  return {
    manifests: entries.flatMap(({ manifest, live: found }) => {
      if (manifest === undefined) return [];
      const spec: Record<string, Json> = { ...manifest.spec };
      for (const [field, value] of Object.entries(manifest.spec)) {
        if (field === 'guardrail_rules') spec[field] = known('GuardrailRule', value);
        if (field === 'connection_ids') spec[field] = known('Connection', value);
        if (field === 'secret' && isObject(value)) spec[field] = withoutMissing(value, (key) => `/secret/${key}`, found);
        if (field === 'git_password' && isMissing(value, '/git_password', found)) delete spec[field];
      }
      const { connection_selector: chosen } = spec;
      if (isObject(chosen)) {
        const listed = textsIn(spec['connection_ids']);
        const except = textsIn(chosen['except']).filter((name) => declared.has(`Connection/${name}`) && !listed.includes(name));
        spec['connection_selector'] = { ...chosen, except };
      }
      return [{ ...manifest, spec }];
    }),
    live: live.map((one) => ({
      ...one,
      edges: Object.fromEntries(Object.entries(one.edges ?? {}).map(([field, ids]) => [field, ids.filter((id) => liveIds.has(id))])),
    })),
  };
}

function withoutMissing(map: JsonObject, pathOf: (key: string) => string, found: MemoryResource | undefined): JsonObject {
  return Object.fromEntries(Object.entries(map).filter(([key, value]) => !isMissing(value, pathOf(key), found)));
}

function isMissing(value: Json, path: string, found: MemoryResource | undefined): boolean {
  return isObject(value) && value['keep'] === true && found?.secrets?.[path] === undefined;
}
