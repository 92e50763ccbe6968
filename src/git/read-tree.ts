import { listTree, readBlobs, submoduleMode } from './objects.ts';
import type { Repository } from './repository.ts';
import { openSubmodule } from './submodule.ts';
import { addToGroup, appendAll } from '../model/collections.ts';
import { type Checked, type Diagnostic, type SourceFile, isDefaultsPath, sortDiagnostics } from '../model/diagnostic.ts';
import { compareText } from '../model/json.ts';
import { type EntryType, isPathWithin, type ManifestTree, walkTree } from '../model/tree/walk-tree.ts';

/** One entry of a commit, or of that of a submodule; folders exist only as parts of paths. */
type TreeEntry = StoredFile & { readonly type: 'file' | 'link' | 'submodule' };

type FindOptions = {
  /** The folder that links must not point out of. */
  readonly root: string;
  readonly exclude: readonly string[];
  readonly show: (path: string) => string;
};

type FoundFile = { readonly path: string; readonly id: string };

/** An object at a path, and the repository that has it. */
type StoredFile = FoundFile & { readonly repository: Repository };

/** The files of manifests of a commit, and the submodules that may contain more of them, each with the commit that it names. */
type ListedFiles = { readonly files: readonly StoredFile[]; readonly submodules: readonly FoundFile[] };

/**
 * Finds the YAML files at and below the paths, sorted by path, each once, and reports the submodules that this clone does not have.
 * `targets` has the target of each link.
 */
function findFiles(
  paths: readonly string[],
  { entries, targets }: ExpandedTree,
  options: FindOptions,
): ListedFiles & { readonly diagnostics: readonly Diagnostic[] } {
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  const found = walkTree(commitTree({ byPath, targets }, options.show), paths, options);
  const submodules = found.submodules.flatMap(({ real }) => byPath.get(real) ?? []);
  return {
    files: found.files
      .flatMap(({ path, real }) => {
        const entry = byPath.get(real);
        return entry === undefined ? [] : [{ ...entry, path }];
      })
      .toSorted((left, right) => compareText(left.path, right.path)),
    submodules,
    diagnostics: [...found.diagnostics, ...submodules.map((one) => submoduleDiagnostic(options.show(one.path), one))],
  };
}

type CommitEntries = { readonly byPath: ReadonlyMap<string, TreeEntry>; readonly targets: ReadonlyMap<string, string> };

/** The tree of a commit's files. */
function commitTree({ byPath, targets }: CommitEntries, show: (path: string) => string): ManifestTree {
  const entries = [...byPath.values()];
  const submodules = entries.filter(({ type }) => type === 'submodule');
  const folders = foldersOf(entries);
  const listed = new Map<string, { readonly name: string; readonly type: EntryType }[]>();
  for (const folder of folders) if (folder !== '') addToGroup(listed, folderOf(folder), { name: lastName(folder), type: 'folder' });
  for (const { path, type } of entries) addToGroup(listed, folderOf(path), { name: lastName(path), type });
  const typeAt = (real: string): EntryType | undefined => byPath.get(real)?.type ?? (folders.has(real) ? 'folder' : undefined);
  return {
    separator: '/',
    hasEmptyFolders: false,
    show,
    resolve(path) {
      const found = resolveLinks({ targets, folders }, path);
      if ('problem' in found) return found;
      const submodule = submodules.find((one) => isPathWithin(found.real, one.path));
      if (submodule !== undefined) return { real: submodule.path };
      return typeAt(found.real) === undefined ? { problem: 'missing' } : found;
    },
    typeOf: typeAt,
    list: (real) => ({ entries: listed.get(real) ?? [] }),
    checkoutAt: () => undefined,
  };
}

type ResolvedLinks = { readonly real: string } | { readonly problem: 'loop' | 'escape' };

/** Returns the path without links, which may not exist. */
function resolveLinks(
  { targets, folders }: { readonly targets: ReadonlyMap<string, string>; readonly folders: ReadonlySet<string> },
  path: string,
): ResolvedLinks {
  const done: string[] = [];
  let pending = path.split('/');
  for (let hops = 0; pending.length > 0;) {
    const [part = '', ...rest] = pending;
    pending = rest;
    if (part === '' || part === '.' || part === '..') {
      // Only folders have `.` and `..`.
      if (!folders.has(done.join('/'))) return { real: `${done.join('/')}/.` };
      if (part === '..' && done.pop() === undefined) return { problem: 'escape' };
      continue;
    }
    done.push(part);
    const target = targets.get(done.join('/'));
    if (target === undefined) continue;
    hops += 1;
    if (target.startsWith('/')) return { problem: 'escape' };
    if (hops > 40) return { problem: 'loop' };
    done.pop();
    pending = [...target.split('/'), ...rest];
  }
  return { real: done.join('/') };
}

/** Returns all folders that contain files, and the top folder. */
function foldersOf(entries: readonly TreeEntry[]): ReadonlySet<string> {
  const folders = new Set(['']);
  for (const { path } of entries) {
    for (let folder = folderOf(path); !folders.has(folder); folder = folderOf(folder)) folders.add(folder);
  }
  return folders;
}

function join(folder: string, rest: string): string {
  return folder === '' ? rest : `${folder}/${rest}`;
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function submoduleDiagnostic(file: string, { path, id }: FoundFile): Diagnostic {
  const message = `this clone does not have the commit ${id.slice(0, 10)} of the submodule ${JSON.stringify(path)}, so its manifests cannot be read`;
  const hint = `git -C ${path} fetch --unshallow; set fetch-depth: 0 for actions/checkout, GIT_SUBMODULE_DEPTH: 0 on GitLab; if the submodule was removed, clone its repository to ${path}`;
  return { code: 'git/submodule', severity: 'error', message, hint, at: { file, line: 1, column: 1 } };
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
  const listed = await listWithLinks(repository, commit, { paths, root: options.root });
  const found = findFiles(paths, await expandSubmodules(repository, { listed, paths }), options);
  const diagnostics: Diagnostic[] = [...found.diagnostics];
  const files: SourceFile[] = [];
  await readFiles(found.files, {
    maxBytes: options.maxBytes + 1,
    onFile(path, bytes) {
      const file = options.decode(options.show(path), bytes);
      if (file.value !== undefined) files.push(file.value);
      appendAll(diagnostics, file.diagnostics);
    },
  });
  return { value: files.toSorted((left, right) => compareText(left.path, right.path)), diagnostics: sortDiagnostics(diagnostics) };
}

/** Lists the files that `readTreeAt` reads, and the submodules that it does not read, without what is wrong with them. */
export async function listFilesAt(
  repository: Repository,
  commit: string,
  { paths, options }: { readonly paths: readonly string[]; readonly options: FindOptions },
): Promise<ListedFiles> {
  const entries = await listWithLinks(repository, commit, { paths, root: options.root });
  return findFiles(paths, { entries, targets: await readLinkTargets(entries) }, options);
}

/** A file of a commit; `path` is relative to the top of the repository. */
export type CommittedFile = { readonly path: string; readonly mode: string; readonly id: string; readonly bytes: Buffer };

/** Reads plain files of a commit, of any name, and of each at most `maxBytes`; skips paths that do not exist or are not files. */
export async function readFilesAt(
  repository: Repository,
  commit: string,
  { paths, maxBytes }: { readonly paths: readonly string[]; readonly maxBytes: number },
): Promise<readonly CommittedFile[]> {
  const entries = (await listTree(repository, commit, { paths, below: false })).filter(({ mode }) => mode.startsWith('100'));
  const bytes = new Map<string, Buffer>();
  const files = entries.map(({ path, id }) => ({ path, id, repository }));
  await readFiles(files, { maxBytes, onFile: (path, all) => void bytes.set(path, all) });
  return entries.map((entry) => ({ ...entry, bytes: bytes.get(entry.path) ?? Buffer.alloc(0) }));
}

/**
 * What a commit has at a path, through its links and in its submodules: a file; or the path of a target that is not in the commit, or the
 * commit of a submodule that this clone does not have.
 */
export type LinkedContent = { readonly path: string } & ({ readonly bytes: Buffer } | { readonly missing: string });

/** Reads the files of a commit at the paths, and where links of the commit and its submodules lead to; skips paths that are none of these. */
export async function readThroughLinks(
  repository: Repository,
  commit: string,
  { paths, maxBytes }: { readonly paths: readonly string[]; readonly maxBytes: number },
): Promise<readonly LinkedContent[]> {
  const plain = await readFilesAt(repository, commit, { paths, maxBytes });
  const found = new Set(plain.map(({ path }) => path));
  const others = paths.filter((path) => !found.has(path));
  if (others.length === 0) return plain;
  const { entries, targets } = await expandSubmodules(repository, { listed: await listCommit(repository, commit), paths: others });
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  const folders = foldersOf(entries);
  const contents: LinkedContent[] = [];
  const present: StoredFile[] = [];
  for (const path of others) {
    const linked = resolveLinks({ targets, folders }, path);
    if ('problem' in linked) continue;
    const { real } = linked;
    const entry = byPath.get(real);
    const submodule = entries.find(({ type, path: top }) => type === 'submodule' && isPathWithin(real, top));
    if (entry?.type === 'file') present.push({ ...entry, path });
    else if (submodule !== undefined) contents.push({ path, missing: `${submodule.path}@${submodule.id}` });
    else if (real !== path) contents.push({ path, missing: real });
  }
  await readFiles(present, { maxBytes, onFile: (path, bytes) => void contents.push({ path, bytes }) });
  return [...plain, ...contents];
}

/** Lists all files of a commit, of every type. */
export async function listCommit(repository: Repository, commit: string): Promise<readonly TreeEntry[]> {
  return listEntries(repository, commit, ['']);
}

type TreeQuery = { readonly paths: readonly string[]; readonly root: string };

/** Lists the entries of a commit at and below the paths; all entries of the root if a link may point outside the paths. */
async function listWithLinks(repository: Repository, commit: string, { paths, root }: TreeQuery): Promise<readonly TreeEntry[]> {
  if (paths.length === 0) return [];
  const entries = await listEntries(repository, commit, paths);
  // Most folders have no defaults.
  const hasAll = paths.every((top) => isDefaultsPath(top) || entries.some(({ path }) => isPathWithin(path, top)));
  if (hasAll && entries.every(({ type }) => type !== 'link')) return entries;
  return listEntries(repository, commit, [root, ...paths]);
}

async function listEntries(repository: Repository, commit: string, paths: readonly string[]): Promise<readonly TreeEntry[]> {
  const entries = await listTree(repository, commit, { paths, below: true });
  return entries.map(({ path, id, mode }) => ({ path, id, repository, type: specialTypes[mode] ?? 'file' }));
}

type ExpandedTree = { readonly entries: readonly TreeEntry[]; readonly targets: ReadonlyMap<string, string> };

/**
 * Replaces the submodules that the paths and links lead to or contain by the files of the commits that they name; those of which this
 * clone does not have the commit remain. Returns the targets of all links, too.
 */
async function expandSubmodules(
  repository: Repository,
  { listed, paths }: { readonly listed: readonly TreeEntry[]; readonly paths: readonly string[] },
): Promise<ExpandedTree> {
  let entries = listed;
  const missing = new Set<string>();
  for (;;) {
    const targets = await readLinkTargets(entries);
    const folders = foldersOf(entries);
    const reached = [...paths, ...targets.keys()].flatMap((path) => {
      const found = resolveLinks({ targets, folders }, path);
      return 'real' in found ? [found.real] : [];
    });
    const isReached = ({ path }: TreeEntry): boolean => reached.some((real) => isPathWithin(real, path) || isPathWithin(path, real));
    const submodule = entries.find((entry) => entry.type === 'submodule' && !missing.has(entry.path) && isReached(entry));
    if (submodule === undefined) return { entries, targets };
    const { path, id } = submodule;
    const inner = await openSubmodule(repository, path, id);
    if (inner === undefined) missing.add(path);
    const below = inner === undefined ? [submodule] : await listCommit(inner, id);
    const placed = below.map((entry) => (entry === submodule ? entry : { ...entry, path: join(path, entry.path) }));
    entries = [...entries.filter((entry) => entry !== submodule), ...placed];
  }
}

const specialTypes: Readonly<Record<string, TreeEntry['type']>> = { '120000': 'link', [submoduleMode]: 'submodule' };

// No system accepts a longer path.
const maxLinkBytes = 4096;

/** Reads the targets of links, by the paths of the links. */
async function readLinkTargets(entries: readonly TreeEntry[]): Promise<ReadonlyMap<string, string>> {
  const targets = new Map<string, string>();
  const links = entries.filter(({ type }) => type === 'link');
  await readFiles(links, { maxBytes: maxLinkBytes, onFile: (path, bytes) => targets.set(path, bytes.toString()) });
  return targets;
}

type FilesOptions = { readonly maxBytes: number; readonly onFile: (path: string, bytes: Buffer) => void };

/** Reads the blobs of files one after another, each blob once. */
async function readFiles(files: readonly StoredFile[], { maxBytes, onFile }: FilesOptions): Promise<void> {
  const stored = new Map<Repository, StoredFile[]>();
  for (const file of files) addToGroup(stored, file.repository, file);
  for (const [repository, own] of stored) {
    const byId = new Map<string, string[]>();
    for (const { path, id } of own) addToGroup(byId, id, path);
    await readBlobs(repository, byId.keys(), {
      maxBytes,
      onBlob(id, bytes) {
        for (const path of byId.get(id) ?? []) onFile(path, bytes);
      },
    });
  }
}
