import { isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { MemoryResource } from '../support/memory-store.ts';
import { idOf, type CallServer } from '../server/client.ts';
import { textOf, textsOf, type ModelObject, type ModelState } from './gateway-objects.ts';

/** What a scenario needs of a running `ostiary serve`. */
export type ServedGateway = {
  readonly url: string;
  readonly call: CallServer;
  /** An admin key. */
  readonly key: string;
  /** A key that writes for the manager `platform`. */
  readonly managerKey: string;
};

/** The lists of the gateway by kind; attachments of masking rules are no part of a connection there. */
const lists = { GuardrailRule: '/guardrails', DataMaskingRule: '/datamasking-rules', Connection: '/connections' } as const;

const kinds = ['Connection', 'GuardrailRule', 'DataMaskingRule'] as const;
const modes = ['access_mode_connect', 'access_mode_exec', 'access_mode_runbooks'] as const;
/** Fields of an answer that are no fields of the object. */
const computed = new Set(
  'id name revision created_at updated_at managed_by status secret secrets_updated_at guardrail_rules connection_ids'.split(' '),
);

/** Deletes all objects. */
export async function emptyGateway({ call, managerKey }: ServedGateway): Promise<void> {
  for (const kind of ['DataMaskingRule', 'Connection', 'GuardrailRule'] as const) {
    for (const body of (await call('GET', lists[kind])).list) {
      const key = body['managed_by'] === 'platform' ? { key: managerKey } : {};
      const { status } = await call('DELETE', `${lists[kind]}/${idOf({ body })}`, key);
      if (status >= 300) throw new Error(`${kind} ${textOf(body['name'])} cannot be deleted: ${status}`);
    }
  }
}

/**
 * Creates objects through the API: each with two writes, but those in `untouched` with one. Returns why the gateway does not accept
 * one of them; undefined when it has all.
 */
export async function fillGateway(
  { call, managerKey }: ServedGateway,
  resources: readonly MemoryResource[],
  untouched: readonly string[],
): Promise<string | undefined> {
  const agents = new Map((await call('GET', '/agents')).list.map((agent) => [agent['name'], idOf({ body: agent })]));
  const ids = new Map<string, string>();
  const refused: string[] = [];
  const send = async ({ id, managedBy }: MemoryResource, body: JsonObject): Promise<void> => {
    const [kind, name] = splitId(id);
    const own = ids.get(id);
    const key = managedBy === undefined ? {} : { key: managerKey };
    const path = lists[kind];
    const sent = { name, ...body };
    const answer = await (own === undefined
      ? call('POST', path, { body: sent, ...key })
      : call('PUT', `${path}/${own}`, { body: sent, ...key }));
    if (answer.status >= 300) refused.push(`${id}: ${answer.status} ${JSON.stringify(answer.body)}`);
    ids.set(id, idOf(answer));
  };
  const uids = (of: readonly string[] = []): string[] => of.flatMap((id) => ids.get(id) ?? []);
  const ofKind = (kind: string): readonly MemoryResource[] => resources.filter(({ id }) => id.startsWith(`${kind}/`));
  const rules = [...ofKind('GuardrailRule'), ...ofKind('DataMaskingRule')];
  for (const rule of rules) await send(rule, { ...rule.spec });
  for (const connection of ofKind('Connection')) {
    const attached = ofKind('GuardrailRule').filter(({ edges }) => edges?.['connection_ids']?.includes(connection.id) === true);
    const secret = Object.entries(connection.secrets ?? {}).map(([path, value]) => [path.replace('/secret/', ''), value] as const);
    const agent_id = agents.get(textOf(connection.spec?.['agent_id'])) ?? '';
    const body = {
      ...connection.spec,
      agent_id,
      secret: Object.fromEntries(secret),
      guardrail_rules: uids(attached.map(({ id }) => id)),
    };
    await send(connection, { ...body, ...Object.fromEntries(modes.map((mode) => [mode, 'disabled'])) });
    if (!untouched.includes(connection.id)) await send(connection, body);
  }
  for (const rule of ofKind('DataMaskingRule')) await send(rule, { ...rule.spec, connection_ids: uids(rule.edges?.['connection_ids']) });
  return refused[0];
}

function splitId(id: string): readonly [keyof typeof lists, string] {
  const kind = kinds.find((one) => id.startsWith(`${one}/`));
  if (kind === undefined) throw new Error(`${id} has no list`);
  return [kind, id.slice(kind.length + 1)];
}

/** Reads all objects through the API as the model reads them, and the connections that were not written since their creation. */
export async function readGateway({ call }: ServedGateway): Promise<{ readonly state: ModelState; readonly untouched: readonly string[] }> {
  const agents = new Map((await call('GET', '/agents')).list.map((agent) => [idOf({ body: agent }), textOf(agent['name'])]));
  const rows: { readonly kind: string; readonly row: JsonObject }[] = [];
  for (const kind of kinds) rows.push(...(await call('GET', lists[kind])).list.map((row) => ({ kind, row })));
  const ids = new Map(rows.map(({ kind, row }) => [idOf({ body: row }), `${kind}/${textOf(row['name'])}`]));
  const objects = rows.map(({ kind, row }): ModelObject => {
    const fields = Object.entries(row).filter(([field]) => !computed.has(field));
    const spec = {
      ...Object.fromEntries(fields),
      ...(kind === 'Connection' ? { agent_id: agents.get(textOf(row['agent_id'])) ?? '' } : {}),
    };
    const own = idOf({ body: row });
    const attached =
      kind === 'GuardrailRule'
        ? rows.filter((other) => textsOf(other.row['guardrail_rules']).includes(own)).map((other) => idOf({ body: other.row }))
        : textsOf(row['connection_ids']);
    const manager = textOf(row['managed_by']);
    return {
      id: ids.get(own) ?? '',
      spec,
      secrets: secretsIn(row['secret']),
      ...(kind === 'Connection' ? {} : { edges: { connection_ids: attached.flatMap((id) => ids.get(id) ?? []) } }),
      ...(manager === '' ? {} : { managedBy: manager }),
    };
  });
  const untouched = rows.filter(({ row }) => row['created_at'] === row['updated_at']).map(({ row }) => ids.get(idOf({ body: row })) ?? '');
  return { state: Object.fromEntries(objects.map((one) => [one.id, one])), untouched };
}

function secretsIn(value: Json | undefined): Readonly<Record<string, string>> {
  const entries = Object.entries(isObject(value) ? value : {});
  return Object.fromEntries(entries.map(([key, text]) => [`/secret/${key}`, textOf(text)]));
}
