import { BindError, readBody, type Body } from './body.ts';
import { created, empty, ok, param, type Call, type Reply, type Route } from './call.ts';
import { microTime } from './clock.ts';
import { ModelError } from './errors.ts';
import { gitUrlProblem, repositoryOf } from './git-url.ts';
import type { Json, JsonObject } from './json.ts';
import { uuidOf } from './random.ts';
import type { RepositoryRow, RunbooksRow } from './rows.ts';

export const runbookRoutes: readonly Route[] = [
  { method: 'GET', path: '/runbooks/configurations', access: 'auditor', answer: (call) => ok(viewAll(call, configuration(call))) },
  { method: 'PUT', path: '/runbooks/configurations', access: 'admin', answer: replaceAll },
  { method: 'POST', path: '/runbooks/configurations', access: 'admin', answer: create },
  { method: 'PUT', path: '/runbooks/configurations/:id', access: 'admin', answer: replace },
  { method: 'DELETE', path: '/runbooks/configurations/:id', access: 'admin', answer: remove },
];

/** The organisation's row of configurations; 404 when it has none. */
export function configuration({ store }: Call): RunbooksRow {
  if (store.runbooks === null) throw new ModelError(404, 'runbook configuration not found');
  return store.runbooks;
}

function replaceAll(call: Call): Reply {
  const { store, context } = call;
  const body = withRunbookErrors(400, () => {
    const read = readBody(call.text, 'RunbookConfigurationRequest');
    const repositories = read.structs('repositories', 'RunbookRepository');
    read.require({ Repositories: repositories });
    return (repositories ?? []).map(readRepository);
  });
  const repositories = new Map<string, RepositoryRow>();
  for (const repository of body) {
    checkKey(repository);
    const key = repositoryOf(repository.gitUrl);
    if (repositories.has(key)) throw new ModelError(400, 'duplicate git repository URLs are not allowed');
    repositories.set(key, repository);
  }
  const now = context.clock.now();
  const before = store.runbooks;
  store.runbooks = { id: before?.id ?? context.random.uuid(), repositories, createdAt: before?.createdAt ?? now, updatedAt: now };
  return ok(viewAll(call, store.runbooks));
}

function create(call: Call): Reply {
  const { store } = call;
  const repository = readOne(call);
  const key = repositoryOf(repository.gitUrl);
  if (store.runbooks?.repositories.has(key) === true || !fits(repository)) throw new ModelError(409, 'resource already exists');
  store.runbooks ??= { id: call.context.random.uuid(), repositories: new Map(), createdAt: call.context.clock.now(), updatedAt: 0n };
  save(call, new Map([...store.runbooks.repositories, [key, repository]]));
  return created(view(key, repository));
}

function replace(call: Call): Reply {
  const repository = readOne(call, (url) => {
    if (uuidOf(url) !== param(call, 'id')) throw new ModelError(400, 'git url in the path and body do not match');
  });
  const key = repositoryOf(repository.gitUrl);
  const before = call.store.runbooks?.repositories;
  if (before?.has(key) !== true || !fits(repository)) throw new ModelError(404, 'resource not found');
  save(call, new Map([...before, [key, repository]]));
  return ok(view(key, repository));
}

function remove(call: Call): Reply {
  const before = call.store.runbooks?.repositories ?? new Map<string, RepositoryRow>();
  const key = [...before].find(([, row]) => uuidOf(row.gitUrl) === param(call, 'id'))?.[0];
  if (key === undefined) throw new ModelError(404, 'resource not found');
  save(call, new Map([...before].filter(([other]) => other !== key)));
  return empty;
}

/** Refuses U+0000 in a JSON column; the gateway reports the database error as an existing or a missing entry. */
function fits(repository: RepositoryRow): boolean {
  return !JSON.stringify(repository).includes(String.raw`\u0000`);
}

function save({ store, context }: Call, repositories: RunbooksRow['repositories']): void {
  if (store.runbooks !== null) store.runbooks = { ...store.runbooks, repositories, updatedAt: context.clock.now() };
}

/** Reads the body of one entry; every error is 422. */
function readOne(call: Call, checkUrl: (url: string) => void = () => undefined): RepositoryRow {
  const repository = withRunbookErrors(422, () => {
    const body = readBody(call.text, 'RunbookRepository');
    const read = readRepository(body);
    body.require({ GitUrl: read.gitUrl });
    return read;
  });
  const problem = gitUrlProblem(repository.gitUrl);
  if (problem !== undefined) throw new ModelError(422, `invalid git url, reason=${problem}`);
  checkUrl(repository.gitUrl);
  checkKey(repository);
  return repository;
}

/** Reads a body whose errors the runbook routes reword. */
export function withRunbookErrors<T>(status: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof BindError) throw new ModelError(status, `invalid request body, reason=${error.message}`);
    throw error;
  }
}

function readRepository(body: Body): RepositoryRow {
  return {
    gitUrl: body.string('git_url'),
    gitUser: body.string('git_user'),
    gitPassword: body.string('git_password'),
    sshKey: body.string('ssh_key'),
    sshUser: body.string('ssh_user'),
    sshKeypass: body.string('ssh_keypass'),
    sshKnownHosts: body.string('ssh_known_hosts'),
    gitHookTtl: body.int('git_hook_ttl') ?? 0,
  };
}

function checkKey({ sshKey }: RepositoryRow): void {
  if (sshKey !== '' && !/^-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]+-----END [A-Z ]*PRIVATE KEY-----\s*$/.test(sshKey))
    throw new ModelError(422, 'failed creating runbook config, reason=failed parsing SSH key file');
}

function viewAll({ context }: Call, row: RunbooksRow): JsonObject {
  return {
    id: row.id,
    org_id: context.organisation.id,
    repositories: context.random.shuffle(row.repositories).map(([key, repository]) => view(key, repository)),
    created_at: microTime(row.createdAt),
    updated_at: microTime(row.updatedAt),
  };
}

function view(repository: string, row: RepositoryRow): Json {
  return {
    repository,
    git_url: row.gitUrl,
    git_user: row.gitUser,
    git_password: row.gitPassword,
    ssh_key: row.sshKey,
    ssh_user: row.sshUser,
    ssh_keypass: row.sshKeypass,
    ssh_known_hosts: row.sshKnownHosts,
    git_hook_ttl: row.gitHookTtl,
  };
}
