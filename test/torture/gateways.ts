import { asText, compareText, type Json, type JsonObject } from '../../src/model/json.ts';
import { nameOf, resourceId, type ResourceId } from '../../src/model/resource.ts';
import { agentId, callerOf, connectionBody, idOf, type CallServer } from '../server/client.ts';
import type { AccessState } from '../model/access-model.ts';
import { readAccessState, readServedAccess, type ReadPath } from '../model/access-state.ts';
import { startHoopModel } from '../support/hoop/start.ts';
import { scenarioWorld } from '../support/hoop-scenario.ts';
import type { MemoryResource } from '../support/memory-store.ts';
import type { ResourceStates } from '../support/posture.ts';
import { startPgliteServer, startPostgresServer, type TestServer, type TestServerOptions } from '../support/servers.ts';

/** A gateway to torture. */
export type TortureGateway = {
  /** The root of its API. */
  readonly url: string;
  /** An admin token. */
  readonly token: string;
  /** Sends a request of another admin. */
  readonly call: CallServer;
  /** Reads what protects connections. */
  readonly states: () => Promise<ResourceStates>;
  /** Reads who can use them, and after whose approval. */
  readonly access: () => Promise<AccessState>;
  /** What the gateway wrote to its log. */
  readonly log: () => string;
  readonly close: () => Promise<void>;
};

/** The names of the gateways. */
export type TortureGatewayName = 'serve on PGlite' | 'serve on PostgreSQL' | 'the public gateway';

/** The agents that the manifests of all sections name. */
const agents = ['default', 'other', 'prod-agent'];

const token = 'hpk_admin-of-the-torture';

/** The gateways that the torture knows: `serve` on both databases, and the model of the public gateway. */
export const tortureGateways: Readonly<Record<TortureGatewayName, (options?: TestServerOptions) => Promise<TortureGateway>>> = {
  'serve on PGlite': async (options) => served(await startPgliteServer({ agents, ...options })),
  'serve on PostgreSQL': async (options) => served(await startPostgresServer({ agents, ...options })),
  'the public gateway': async () => {
    const model = await startHoopModel({
      licence: 'enterprise',
      runbooks: 'none',
      agents: agents.map((name) => ({ name })),
      keys: [{ name: 'admin', token, groups: ['admin'] }],
    });
    for (const group of ['dba', 'dev', 'sec', 'sre', 'security']) model.store.groups.add(group);
    const url = `${model.url}/api`;
    const states = (): Promise<ResourceStates> => Promise.resolve(scenarioWorld(model));
    const call = callerOf({ url, key: token });
    return { url, token, call, states, access: () => readAccessState(readerOf(call)), log: () => '', close: model.close };
  },
};

function served({ url, key, log, close }: TestServer): TortureGateway {
  const call = callerOf({ url, key });
  const access = (): Promise<AccessState> => readServedAccess(readerOf(call));
  return { url, token: key, call, states: () => statesOf(call), access, log: () => log.join('\n'), close };
}

function readerOf(call: CallServer): ReadPath {
  return async (path) => {
    const { status, body, list } = await call('GET', path);
    if (status === 404) return undefined;
    return list.length > 0 ? list : body;
  };
}

/** The fields that a new object with the same content has otherwise. */
const volatile = new Set(
  'id revision created_at updated_at secrets_updated_at status managed_by guardrail_rules connection_ids default_database'.split(' '),
);

function specOf(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !volatile.has(name)));
}

const ruleKinds: Readonly<Record<string, string>> = { GuardrailRule: '/guardrails', DataMaskingRule: '/datamasking-rules' };

/** Reads the objects of a `serve` in the form that `postureOf` reads. */
async function statesOf(call: CallServer): Promise<ResourceStates> {
  const { list } = await call('GET', '/connections');
  const names = new Map(list.map((body) => [body['id'], resourceId('Connection', asText(body['name']))] as const));
  const resources: MemoryResource[] = list.map((body) => ({ id: resourceId('Connection', asText(body['name'])), spec: specOf(body) }));
  for (const [kind, path] of Object.entries(ruleKinds)) {
    for (const body of (await call('GET', path)).list) {
      const ends = Array.isArray(body['connection_ids']) ? body['connection_ids'].flatMap((id: Json) => names.get(id) ?? []) : [];
      resources.push({
        id: resourceId(kind, asText(body['name'])),
        spec: specOf(body),
        edges: { connection_ids: ends.toSorted(compareText) },
      });
    }
  }
  const runbooks = (await call('GET', '/runbooks/configurations')).list;
  for (const body of runbooks) resources.push({ id: resourceId('RunbookConfiguration', asText(body['git_url'])), spec: specOf(body) });
  return Object.fromEntries(resources.toSorted((left, right) => compareText(left.id, right.id)).map((one) => [one.id, one]));
}

const roots: Readonly<Record<string, string>> = { Connection: '/connections', ...ruleKinds };

/** Returns the whole text of objects as the gateway shows them, so that any change of one is visible. */
export async function textsOf({ call }: TortureGateway, ids: readonly ResourceId[]): Promise<Readonly<Record<ResourceId, string>>> {
  const lists = new Map<string, readonly JsonObject[]>();
  const texts: Record<ResourceId, string> = {};
  for (const id of ids) {
    const root = roots[id.slice(0, id.indexOf('/'))] ?? '';
    const list = lists.get(root) ?? (await call('GET', root)).list;
    lists.set(root, list);
    const found = list.find(({ name }) => name === nameOf(id)) ?? {};
    // The public gateway lists ids in no order.
    texts[id] = JSON.stringify(found, (_, value: Json) =>
      Array.isArray(value) ? value.toSorted((left, right) => compareText(JSON.stringify(left), JSON.stringify(right))) : value,
    );
  }
  return texts;
}

/** Creates unmanaged objects, and one unmanaged rule on the connection if there is one; returns their ids. */
export async function addUnmanaged({ call }: TortureGateway, connection?: string): Promise<readonly ResourceId[]> {
  const agent = await agentId(call);
  const secret = { 'envvar:PASS': Buffer.from('unmanaged').toString('base64') };
  const body = connectionBody('unmanaged-db', agent, { reviewers: ['sre', 'dba'], secret, connection_tags: { env: 'live' } });
  const made = await call('POST', '/connections', { body });
  const attached = connection === undefined ? [] : [idOf(await call('GET', `/connections/${connection}`))];
  const rules = { input: { rules: [{ type: 'deny_words_list', words: ['SHUTDOWN'], pattern_regex: '', name: 'words' }] } };
  await call('POST', '/guardrails', { body: { ...rules, name: 'unmanaged-rule', connection_ids: [idOf(made), ...attached] } });
  const masking = { name: 'unmanaged-mask', connection_ids: [idOf(made)], supported_entity_types: [{ name: 'X', entity_types: ['URL'] }] };
  await call('POST', '/datamasking-rules', { body: masking });
  return ['Connection/unmanaged-db', 'GuardrailRule/unmanaged-rule', 'DataMaskingRule/unmanaged-mask'];
}
