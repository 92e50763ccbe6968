import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { grantAccess, maskSecrets, type RemoteSecrets, readAddress } from './remote-access.ts';
import { runGit, type GitOptions } from './run-git.ts';

/** A repository elsewhere and what opens it; empty texts stand for nothing. */
export type Remote = RemoteSecrets & { readonly url: string };

/** A file at the head of a repository; no content: it is too large. */
export type RemoteFile = { readonly path: string; readonly content?: string };

export type RemoteHead = {
  readonly commit: string;
  readonly author: string;
  readonly message: string;
  readonly files: readonly RemoteFile[];
};

/** What was read, or why nothing was; the reason holds no secret. */
export type RemoteRead = { readonly head: RemoteHead } | { readonly failure: string };

export type RemoteLimits = {
  /** Milliseconds for one repository, all in all. */
  readonly timeoutMs: number;
  /** Bytes of what is fetched. */
  readonly maxRepositoryBytes: number;
  /** Bytes of one file that is read. */
  readonly maxFileBytes: number;
  /** Bytes of all files that are read. */
  readonly maxTotalBytes: number;
  readonly maxFiles: number;
};

export type RemoteOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Which files are read. */
  readonly isWanted: (path: string) => boolean;
  /** The only ssh host keys that are trusted; left out: a host's first key is, for as long as the process lives. */
  readonly knownHosts?: string;
  /** Lets `file://` through: whoever chooses addresses then reads the disk. */
  readonly allowLocal?: true;
  readonly limits?: Partial<RemoteLimits>;
  /** Where folders for a while are made; the system's place unless given. */
  readonly tempFolder?: string;
};

/** Reads heads of repositories elsewhere; `close` ends all that is under way and removes what it left on the disk. */
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

/** Makes a reader that fetches one commit, looks at its blobs without ever checking them out, and forgets it again. */
export function createRemoteReader(options: RemoteOptions): RemoteReader {
  const closing = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  let shared: Promise<string> | undefined;
  return {
    async read(remote) {
      const read = readRemote(remote, { options, closing: closing.signal, shared: () => (shared ??= makeTempFolder(options)) });
      underWay.add(read);
      return read.finally(() => underWay.delete(read));
    },
    async close() {
      closing.abort();
      await Promise.allSettled(underWay);
      if (shared !== undefined) await rm(await shared, { recursive: true, force: true });
    },
  };
}

type ReadContext = { readonly options: RemoteOptions; readonly closing: AbortSignal; readonly shared: () => Promise<string> };

async function readRemote(remote: Remote, { options, closing, shared }: ReadContext): Promise<RemoteRead> {
  const read = readAddress(remote.url, options.allowLocal === true);
  if ('problem' in read) return { failure: read.problem };
  const limits = { ...defaultLimits, ...options.limits };
  const folder = await makeTempFolder(options);
  const tooLarge = new AbortController();
  const signal = AbortSignal.any([closing, tooLarge.signal, AbortSignal.timeout(limits.timeoutMs)]);
  const watch = setInterval(() => void abortIfLarge(folder, limits.maxRepositoryBytes, tooLarge), 200);
  try {
    const knownHosts = options.knownHosts ?? join(await shared(), 'known_hosts');
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
    return 'failure' in result ? { failure: maskSecrets(result.failure, remote).replaceAll(`${folder}/`, '') } : result;
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

/** Only plain files: a link could lead anywhere, a submodule is not fetched. */
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

/** The folder of one run (or of the process), which nobody else can read. */
function makeTempFolder({ tempFolder: scratch = tmpdir() }: RemoteOptions): Promise<string> {
  return mkdtemp(join(scratch, 'ostiary-git-'));
}

async function abortIfLarge(folder: string, largest: number, tooLarge: AbortController): Promise<void> {
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
  if (sum > largest) tooLarge.abort(new Error(`it is larger than ${largest} bytes`));
}
