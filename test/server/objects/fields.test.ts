import {
  assert,
  asyncProperty,
  constant,
  constantFrom,
  dictionary,
  integer,
  oneof,
  record,
  string,
  tuple,
  uniqueArray,
  type Arbitrary,
  type StringConstraints,
} from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../../src/model/json.ts';
import { groupNameSchema, unmetReason } from '../../../src/model/served-rules.ts';
import { base64, connectionBody, databases, idOf } from '../client.ts';
import { useServer } from '../use-server.ts';
import { runCount } from '../../support/property-runs.ts';

/** A field of the interface: the values that it accepts, and its default. */
type Field = { readonly takes: readonly ('text' | 'number' | 'boolean' | 'list' | 'object')[]; readonly otherwise?: Json };

/** A kind of the interface: its minimal body, its fields, and its read-only fields. */
type Table = {
  readonly path: string;
  readonly least: JsonObject;
  readonly fields: Readonly<Record<string, Field>>;
  readonly readOnly: JsonObject;
};

const text: Field = { takes: ['text'], otherwise: '' };
const list: Field = { takes: ['list'], otherwise: [] };
const map: Field = { takes: ['object'], otherwise: {} };
const required: Field = { takes: ['text'] };
const unknownId = '00000000-0000-4000-8000-000000000000';

const tables: Readonly<Record<string, Table>> = {
  Connection: {
    path: '/connections',
    least: connectionBody('fields', ''),
    fields: {
      name: required,
      type: required,
      agent_id: required,
      access_mode_connect: required,
      access_mode_exec: required,
      access_mode_runbooks: required,
      access_schema: required,
      subtype: text,
      access_groups: list,
      access_max_duration: { takes: ['number'], otherwise: null },
      min_review_approvals: { takes: ['number'], otherwise: null },
      command: list,
      connection_tags: map,
      force_approve_groups: list,
      guardrail_rules: list,
      issuetracker_issue_template_id: text,
      redact_enabled: { takes: ['boolean'], otherwise: false },
      redact_types: list,
      resource_name: { takes: ['text'], otherwise: 'fields' },
      reviewers: list,
      secret: map,
      tags: list,
    },
    readOnly: { id: unknownId, managed_by: 'me', status: 'online', default_database: 'mine' },
  },
  'Data masking rule': {
    path: '/datamasking-rules',
    least: { name: 'fields' },
    fields: {
      name: required,
      description: text,
      connection_ids: list,
      score_threshold: { takes: ['number'], otherwise: null },
      supported_entity_types: list,
      custom_entity_types: list,
    },
    readOnly: { id: unknownId, updated_at: 'never' },
  },
  'Guardrail rule': {
    path: '/guardrails',
    least: { name: 'fields' },
    fields: {
      name: required,
      description: text,
      connection_ids: list,
      input: { takes: ['object'], otherwise: { rules: [] } },
      output: { takes: ['object'], otherwise: { rules: [] } },
    },
    readOnly: { id: unknownId, created_at: 'never', updated_at: 'never' },
  },
  'Runbook configuration entry': {
    path: '/runbooks/configurations',
    least: { git_url: 'https://git.example.com/fields' },
    fields: { git_url: required, git_hook_ttl: { takes: ['number'], otherwise: 0 }, git_user: text, git_password: text, ssh_key: text },
    readOnly: { id: unknownId },
  },
};

const samples: Readonly<Record<Field['takes'][number], Json>> = { text: 'x', number: 0.5, boolean: true, list: [7], object: { a: [7] } };

describe.each(databases)('the fields of the interface on %s', (_name, start) => {
  const gateway = useServer(start);
  const { call } = gateway;

  const leastOf = ({ least }: Table): JsonObject => ('agent_id' in least ? { ...least, agent_id: gateway.agent } : least);

  async function expectRefused(path: string, body: JsonObject, field: string): Promise<void> {
    const { status, body: answer } = await call('POST', path, { body });
    const errors = Array.isArray(answer['errors']) ? answer['errors'].map((error: JsonObject) => error['field'] ?? '') : [];
    expect({ field, value: body[field], status }).toEqual({ field, value: body[field], status: 422 });
    expect(errors.some((at: Json) => typeof at === 'string' && at.split('/')[1] === field)).toBe(true);
  }

  test.each(Object.entries(tables))('%s: every field is required, or has a default when omitted or null', async (_kind, table) => {
    const least = leastOf(table);
    const names = Object.keys(table.fields).filter((field) => !(field in least));
    for (const more of [{}, Object.fromEntries(names.map((field) => [field, null]))]) {
      const created = await call('POST', table.path, { body: { ...least, ...more } });
      expect(created.status).toBe(201);
      const expected = Object.entries(table.fields).map(([field, { otherwise }]) => [field, least[field] ?? otherwise]);
      expect(created.body).toMatchObject(Object.fromEntries(expected));
      await call('DELETE', `${table.path}/${idOf(created)}`);
    }
    for (const [field, { otherwise }] of Object.entries(table.fields)) {
      if (otherwise !== undefined) continue;
      const { [field]: _omitted, ...rest } = least;
      await expectRefused(table.path, rest, field);
      await expectRefused(table.path, { ...rest, [field]: null }, field);
      await expectRefused(table.path, { ...rest, [field]: '' }, field);
    }
  });

  test.each(Object.entries(tables))('%s: no field accepts a value of another type', async (_kind, table) => {
    const wrong = Object.entries(table.fields).flatMap(([field, { takes }]) =>
      Object.entries(samples).flatMap(([type, value]) => (takes.some((taken) => taken === type) ? [] : [[field, value] as const])),
    );
    expect(wrong.length).toBeGreaterThan(0);
    for (const [field, value] of wrong) await expectRefused(table.path, { ...leastOf(table), [field]: value }, field);
  });

  test.each(Object.entries(tables))('%s: read-only fields are ignored in bodies', async (_kind, table) => {
    const created = await call('POST', table.path, { body: { ...leastOf(table), ...table.readOnly } });
    expect(created.status).toBe(201);
    for (const [field, value] of Object.entries(table.readOnly))
      expect({ field, value: created.body[field] }).not.toEqual({ field, value });
    await call('DELETE', `${table.path}/${idOf(created)}`);
  });

  test.each<[string, string, JsonObject]>([
    ['/connections', 'type', { type: 'postgres' }],
    ['/connections', 'type', { type: 'command-line' }],
    ['/connections', 'access_schema', { access_schema: 'on' }],
    ['/connections', 'access_mode_connect', { access_mode_connect: 'Enabled' }],
    ['/connections', 'access_max_duration', { access_max_duration: 1.5 }],
    ['/connections', 'access_max_duration', { access_max_duration: -1 }],
    ['/connections', 'access_max_duration', { access_max_duration: 2 ** 31 }],
    ['/connections', 'connection_tags', { connection_tags: { '': 'x' } }],
    ['/connections', 'connection_tags', { connection_tags: { ['k'.repeat(65)]: 'x' } }],
    ['/connections', 'connection_tags', { connection_tags: { 'k-': 'x' } }],
    ['/connections', 'connection_tags', { connection_tags: { 'k/': 'x' } }],
    ['/connections', 'connection_tags', { connection_tags: { 'k:k': 'x' } }],
    ['/connections', 'connection_tags', { connection_tags: { k: '' } }],
    ['/connections', 'connection_tags', { connection_tags: { k: 'v'.repeat(257) } }],
    ['/connections', 'connection_tags', { connection_tags: { k: 'v\n' } }],
    ['/connections', 'connection_tags', { connection_tags: { k: 'ä' } }],
    ['/connections', 'secret', { secret: { 'envvar:': 'YQ==' } }],
    ['/connections', 'secret', { secret: { 'file:A': 'YQ==' } }],
    ['/datamasking-rules', 'score_threshold', { score_threshold: -0.01 }],
    ['/datamasking-rules', 'supported_entity_types', { supported_entity_types: [{ name: 'A' }] }],
    ['/datamasking-rules', 'supported_entity_types', { supported_entity_types: [{ entity_types: ['URL'] }] }],
    ['/datamasking-rules', 'supported_entity_types', { supported_entity_types: [{ name: 'A', entity_types: [] }] }],
    ['/datamasking-rules', 'supported_entity_types', { supported_entity_types: [{ name: 'A', entity_types: ['email address'] }] }],
    ['/datamasking-rules', 'custom_entity_types', { custom_entity_types: [{ regex: 'x' }] }],
    ['/datamasking-rules', 'custom_entity_types', { custom_entity_types: [{ name: 'A' }] }],
    ['/datamasking-rules', 'custom_entity_types', { custom_entity_types: [{ name: 'A', regex: '', deny_list: [] }] }],
    ['/datamasking-rules', 'custom_entity_types', { custom_entity_types: [{ name: 'A', regex: 'x', score: 1.5 }] }],
    ['/guardrails', 'input', { input: {} }],
    ['/guardrails', 'input', { input: { rules: [{ words: ['x'] }] } }],
    ['/guardrails', 'input', { input: { rules: [{ type: 'deny_words_list', words: ['x'], pattern_regex: 'y' }] } }],
    ['/guardrails', 'output', { output: { rules: [{ type: 'pattern_match', pattern_regex: 'x', words: ['y'] }] } }],
    ['/runbooks/configurations', 'git_hook_ttl', { git_hook_ttl: -1 }],
    ['/runbooks/configurations', 'git_hook_ttl', { git_hook_ttl: 0.5 }],
    ['/runbooks/configurations', 'git_url', { git_url: 'ftp://git.example.com/r' }],
  ])('%s refuses a %s like %j', async (path, field, more) => {
    const table = Object.values(tables).find((one) => one.path === path);
    if (table === undefined) throw new Error(path);
    await expectRefused(path, { ...leastOf(table), ...more }, field);
  });

  test('every valid connection is stored unchanged', async () => {
    await assert(
      asyncProperty(connections, resources, async (given, resource) => {
        const more: JsonObject = { ...given, resource_name: resource };
        const body = { ...connectionBody('law', gateway.agent), ...more };
        const created = await call('POST', '/connections', { body });
        expect({ status: created.status, errors: created.body['errors'] }).toEqual({ status: 201, errors: undefined });
        expect(created.body).toMatchObject(body);
        const database = isObject(more['secret']) ? more['secret']['envvar:DB'] : undefined;
        const shown = typeof database === 'string' && !database.startsWith('_') ? Buffer.from(database, 'base64').toString() : '';
        expect(created.body['default_database']).toBe(shown);
        expect((await call('GET', '/connections/law')).body).toEqual(created.body);
        const replaced = await call('PUT', '/connections/law', { body: created.body });
        expect(replaced.body).toEqual({ ...created.body, revision: 2, updated_at: replaced.body['updated_at'] });
        expect((await call('GET', `/resources/${encodeURIComponent(resource)}`)).status).toBe(200);
        expect((await call('DELETE', '/connections/law')).status).toBe(204);
      }),
      { numRuns: runCount(25) },
    );
  });
});

/** Generates a text of some of these characters. */
function textsFrom(characters: string, constraints: StringConstraints): Arbitrary<string> {
  return string({ ...constraints, unit: constantFrom(...characters.split('')) });
}

const key = tuple(textsFrom('abcXYZ019-_/.', { maxLength: 63 }), textsFrom('abcXYZ019_.', { minLength: 1, maxLength: 1 })).map(
  ([start, last]) => `${start}${last}`,
);
const value = textsFrom('abcXYZ019 -_/+@:=.', { minLength: 1, maxLength: 256 });
const words = uniqueArray(
  string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((word) => !word.includes('\0')),
  { maxLength: 4 },
);
const secret = oneof(string({ maxLength: 40 }).map(base64), constantFrom('_cloudsecrets:orders-db:password', '_envjson:ORDERS:PASS'));
const name = constantFrom('DB', 'PASS', '_x', 'A.b-c');

const resources = constantFrom('law', 'a resource', 'ä/ö');

/** Names without invisible characters, and without spaces at the ends. */
const groups = words.map((names) => names.filter((group) => unmetReason(groupNameSchema, group) === undefined));

/** Generates the optional fields of a connection. */
const connections: Arbitrary<JsonObject> = record(
  {
    type: constantFrom('database', 'application', 'custom'),
    access_mode_exec: constantFrom('enabled', 'disabled'),
    subtype: constantFrom('postgres', 'mysql', 'mongodb', 'tcp', 'ssh', 'keyvaluedb', 'own'),
    access_groups: groups,
    access_max_duration: oneof(constant(null), integer({ min: 1, max: 2 ** 31 - 1 })),
    command: words.filter((command) => command.length > 0),
    connection_tags: dictionary(key, value, { maxKeys: 12 }),
    force_approve_groups: groups,
    issuetracker_issue_template_id: string({ maxLength: 20 }).filter((id) => !id.includes('\0')),
    redact_types: words,
    reviewers: groups,
    secret: tuple(
      dictionary(
        name.map((one) => `envvar:${one}`),
        secret,
      ),
      dictionary(
        name.map((one) => `filesystem:${one}`),
        string().map(base64),
      ),
    ).map(([variables, files]) => ({ ...variables, ...files })),
    tags: words,
  },
  { requiredKeys: [] },
);
