import { mayUse } from './auth.ts';
import { ok, type Call, type Reply, type Route } from './call.ts';
import { ModelError } from './errors.ts';
import { matchesLike } from './like.ts';
import { pullRepository, pullAll, viewCommit, viewFiles, type PulledRepository } from './runbook-files.ts';
import type { RunbookRuleRow } from './rows.ts';
import { decode } from './secrets.ts';

export const runbookListingRoutes: readonly Route[] = [
  { method: 'GET', path: '/runbooks', access: 'reader', answer: list },
  { method: 'GET', path: '/plugins/runbooks/templates', access: 'reader', answer: templates },
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

/** The connections on which the caller may run a file. */
function reachable(call: Call, { repository }: PulledRepository, name: string, all: readonly string[]): readonly string[] {
  const file = { repository, name };
  return all.filter((connection) => mayRunFile(call, file, connection));
}

/** Returns whether the runbook rules let the caller run a file: all without rules or as an admin, else what a rule of its groups includes. */
export function mayRunFile({ store, caller }: Call, file: RunbookRuleRow['runbooks'][number], connection: string): boolean {
  if (store.runbookRules.size === 0 || caller.role === 'admin') return true;
  return [...store.runbookRules.values()].some(
    ({ userGroups, connections, runbooks }) =>
      (userGroups.length === 0 || userGroups.some((group) => caller.groups.includes(group))) &&
      (connections.length === 0 || connections.includes(connection)) &&
      (runbooks.length === 0 || runbooks.some((one) => one.repository === file.repository && matchesLike(file.name, `${one.name}%`, 'i'))),
  );
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
