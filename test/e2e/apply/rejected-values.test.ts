import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { runCount } from '../../support/property-runs.ts';
import { agentId, base64, connectionBody, idOf } from '../../server/client.ts';
import { config, connection, manifest, useProjects } from '../project.ts';
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
