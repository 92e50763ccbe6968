import { setImmediate as nextTurn } from 'node:timers/promises';
import { asText, type JsonObject } from '../../../model/json.ts';
import type { Role } from '../../principal.ts';
import type { Collection } from '../../collections.ts';
import { listObjects, type ObjectRow, parseSpec } from '../object-reader.ts';
import { openObject, type StoredObject } from '../stored-object.ts';
import { limitConcurrency } from '../../../model/concurrency.ts';
import type { Log } from '../../log.ts';
import { type Secrets, Undecryptable } from '../../secrets.ts';
import type { Remote, RemoteHead, RemoteRead } from './read-remote.ts';
import { readTemplate } from './template.ts';
import type { Store } from '../../store/store.ts';

export type RunbookSource = {
  /** Reads the head of a repository in bounded time; a failure message contains no secrets. */
  readonly read: (remote: Remote) => Promise<RemoteRead>;
  /** Ends all reads; the server calls it when it stops. */
  readonly close?: () => Promise<void>;
  /** Milliseconds that a listing waits for slow repositories; their reads continue for the next listing. 15 seconds by default. */
  readonly timeoutMs?: number;
};

/** A runbook; `error` is the reason why it cannot run. */
export type Runbook = { readonly name: string; readonly metadata: JsonObject; readonly error: string | null };

/** The runbooks of one repository at one commit. */
type RepositoryRunbooks = {
  readonly repository: string;
  readonly commit: string;
  readonly commit_author: string;
  readonly commit_message: string;
  readonly items: readonly Runbook[];
};

/** The runbooks of all readable repositories, and one error per unreadable repository. */
export type RunbookListing = { readonly repositories: readonly RepositoryRunbooks[]; readonly errors: readonly string[] };

type FoundRunbooks = {
  readonly runbooks: readonly { readonly name: string; readonly repository: string }[];
  readonly errors: readonly string[];
};

/** The runbooks of all configured repositories. */
export interface RunbookLibrary {
  /** Lists for a caller of this role: a standard caller does not see why a repository is unreadable, because a foreign server wrote that text. */
  readonly list: (role: Role) => Promise<RunbookListing>;
  /** Finds a term in `repository/name`, ignoring case. */
  readonly search: (term: string, role: Role) => Promise<FoundRunbooks>;
}

type RunbookLibraryOptions = {
  readonly store: Store;
  readonly collection: Collection;
  /** Without it no repository can be read. */
  readonly runbooks?: RunbookSource;
  readonly now: () => Date;
  readonly log: Log;
};

/** How long a head is cached, in seconds, if `git_hook_ttl` is not set. */
const defaultTtlSeconds = 300;
// An unreadable repository is not read again before this time.
const failureTtlSeconds = 10;
const maxConcurrentReads = 4;
const defaultTimeoutMs = 15_000;

type ReadOutcome = { readonly runbooks: RepositoryRunbooks } | { readonly failure: string };
type CachedRead = { readonly revision: number; readonly outcome: Promise<ReadOutcome>; expires: number };

/** Creates a library that caches heads for `git_hook_ttl` seconds; a changed configuration is read at once. */
export function createRunbookLibrary({ store, collection, runbooks, now, log }: RunbookLibraryOptions): RunbookLibrary {
  const cache = new Map<string, CachedRead>();
  const limited = limitConcurrency(maxConcurrentReads);

  async function list(role: Role): Promise<RunbookListing> {
    const reasonFor = (failure: string): string => (role === 'standard' ? 'the reason is visible to admins and auditors' : failure);
    const make = (rows: readonly ObjectRow[]): readonly StoredObject[] => rows.map((row) => openObject(store.cipher, collection, row));
    const configurations = (await listObjects(store, collection, { visibleTo: null, make })).flat();
    const known = new Set(configurations.map(({ id }) => id));
    for (const id of cache.keys()) if (!known.has(id)) cache.delete(id);
    const outcome = await Promise.all(configurations.map((one) => withTimeout(runbooks?.timeoutMs ?? defaultTimeoutMs, readCached(one))));
    return {
      repositories: outcome.flatMap((one) => ('runbooks' in one ? [one.runbooks] : [])),
      errors: outcome.flatMap((one, index) =>
        'failure' in one
          ? [`failed listing runbooks for repo ${specText(configurations[index], 'git_url')}, err=${reasonFor(one.failure)}`]
          : [],
      ),
    };
  }

  function readCached(configuration: StoredObject): Promise<ReadOutcome> {
    const found = cache.get(configuration.id);
    if (found !== undefined && found.revision === configuration.revision && now().getTime() < found.expires) return found.outcome;
    const outcome = limited(() => readNow(configuration));
    const entry: CachedRead = { revision: configuration.revision, outcome: outcome, expires: Number.POSITIVE_INFINITY };
    cache.set(configuration.id, entry);
    void expire(entry, ttlOf(configuration));
    return outcome;
  }

  async function expire(entry: CachedRead, ttl: number): Promise<void> {
    const outcome = await entry.outcome;
    entry.expires = now().getTime() + 1000 * ('failure' in outcome ? failureTtlSeconds : ttl);
  }

  async function readNow(configuration: StoredObject): Promise<ReadOutcome> {
    if (runbooks === undefined) return { failure: 'this server was started without git' };
    const { secrets } = configuration;
    if (secrets instanceof Undecryptable) {
      log({ level: 'error', message: secrets.message, details: { stack: String(secrets.cause) } });
      return { failure: 'its secrets cannot be decrypted' };
    }
    try {
      const result = await runbooks.read(repositoryOf(configuration, secrets));
      return 'failure' in result ? result : { runbooks: await repositoryRunbooks(configuration.name, result.head) };
    } catch (error) {
      log({
        level: 'error',
        message: `runbooks of ${configuration.name} cannot be read`,
        details: { stack: error instanceof Error ? (error.stack ?? error.message) : String(error) },
      });
      return { failure: 'the server could not read it; see its log' };
    }
  }

  return {
    list,
    async search(term, role) {
      const { repositories: read, errors } = await list(role);
      const wanted = term.toLowerCase();
      const all = read.flatMap(({ repository, items }) => items.map(({ name }) => ({ name, repository })));
      return { runbooks: all.filter(({ name, repository }) => `${repository}/${name}`.toLowerCase().includes(wanted)), errors };
    },
  };
}

/** Returns whether a file is a runbook: its name contains `.runbook.`. */
export function isRunbookPath(path: string): boolean {
  return path.slice(path.lastIndexOf('/') + 1).includes('.runbook.');
}

async function repositoryRunbooks(repository: string, { commit, author, message, files }: RemoteHead): Promise<RepositoryRunbooks> {
  const items: Runbook[] = [];
  for (const { path, content } of files.filter((file) => isRunbookPath(file.path))) {
    items.push(runbookOf(path, content));
    // Yields to other requests: a template of a megabyte takes time.
    await nextTurn();
  }
  return { repository, commit, commit_author: author, commit_message: message, items };
}

function runbookOf(name: string, content: string | undefined): Runbook {
  if (content === undefined) return { name, metadata: {}, error: 'max template size [1000 KB] reached' };
  const template = readTemplate(content);
  return 'problem' in template
    ? { name, metadata: {}, error: `template parse error: ${template.problem}` }
    : { name, metadata: template.metadata, error: null };
}

function repositoryOf(configuration: StoredObject, secrets: Secrets): Remote {
  const secret = (field: string): string => asText(secrets[field]);
  return {
    url: specText(configuration, 'git_url'),
    user: specText(configuration, 'git_user'),
    password: secret('git_password'),
    sshKey: secret('ssh_key'),
    sshKeyPassphrase: secret('ssh_keypass'),
  };
}

function specText(configuration: StoredObject | undefined, field: string): string {
  const value = configuration === undefined ? undefined : parseSpec(configuration)[field];
  return asText(value);
}

function ttlOf(configuration: StoredObject): number {
  const ttl = parseSpec(configuration)['git_hook_ttl'];
  return typeof ttl === 'number' && ttl > 0 ? ttl : defaultTtlSeconds;
}

async function withTimeout(milliseconds: number, outcome: Promise<ReadOutcome>): Promise<ReadOutcome> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<ReadOutcome>((resolve) => {
    timer = setTimeout(() => resolve({ failure: 'it is still being read' }), milliseconds);
  });
  return Promise.race([outcome, late]).finally(() => clearTimeout(timer));
}
