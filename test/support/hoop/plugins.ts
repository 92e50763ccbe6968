import { readBody, type Body } from './body.ts';
import { created, ok, param, type Call, type ModelContext, type Reply, type Route } from './call.ts';
import { microTime } from './clock.ts';
import { badUuid, isUuid, ModelError } from './errors.ts';
import type { Json } from './json.ts';
import { uuidOf } from './random.ts';
import type { ConnectionRow, PluginConnectionRow, PluginRow } from './rows.ts';
import type { Store } from './store.ts';

export const pluginRoutes: readonly Route[] = [
  { method: 'GET', path: '/plugins', access: 'reader', answer: list },
  { method: 'POST', path: '/plugins', access: 'admin', answer: create },
  { method: 'GET', path: '/plugins/:name', access: 'reader', answer: read },
  { method: 'GET', path: '/plugins/:name/conn/:id', access: 'auditor', answer: readRow },
  { method: 'PUT', path: '/plugins/:name/conn/:id', access: 'admin', answer: replaceRow },
  { method: 'DELETE', path: '/plugins/:name/conn/:id', access: 'admin', answer: removeRow },
];

const unknownConnection =
  'ERROR: insert or update on table "plugin_connections" violates foreign key constraint "plugin_connections_connection_id_fkey" (SQLSTATE 23503)';

/** Plugins that connection writes maintain: the connections in each of them, with their settings. */
const defaults: Readonly<Record<string, (row: ConnectionRow) => readonly string[] | null>> = {
  audit: () => null,
  dlp: (row) => row.redactTypes,
  editor: () => null,
  review: (row) => row.reviewers,
  slack: () => null,
};

/** Lists the plugins in no order, without the values of their settings. */
function list(call: Call): Reply {
  const { store, context } = call;
  const own = [...store.plugins.values()].map((row) => view(row, rowsOf(store, row), 'REDACTED'));
  const all = [...own, ...Object.keys(defaults).map((name) => viewDefault(call, name))];
  return ok(context.random.shuffle(all));
}

function defaultId({ organisation }: ModelContext, name: string): string {
  return uuidOf(`plugin/${organisation.id}/${name}`);
}

function viewDefault({ store, context }: Call, name: string): Json {
  const connections = [...store.connections.values()].flatMap((row) => {
    const own = store.pluginRows(name).find((one) => one.connectionId === row.id);
    const config = own?.config ?? defaults[name]?.(row) ?? null;
    return config?.length === 0 ? [] : [{ id: row.id, name: row.name, config }];
  });
  return { id: defaultId(context, name), name, connections, config: null, source: null, priority: 0 };
}

function read(call: Call): Reply {
  const name = param(call, 'name');
  if (Object.hasOwn(defaults, name)) return ok(viewDefault(call, name));
  const row = call.store.plugins.get(name);
  if (row === undefined) throw new ModelError(404, 'plugin not found');
  return ok(view(row, call.context.random.shuffle(rowsOf(call.store, row))));
}

function create(call: Call): Reply {
  const { store, context } = call;
  const body = readPlugin(call.text);
  if (Object.hasOwn(defaults, body.name) || store.plugins.has(body.name)) throw new ModelError(400, 'plugin already enabled');
  const rows = body.rows.map((row) => ({ ...row, plugin: body.name, id: context.random.uuid(), updatedAt: context.clock.now() }));
  const problem = rows.flatMap((row) => rowProblem(store, row) ?? [])[0];
  if (problem !== undefined) throw new ModelError(500, `failed creating plugin ${body.name}, reason=${problem}`);
  const row = { id: context.random.uuid(), name: body.name, envVars: body.envVars };
  store.plugins.set(row.name, row);
  for (const one of rows) store.savePluginConnection(one);
  return created(
    view(
      row,
      rows.map((one) => withName(store, one)),
    ),
  );
}

function readRow(call: Call): Reply {
  const id = param(call, 'id');
  if (!isUuid(id)) throw new ModelError(500, `failed fetching plugin connection: ${badUuid(id)}`);
  return ok(viewRow(call, findRow(call, id)));
}

function replaceRow(call: Call): Reply {
  const { store, context } = call;
  const body = readBody(call.text, 'PluginConnectionRequest');
  const config = body.has('config') ? body.strings('config') : [];
  const plugin = param(call, 'name');
  const connectionId = param(call, 'id');
  if (plugin === 'review' || plugin === 'dlp')
    throw new ModelError(400, 'unable to manage review or dlp plugins, use the connection endpoint instead');
  if (!store.plugins.has(plugin) && !Object.hasOwn(defaults, plugin)) throw missing();
  const problem = connectionProblem(store, connectionId);
  if (problem !== undefined) throw new ModelError(500, `failed updating plugin connection: ${problem}`);
  const before = store.pluginRows(plugin).find((row) => row.connectionId === connectionId.toLowerCase());
  const row: PluginConnectionRow = {
    id: before?.id ?? context.random.uuid(),
    plugin,
    connectionId: connectionId.toLowerCase(),
    config,
    updatedAt: context.clock.now(),
  };
  store.savePluginConnection(row);
  return ok(viewRow(call, row));
}

function removeRow(call: Call): Reply {
  const id = param(call, 'id');
  if (call.store.plugins.has(param(call, 'name')) && !isUuid(id))
    throw new ModelError(500, `failed removing plugin connection: ${badUuid(id)}`);
  call.store.pluginConnections.delete(findRow(call, id).id);
  return { status: 204, body: null };
}

function findRow({ store, params }: Call, connectionId: string): PluginConnectionRow {
  const row = store.pluginRows(params['name'] ?? '').find((one) => one.connectionId === connectionId.toLowerCase());
  if (row === undefined) throw missing();
  return row;
}

function missing(): ModelError {
  return new ModelError(404, 'either the plugin or the connection does not exist');
}

type PluginBody = {
  readonly name: string;
  readonly envVars: Readonly<Record<string, string>>;
  readonly rows: readonly Pick<PluginConnectionRow, 'connectionId' | 'config'>[];
};

/** Reads a plugin; of repeated connections the first one counts. */
function readPlugin(text: string): PluginBody {
  const body = readBody(text, 'PluginRequest');
  const connections = body.structs('connections', 'PluginConnectionRequest');
  const name = body.string('name');
  body.require({ Name: name, Connections: connections });
  const rows = new Map<string, Pick<PluginConnectionRow, 'connectionId' | 'config'>>();
  for (const row of connections ?? []) addOnce(rows, row);
  const config = readBody(JSON.stringify(body.map('config') ?? {}), 'PluginConfig');
  return { name, envVars: config.stringMap('envvars') ?? {}, rows: [...rows.values()] };
}

function addOnce(rows: Map<string, Pick<PluginConnectionRow, 'connectionId' | 'config'>>, row: Body): void {
  const connectionId = row.string('id');
  if (!rows.has(connectionId)) rows.set(connectionId, { connectionId, config: row.strings('config') });
}

function rowProblem(store: Store, { connectionId }: Pick<PluginConnectionRow, 'connectionId'>): string | undefined {
  const problem = connectionProblem(store, connectionId);
  return problem === undefined ? undefined : `failed persisting plugin connection ${connectionId}, reason=${problem}`;
}

function connectionProblem(store: Store, id: string): string | undefined {
  if (!isUuid(id)) return badUuid(id);
  return store.connectionNames.has(id.toLowerCase()) ? undefined : unknownConnection;
}

type NamedRow = { readonly id: string; readonly name: string; readonly config: readonly string[] | null };

function rowsOf(store: Store, { name }: PluginRow): readonly NamedRow[] {
  return store.pluginRows(name).map((row) => withName(store, row));
}

function withName(store: Store, { connectionId, config }: PluginConnectionRow): NamedRow {
  return { id: connectionId, name: store.connectionNames.get(connectionId) ?? '', config };
}

function view({ id, name, envVars }: PluginRow, connections: readonly NamedRow[], shown?: string): Json {
  const envvars = Object.fromEntries(Object.entries(envVars).map(([key, value]) => [key, shown ?? value]));
  const config = Object.keys(envvars).length === 0 ? null : { id, envvars };
  return { id, name, connections: connections.map((row) => ({ ...row })), config, source: null, priority: 0 };
}

function viewRow({ store, context }: Call, row: PluginConnectionRow): Json {
  return {
    id: row.id,
    plugin_id: store.plugins.get(row.plugin)?.id ?? defaultId(context, row.plugin),
    connection_id: row.connectionId,
    config: row.config,
    updated_at: microTime(row.updatedAt),
  };
}
