import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGateway } from '../../src/gateway/open-gateway.ts';
import { registry } from '../../src/kinds/index.ts';
import type { Gateway, WriteRequest } from '../../src/model/gateway.ts';
import type { LiveResource } from '../../src/model/live.ts';
import type { ResourceId } from '../../src/model/resource.ts';
import { startForgetfulProxy, type ForgetfulProxy } from '../support/forgetful-proxy.ts';
import { startHoopModel } from '../support/hoop/start.ts';
import { startPostgresServer } from '../support/servers.ts';

type Opened = { readonly root: string; readonly path: string; readonly token: string; readonly close: () => Promise<void> };

async function openInterface(): Promise<Opened> {
  const server = await startPostgresServer({});
  return { root: server.url, path: '', token: server.key, close: server.close };
}

async function openHoop(): Promise<Opened> {
  const token = 'hpk_absence';
  const model = await startHoopModel({
    licence: 'enterprise',
    keys: [{ name: 'ci', token, groups: ['admin'] }],
    agents: [{ name: 'default' }],
  });
  return { root: model.url, path: '/api', token, close: model.close };
}

const requests: Readonly<Record<string, WriteRequest['spec']>> = {
  Connection: {
    type: 'database',
    subtype: 'postgres',
    agent_id: 'default',
    access_mode_connect: 'disabled',
    access_mode_exec: 'disabled',
    access_mode_runbooks: 'disabled',
    access_schema: 'disabled',
  },
  GuardrailRule: { description: 'one' },
  DataMaskingRule: { description: 'one' },
};

describe.each([
  ['interface', openInterface],
  ['hoop', openHoop],
] as const)('a 404 for one object on a gateway of the dialect %s', (_, open) => {
  let proxy: ForgetfulProxy;
  let gateway: Gateway;
  let pauses = 0;
  const sleep = (): Promise<void> => {
    pauses += 1;
    return Promise.resolve();
  };
  const closers: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    const { root, path, token, close } = await open();
    proxy = await startForgetfulProxy(root);
    gateway = await openGateway({ url: `${proxy.url}${path}`, token, auth: 'auto', dialect: 'auto', registry, sleep });
    closers.push(() => gateway.close(), proxy.close, close);
    await gateway.readAll([...registry.keys()]);
  });
  afterAll(async () => {
    for (const close of closers) await close();
  });

  async function create(kind: string, name: string): Promise<LiveResource> {
    const id: ResourceId = `${kind}/${name}`;
    return gateway.create({ id, spec: requests[kind] ?? {}, secrets: {}, dropped: [], edges: {} });
  }

  /** Answers 404 to the next requests with the method for one object. */
  function forget(method: string, { uid, id }: LiveResource, times: number): void {
    const ends = [uid, id.slice(id.indexOf('/') + 1)].map((text) => `/${encodeURIComponent(text)}`);
    proxy.forget((request) => request.method === method && ends.some((end) => request.path.split('?')[0]?.endsWith(end) === true), times);
  }

  async function isListed({ id }: LiveResource): Promise<boolean> {
    const { value } = await gateway.readAll([...registry.keys()]);
    return value?.resources.some((one) => one.id === id) === true;
  }

  it.each(Object.keys(requests))('proves nothing while the list contains the %s', async (kind) => {
    const made = await create(kind, 'read-once');
    for (const times of [1, 2, 3]) {
      forget('GET', made, times);
      expect(await gateway.readOne(made)).toMatchObject({ id: made.id, uid: made.uid });
    }
    const before = pauses;
    forget('GET', made, 100);
    await expect(gateway.readOne(made)).rejects.toMatchObject({ code: 'api/contradiction' });
    expect(pauses - before).toBe(3);
    forget('GET', made, 0);
  });

  it.each(Object.keys(requests))('in answer to a deletion does not mean that the %s is deleted', async (kind) => {
    const made = await create(kind, 'delete-once');
    forget('DELETE', made, 1);
    await gateway.remove(made);
    expect(await isListed(made)).toBe(false);
    const kept = await create(kind, 'delete-never');
    forget('DELETE', kept, 100);
    await expect(gateway.remove(kept)).rejects.toMatchObject({ code: 'api/contradiction' });
    expect(await isListed(kept)).toBe(true);
    forget('DELETE', kept, 0);
  });

  it.each(Object.keys(requests))('is the truth once the list omits the %s', async (kind) => {
    const made = await create(kind, 'gone');
    await gateway.remove(made);
    const before = pauses;
    expect(await gateway.readOne(made)).toBeUndefined();
    await gateway.remove(made);
    expect(pauses).toBe(before);
  });

  it('does not hide an id that exists', async () => {
    const made = await create('GuardrailRule', 'confirmed');
    forget('GET', made, 1);
    expect(await gateway.confirm([`GuardrailRule/${made.uid}`])).toEqual([`GuardrailRule/${made.uid}`]);
    expect(await gateway.confirm(['GuardrailRule/3f2a9c1d-0000-4000-8000-000000000000'])).toEqual([]);
  });
});
