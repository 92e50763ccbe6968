import { mayUse } from './auth.ts';
import { created, ok, type Call, type Reply, type Route } from './call.ts';
import { readBody } from './body.ts';
import { ModelError } from './errors.ts';
import { pullRepository, pullAll, viewCommit, viewFiles, type PulledRepository } from './runbook-files.ts';
import { decode } from './secrets.ts';

export const runbookListingRoutes: readonly Route[] = [
  { method: 'GET', path: '/runbooks', access: 'reader', answer: list },
  { method: 'GET', path: '/plugins/runbooks/templates', access: 'reader', answer: templates },
  { method: 'POST', path: '/plugins', access: 'admin', answer: createPlugin },
  { method: 'GET', path: '/plugins', access: 'reader', answer: listPlugins },
];

/** Lists all runbooks; a repository that cannot be pulled is a text in `errors`, never another status. */
function list(call: Call): Reply {
  const pulled = pullAll(call);
  const found = pulled.filter(({ files }) => files !== undefined);
  const { query } = call;
  const named = query.get('connection_name') || query.get('connection') || '';
  const all = named === '' ? usable(call) : [named];
  const keepEmpty = query.get('remove_empty_connections') === 'false';
  const shown = query.get('list_connections') === 'true' || named !== '';
  const allowed = found.map((repository) => {
    const reach = (name: string): readonly string[] => reachable(call, repository, name, all);
    const names = viewFiles(repository, reach).filter((file) => keepEmpty || 'connections' in file);
    return {
      repository,
      items: names.map(({ connections, ...file }) => (shown && connections !== undefined ? { ...file, connections } : file)),
    };
  });
  const first = found[0];
  return ok({
    errors: pulled
      .filter(({ files }) => files === undefined)
      .map(({ url, problem }) => `failed listing runbooks for repo ${url}, err=${problem}`),
    repositories: allowed.map(({ repository, items }) => ({ items, repository: repository.repository, ...viewCommit(repository) })),
    ...(first === undefined ? {} : { items: allowed.flatMap(({ items }) => items), ...viewCommit(first) }),
  });
}

function usable({ store, context, caller }: Call): readonly string[] {
  const rows = [...store.connections.values()].filter((row) => row.runbooks === 'enabled' && mayUse(context, caller, row.name));
  return context.random.shuffle(rows.map((row) => row.name));
}

/** The connections on which the caller may run a file: all without rules or as an admin, else what the matching rules name. */
function reachable({ store, caller }: Call, { repository }: PulledRepository, name: string, all: readonly string[]): readonly string[] {
  const rules = [...store.runbookRules.values()];
  if (rules.length === 0 || caller.role === 'admin') return all;
  const matching = rules.filter(
    (rule) =>
      (rule.userGroups.length === 0 || rule.userGroups.some((group) => caller.groups.includes(group))) &&
      (rule.runbooks.length === 0 || rule.runbooks.some((file) => file.repository === repository && name.startsWith(file.name))),
  );
  return all.filter((connection) => matching.some((rule) => rule.connections.length === 0 || rule.connections.includes(connection)));
}

/** The templates of the legacy plugin, which no current gateway has unless someone makes it again. */
function templates({ store, context }: Call): Reply {
  const plugin = store.plugins.get('runbooks');
  if (plugin === undefined) throw new ModelError(404, 'plugin runbooks not found');
  const url = decode(plugin.envVars['GIT_URL'] ?? '');
  if (url === '') throw new ModelError(422, 'missing (empty) required plugin configuration: GIT_URL');
  const pulled = pullRepository(context, url);
  if (pulled.files === undefined) throw new ModelError(422, `failed listing runbooks, reason=${pulled.problem}`);
  return ok({ items: viewFiles(pulled, () => undefined), ...viewCommit(pulled) });
}

function createPlugin({ text, store, context }: Call): Reply {
  const body = readBody(text, 'Plugin');
  const name = body.string('name');
  body.require({ Name: name });
  if (store.plugins.has(name)) throw new ModelError(400, 'plugin already enabled');
  const connections = (body.structs('connections', 'PluginConnection') ?? []).map((row) => ({
    id: row.string('id'),
    config: row.strings('config') ?? [],
  }));
  const config = readBody(JSON.stringify(body.map('config') ?? {}), 'PluginConfig');
  const row = {
    id: context.random.uuid(),
    name,
    connections: connections.map(({ id, config: groups }) => ({ name: store.connectionNames.get(id) ?? '', config: groups })),
    envVars: config.stringMap('envvars') ?? {},
  };
  store.plugins.set(name, row);
  return created({
    id: row.id,
    name,
    connections: connections.map((item) => ({ ...item })),
    config: { id: row.id, envvars: row.envVars },
    source: null,
    priority: 0,
  });
}

/** Lists the plugins, without the values of their settings. */
function listPlugins({ store }: Call): Reply {
  return ok(
    [...store.plugins.values()].map(({ id, name, connections, envVars }) => ({
      id,
      name,
      connections: connections.map((one) => ({ id: store.connections.get(one.name)?.id ?? '', name: one.name, config: one.config })),
      config: { id, envvars: Object.fromEntries(Object.keys(envVars).map((key) => [key, 'REDACTED'])) },
      source: null,
      priority: 0,
    })),
  );
}
