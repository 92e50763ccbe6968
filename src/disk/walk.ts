import ignore from 'ignore';
import { type Dirent, existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, join, posix, relative, resolve, sep } from 'node:path';
import { findOtherCheckout, isRepositoryTop, isSubmodule, repositoryTopOf } from './other-checkout.ts';
import { type ReadProblem, decodeText, reasonOf, textReader } from './text-file.ts';
import { containsManifests, isUnreadManifest } from './unread-manifest.ts';
import { type Checked, type Diagnostic, isManifestName, type SourceFile, sortDiagnostics } from '../model/diagnostic.ts';
import { compareText } from '../model/json.ts';
import { systemCodeOf } from '../model/errors.ts';
import {
  type EntryType,
  fileDiagnostic,
  findMissing,
  isPathWithin,
  prefixOfFolder,
  type FolderListing,
  type FoundPath,
  type ManifestTree,
  type ResolvedPath,
  walkTree,
} from '../model/tree/walk-tree.ts';

/** Returns true if git ignores the file, by the `.gitignore` files from the top of the repository down to it. */
export function isIgnored(root: string, path: string): boolean {
  const top = repositoryTopOf(root);
  const segments = relative(top, path).split(sep);
  const rules = new Map<string, ReturnType<typeof ignore>>();
  const rulesOf = (folder: string): ReturnType<typeof ignore> => {
    const known = rules.get(folder) ?? readRules(folder);
    rules.set(folder, known);
    return known;
  };
  // As in git, an ignored folder hides everything below it, whatever deeper rules say.
  return segments.some((_, index) => isMatched(top, segments.slice(0, index + 1), index === segments.length - 1, rulesOf));
}

/** Matches the rules of the nearest folder first; the first folder with a matching rule decides. */
function isMatched(
  top: string,
  segments: readonly string[],
  isFile: boolean,
  rulesOf: (folder: string) => ReturnType<typeof ignore>,
): boolean {
  for (let depth = segments.length - 1; depth >= 0; depth -= 1) {
    const name = segments.slice(depth).join('/');
    const { ignored, unignored } = rulesOf(join(top, ...segments.slice(0, depth))).test(isFile ? name : `${name}/`);
    if (ignored || unignored) return ignored;
  }
  return false;
}

function readRules(folder: string): ReturnType<typeof ignore> {
  const rules = ignore();
  const path = join(folder, '.gitignore');
  if (!existsSync(path)) return rules;
  const result = textReader()(path);
  // An unreadable rule file may ignore everything.
  return rules.add('text' in result ? result.text : '*');
}

type ReadTreeOptions = {
  /** The folder that links must not leave. */
  readonly root: string;
  /** The folder that displayed paths are relative to. */
  readonly cwd: string;
  readonly exclude: readonly string[];
};

/**
 * Reads the YAML files at and below the absolute paths, sorted by path, each once. Unreadable files are diagnostics beside the
 * readable files. Opens regular files only.
 */
export function readTree(paths: readonly string[], { root, cwd, exclude }: ReadTreeOptions): Checked<readonly SourceFile[]> {
  const tree = diskTree(cwd);
  const found = walkTree(tree, paths, { root, exclude });
  const diagnostics = [...found.diagnostics];
  for (const { path, real } of found.others) {
    if (isUnreadManifest(real))
      diagnostics.push(
        fileDiagnostic(tree.show(path), 'manifest/unread-file', 'looks like a manifest, but Ostiary does not read it', unreadHint),
      );
  }
  const home = realOf(root);
  const read = textReader();
  const value: SourceFile[] = [];
  const shown = found.files.map(({ path, real }) => ({ path, real, shown: tree.show(path) }));
  for (const file of shown.toSorted((left, right) => compareText(left.shown, right.shown))) {
    const result = read(file.real);
    if ('text' in result) value.push({ path: file.shown, text: result.text, ...(isPrivate(home, file) ? { isPrivate: true } : {}) });
    else diagnostics.push(unread(file.shown, result.problem));
  }
  return { value, diagnostics: sortDiagnostics(diagnostics) };
}

const unreadHint = 'rename it so that it ends in .yaml or .yml, or move it out of the folders of manifests';

/** Reports each absolute path that does not exist. */
export function missingPaths(paths: readonly string[], cwd: string): readonly Diagnostic[] {
  return sortDiagnostics(findMissing(diskTree(cwd), paths));
}

/** The tree of files on disk. */
function diskTree(cwd: string): ManifestTree {
  return {
    separator: sep,
    hasEmptyFolders: true,
    show: shower(cwd),
    resolve(path, root) {
      const found = resolvePath(path);
      if (root === undefined || !('real' in found)) return found;
      const isRead = isManifestName(path) || typeOnDisk(found.real) === 'folder';
      const top = repositoryTopOf(realOf(root));
      const leaves = isRead && isPathWithin(found.real, top, sep) && leavesTop(join(realOf(root), relative(root, path)), top);
      return leaves ? { problem: 'detour' } : found;
    },
    typeOf: typeOnDisk,
    list: listFolder,
    checkoutAt: findOtherCheckout,
  };
}

function resolvePath(path: string): ResolvedPath {
  try {
    return { real: realpathSync.native(path) };
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ELOOP') return { problem: 'loop' };
    return { problem: code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : { unreadable: reasonOf(error) } };
  }
}

/** Returns whether a link on the way to a path leads out of a folder, or has an absolute path. */
function leavesTop(path: string, top: string, followed = 0): boolean {
  const names = path.split(sep);
  const ends = names.map((_, index) => names.slice(0, index + 1).join(sep));
  const at = ends.findIndex((end) => end !== '' && lstatSync(end, { throwIfNoEntry: false })?.isSymbolicLink() === true);
  const link = ends[at];
  // A loop of links is reported where they are followed.
  if (link === undefined || followed > maxLinks) return false;
  const target = readlinkSync(link);
  if (isAbsolute(target) || climbsAbove(relative(top, dirname(link)), target)) return true;
  return leavesTop(join(dirname(link), target, ...names.slice(at + 1)), top, followed + 1);
}

/** Returns whether a relative path goes above the top on its way from a folder below it. */
function climbsAbove(folder: string, target: string): boolean {
  let depth = folder === '' ? 0 : folder.split(sep).length;
  return target.split(sep).some((name) => {
    if (name === '..') depth -= 1;
    else if (name !== '' && name !== '.') depth += 1;
    return depth < 0;
  });
}

/** How many links Linux follows on the way to one path. */
const maxLinks = 40;

function typeOnDisk(path: string): EntryType | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && entryTypeOf(stats);
}

function entryTypeOf(entry: Dirent | Stats): EntryType {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

function listFolder(folder: string, isStart: boolean): FolderListing {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    if (!isStart && entries.some(({ name }) => name === '.git') && !isSubmodule(folder))
      return { checkout: containsManifests(folder) ? 'with manifests' : 'without' };
    return { entries: entries.map((entry) => ({ name: entry.name, type: entryTypeOf(entry) })) };
  } catch (error) {
    return { unreadable: reasonOf(error) };
  }
}

/** Decodes the bytes of a manifest from any source by the rules for files on disk. */
export function decodeFile(path: string, bytes: Buffer): Checked<SourceFile> {
  const result = decodeText(bytes);
  return 'text' in result ? { value: { path, text: result.text }, diagnostics: [] } : { diagnostics: [unread(path, result.problem)] };
}

function unread(file: string, { code, reason, line }: ReadProblem): Diagnostic {
  const hints = {
    'too-large': 'split it into several files',
    'not-utf8': 'save the file as UTF-8',
    unreadable: 'check the path and permissions of the file',
  };
  const messages = {
    'too-large': 'the file is larger than 1 MiB',
    'not-utf8': `the file is not UTF-8: ${reason}`,
    unreadable: `the file cannot be read: ${reason}`,
  };
  return { code: `manifest/${code}`, severity: 'error', message: messages[code], hint: hints[code], at: { file, line, column: 1 } };
}

/** Returns the path without links; unchanged if nothing exists there. */
export function realOf(path: string): string {
  const found = resolvePath(path);
  return 'real' in found ? found.real : path;
}

/** Returns whether a link leads to a file that is hidden or ignored by git. Kubernetes links to folders such as `..data`. */
function isPrivate(root: string, { path, real }: FoundPath): boolean {
  if (path === real || !isPathWithin(real, root, sep)) return false;
  const below = relative(root, real);
  if (path.endsWith(`${sep}${below}`)) return false;
  return below.split(sep).some((segment) => /^\.(?!\.)/.test(segment)) || isIgnored(root, real);
}

/** Returns whether a link of a repository leads out of it, or to a file that is hidden or ignored by git. */
export function isPrivateLink(path: string): boolean {
  const top = repositoryTopOf(dirname(path));
  const [root, real] = [realOf(top), realOf(path)];
  return isRepositoryTop(top) && (!isPathWithin(real, root, sep) || isPrivate(root, { path, real }));
}

/** Makes a function that returns displayed paths: relative to the folder inside it, absolute elsewhere, always with `/`. */
export function shower(cwd: string): (path: string) => string {
  const prefix = prefixOfFolder(cwd, sep);
  return (path) => {
    if (path === cwd) return '.';
    const shown = path.startsWith(prefix) ? path.slice(prefix.length) : path;
    return sep === '/' ? shown : shown.replaceAll(sep, '/');
  };
}

/** Returns the prefix of the displayed paths of all files below a folder. */
export function shownFolder(folder: string, cwd: string): string {
  return shower(cwd)(`${prefixOfFolder(folder, sep)}x`).slice(0, -1);
}

/** Makes a function that returns a file's path in the repository, undefined outside it; `prefix` is the working directory below its top. */
export function repositoryPaths(prefix: string, { cwd }: { readonly cwd: string }): (file: string) => string | undefined {
  return (file) => {
    const below = relative(cwd, resolve(cwd, file));
    const path = posix.join(...[prefix, below].map((one) => one.split(sep).join(posix.sep)));
    return path === '.' || path === '..' || path.startsWith('../') ? undefined : path;
  };
}

/** Returns a text with the line breaks that git stores; it may check files out with those of Windows. */
export function withLineFeeds(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
