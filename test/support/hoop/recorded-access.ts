import { isObject, type Json, type JsonObject } from './json.ts';
import { must, recordOn, type RecordedGateway } from './recorded-gateway.ts';
import { startHoopModel } from './start.ts';

const url = 'http://127.0.0.1:18311';

/** The ids of the connections, which no recorded exchange created. */
const recordedIds = {
  'orders-db': 'f97abb2c-0dde-4fb4-b45d-f6ae21b1ccc1',
  'billing-db': '129b811a-eff4-4e08-ad34-05b4a0ee2148',
};

/** Starts the second recorded gateway, on which access control and the rules of access were tried. */
export async function startAccessGateway(): Promise<RecordedGateway> {
  const model = await startHoopModel({
    organisation: { id: '2ec449e9-9dff-4d22-82cf-1e0bf6dc1f85' },
    users: [{ email: 'a@example.com', name: 'Admin', id: 'a@example.com', token: 'token-of-the-first-user', groups: ['admin'] }],
    rulepacks: 'default',
    apiUrl: url,
    random: 7,
  });
  model.settings.serverInfo = { log_level: 'warn', grpc_url: 'grpc://127.0.0.1:19311' };
  const gateway = recordOn(model, new Map([['first user', 'token-of-the-first-user']]));
  const key = await must(gateway.send({ ...post('/api-keys', { name: 'ci-26243', groups: ['admin'] }), token: 'token-of-the-first-user' }));
  gateway.tokens.set('ci', keyIn(key.body));
  await write(gateway, '/agents', { name: 'prod-agent' });
  for (const [name, id] of Object.entries(recordedIds)) await addWithId(gateway, name, id);
  await write(gateway, '/users', { email: 'dev@example.com', groups: ['dev'], name: 'Dev', password: 'dev' });
  for (const [index, row] of model.store.identities.entries())
    if (row.email === 'dev@example.com') model.store.identities[index] = { ...row, token: 'token-of-dev' };
  gateway.tokens.set('a user of group dev', 'token-of-dev');
  return gateway;
}

/** The changes on the second gateway that were not recorded, before the exchange with this index of a file. */
export const accessSteps: Readonly<Record<string, (gateway: RecordedGateway) => Promise<void>>> = {
  '86-access-control.json 24': (gateway) => addConnection(gateway, 'temp-db', {}),
  '86-access-control.json 25': async (gateway) => {
    const id = gateway.model.store.connections.get('temp-db')?.id ?? '';
    await must(gateway.send({ method: 'PUT', path: `/plugins/access_control/conn/${id}`, body: { config: ['dev'] } }));
  },
  '86-access-control.json 30': async (gateway) => {
    const { body } = await must(gateway.send(post('/api-keys', { name: 'aud', groups: ['auditor'] })));
    gateway.tokens.set('an auditor key', keyIn(body));
  },
  '88-access-request-rules.json 3': async ({ model }) => {
    model.settings.licence = 'enterprise';
    model.settings.licenseInfo = { key_id: 'x', is_valid: false, status: 'invalid', verify_error: 'missing description' };
  },
  '88-access-request-rules.json 30': (gateway) => write(gateway, '/attributes', { name: 'weak', connection_names: ['orders-db'] }),
};

function post(path: string, body: JsonObject): { readonly method: string; readonly path: string; readonly body: JsonObject } {
  return { method: 'POST', path, body };
}

async function write(gateway: RecordedGateway, path: string, body: JsonObject): Promise<void> {
  await must(gateway.send(post(path, body)));
}

async function addConnection(gateway: RecordedGateway, name: string, more: JsonObject): Promise<void> {
  await write(gateway, '/connections', {
    name,
    type: 'database',
    subtype: 'postgres',
    agent_id: '28289ecf-e9e9-5faf-b36e-4687e0cb78f9',
    access_mode_runbooks: 'enabled',
    access_mode_exec: 'enabled',
    access_mode_connect: 'enabled',
    access_schema: 'enabled',
    ...more,
  });
}

async function addWithId(gateway: RecordedGateway, name: string, id: string): Promise<void> {
  const { store } = gateway.model;
  await addConnection(gateway, name, { secret: { 'envvar:HOST': 'ZGI=' } });
  const row = store.connections.get(name);
  if (row === undefined) throw new Error(`there is no connection ${name}`);
  store.dropConnection(row);
  store.saveConnection({ ...row, id });
}

function keyIn(body: Json): string {
  const key = isObject(body) ? body['key'] : undefined;
  return typeof key === 'string' ? key : '';
}
