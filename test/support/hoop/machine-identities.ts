import { writeAttributes } from './attribute-links.ts';
import { readBody } from './body.ts';
import { created, ok, param, type Call, type ModelContext, type Reply, type Route } from './call.ts';
import { microTime, nanoTime } from './clock.ts';
import { ModelError } from './errors.ts';
import type { Json, JsonObject } from './json.ts';
import { uuidOf } from './random.ts';
import type { ConnectionRow, MachineCredentialRow, MachineIdentityRow } from './rows.ts';
import type { Store } from './store.ts';

const audit = 'machine_identities';

export const machineIdentityRoutes: readonly Route[] = [
  { method: 'GET', path: '/machineidentities', access: 'reader', answer: list },
  { method: 'POST', path: '/machineidentities', access: 'admin', answer: create, audit },
  { method: 'GET', path: '/machineidentities/:name', access: 'reader', answer: (call) => ok(view(call, find(call))) },
  { method: 'PUT', path: '/machineidentities/:name', access: 'admin', answer: replace, audit },
  { method: 'DELETE', path: '/machineidentities/:name', access: 'admin', answer: remove, audit },
];

const supported = ['postgres', 'ssh', 'rdp', 'aws-ssm', 'httpproxy', 'kubernetes', 'claude-code'];
const synonyms: Readonly<Record<string, string>> = {
  grafana: 'httpproxy',
  kibana: 'httpproxy',
  'kubernetes-token': 'httpproxy',
  git: 'ssh',
  github: 'ssh',
  'kubernetes-eks': 'kubernetes',
};
const noNames =
  'ERROR: null value in column "connection_names" of relation "machine_identities" violates not-null constraint (SQLSTATE 23502)';
const zeroTime = '0001-01-01T00:00:00Z';

type IdentityBody = Pick<MachineIdentityRow, 'name' | 'description'> & {
  readonly connectionNames: readonly string[] | null;
  readonly attributes: readonly string[] | null;
};

/** Newest first. */
function list(call: Call): Reply {
  const rows = [...call.store.machineIdentities.values()].toSorted((left, right) => (left.createdAt < right.createdAt ? 1 : -1));
  return ok(rows.map((row) => view(call, row)));
}

function create(call: Call): Reply {
  const { store, context } = call;
  const body = readIdentity(call.text);
  const { connectionNames } = body;
  if (store.machineIdentities.has(body.name)) throw new ModelError(409, 'machine identity with this name already exists');
  const prefix = 'failed creating machine identity: ';
  for (const name of connectionNames ?? []) refuse(prefix, connectionProblem(store, name));
  if (connectionNames === null) return refuse(prefix, `failed creating machine identity: ${noNames}`);
  for (const name of connectionNames)
    refuse(prefix, listenerProblem(context, name), `failed provisioning credential for connection ${name}: `);
  const now = context.clock.now();
  const id = uuidOf(`${context.organisation.id}:machineidentity:${body.name}`);
  const row = { id, name: body.name, description: body.description, connectionNames, createdAt: now, updatedAt: now };
  store.machineIdentities.set(row.name, row);
  const before = credentialsOf(store, row);
  saveAttributes(call, row, body, prefix);
  for (const name of connectionNames) addCredential(context, row, name);
  for (const name of matching(store, row)) if (isPossible(context, name)) addCredential(context, row, name);
  return created({ ...viewWritten(row, body, nanoTime(now)), credentials: viewNew(store, row, before) });
}

/** Replaces an identity; only connections that it did not name before are checked, and both times in the response are zero. */
function replace(call: Call): Reply {
  const { store, context } = call;
  const body = readIdentity(call.text);
  const prefix = 'failed updating machine identity: ';
  const existing = store.machineIdentities.get(param(call, 'name'));
  if (existing === undefined) return refuse(prefix, 'failed fetching machine identity: resource not found');
  if (body.name !== existing.name && store.machineIdentities.has(body.name))
    throw new ModelError(409, 'machine identity with this name already exists');
  const names = body.connectionNames ?? [];
  const before = credentialsOf(store, existing);
  for (const name of names.filter((one) => !existing.connectionNames.includes(one))) {
    refuse(prefix, connectionProblem(store, name));
    refuse(prefix, listenerProblem(context, name), `failed provisioning credential for connection ${name}: `);
    addCredential(context, existing, name);
  }
  const wanted = matchingAttributes(store, body.attributes ?? []);
  for (const name of existing.connectionNames)
    if (!names.includes(name) && !wanted.includes(name)) store.machineCredentials.delete(keyOf(existing, name));
  if (body.connectionNames === null) return refuse(prefix, `failed updating machine identity: ${noNames}`);
  const row = { ...existing, name: body.name, description: body.description, connectionNames: names, updatedAt: context.clock.now() };
  store.machineIdentities.delete(existing.name);
  store.machineIdentities.set(row.name, row);
  store.machineAttributes.renameRight(existing.name, row.name);
  saveAttributes(call, row, body, prefix);
  for (const name of matching(store, row)) if (isPossible(context, name)) addCredential(context, row, name);
  return ok({ ...viewWritten(row, body, zeroTime), new_credentials: viewNew(store, row, before) });
}

function remove(call: Call): Reply {
  const { store } = call;
  const row = find(call);
  for (const { connection } of credentialsOf(store, row)) store.machineCredentials.delete(keyOf(row, connection));
  store.machineIdentities.delete(row.name);
  store.machineAttributes.dropRight(row.name);
  return ok({ message: 'machine identity deleted' });
}

/** Gives machine identities credentials for the connections that they name or share an attribute with, and revokes others. */
export function reconcileCredentials(context: ModelContext): void {
  const { store } = context;
  for (const row of store.machineIdentities.values()) {
    const wanted = [...row.connectionNames, ...matching(store, row)];
    for (const { connection } of credentialsOf(store, row))
      if (!wanted.includes(connection)) store.machineCredentials.delete(keyOf(row, connection));
    for (const name of wanted) if (isPossible(context, name)) addCredential(context, row, name);
  }
}

function find(call: Call): MachineIdentityRow {
  const row = call.store.machineIdentities.get(param(call, 'name'));
  if (row === undefined) throw new ModelError(404, 'machine identity not found');
  return row;
}

function readIdentity(text: string): IdentityBody {
  const body = readBody(text, 'MachineIdentity');
  const result = {
    name: body.string('name'),
    description: body.string('description'),
    connectionNames: body.strings('connection_names'),
    attributes: body.strings('attributes'),
  };
  body.require({ Name: result.name });
  return result;
}

function refuse(prefix: string, problem: string): never;
function refuse(prefix: string, problem: string | undefined, step?: string): void;
function refuse(prefix: string, problem: string | undefined, step = ''): void {
  if (problem !== undefined) throw new ModelError(400, `${prefix}${step}${problem}`);
}

function subtypeOf({ subtype }: ConnectionRow): string {
  return synonyms[subtype] ?? subtype;
}

function connectionProblem(store: Store, name: string): string | undefined {
  const row = store.findConnection(name);
  if (row === undefined) return `connection ${name} not found`;
  const subtype = subtypeOf(row);
  if (!supported.includes(subtype)) return `connection ${name} has unsupported type ${subtype} for machine identities`;
  return row.connect === 'enabled' ? undefined : `connection ${name} does not have access mode connect enabled`;
}

function listenerProblem({ store, settings }: ModelContext, name: string): string | undefined {
  const row = store.findConnection(name);
  const subtype = row === undefined ? '' : subtypeOf(row);
  return settings.listeners || subtype === 'aws-ssm' ? undefined : `listening address is not configured for connection type ${subtype}`;
}

function isPossible(context: ModelContext, name: string): boolean {
  return connectionProblem(context.store, name) === undefined && listenerProblem(context, name) === undefined;
}

function saveAttributes(call: Call, { name }: MachineIdentityRow, { attributes }: IdentityBody, prefix: string): void {
  const links = call.store.machineAttributes;
  writeAttributes(call, { links, owner: name, names: attributes, prefix: `${prefix}failed upserting machine identity attributes: ` });
}

function matching(store: Store, { name }: MachineIdentityRow): readonly string[] {
  return matchingAttributes(store, store.machineAttributes.leftsOf(name));
}

function matchingAttributes(store: Store, attributes: readonly string[]): readonly string[] {
  return attributes.flatMap((attribute) => store.connectionAttributes.rightsOf(attribute));
}

function keyOf({ id }: MachineIdentityRow, connection: string): string {
  return `${id} ${connection}`;
}

function addCredential({ store, random }: ModelContext, row: MachineIdentityRow, connection: string): void {
  const key = keyOf(row, connection);
  if (!store.machineCredentials.has(key))
    store.machineCredentials.set(key, { identityId: row.id, connection, secretKey: `pg${random.hex(40)}` });
}

function credentialsOf(store: Store, { id }: MachineIdentityRow): readonly MachineCredentialRow[] {
  return [...store.machineCredentials.values()].filter((row) => row.identityId === id);
}

function view({ store, context }: Call, row: MachineIdentityRow): JsonObject {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    connection_names: row.connectionNames,
    attributes: context.random.shuffle(store.machineAttributes.leftsOf(row.name)),
    created_at: microTime(row.createdAt),
    updated_at: microTime(row.updatedAt),
  };
}

function viewWritten(row: MachineIdentityRow, { attributes }: IdentityBody, time: string): JsonObject {
  const { id, name, description, connectionNames } = row;
  return { id, name, description, connection_names: connectionNames, attributes: attributes ?? [], created_at: time, updated_at: time };
}

function viewNew(store: Store, row: MachineIdentityRow, before: readonly MachineCredentialRow[]): Json {
  const fresh = credentialsOf(store, row).filter((one) => !before.some(({ connection }) => connection === one.connection));
  return fresh.length === 0 ? null : fresh.flatMap((one) => viewCredential(store, one));
}

function viewCredential(store: Store, { connection, secretKey }: MachineCredentialRow): readonly JsonObject[] {
  const row = store.connections.get(connection);
  if (row === undefined) return [];
  return [{ connection_name: connection, connection_type: row.type, connection_subtype: subtypeOf(row), secret_key: secretKey }];
}
