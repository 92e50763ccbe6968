import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AllowedNetwork, hostProblem, type ResolveHost } from './host-problem.ts';
import { grantAccess, redactSecrets, type MayRevealSecret, type RemoteAddress, type RemoteSecrets, readAddress } from './remote-access.ts';
import { spawnGit, type GitOptions } from '../../../git/run-git.ts';

/** A remote repository and its credentials; an empty text means that there is none. */
export type Remote = RemoteSecrets & { readonly url: string };

/** A file at the head of a repository; `content` is undefined if the file is too large. */
type RemoteFile = { readonly path: string; readonly content?: string };

/** The head of a repository: its commit and the wanted files. */
export type RemoteHead = {
  readonly commit: string;
  readonly author: string;
  readonly message: string;
  readonly files: readonly RemoteFile[];
};

/** The head of a repository, or the reason why it was not read; the reason contains no secret. */
export type RemoteRead = { readonly head: RemoteHead } | { readonly failure: string };

type RemoteLimits = {
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
  readonly isWanted: (path: string) => boolean;
  /** The file of trusted ssh host keys. If undefined, the first key of each host is trusted until the process ends. */
  readonly knownHosts?: string | undefined;
  /** Networks that are not public and may be read from nevertheless; none by default. */
  readonly allowedNetworks?: readonly AllowedNetwork[];
  /** Resolves hosts; the resolver of the system by default. */
  readonly resolve?: ResolveHost;
  readonly limits?: Partial<RemoteLimits>;
  /** Decides which failures are not shown. */
  readonly mayRevealSecret: MayRevealSecret;
  /** The parent of temporary folders; that of the system by default. */
  readonly tempFolder?: string;
};

/** Reads heads of remote repositories; `close` stops all running reads and removes their files. */
interface RemoteReader {
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
  const read = readAddress(remote.url);
  if ('problem' in read) return { failure: read.problem };
  const limits = { ...defaultLimits, ...options.limits };
  const folder = await makeTempFolder(options);
  const tooLarge = new AbortController();
  const signal = AbortSignal.any([closing, tooLarge.signal, AbortSignal.timeout(limits.timeoutMs)]);
  const watch = setInterval(() => void abortIfLarge(folder, limits.maxRepositoryBytes, tooLarge), 200);
  try {
    const knownHosts = options.knownHosts ?? join(await processFolder(), 'known_hosts');
    const fetched = await fetchHead(read.address, remote, {
      options,
      folder,
      knownHosts: { file: knownHosts, pinned: options.knownHosts !== undefined },
      signal,
    });
    const result = 'failure' in fetched ? fetched : await readHead(fetched.git, { limits, isWanted: options.isWanted });
    return 'failure' in result
      ? { failure: redactSecrets(result.failure.replaceAll(`${folder}/`, ''), remote, options.mayRevealSecret) }
      : result;
  } finally {
    clearInterval(watch);
    await rm(folder, { recursive: true, force: true });
  }
}

type FetchOptions = {
  readonly options: RemoteOptions;
  readonly folder: string;
  readonly knownHosts: { readonly file: string; readonly pinned: boolean };
  readonly signal: AbortSignal;
};

/** Fetches the head into the folder, after it has checked the host of the address. */
async function fetchHead(
  address: RemoteAddress,
  secrets: RemoteSecrets,
  { options: { env: given, resolve, allowedNetworks: allowed = [] }, folder, knownHosts, signal }: FetchOptions,
): Promise<{ readonly git: GitOptions } | { readonly failure: string }> {
  const problem = await hostProblem(address.origin, { resolve, allowed, signal });
  if (problem !== undefined) return { failure: problem };
  const env = await grantAccess(address, secrets, { env: given, folder, knownHosts });
  const git = { env, cwd: folder, maxOutputBytes: maxTreeBytes, signal };
  const failure = await runFetch(address, git);
  if (failure === undefined) return { git };
  return { failure: /returned error: 30\d$/.test(failure) ? `${failure}; use the address that it redirects to` : failure };
}

/** Runs git; returns the reason of a failure. */
async function runFetch({ url }: RemoteAddress, git: GitOptions): Promise<string | undefined> {
  for (const args of [
    ['init', '--quiet', '--bare', '.'],
    ['fetch', '--quiet', '--depth=1', '--no-tags', '--no-write-fetch-head', '--', url, `+HEAD:${fetchedRef}`],
  ]) {
    const run = await spawnGit(args, git);
    if ('failure' in run) return run.failure;
  }
  return undefined;
}

type HeadOptions = { readonly limits: RemoteLimits; readonly isWanted: (path: string) => boolean };

async function readHead(git: GitOptions, wish: HeadOptions): Promise<RemoteRead> {
  const log = await spawnGit(['log', '-1', '--no-color', '--format=format:%H%x00%an <%ae>%x00%B', fetchedRef, '--'], git);
  if ('failure' in log) return log;
  const [commit = '', author = '', message = ''] = log.output.toString().split('\0');
  const tree = await spawnGit(['ls-tree', '-r', '-z', '-l', '--full-tree', fetchedRef], git);
  if ('failure' in tree) return tree;
  const blobs = parseBlobs(tree.output.toString()).filter(({ path }) => wish.isWanted(path));
  if (blobs.length > wish.limits.maxFiles) {
    return { failure: `it has ${blobs.length} files to read, more than ${wish.limits.maxFiles}` };
  }
  const files = await readBlobs(blobs, git, wish.limits);
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

async function readBlobs(
  blobs: readonly Blob[],
  git: GitOptions,
  { maxFileBytes: largestFile, maxTotalBytes: largestSum }: RemoteLimits,
): Promise<{ readonly files: readonly RemoteFile[] } | { readonly failure: string }> {
  const readable = blobs.filter(({ size }) => size <= largestFile);
  const sum = readable.reduce((total, { size }) => total + size, 0);
  if (sum > largestSum) return { failure: `its files to read have ${sum} bytes, more than ${largestSum}` };
  const input = readable.map(({ id }) => `${id}\n`).join('');
  const run = await spawnGit(['cat-file', '--batch'], { ...git, input, maxOutputBytes: sum + readable.length * 200 + 1 });
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
