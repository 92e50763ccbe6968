import type { Call, ModelContext } from './call.ts';
import { repositoryOf } from './git-url.ts';
import type { JsonObject } from './json.ts';
import type { RepositorySeed } from './options.ts';
import { configuration } from './runbooks.ts';

/** A repository as it was pulled, or why it could not be. */
export type PulledRepository = {
  readonly url: string;
  readonly repository: string;
  readonly files?: RepositorySeed;
  readonly problem: string;
};

/** Pulls a repository: one that the options name is there, every other host is unknown. */
export function pullRepository({ repositories }: ModelContext, url: string): PulledRepository {
  const repository = repositoryOf(url);
  const files = repositories.get(repository);
  const host = repository.split('/')[0] ?? '';
  const reason = `Get "${url}/info/refs?service=git-upload-pack": dial tcp: lookup ${host} on 0.0.0.0:53: no such host`;
  const problem = files === undefined ? `failed pulling repo ${url}, err=${reason}` : '';
  return { url, repository, problem, ...(files === undefined ? {} : { files }) };
}

/** Every configured repository, pulled, in no order. */
export function pullAll(call: Call): readonly PulledRepository[] {
  return call.context.random.shuffle(configuration(call).repositories.values()).map((row) => pullRepository(call.context, row.gitUrl));
}

/** The names of a repository's files that are runbooks. */
export function runbookNames({ files }: PulledRepository): readonly string[] {
  return (files?.files ?? []).map((file) => file.name).filter(isRunbook);
}

/** The runbooks of a repository as lists show them; `connections` is left out where it says nothing. */
export function viewFiles(
  { files }: PulledRepository,
  connections: (name: string) => readonly string[] | undefined,
): readonly JsonObject[] {
  return (files?.files ?? [])
    .filter((file) => isRunbook(file.name))
    .map((file) => {
      const names = connections(file.name) ?? [];
      return {
        name: file.name,
        metadata: file.metadata ?? {},
        ...(names.length === 0 ? {} : { connections: names }),
        error: file.error ?? null,
      };
    });
}

function isRunbook(path: string): boolean {
  return (path.split('/').at(-1) ?? '').includes('.runbook.');
}

/** The commit that a repository was pulled at. */
export function viewCommit({ files }: PulledRepository): JsonObject {
  return { commit: files?.commit ?? '', commit_author: files?.author ?? '', commit_message: files?.message ?? '' };
}
