import ignore from 'ignore';
import { type Dirent, existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, posix, relative, resolve, sep } from 'node:path';
import { findOtherCheckout, isRepositoryTop, isSubmodule, repositoryTopOf } from './other-checkout.ts';
import { type ReadProblem, decodeText, reasonOf, textReader } from './text-file.ts';
import { containsManifests, isUnreadManifest } from './unread-manifest.ts';
import {
  type Checked,
  type Diagnostic,
  type SourceFile,
  isDefaultsPath,
  isManifestFolder,
  isManifestName,
  isPrintableName,
  sortDiagnostics,
} from '../model/diagnostic.ts';
import { compareText } from '../model/json.ts';
import { systemCodeOf } from '../model/errors.ts';

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

/** A file or folder: the path that led to it, and its path without links. */
type Found = { readonly path: string; readonly real: string };

/** A file by its displayed path, and by its path without links. */
type ShownFile = { readonly shown: string; readonly real: string; readonly isPrivate: boolean };

/** The state of a walk. */
type Telling = { readonly show: (path: string) => string; readonly diagnostics: Diagnostic[] };

type Walk = Telling & {
  /** The folder that links must not leave, as a path without links. */
  readonly root: string;
  /** Folders that links may lead into, as paths without links. */
  readonly roots: Set<string>;
  /** Folders that were walked or are excluded, as paths without links. */
  readonly done: Set<string>;
  /** Files by their paths without links, each once; defaults by the folder that they are for. */
  readonly known: Set<string>;
  readonly files: ShownFile[];
  /** Links, followed after everything that is reachable without them. */
  readonly links: Found[];
  /** Files whose names are not those of manifests. */
  readonly others: Found[];
};

/**
 * Reads the YAML files at and below the absolute paths, sorted by path, each once. Unreadable files are diagnostics beside the
 * readable files. Opens regular files only.
 */
export function readTree(paths: readonly string[], options: ReadTreeOptions): Checked<readonly SourceFile[]> {
  const root = realOf(options.root);
  const walk: Walk = {
    show: shower(options.cwd),
    root,
    roots: new Set([root]),
    done: new Set(options.exclude.map((folder) => realOf(folder))),
    known: new Set(),
    files: [],
    links: [],
    others: [],
    diagnostics: [],
  };
  for (const path of paths) start(walk, path, options.root);
  followLinks(walk);
  for (const { path, real } of walk.others) {
    if (isUnreadManifest(real))
      report(walk, path, 'manifest/unread-file', 'looks like a manifest, but Ostiary does not read it', unreadHint);
  }
  const value = readFiles(walk);
  return { value, diagnostics: sortDiagnostics(walk.diagnostics) };
}

const unreadHint = 'rename it so that it ends in .yaml or .yml, or move it out of the folders of manifests';

/** Reports each absolute path that does not exist. */
export function missingPaths(paths: readonly string[], cwd: string): readonly Diagnostic[] {
  const walk = { show: shower(cwd), diagnostics: [] };
  for (const path of paths) tryReal(walk, path, 'manifest/no-such-path');
  return sortDiagnostics(walk.diagnostics);
}

/**
 * Starts at a path that the user or the config names. Outside the root the path is a root of its own; inside it, links must
 * not lead out.
 */
function start(walk: Walk, path: string, root: string): void {
  const real = tryReal(walk, path, 'manifest/no-such-path');
  if (real === undefined) return;
  if (!isWithin(path, root)) walk.roots.add(real);
  if (isEscape(walk, path, real, findOtherCheckout(root, path))) return;
  const stats = statSync(real, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) walkFolder(walk, { path, real });
  else if (stats?.isFile() === true && isManifestName(path)) addFile(walk, { path, real });
  else report(walk, path, 'manifest/unreadable', 'is not a folder and not a .yaml or .yml file', 'pass only folders and YAML files');
}

function walkFolder(walk: Walk, top: Found): void {
  const pending = [top];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    if (walk.done.has(folder.real)) continue;
    walk.done.add(folder.real);
    const path = withSeparator(folder.path);
    const real = withSeparator(folder.real);
    const entries = entriesOf(walk, folder);
    if (folder !== top && entries.some(({ name }) => name === '.git') && !isSubmodule(folder.real)) {
      if (containsManifests(folder.real)) walk.diagnostics.push(skippedCheckout(walk.show(folder.path)));
      continue;
    }
    for (const entry of entries) {
      const found = entryAt(path, real, entry.name);
      if (entry.isDirectory()) {
        if (isManifestFolder(entry.name) && hasGoodName(walk, found)) pending.push(found);
      } else if (entry.isSymbolicLink()) {
        walk.links.push(found);
      } else if (isManifestName(entry.name)) {
        if (entry.isFile()) addFile(walk, found);
        else report(walk, found.path, 'manifest/unreadable', 'is not a regular file', 'remove it, or change its extension');
      } else if (entry.isFile()) {
        walk.others.push(found);
      }
    }
  }
}

function skippedCheckout(path: string): Diagnostic {
  const message = `${JSON.stringify(path)} is a checkout of its own: its manifests are not read`;
  const hint = 'move it out of the folders of manifests, or list those folders under manifests in ostiary.yaml';
  return { code: 'manifest/other-checkout', severity: 'warning', message, hint, at: { file: path, line: 1, column: 1 } };
}

/** Returns the paths of a folder's entry; without links both are the same. */
function entryAt(path: string, real: string, name: string): Found {
  const below = `${path}${name}`;
  return { path: below, real: path === real ? below : `${real}${name}` };
}

function entriesOf(walk: Walk, folder: Found): readonly Dirent[] {
  try {
    return readdirSync(folder.real, { withFileTypes: true });
  } catch (error) {
    report(walk, folder.path, 'manifest/unreadable', `cannot be read: ${reasonOf(error)}`, 'check the permissions of the folder');
    return [];
  }
}

/**
 * Follows links in the order of their paths, links behind other links last, so that the displayed path of a file never depends
 * on chance.
 */
function followLinks(walk: Walk): void {
  while (walk.links.length > 0) {
    const links = walk.links.splice(0).toSorted((left, right) => compareText(left.path, right.path));
    for (const link of links) followLink(walk, link);
  }
}

function followLink(walk: Walk, link: Found): void {
  const real = isManifestName(link.path) ? tryReal(walk, link.path, 'manifest/unreadable') : realOrNone(link.real);
  if (real === undefined) return;
  const stats = statSync(real, { throwIfNoEntry: false });
  const isFolder = stats?.isDirectory() === true;
  if (isFolder && !isManifestFolder(basename(link.path))) return;
  if (!isFolder && !isManifestName(link.path)) {
    if (stats?.isFile() === true && isWithin(real, walk.root)) walk.others.push({ path: link.path, real });
    return;
  }
  if (isEscape(walk, link.path, real, findOtherCheckout(walk.root, link.real))) return;
  if (!isFolder) {
    if (stats?.isFile() === true) addFile(walk, { path: link.path, real });
    else report(walk, link.path, 'manifest/unreadable', 'links to something other than a regular file', 'remove the link');
  } else if (isWithin(dirname(link.real), real)) {
    report(walk, link.path, 'manifest/symlink-loop', 'links to a parent folder', 'remove the link');
  } else if (hasGoodName(walk, link)) {
    walkFolder(walk, { path: link.path, real });
  }
}

function addFile(walk: Walk, file: Found): void {
  const identity = isDefaultsPath(file.path) ? join(realOf(dirname(file.path)), basename(file.path)) : file.real;
  if (walk.known.has(identity) || !hasGoodName(walk, file)) return;
  walk.known.add(identity);
  walk.files.push({ shown: walk.show(file.path), real: file.real, isPrivate: isPrivate(walk.root, file) });
}

function readFiles(walk: Walk): readonly SourceFile[] {
  const read = textReader();
  const files: SourceFile[] = [];
  for (const { shown: path, real, isPrivate: isHidden } of walk.files.toSorted((left, right) => compareText(left.shown, right.shown))) {
    const result = read(real);
    if ('text' in result) files.push({ path, text: result.text, ...(isHidden ? { isPrivate: true } : {}) });
    else walk.diagnostics.push(unread(path, result.problem));
  }
  return files;
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

/** Returns the path without links; adds a diagnostic if nothing exists there. */
function tryReal(walk: Telling, path: string, missing: 'manifest/no-such-path' | 'manifest/unreadable'): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ELOOP') report(walk, path, 'manifest/symlink-loop', 'is part of a loop of symbolic links', 'remove the link');
    else if (code === 'ENOTDIR' && missing === 'manifest/no-such-path') report(walk, path, missing, 'does not exist', 'check the path');
    else if (code !== 'ENOENT') report(walk, path, 'manifest/unreadable', `cannot be read: ${reasonOf(error)}`, 'check its permissions');
    else if (missing === 'manifest/no-such-path') report(walk, path, missing, 'does not exist', 'check the path');
    else report(walk, path, missing, 'is a broken symbolic link', 'remove the link');
    return undefined;
  }
}

function realOrNone(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** Returns the path without links; unchanged if nothing exists there. */
export function realOf(path: string): string {
  return realOrNone(path) ?? path;
}

function isEscape(walk: Walk, path: string, real: string, from: string | undefined): boolean {
  const into = findOtherCheckout(walk.root, real);
  const staysInCheckout = into === undefined || from !== undefined;
  for (const root of walk.roots) if (isWithin(real, root) && staysInCheckout) return false;
  report(walk, path, 'manifest/symlink-escape', 'is a symbolic link out of the repository', 'copy the files in, or remove the link');
  return true;
}

/** Returns whether a link leads to a file that is hidden or ignored by git. Kubernetes links to folders such as `..data`. */
function isPrivate(root: string, { path, real }: Found): boolean {
  if (path === real || !isWithin(real, root)) return false;
  const below = relative(root, real);
  if (path.endsWith(`${sep}${below}`)) return false;
  return below.split(sep).some((segment) => /^\.(?!\.)/.test(segment)) || isIgnored(root, real);
}

/** Returns whether a link of a repository leads out of it, or to a file that is hidden or ignored by git. */
export function isPrivateLink(path: string): boolean {
  const top = repositoryTopOf(dirname(path));
  const [root, real] = [realOf(top), realOf(path)];
  return isRepositoryTop(top) && (!isWithin(real, root) || isPrivate(root, { path, real }));
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(withSeparator(folder));
}

function withSeparator(folder: string): string {
  return folder.endsWith(sep) ? folder : `${folder}${sep}`;
}

/** Rejects names that would break lines of output, or that are not UTF-8. */
function hasGoodName(walk: Walk, { path }: Found): boolean {
  if (isPrintableName(path.slice(path.lastIndexOf(sep)))) return true;
  report(walk, path, 'manifest/bad-file-name', 'has a name with control characters', 'rename it');
  return false;
}

function report(walk: Telling, path: string, code: Diagnostic['code'], what: string, hint: string): void {
  const file = walk.show(path).replaceAll(/[\p{Cc}\u2028\u2029]/gu, '\ufffd');
  const name = JSON.stringify(basename(file));
  walk.diagnostics.push({ code, severity: 'error', message: `${name} ${what}`, hint, at: { file, line: 1, column: 1 } });
}

/** Makes a function that returns displayed paths: relative to the folder inside it, absolute elsewhere, always with `/`. */
export function shower(cwd: string): (path: string) => string {
  const prefix = withSeparator(cwd);
  return (path) => {
    if (path === cwd) return '.';
    const shown = path.startsWith(prefix) ? path.slice(prefix.length) : path;
    return sep === '/' ? shown : shown.replaceAll(sep, '/');
  };
}

/** Returns the prefix of the displayed paths of all files below a folder. */
export function shownFolder(folder: string, cwd: string): string {
  return shower(cwd)(`${withSeparator(folder)}x`).slice(0, -1);
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
