import { AppError } from '../model/errors.ts';
import type { GitContext } from './git-environment.ts';
import { type GitProcess, partialCloneError, runGit, timeLimits } from './run-git.ts';

/** An object as git stores it; `id` is its own id, whatever name it was requested by. */
type GitObject = { readonly id: string; readonly type: string; readonly bytes: Buffer };

/** Takes the answers to one request, in the order of its names; undefined if this clone has no object of that name. */
type ReadOptions = {
  /** The bytes to keep of each object; the rest is skipped. */
  readonly maxBytes?: number;
  readonly onObject: (object: GitObject | undefined, name: string, index: number) => void;
};

type Request = {
  readonly names: readonly string[];
  answered: number;
  readonly options: ReadOptions;
  readonly settle: (error?: Error) => void;
};

/** Asks a running `cat-file --batch`, which answers names in their order. */
type ObjectReader = (names: readonly string[], options: ReadOptions) => Promise<void>;

const readers = new WeakMap<GitContext, Promise<ObjectReader>>();

// A process starts in the time of about a hundred small requests, so it stays for the next ones.
const maxIdleMs = 1000;

/** A name that git reads in one way, whatever refs exist: an id, the steps back from it, and the type of the object that is meant. */
const exactName = /^(?:[0-9a-f]{40}|[0-9a-f]{64})(?:[~^]\d*)*(?:\^\{(?:commit|tree)\})?$/;

/**
 * Reads objects by their ids, such as `ID` or `ID^{commit}`, one after another. All requests of a run for a repository share a process.
 * Throws AppError when git is not installed, fails, or takes longer than two minutes, and TypeError for the name of a ref: only
 * `resolveCommit` decides what a name means.
 */
export async function readObjects(context: GitContext, names: readonly string[], options: ReadOptions): Promise<void> {
  const inexact = names.find((name) => !exactName.test(name));
  if (inexact !== undefined) throw new TypeError(`${JSON.stringify(inexact)} is not the id of an object`);
  if (names.length === 0) return;
  const onEnd = (): void => void (readers.get(context) === reader && readers.delete(context));
  const reader: Promise<ObjectReader> = readers.get(context) ?? startReader(context, onEnd);
  readers.set(context, reader);
  const read = await reader;
  await read(names, options);
}

/** Reads blobs by their ids, each once, and passes them to `onBlob` one after another. Throws AppError when one is missing. */
export async function readBlobs(
  context: GitContext,
  ids: Iterable<string>,
  { maxBytes, onBlob }: { readonly maxBytes: number; readonly onBlob: (id: string, bytes: Buffer) => void },
): Promise<void> {
  await readObjects(context, [...new Set(ids)], {
    maxBytes,
    onObject(object, name) {
      if (object?.type !== 'blob') throw missingObject(context, name);
      onBlob(object.id, object.bytes);
    },
  });
}

/** One entry of a tree; `path` is relative to the top of the repository, `mode` the octal digits of git, such as `100644`. */
type TreeEntry = { readonly path: string; readonly mode: string; readonly id: string };

type Folder = { readonly name: string; readonly path: string; readonly isWanted: boolean };

/** The mode of folders. */
export const folderMode = '40000';

/** The mode of submodules. */
export const submoduleMode = '160000';

/**
 * Lists the entries of a commit at the paths, and with `below` all that is below them, without folders, and the submodules that the
 * paths lead into; the empty path is the top. Without `below`, folders at the paths are entries too.
 */
export async function listTree(
  context: GitContext,
  commit: string,
  { paths, below }: { readonly paths: readonly string[]; readonly below: boolean },
): Promise<readonly TreeEntry[]> {
  const wanted = new Set(paths);
  const above = new Set(paths.flatMap(foldersAbove));
  const entries: TreeEntry[] = [];
  let folders: readonly Folder[] = [{ name: `${commit}^{tree}`, path: '', isWanted: below && wanted.has('') }];
  while (folders.length > 0) {
    const found: Folder[] = [];
    const level = folders;
    await readObjects(
      context,
      level.map(({ name }) => name),
      {
        onObject(object, name, index) {
          const folder = level[index];
          if (object?.type !== 'tree' || folder === undefined) throw missingObject(context, name);
          for (const entry of parseTree(object, folder.path)) {
            const isWanted = folder.isWanted || wanted.has(entry.path);
            const isFolder = entry.mode === folderMode;
            const leadsInto = below && entry.mode === submoduleMode && above.has(entry.path);
            if ((isWanted && !(isFolder && below)) || leadsInto) entries.push(entry);
            if (isFolder && ((isWanted && below) || above.has(entry.path)))
              found.push({ name: entry.id, path: entry.path, isWanted: isWanted && below });
          }
        },
      },
    );
    folders = found;
  }
  return entries;
}

/** Returns the folders that contain a path, the top ones first. */
export function foldersAbove(path: string): readonly string[] {
  const names = path.split('/');
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'));
}

/** Parses a sequence of `MODE NAME`, a zero byte and the id in binary, which is as long as that of the tree. */
function* parseTree({ id, bytes }: GitObject, folder: string): Generator<TreeEntry> {
  const length = id.length / 2;
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, space);
    const name = bytes.toString('utf8', space + 1, end);
    yield {
      path: folder === '' ? name : `${folder}/${name}`,
      mode: bytes.toString('latin1', at, space),
      id: bytes.toString('hex', end + 1, end + 1 + length),
    };
    at = end + 1 + length;
  }
}

/** Returns the error for an object that this clone should have, or that a filter left out. */
export function missingObject({ partial }: Pick<GitContext, 'partial'>, name: string): AppError {
  if (partial === true) return partialCloneError(`${name} is missing`);
  return new AppError('git/failed', 4, `git has no object ${name}: the clone is incomplete`, {
    hint: 'clone again without a filter; git fsck lists missing objects',
  });
}

async function startReader(context: GitContext, onEnd: () => void): Promise<ObjectReader> {
  const requests: Request[] = [];
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const fail = (error?: Error): void => {
    onEnd();
    clearTimeout(timer);
    for (const { names, answered, settle } of requests.splice(0)) settle(error ?? missingObject(context, names[answered] ?? ''));
  };
  const git = await new Promise<GitProcess>((onStart, reject) => {
    const onChunk = batchParser(() => requests[0]?.options.maxBytes ?? Infinity, onAnswer);
    runGit(context, ['cat-file', '--batch'], { onStart, onChunk, signal: stop.signal }).then(
      () => fail(),
      (error: Error) => {
        fail(error);
        reject(error);
      },
    );
  });
  const wait = (): void => {
    clearTimeout(timer);
    const isIdle = requests.length === 0;
    // An idle process does not keep Ostiary from ending, and ends with it.
    for (const part of [git, git.stdin, git.stdout, git.stderr]) if ('ref' in part) part[isIdle ? 'unref' : 'ref']();
    timer = isIdle ? setTimeout(end, maxIdleMs).unref() : setTimeout(() => stop.abort(), timeLimits.command);
  };
  const end = (): void => {
    onEnd();
    git.stdin.end();
  };
  function onAnswer(object: GitObject | undefined): void {
    const [request] = requests;
    if (request === undefined) return;
    const index = request.answered++;
    request.options.onObject(object, request.names[index] ?? '', index);
    if (request.answered < request.names.length) return;
    requests.shift();
    request.settle();
    wait();
  }
  return (names, options) =>
    new Promise((resolve, reject) => {
      requests.push({ names, answered: 0, options, settle: (error) => (error === undefined ? resolve() : reject(error)) });
      wait();
      git.stdin.write(`${names.join('\n')}\n`);
    });
}

type PartialObject = {
  readonly id: string;
  readonly type: string;
  readonly size: number;
  readonly parts: Buffer[];
  received: number;
};

/**
 * Returns a parser for a sequence of `ID TYPE SIZE`, a line break, SIZE bytes and a line break, split into chunks at any byte. For a
 * name without an object, git prints a line with the name and the reason.
 */
function batchParser(maxBytes: () => number, onObject: (object: GitObject | undefined) => void): (chunk: Buffer) => void {
  let header = '';
  let object: PartialObject | undefined;
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (object === undefined) {
        const end = chunk.indexOf(0x0a, at);
        header += chunk.toString('latin1', at, end < 0 ? chunk.length : end);
        if (end < 0) return;
        at = end + 1;
        object = parseHeader(header);
        header = '';
        if (object === undefined) onObject(undefined);
      } else if (object.received < object.size) {
        const next = Math.min(chunk.length, at + object.size - object.received);
        const kept = chunk.subarray(at, Math.min(next, Math.max(at, at + maxBytes() - object.received)));
        if (kept.length > 0) object.parts.push(kept);
        object.received += next - at;
        at = next;
      } else {
        at += 1;
        const { id, type, parts } = object;
        object = undefined;
        const [first = Buffer.alloc(0)] = parts;
        onObject({ id, type, bytes: parts.length > 1 ? Buffer.concat(parts) : first });
      }
    }
  };
}

function parseHeader(header: string): PartialObject | undefined {
  const [id = '', type = '', size] = header.split(' ');
  return size === undefined ? undefined : { id, type, size: Number(size), parts: [], received: 0 };
}
