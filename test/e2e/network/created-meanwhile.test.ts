import { afterAll, describe, expect, test } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../../src/model/json.ts';
import { adminToken, hoopProject } from '../../support/hoop-project.ts';
import { startForgetfulProxy, type ForgetfulProxy } from '../../support/forgetful-proxy.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import type { Ended } from '../../support/cli.ts';
import { config, connection, useProjects } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const makeProject = useProjects();
const proxies: ForgetfulProxy[] = [];
afterAll(async () => {
  for (const proxy of proxies) await proxy.close();
});

type World = {
  readonly proxy: ForgetfulProxy;
  readonly run: (line: string, env?: Readonly<Record<string, string>>) => Promise<Ended>;
  /** Creates a connection as another admin. */
  readonly create: (body: JsonObject) => Promise<unknown>;
  readonly secretOf: (name: string) => Promise<unknown>;
};

async function proxyTo(target: string): Promise<ForgetfulProxy> {
  const proxy = await startForgetfulProxy(target);
  proxies.push(proxy);
  return proxy;
}

function secretIn(body: unknown): unknown {
  const secret = isObject(body) ? body['secret'] : undefined;
  return isObject(secret) ? secret['envvar:HOST'] : undefined;
}

/** Returns the id of the agent `default` in a list of agents. */
function agentIn(list: unknown): Json {
  const agent = Array.isArray(list) ? list.find((one: unknown) => isObject(one) && one['name'] === 'default') : undefined;
  return isObject(agent) ? (agent['id'] ?? null) : null;
}

const declared = { secret: { 'envvar:HOST': { valueFrom: { env: 'OSTIARY_SECRET_HOST' } } } };
const encoded = (text: string): string => Buffer.from(text).toString('base64');

async function interfaceWorld(name: string): Promise<World> {
  const proxy = await proxyTo(gateway.url());
  const cwd = makeProject({ 'ostiary.yaml': config(proxy.url), 'access/db.yaml': connection(name, declared) });
  return {
    proxy,
    run: (line, env = {}) => ostiaryInProcess(line.split(' '), { cwd, env: { ...gateway.env(), OSTIARY_SECRET_HOST: 'ours', ...env } }),
    create: async (body) =>
      gateway.call('POST', '/connections', { body: { ...body, agent_id: agentIn((await gateway.call('GET', '/agents')).list) } }),
    secretOf: async (one) => secretIn((await gateway.call('GET', `/connections/${one}`)).body),
  };
}

async function hoopWorldOf(name: string): Promise<World> {
  const project = await hoopProject();
  const proxy = await proxyTo(project.model.url);
  const cwd = makeProject({ 'ostiary.yaml': config(`${proxy.url}/api`), 'access/db.yaml': connection(name, declared) });
  return {
    proxy,
    run: (line, env = {}) =>
      ostiaryInProcess(line.split(' '), { cwd, env: { OSTIARY_TOKEN: adminToken, OSTIARY_SECRET_HOST: 'ours', ...env } }),
    create: async (body) =>
      project.send('POST', '/connections', { ...body, agent_id: agentIn((await project.send('GET', '/agents')).body) }),
    secretOf: async (one) => secretIn((await project.send('GET', `/connections/${one}`)).body),
  };
}

const isCreation = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
  method === 'POST' && path.endsWith('/connections');
const isDetail = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
  method === 'GET' && /\/connections\/[^/?]+$/.test(path);

describe.each([
  ['interface', interfaceWorld],
  ['hoop', hoopWorldOf],
] as const)('on a gateway of the dialect %s', (dialect, makeWorld) => {
  test.each([
    ['another secret', 'theirs', 5],
    ['the same secret', 'ours', 0],
  ])('an object that another admin creates before the write, with %s', async (_, host, code) => {
    const name = `met-${dialect}-${host}`;
    const { proxy, run, create, secretOf } = await makeWorld(name);
    const { spec } = JSON.parse(connection(name));
    proxy.before(isCreation, () => create({ ...spec, name, secret: { 'envvar:HOST': encoded(host) } }));
    const ended = await run('apply --yes');
    expect(ended.code).toBe(code);
    expect(ended.stdout.includes('it was created outside Ostiary since the plan and differs from it')).toBe(code === 5);
    expect(await secretOf(name)).toBe(encoded(host));
  });

  test('one 404 for an object does not hide that its secret has to be written', async () => {
    const name = `seen-${dialect}`;
    const { proxy, run, secretOf } = await makeWorld(name);
    expect(await run('apply --yes')).toMatchObject({ code: 0 });
    const rotated = { OSTIARY_SECRET_HOST: 'rotated' };
    proxy.forget(isDetail, 1);
    expect((await run('plan', rotated)).stdout).toContain('1 to update');
    proxy.forget(isDetail, 1);
    expect(await run('apply --yes', rotated)).toMatchObject({ code: 0 });
    expect(await secretOf(name)).toBe(encoded('rotated'));
  });
});
