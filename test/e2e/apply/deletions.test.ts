import { beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../../src/program.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import { createTestContext } from '../../support/cli-context.ts';
import { adminToken, hoopProject } from '../../support/hoop-project.ts';
import { gitEnv, useRepositories, type TestRepository } from '../../support/repository.ts';
import { mainDialect } from '../both-dialects.ts';
import { config, connection, guardrail, manifest, type Files } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make } = useRepositories();

type Row = Readonly<Record<string, unknown>>;
type Api = {
  readonly url: string;
  readonly token: string;
  readonly send: (method: string, path: string, body?: unknown) => Promise<unknown>;
};
const apis = new Map<string, Api>();

beforeAll(async () => {
  const hoop = await hoopProject();
  apis.set('hoop', { url: hoop.url, token: adminToken, send: async (...request) => (await hoop.send(...request)).body });
  apis.set('interface', {
    url: gateway.url(),
    token: gateway.server().key,
    async send(method, path, body) {
      const { body: found, list } = await gateway.call(method, path, body === undefined ? {} : { body: Object(body) });
      return list.length > 0 ? list : found;
    },
  });
});

function apiOf(dialect: string): Api {
  const api = apis.get(dialect);
  if (api === undefined) throw new Error(`no gateway for ${dialect}`);
  return api;
}

/** Runs a command; `meanwhile` changes the gateway between the plan and the first write. */
async function runWith(api: Api, { folder }: TestRepository, line: string, meanwhile: () => Promise<unknown> = async () => undefined) {
  const { context, printed } = createTestContext({ cwd: folder, env: { ...gitEnv, OSTIARY_TOKEN: api.token } });
  const confirm = async (): Promise<boolean> => {
    await meanwhile();
    return true;
  };
  const code = await run(line.split(' '), { ...context, interactive: true, confirm });
  return { code, ...printed() };
}

async function findRow({ send }: Api, path: string, name: string): Promise<Row> {
  const rows = await send('GET', path);
  const row: unknown = Array.isArray(rows) ? rows.find((one: unknown) => Object(one)['name'] === name) : undefined;
  if (row === undefined) throw new Error(`${path} has no ${name}`);
  return Object(row);
}

/** Updates an object outside Ostiary. */
async function change(api: Api, path: string, name: string, fields: JsonObject): Promise<void> {
  const row = await findRow(api, path, name);
  await api.send('PUT', `${path}/${path === '/connections' ? name : String(row['id'])}`, { ...row, ...fields });
}

/** Attaches a rule to a connection outside Ostiary, from the rule. */
async function attach(api: Api, path: string, rule: string, connectionName: string): Promise<void> {
  const [{ connection_ids: ids }, { id }] = [await findRow(api, path, rule), await findRow(api, '/connections', connectionName)];
  await change(api, path, rule, { connection_ids: [...(Array.isArray(ids) ? ids : []), String(id)] });
}

const mask = manifest('DataMaskingRule', 'mask', { supported_entity_types: [{ name: 'PII', entity_types: ['EMAIL_ADDRESS'] }] });
const kept: Files = { 'access/kept.yaml': connection('kept'), 'access/mask.yaml': mask };
const removed = { 'access/old.yaml': connection('old'), 'access/gone.yaml': connection('gone'), 'access/rule.yaml': guardrail('rule') };

/** Applies all files, creates an unmanaged connection, and removes three manifests. */
async function removeThree(api: Api): Promise<TestRepository> {
  const repository = make({ 'ostiary.yaml': config(api.url), ...kept, ...removed });
  expect(await runWith(api, repository, 'apply --yes')).toMatchObject({ code: 0 });
  const { id: _, ...row } = await findRow(api, '/connections', 'kept');
  await api.send('POST', '/connections', { ...row, name: 'theirs', guardrail_rules: [] });
  repository.remove(...Object.keys(removed));
  repository.commit();
  return repository;
}

async function cleanUp(api: Api): Promise<void> {
  for (const name of ['theirs', 'old', 'gone', 'kept']) await api.send('DELETE', `/connections/${name}`);
  for (const [path, name] of [
    ['/guardrails', 'rule'],
    ['/datamasking-rules', 'mask'],
  ] as const) {
    const rows = await api.send('GET', path);
    const found: unknown = Array.isArray(rows) ? rows.find((row: unknown) => Object(row)['name'] === name) : undefined;
    if (found !== undefined) await api.send('DELETE', `${path}/${String(Object(found)['id'])}`);
  }
}

type Obstacle = {
  readonly what: string;
  readonly id: string;
  readonly meanwhile: (api: Api) => Promise<unknown>;
  readonly message: string;
};

const obstacles: readonly Obstacle[] = [
  {
    what: 'a rule that was attached to an unmanaged connection',
    id: 'GuardrailRule/rule',
    meanwhile: (api) => attach(api, '/guardrails', 'rule', 'theirs'),
    message: 'it has an attachment to Connection/theirs that is not in the plan',
  },
  {
    what: 'a connection that a masking rule protects by now',
    id: 'Connection/old',
    meanwhile: (api) => attach(api, '/datamasking-rules', 'mask', 'old'),
    message: 'it has an attachment to DataMaskingRule/mask that is not in the plan',
  },
  {
    what: 'a connection that has a secret by now',
    id: 'Connection/old',
    meanwhile: (api) => change(api, '/connections', 'old', { secret: { 'envvar:PASS': 'Y2FuYXJ5' } }),
    message: '/secret/envvar:PASS changed since the plan',
  },
];

describe.each(mainDialect(['interface', 'hoop']))('a deletion on a gateway of the dialect %s', (dialect) => {
  test.each(obstacles)('is refused for $what; the others are carried out', async ({ id, meanwhile, message }) => {
    const api = apiOf(dialect);
    const repository = await removeThree(api);
    const { code, stdout, both } = await runWith(api, repository, 'apply --prune', () => meanwhile(api));
    expect([code, stdout]).toEqual([5, expect.stringContaining(message.slice(0, 40))]);
    expect(both.replaceAll(/\s+/g, ' ')).toContain(message);
    expect(both).toContain('apply/moved');
    expect(both).not.toContain('Y2FuYXJ5');
    expect(await liveNames(api)).toEqual(['Connection/kept', 'Connection/theirs', 'DataMaskingRule/mask', id].toSorted());
    await cleanUp(api);
  });

  test('is carried out if nothing changed, also with attachments that are gone since', async () => {
    const api = apiOf(dialect);
    const repository = make({
      'ostiary.yaml': config(api.url),
      ...kept,
      ...removed,
      'access/rule.yaml': guardrail('rule', ['x'], { connection_ids: ['kept', 'old'] }),
    });
    expect(await runWith(api, repository, 'apply --yes')).toMatchObject({ code: 0 });
    repository.remove(...Object.keys(removed));
    repository.commit();
    const ended = await runWith(api, repository, 'apply --prune', () => change(api, '/connections', 'kept', { guardrail_rules: [] }));
    expect([ended.code, ended.both]).toEqual([0, expect.stringContaining('3 deleted')]);
    expect(await liveNames(api)).toEqual(['Connection/kept', 'DataMaskingRule/mask']);
    await cleanUp(api);
  });
});

async function liveNames({ send }: Api): Promise<readonly string[]> {
  const kinds = [
    ['Connection', '/connections'],
    ['DataMaskingRule', '/datamasking-rules'],
    ['GuardrailRule', '/guardrails'],
  ] as const;
  const names = kinds.map(async ([kind, path]) => {
    const rows = await send('GET', path);
    return (Array.isArray(rows) ? rows : []).map((row: unknown) => `${kind}/${String(Object(row)['name'])}`);
  });
  return (await Promise.all(names)).flat().toSorted();
}
