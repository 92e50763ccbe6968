import { createHash } from 'node:crypto';
import { join, posix } from 'node:path';
import { readSecretFile } from '../disk/secret-file.ts';
import { maxBytes } from '../disk/text-file.ts';
import { readFilesAt } from '../git/read-tree.ts';
import { headOf, mayBeInRepository, repositoryOf, type Repository } from '../git/repository.ts';
import type { DesiredResource, DesiredState } from '../model/desired.ts';
import type { Pointer } from '../model/pointer.ts';
import { withContent, type DesiredSecret } from '../model/secret.ts';
import type { ProjectContext, ResolvedConfig } from './resolved-config.ts';

/** Hashes of the contents of secret files, by their paths relative to the folder of the config file. */
type FileContents = ReadonlyMap<string, string>;

const noContents: FileContents = new Map();

/** Lists the files that secrets come from. */
export function secretFilesOf({ resources }: Pick<DesiredState, 'resources'>): readonly string[] {
  const files = new Set<string>();
  for (const { secrets } of resources) {
    for (const { source } of Object.values(secrets)) {
      const file = fileOf(source);
      if (file !== undefined) files.add(file);
    }
  }
  return [...files];
}

function fileOf(source: string): string | undefined {
  return source.startsWith('file:') ? source.slice('file:'.length) : undefined;
}

/** Adds to each secret from a file the hash of the content; secrets of other files have none. */
export function withContents(state: DesiredState, contents: FileContents): DesiredState {
  if (contents.size === 0) return state;
  const resources = state.resources.map((resource): DesiredResource => {
    const entries = Object.entries(resource.secrets);
    const added = entries.map(([path, secret]): readonly [Pointer, DesiredSecret] => {
      const content = contents.get(fileOf(secret.source) ?? '');
      return [path, content === undefined ? secret : withContent(secret, content)];
    });
    return added.every(([path, secret]) => secret === resource.secrets[path])
      ? resource
      : { ...resource, secrets: Object.fromEntries(added) };
  });
  return { ...state, resources };
}

/** Returns the hashes of the contents that secrets of the state have. */
export function contentsOf({ resources }: Pick<DesiredState, 'resources'>): FileContents {
  const found = resources.flatMap(({ secrets }) =>
    Object.values(secrets).flatMap(({ source, content }) => (content === undefined ? [] : [[fileOf(source) ?? '', content] as const])),
  );
  return new Map(found);
}

/** Hashes files as they are in a commit; files that it does not have, and links, are left out. */
export async function readContentsAt(
  repository: Repository,
  commit: string,
  { root, files }: { readonly root: string; readonly files: readonly string[] },
): Promise<FileContents> {
  if (files.length === 0) return noContents;
  const places = new Map(files.map((file) => [posix.join(root, file), file]));
  const contents = new Map<string, string>();
  await readFilesAt(repository, commit, {
    paths: [...places.keys()],
    maxBytes: maxBytes + 1,
    onFile: (path, bytes) => contents.set(places.get(path) ?? '', hashOf(bytes)),
  });
  return contents;
}

/**
 * Adds to each secret from a file that HEAD has the hash of the content in the working tree: the content of a committed file
 * belongs to the manifests. No hash is made of other files: it could be guessed from a value with few possibilities, while the
 * content of a committed file is known to everyone with access to the repository.
 */
export async function withTrackedContents(
  state: DesiredState,
  { root }: Pick<ResolvedConfig, 'root'>,
  { env }: Pick<ProjectContext, 'env'>,
): Promise<DesiredState> {
  const files = secretFilesOf(state);
  if (files.length === 0 || !mayBeInRepository(root)) return state;
  const repository = await repositoryOf({ folder: root, env });
  const head = repository === undefined ? undefined : await headOf(repository);
  if (repository === undefined || head === undefined) return state;
  const tracked = await readContentsAt(repository, head, { root: repository.prefix, files });
  const contents = [...tracked.keys()].flatMap((file) => {
    const { value } = readSecretFile(root, join(file));
    return value === undefined ? [] : [[file, hashOf(value)] as const];
  });
  return withContents(state, new Map(contents));
}

/** Hashes the content without the line breaks of Windows, which git may add to a working tree. */
function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1').digest('hex');
}
