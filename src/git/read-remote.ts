import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { grantAccess, redactSecrets, type RemoteSecrets, readAddress } from './remote-access.ts';
import { runGit, type GitOptions } from './run-git.ts';

/** A remote repository and its credentials; an empty text means that there is none. */
export type Remote = RemoteSecrets & { readonly url: string };

/** A file at the head of a repository; `content` is undefined if the file is too large. */
export type RemoteFile = { readonly path: string; readonly content?: string };

export type RemoteHead = {
  readonly commit: string;
  readonly author: string;
  readonly message: string;
  readonly files: readonly RemoteFile[];
};

/** The head of a repository, or the reason why it was not read; the reason contains no secret. */
export type RemoteRead = { readonly head: RemoteHead } | { readonly failure: string };

export type RemoteLimits = {
  /** The time for one repository, in milliseconds. */
  readonly timeoutMs: number;
  /** The size of the fetched packs. */
  readonly maxRepositoryBytes: number;
  /** The size of one file that is read. */
  readonly maxFileBytes: number;
  /** The size of all files that are read. */
  readonly maxTotalBytes: number;
  readonly maxFiles: number;
};

export type RemoteOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns true for files to read. */
  readonly isWanted: (path: string) => boolean;
  /** The file of trusted ssh host keys. If undefined, the first key of each host is trusted until the process ends. */
  readonly knownHosts?: string;
  /** Allows `file://`: users who choose addresses can then read the disk. */
  readonly allowLocal?: true;
  readonly limits?: Partial<RemoteLimits>;
  /** The parent of temporary folders; that of the system by default. */
  readonly tempFolder?: string;
};

/** Reads heads of remote repositories; `close` stops all running reads and removes their files. */
export interface RemoteReader {
  readonly read: (remote: Remote) => Promise<RemoteRead>;
  readonly close: () => Promise<void>;
}

const defaultLimits: RemoteLimits = {
  timeoutMs: 30_000,
  maxRepositoryBytes: 256 * 1024 * 1024,
  maxFileBytes: 1_000_000,
  maxTotalBytes: 32 * 1024 * 1024,
  maxFiles: 1000,
};
const maxTreeBytes = 32 * 1024 * 1024;
const fetchedRef = 'refs/heads/fetched';

/** Creates a reader that fetches one commit, reads its blobs without a checkout, and deletes it again. */
export function createRemoteReader(options: RemoteOptions): RemoteReader {
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  let processFolder: Promise<string> | undefined;
  return {
    async read(remote) {
      const read = readRemote(remote, {
        options,
        closing: closing.signal,
        processFolder: () => (processFolder ??= makeTempFolder(options)),
      });
      running.add(read);
      return read.finally(() => running.delete(read));
    },
    async close() {
      closing.abort();
      await Promise.allSettled(running);
      if (processFolder !== undefined) await rm(await processFolder, { recursive: true, force: true });
    },
  };
}

type ReadContext = { readonly options: RemoteOptions; readonly closing: AbortSignal; readonly processFolder: () => Promise<string> };

async function readRemote(remote: Remote, { options, closing, processFolder }: ReadContext): Promise<RemoteRead> {
  const read = readAddress(remote.url, options.allowLocal === true);
  if ('problem' in read) return { failure: read.problem };
  const limits = { ...defaultLimits, ...options.limits };
  const folder = await makeTempFolder(options);
  const tooLarge = new AbortController();
  const signal = AbortSignal.any([closing, tooLarge.signal, AbortSignal.timeout(limits.timeoutMs)]);
  const watch = setInterval(() => void abortIfLarge(folder, limits.maxRepositoryBytes, tooLarge), 200);
  try {
    const knownHosts = options.knownHosts ?? join(await processFolder(), 'known_hosts');
    const env = await grantAccess(read.address, remote, {
      env: options.env,
      folder,
      knownHosts: { file: knownHosts, pinned: options.knownHosts !== undefined },
    });
    const result = await readHead(
      remote.url,
      { env, cwd: folder, maxOutputBytes: maxTreeBytes, signal },
      { limits, isWanted: options.isWanted },
    );
    return 'failure' in result ? { failure: redactSecrets(result.failure, remote).replaceAll(`${folder}/`, '') } : result;
  } finally {
    clearInterval(watch);
    await rm(folder, { recursive: true, force: true });
  }
}

type HeadOptions = { readonly limits: RemoteLimits; readonly isWanted: (path: string) => boolean };

async function readHead(url: string, git: GitOptions, wish: HeadOptions): Promise<RemoteRead> {
  for (const args of [
    ['init', '--quiet', '--bare', '.'],
    ['fetch', '--quiet', '--depth=1', '--no-tags', '--no-write-fetch-head', '--', url, `+HEAD:${fetchedRef}`],
  ]) {
    const run = await runGit(args, git);
    if ('failure' in run) return run;
  }
  const log = await runGit(['log', '-1', '--no-color', '--format=format:%H%x00%an <%ae>%x00%B', fetchedRef, '--'], git);
  if ('failure' in log) return log;
  const [commit = '', author = '', message = ''] = log.output.toString().split('\0');
  const tree = await runGit(['ls-tree', '-r', '-z', '-l', '--full-tree', fetchedRef], git);
  if ('failure' in tree) return tree;
  const blobs = parseBlobs(tree.output.toString()).filter(({ path }) => wish.isWanted(path));
  if (blobs.length > wish.limits.maxFiles) {
    return { failure: `it has ${blobs.length} files to read, more than ${wish.limits.maxFiles}` };
  }
  const files = await readFiles(blobs, git, wish.limits);
  return 'failure' in files ? files : { head: { commit, author, message, ...files } };
}

type Blob = { readonly id: string; readonly size: number; readonly path: string };

/** Parses a listing of `git ls-tree -z -l` into plain files; links could point anywhere, and submodules are not fetched. */
function parseBlobs(listing: string): readonly Blob[] {
  return listing.split('\0').flatMap((line) => {
    const [, mode = '', id = '', size = '', path = ''] = /^(\d+) blob ([0-9a-f]+) +(\d+)\t([\s\S]+)$/.exec(line) ?? [];
    return mode === '100644' || mode === '100755' ? [{ id, size: Number(size), path }] : [];
  });
}

async function readFiles(
  blobs: readonly Blob[],
  git: GitOptions,
  { maxFileBytes: largestFile, maxTotalBytes: largestSum }: RemoteLimits,
): Promise<{ readonly files: readonly RemoteFile[] } | { readonly failure: string }> {
  const readable = blobs.filter(({ size }) => size <= largestFile);
  const sum = readable.reduce((total, { size }) => total + size, 0);
  if (sum > largestSum) return { failure: `its files to read have ${sum} bytes, more than ${largestSum}` };
  const input = readable.map(({ id }) => `${id}\n`).join('');
  const run = await runGit(['cat-file', '--batch'], { ...git, input, maxOutputBytes: sum + readable.length * 200 + 1 });
  if ('failure' in run) return run;
  const contents = new Map<string, string>();
  let at = 0;
  for (const { id, size } of readable) {
    at = run.output.indexOf('\n', at) + 1;
    contents.set(id, run.output.toString('utf8', at, at + size));
    at += size + 1;
  }
  return {
    files: blobs.map(({ id, path }) => {
      const content = contents.get(id);
      return content === undefined ? { path } : { path, content };
    }),
  };
}

/** Creates a folder for one read or for the process; only this user can read it. */
function makeTempFolder({ tempFolder: scratch = tmpdir() }: RemoteOptions): Promise<string> {
  return mkdtemp(join(scratch, 'ostiary-git-'));
}

async function abortIfLarge(folder: string, maxBytes: number, tooLarge: AbortController): Promise<void> {
  const packs = join(folder, 'objects', 'pack');
  const names = await readdir(packs).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(packs, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  const sum = sizes.reduce((total, size) => total + size, 0);
  if (sum > maxBytes) tooLarge.abort(new Error(`it is larger than ${maxBytes} bytes`));
}
