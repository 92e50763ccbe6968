import { mayUse } from './auth.ts';
import { ok, type Call, type Reply, type Route } from './call.ts';
import { ModelError } from './errors.ts';
import type { Json } from './json.ts';
import { byName, matchesLike } from './like.ts';
import { pullAll, runbookNames } from './runbook-files.ts';

export const searchRoutes: readonly Route[] = [{ method: 'GET', path: '/search', access: 'reader', answer: search }];

/** Searches three kinds of objects; a failed part is null, with a text in `errors`. */
function search(call: Call): Reply {
  const { store, context, caller, query } = call;
  const term = query.get('term') ?? '';
  if (term === '') throw new ModelError(400, 'term parameter is required');
  const { runbooks, error } = searchRunbooks(call, term.toLowerCase());
  const connections = [...store.connections.values()]
    .filter(
      (row) => mayUse(context, caller, row.name) && [row.name, row.type, row.subtype].some((text) => matchesLike(text, `%${term}%`, 'i')),
    )
    .toSorted(byName);
  const resources = [...store.resources.values()]
    .filter((row) => [row.name, row.subtype, row.type].some((text) => matchesLike(text, `%${term}%`)))
    .toSorted(byName);
  return ok({
    errors: error === undefined ? null : [error],
    connections: connections.map((row) => ({
      id: row.id,
      name: row.name,
      resource_name: row.resourceName,
      type: row.type,
      subtype: row.subtype,
      status: row.status,
      access_mode_runbooks: row.runbooks,
      access_mode_exec: row.exec,
      access_mode_connect: row.connect,
    })),
    runbooks,
    resources: resources.map(({ id, name, type, subtype }) => ({ id, name, type, subtype })),
  });
}

/** One repository that cannot be pulled fails the whole part. */
function searchRunbooks(call: Call, term: string): { readonly runbooks: Json; readonly error?: string } {
  if (call.store.runbooks === null) return { runbooks: null, error: 'failed getting the runbooks plugin, reason=record not found' };
  const pulled = pullAll(call);
  const broken = pulled.find(({ files }) => files === undefined);
  if (broken !== undefined) return { runbooks: null, error: `failed searching runbooks, reason=${broken.problem}` };
  const found = pulled.flatMap((repository) => runbookNames(repository).map((name) => ({ repository: repository.repository, name })));
  return { runbooks: found.filter(({ repository, name }) => `${repository}/${name}`.toLowerCase().includes(term)) };
}
