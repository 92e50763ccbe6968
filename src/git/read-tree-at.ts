import { addToGroup, appendAll } from '../model/append-all.ts';
import { isDefaultsPath, sortDiagnostics, type Checked, type Diagnostic, type SourceFile } from '../model/diagnostic.ts';
import { compareText } from '../model/json.ts';
import { runPlumbing } from './run-git.ts';
import { findFiles, type TreeEntry, type FindOptions } from './find-files.ts';
import type { Repository } from './repository.ts';
import { AppError } from '../model/errors.ts';
import type { GitContext } from './git-environment.ts';

type BlobOptions = {
  /** The bytes to keep of each object; the rest is skipped. */
  readonly maxBytes: number;
  readonly onBlob: (id: string, bytes: Buffer) => void;
};

/** Reads blobs by their ids in one process, each once, and passes them to `onBlob` one after another. Throws AppError when one is missing. */
export async function readBlobs(context: GitContext, ids: Iterable<string>, { maxBytes, onBlob }: BlobOptions): Promise<void> {
  const unique = new Set(ids);
  if (unique.size === 0) return;
  await runPlumbing(context, ['cat-file', '--batch', '--buffer'], {
    input: `${[...unique].join('\n')}\n`,
    onChunk: batchReader(maxBytes, onBlob),
  });
}

type Blob = { readonly id: string; readonly size: number; readonly parts: Buffer[]; kept: number; received: number };

/** Returns a parser for a sequence of `ID blob SIZE`, a line break, SIZE bytes and a line break, split into chunks at any byte. */
function batchReader(maxBytes: number, onBlob: BlobOptions['onBlob']): (part: Buffer) => void {
  let header = '';
  let blob: Blob | undefined;
  return (part) => {
    let at = 0;
    while (at < part.length) {
      if (blob === undefined) {
        const end = part.indexOf(0x0a, at);
        header += part.toString('latin1', at, end < 0 ? part.length : end);
        if (end < 0) return;
        at = end + 1;
        blob = parseBlobHeader(header);
        header = '';
      } else if (blob.received < blob.size) {
        const next = Math.min(part.length, at + blob.size - blob.received);
        const kept = part.subarray(at, Math.min(next, at + maxBytes - blob.kept));
        if (kept.length > 0) blob.parts.push(kept);
        blob.kept += kept.length;
        blob.received += next - at;
        at = next;
      } else {
        at += 1;
        const [first = Buffer.alloc(0)] = blob.parts;
        onBlob(blob.id, blob.parts.length > 1 ? Buffer.concat(blob.parts) : first);
        blob = undefined;
      }
    }
  };
}

function parseBlobHeader(header: string): Blob {
  const [id = '', type, size] = header.split(' ');
  if (size !== undefined && type === 'blob') return { id, size: Number(size), parts: [], kept: 0, received: 0 };
  throw new AppError('git/failed', 4, `git has no object ${id}: the clone is incomplete`, {
    hint: 'clone again without a filter; git fsck lists missing objects',
  });
}

export type TreeOptions = FindOptions & {
  /** Larger files are truncated to one byte more, so that `decode` refuses them. */
  readonly maxBytes: number;
  /** Decodes the bytes of a file, or returns why that is not possible. */
  readonly decode: (path: string, bytes: Buffer) => Checked<SourceFile>;
};

/**
 * Reads the YAML files at and below the paths from a commit, sorted by path, each once; paths are relative to the top of the
 * repository. The rules are those for files on disk. Files that cannot be read are diagnostics beside the other files.
 */
export async function readTreeAt(
  repository: Repository,
  commit: string,
  { paths, options }: { readonly paths: readonly string[]; readonly options: TreeOptions },
): Promise<Checked<readonly SourceFile[]>> {
  const entries = await listTree(repository, commit, { paths, root: options.root });
  const targets = await readLinkTargets(repository, entries);
  const found = findFiles(paths, { entries, targets }, options);
  const diagnostics: Diagnostic[] = [...found.diagnostics];
  const files: SourceFile[] = [];
  const byId = pathsById(found.files);
  await readBlobs(repository, byId.keys(), {
    maxBytes: options.maxBytes + 1,
    onBlob(id, bytes) {
      for (const path of byId.get(id) ?? []) {
        const file = options.decode(options.show(path), bytes);
        if (file.value !== undefined) files.push(file.value);
        appendAll(diagnostics, file.diagnostics);
      }
    },
  });
  return { value: files.toSorted((left, right) => compareText(left.path, right.path)), diagnostics: sortDiagnostics(diagnostics) };
}

type FilesOptions = {
  /** Relative to the top of the repository. */
  readonly paths: readonly string[];
  readonly maxBytes: number;
  readonly onFile: (path: string, bytes: Buffer) => void;
};

/** Reads single files of a commit, of any name; links and files that it does not have are skipped. */
export async function readFilesAt(repository: Repository, commit: string, { paths, maxBytes, onFile }: FilesOptions): Promise<void> {
  const wanted = new Set(paths);
  const files = (await listEntries(repository, commit, paths)).filter(({ path, type }) => type === 'file' && wanted.has(path));
  const byId = pathsById(files);
  await readBlobs(repository, byId.keys(), {
    maxBytes,
    onBlob(id, bytes) {
      for (const path of byId.get(id) ?? []) onFile(path, bytes);
    },
  });
}

/** Lists all files of a commit, of every type. */
export async function listCommit(repository: Repository, commit: string): Promise<readonly TreeEntry[]> {
  return listEntries(repository, commit, []);
}

type TreeQuery = { readonly paths: readonly string[]; readonly root: string };

/** Lists the entries of a commit at and below the paths; all entries of the root if a link may point outside the paths. */
async function listTree(repository: Repository, commit: string, { paths, root }: TreeQuery): Promise<readonly TreeEntry[]> {
  if (paths.length === 0) return [];
  const entries = await listEntries(repository, commit, paths);
  // Most folders have no defaults.
  const hasAll = paths.every((top) => isDefaultsPath(top) || entries.some((entry) => isBelow(entry, top)));
  if (hasAll && entries.every(({ type }) => type !== 'link')) return entries;
  return listEntries(repository, commit, [root, ...paths]);
}

function isBelow({ path }: TreeEntry, top: string): boolean {
  return top === '' || path === top || path.startsWith(`${top}/`);
}

async function listEntries(repository: Repository, commit: string, paths: readonly string[]): Promise<readonly TreeEntry[]> {
  const all = paths.length === 0 || paths.includes('');
  const args = ['ls-tree', '-r', '-z', '--full-tree', commit, ...(all ? [] : ['--', ...paths])];
  const { stdout } = await runPlumbing(repository, args);
  return stdout
    .toString()
    .split('\0')
    .flatMap((line) => parseEntry(line) ?? []);
}

const specialTypes: Readonly<Record<string, TreeEntry['type']>> = { '120000': 'link', '160000': 'submodule' };

/** Parses `MODE TYPE ID<tab>PATH`. */
function parseEntry(line: string): TreeEntry | undefined {
  const tab = line.indexOf('\t');
  if (tab < 0) return undefined;
  const id = line.slice(line.lastIndexOf(' ', tab) + 1, tab);
  return { path: line.slice(tab + 1), id, type: specialTypes[line.slice(0, 6)] ?? 'file' };
}

// No system accepts a longer path.
const maxLinkBytes = 4096;

/** Reads the targets of links, by the paths of the links. */
async function readLinkTargets(repository: Repository, entries: readonly TreeEntry[]): Promise<ReadonlyMap<string, string>> {
  const byId = pathsById(entries.filter(({ type }) => type === 'link'));
  const targets = new Map<string, string>();
  await readBlobs(repository, byId.keys(), {
    maxBytes: maxLinkBytes,
    onBlob(id, bytes) {
      for (const path of byId.get(id) ?? []) targets.set(path, bytes.toString());
    },
  });
  return targets;
}

function pathsById(files: readonly { readonly path: string; readonly id: string }[]): ReadonlyMap<string, readonly string[]> {
  const byId = new Map<string, string[]>();
  for (const { path, id } of files) {
    addToGroup(byId, id, path);
  }
  return byId;
}
