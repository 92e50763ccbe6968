import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { runCount } from '../../support/property-runs.ts';
import { agentId, base64, connectionBody, idOf } from '../../server/client.ts';
import { config, connection, guardrail, manifest, useProjects } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const project = useProjects();

function masking(name: string, spec: JsonObject): string {
  return manifest('DataMaskingRule', name, spec);
}

function entities(type: string): JsonObject {
  return { supported_entity_types: [{ name: 'CONTACT', entity_types: [type] }] };
}

function runbooks(url: string): string {
  return manifest('RunbookConfiguration', 'books', { git_url: url });
}

const id = '0D2F6F7E-2f6b-4a55-9c5b-6a1f3f0b9a11';
const long = 'a'.repeat(129);

test.each([
  ['the type of a connection', connection('a-db', { type: 'databse' }), /access\/a\.yaml:8:13 error interface\/rejected-value .*type/],
  ['an entity type', masking('pii', entities('email')), /access\/a\.yaml:\d+:\d+ error interface\/rejected-value .*capital letters/],
  ['a custom type that finds nothing', masking('pii', { custom_entity_types: [{ name: 'EMP', score: 1, regex: '' }] }), /deny_list/],
  ['a name that is too long for its resource', connection('a'.repeat(254)), /access\/a\.yaml:\d+:\d+ error .*resource_name/],
  ['the same, one character', connection(long), /longer than 128 characters/],
  ['the same, reset', connection(long, { resource_name: null }), /longer than 128 characters/],
  ['a name in the form of an id', connection(id), /must not have the form of an ID/],
  ['a group with a space at its end', connection('a-db', { reviewers: ['dba '] }), /access\/a\.yaml:\d+:\d+ error .*no spaces at the ends/],
  ['an address with a query', runbooks('https://git.example.com/ops?token=x'), /without query and fragment/],
])('plan finds what the gateway rejects, and apply sends nothing: %s', async (_, text, message) => {
  const folder = project({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': text });
  for (const line of ['plan', 'apply --yes']) {
    const { code, stderr } = await gateway.run(line, folder);
    expect([code, stderr.replaceAll(/\n {2,}/g, ' ')]).toEqual([3, expect.stringMatching(message)]);
  }
  expect([await gateway.names('/connections'), await gateway.names('/datamasking-rules')]).toEqual([[], []]);
});

describe('a reference to an object that the gateway does not have is found by plan at its line', () => {
  const unknown = '0d2f6f7e-2f6b-4a55-9c5b-6a1f3f0b9a11';

  test.each<[string, string, RegExp]>([
    ['the id of an agent', connection('a-db', { agent_id: unknown }), /a\.yaml:9:17 error manifest\/dangling-reference .*unknown agent/],
    ['the name of an agent', connection('a-db', { agent_id: 'nope' }), /a\.yaml:9:17 error manifest\/dangling-reference .*unknown agent/],
    ['the id of a rule', connection('a-db', { guardrail_rules: [unknown] }), /a\.yaml:16:7 error .*GuardrailRule .* exists neither/],
    ['the name of a rule', connection('a-db', { guardrail_rules: ['nope'] }), /a\.yaml:16:7 error .*GuardrailRule .* exists neither/],
    ['the id of a connection', guardrail('r', ['x'], { connection_ids: [unknown] }), /a\.yaml:20:7 error .*Connection .* exists neither/],
    [
      'the same, of a masking rule',
      masking('pii', { ...entities('E1'), connection_ids: [unknown] }),
      /a\.yaml:\d+:7 error .*Connection .* exists neither/,
    ],
  ])('%s, new and changed', async (_, text, message) => {
    const folder = project({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': text });
    const refused = async (): Promise<void> => {
      for (const line of ['plan', 'apply --yes']) {
        const { code, stderr } = await gateway.run(line, folder);
        expect([code, stderr]).toEqual([3, expect.stringMatching(message)]);
      }
    };
    await refused();
    const agent = await agentId(gateway.call);
    await gateway.call('POST', '/connections', { body: connectionBody('a-db', agent, {}) });
    await gateway.call('POST', '/guardrails', { body: { name: 'r' } });
    await refused();
    await removeAll('/guardrails');
    await removeAll('/connections');
  });

  test('known ids pass', async () => {
    const agent = await agentId(gateway.call);
    const { body: made } = await gateway.call('POST', '/guardrails', { body: { name: 'known' } });
    const text = connection('a-db', { agent_id: agent, guardrail_rules: [idOf({ body: made })] });
    const folder = project({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': text });
    expect(await gateway.run('apply --yes', folder)).toMatchObject({ code: 0 });
    expect((await gateway.run('plan', folder)).stdout).toContain('No changes.');
    await removeAll('/connections');
    await removeAll('/guardrails');
  });
});

type EdgeValues = {
  readonly name: string;
  readonly type: string;
  readonly resource: string | null | undefined;
  readonly secret: string | { readonly value: string } | undefined;
  readonly entity: string;
  readonly custom: JsonObject;
  readonly url: string;
};

/** Values at the edge of what the gateway accepts. */
const edgeCases: fc.Arbitrary<EdgeValues> = fc.record({
  name: fc.constantFrom('a-db', 'a'.repeat(128), long, 'ü'.repeat(128), id, `${id}0`, 'b c'),
  type: fc.constantFrom('database', 'application', 'custom', 'Database', 'databse'),
  resource: fc.constantFrom(undefined, null, 'orders', 'r'.repeat(128)),
  secret: fc.constantFrom(
    undefined,
    { value: '' },
    { value: 'ü\n' },
    'YQ==',
    '_envjson:A:B',
    '_cloudsecrets:a:b',
    '_cloudsecrets:a',
    '_envjson:a b:c',
    '_cloudsecrets:a:b:c',
  ),
  entity: fc.constantFrom('EMAIL_ADDRESS', 'E1', 'email', 'É', 'A-B'),
  custom: fc.constantFrom<JsonObject>(
    { name: 'EMP', score: 1, regex: 'E' },
    { name: 'EMP', score: 0, deny_list: ['x'] },
    { name: 'EMP', score: 0, deny_list: [], regex: 'x' },
    { name: 'EMP', score: 0, deny_list: [], regex: '' },
    { name: 'EMP', score: 0 },
  ),
  url: fc.constantFrom(
    'https://git.example.com/ops',
    'https://git.example.com/ops?a',
    'https://git.example.com/ops#a',
    'git@git.example.com:ops',
  ),
});

/** A manifest and the same object as a request body; `before` is a valid body of the same object, if all else can change. */
type EdgeCase = { readonly path: string; readonly text: string; readonly body: JsonObject; readonly before?: JsonObject };

function casesOf(agent: string, { name, type, resource, secret, entity, custom, url }: EdgeValues): readonly EdgeCase[] {
  const own = { type, ...(resource === undefined ? {} : { resource_name: resource }) };
  const secrets = secret === undefined ? {} : { secret: { 'envvar:A': typeof secret === 'string' ? secret : base64(secret.value) } };
  const rule = { ...entities(entity), custom_entity_types: [custom] };
  return [
    {
      path: '/connections',
      text: connection(name, { ...own, ...(secret === undefined ? {} : { secret: { 'envvar:A': secret } }) }),
      body: connectionBody(name, agent, { ...own, ...secrets }),
      before: connectionBody(name, agent, { resource_name: 'first' }),
    },
    {
      path: '/datamasking-rules',
      text: masking('pii', rule),
      body: { name: 'pii', ...rule },
      before: { name: 'pii', ...entities('E9') },
    },
    { path: '/runbooks/configurations', text: runbooks(url), body: { git_url: url } },
  ];
}

test('plan accepts exactly what a creation accepts', async () => {
  const agent = await agentId(gateway.call);
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(edgeCases, async (values) => {
      for (const { path, text, body } of casesOf(agent, values)) {
        const folder = project({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': text });
        const planned = await gateway.run('plan', folder);
        const applied = await gateway.run('apply --yes', folder);
        expect([applied.code, applied.stderr]).toEqual([planned.code, expect.not.stringContaining('422')]);
        await removeAll(path);
        const { status } = await gateway.call('POST', path, { body });
        expect([planned.code, status, planned.stderr]).toEqual([status === 201 ? 0 : 3, status === 201 ? 201 : 422, expect.anything()]);
        await removeAll(path);
        seen.add(`${path} ${status}`);
      }
    }),
    { numRuns: runCount(25) },
  );
  expect(seen.size).toBe(6);
});

test('plan accepts exactly what an update accepts', async () => {
  const agent = await agentId(gateway.call);
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(edgeCases, async (values) => {
      for (const { path, text, body, before } of casesOf(agent, values)) {
        if (before === undefined || (await gateway.call('POST', path, { body: before })).status !== 201) continue;
        const folder = project({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': text });
        const planned = await gateway.run('plan', folder);
        const applied = await gateway.run('apply --yes', folder);
        expect([applied.code, applied.stderr]).toEqual([planned.code, expect.not.stringContaining('422')]);
        await removeAll(path);
        const made = await gateway.call('POST', path, { body: before });
        // The manifest keeps the name of the resource if it states none.
        const { status } = await gateway.call('PUT', `${path}/${idOf(made)}`, { body: { ...before, ...body } });
        expect([planned.code, status, planned.stderr]).toEqual([status === 200 ? 0 : 3, status === 200 ? 200 : 422, expect.anything()]);
        await removeAll(path);
        seen.add(`${path} ${status}`);
      }
    }),
    { numRuns: runCount(15) },
  );
  expect(seen.size).toBe(4);
});

async function removeAll(path: string): Promise<void> {
  const { list } = await gateway.call('GET', path);
  for (const body of list) await gateway.call('DELETE', `${path}/${idOf({ body })}`);
}
