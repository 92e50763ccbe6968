import { type Diagnostic, isDefaultsPath, isManifestFolder, isManifestName, isPrintableName } from '../diagnostic.ts';
import { compareText } from '../json.ts';

/** A file or folder: the path that led to it, and its path without links. */
export type FoundPath = { readonly path: string; readonly real: string };

/** What is at a path; a submodule is one whose files the tree does not have. */
export type EntryType = 'file' | 'folder' | 'link' | 'submodule' | 'other';

/** The entries of a folder, or the reason why it has none to read. */
export type FolderListing =
  | { readonly entries: readonly { readonly name: string; readonly type: EntryType }[] }
  | { readonly unreadable: string }
  /** A checkout of its own, which the tree does not include. */
  | { readonly checkout: 'with manifests' | 'without' };

/** Where a path leads when all links are followed, or why it leads nowhere. */
export type ResolvedPath =
  | { readonly real: string }
  | { readonly problem: 'missing' | 'loop' | 'escape' | 'detour' | { readonly unreadable: string } };

/** A folder on disk or a commit, in which manifests are looked for. Paths are absolute on disk, and relative to the top in a commit. */
export interface ManifestTree {
  readonly separator: string;
  /** Whether a path that does not exist is an error; a commit has no empty folders. */
  readonly hasEmptyFolders: boolean;
  /** Returns the path as diagnostics show it. */
  readonly show: (path: string) => string;
  /** Follows all links. From the root to the path, none to a manifest or a folder may have an absolute path, or lead out and back. */
  readonly resolve: (path: string, root?: string) => ResolvedPath;
  /** Returns the type of what is at a path without links. */
  readonly typeOf: (real: string) => EntryType | undefined;
  /** Lists a folder, which is a checkout of its own only if the walk did not start there. */
  readonly list: (real: string, isStart: boolean) => FolderListing;
  /** Returns the folder below the root, on the way to the path, that is a checkout of its own. */
  readonly checkoutAt: (root: string, path: string) => string | undefined;
}

type WalkOptions = {
  /** The folder that links must not leave. */
  readonly root: string;
  readonly exclude: readonly string[];
};

/** What a walk finds: the files of manifests, each once, other files, and the submodules that may contain more manifests. */
type FoundFiles = {
  readonly files: readonly FoundPath[];
  readonly others: readonly FoundPath[];
  readonly submodules: readonly FoundPath[];
  readonly diagnostics: readonly Diagnostic[];
};

/** The state of a walk. */
type Walk = {
  readonly tree: ManifestTree;
  /** The folder that links must not leave, as a path without links. */
  readonly root: string;
  /** Folders that links may lead into, as paths without links. */
  readonly roots: Set<string>;
  /** Folders that were walked or are excluded, as paths without links. */
  readonly done: Set<string>;
  /** Files by their paths without links, each once; defaults by the folder that they are for. */
  readonly files: Map<string, FoundPath>;
  /** Links, followed after everything that is reachable without them. */
  readonly links: FoundPath[];
  readonly others: FoundPath[];
  readonly submodules: Map<string, FoundPath>;
  readonly diagnostics: Diagnostic[];
};

/** Finds the files of manifests at and below the paths. The same rules decide for a folder on disk and for a commit. */
export function walkTree(tree: ManifestTree, paths: readonly string[], { root, exclude }: WalkOptions): FoundFiles {
  const home = realOf(tree, root);
  const walk: Walk = {
    tree,
    root: home,
    roots: new Set([home]),
    done: new Set(exclude.map((folder) => realOf(tree, folder))),
    files: new Map(),
    links: [],
    others: [],
    submodules: new Map(),
    diagnostics: [],
  };
  for (const path of paths) startAt(walk, path, root);
  followLinks(walk);
  return { ...walk, files: [...walk.files.values()], submodules: [...walk.submodules.values()] };
}

/** Reports each path that does not exist. */
export function findMissing(tree: ManifestTree, paths: readonly string[]): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  for (const path of paths) resolvePath({ tree, diagnostics }, path, 'manifest/no-such-path');
  return diagnostics;
}

/**
 * Starts at a path that the user or the config names. Outside the root the path is a root of its own; inside it, links must
 * not lead out.
 */
function startAt(walk: Walk, path: string, root: string): void {
  const { tree } = walk;
  const isInside = isPathWithin(path, root, tree.separator);
  const real = resolvePath(walk, path, 'manifest/no-such-path', { root: isInside ? root : undefined });
  if (real === undefined) return;
  if (!isInside) walk.roots.add(real);
  if (isEscape(walk, path, real, tree.checkoutAt(root, path))) return;
  const type = tree.typeOf(real);
  if (type === 'submodule') walk.submodules.set(real, { path, real });
  else if (type === 'folder') walkFolder(walk, { path, real });
  else if (type === 'file' && isManifestName(path)) addFile(walk, { path, real });
  else report(walk, path, 'manifest/unreadable', 'is not a folder and not a .yaml or .yml file', 'pass only folders and YAML files');
}

function walkFolder(walk: Walk, top: FoundPath): void {
  const { tree } = walk;
  const pending = [top];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    if (walk.done.has(folder.real)) continue;
    walk.done.add(folder.real);
    const listing = tree.list(folder.real, folder === top);
    if ('unreadable' in listing)
      report(walk, folder.path, 'manifest/unreadable', `cannot be read: ${listing.unreadable}`, 'check the permissions of the folder');
    if ('checkout' in listing && listing.checkout === 'with manifests') walk.diagnostics.push(skippedCheckout(tree.show(folder.path)));
    if (!('entries' in listing)) continue;
    const path = prefixOfFolder(folder.path, tree.separator);
    const real = prefixOfFolder(folder.real, tree.separator);
    for (const { name, type } of listing.entries) {
      const below = `${path}${name}`;
      const found = { path: below, real: path === real ? below : `${real}${name}` };
      if (type === 'folder') {
        if (isManifestFolder(name) && hasGoodName(walk, found)) pending.push(found);
      } else if (type === 'link') {
        walk.links.push(found);
      } else if (type === 'submodule') {
        if (isManifestFolder(name)) walk.submodules.set(found.real, found);
      } else if (isManifestName(name)) {
        if (type === 'file') addFile(walk, found);
        else report(walk, found.path, 'manifest/unreadable', 'is not a regular file', 'remove it, or change its extension');
      } else if (type === 'file') {
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

function followLink(walk: Walk, link: FoundPath): void {
  const { tree } = walk;
  const isNamed = isManifestName(link.path);
  const isSearched = isManifestFolder(nameOf(tree, link.path));
  const root = isNamed || isSearched ? walk.root : undefined;
  const real = resolvePath(walk, link.real, isNamed ? 'manifest/unreadable' : undefined, { root, shown: link.path });
  if (real === undefined) return;
  const type = tree.typeOf(real);
  const isFolder = type === 'folder' || type === 'submodule';
  if (isFolder && !isSearched) return;
  if (!isFolder && !isNamed) {
    if (type === 'file' && isPathWithin(real, walk.root, tree.separator)) walk.others.push({ path: link.path, real });
    return;
  }
  if (isEscape(walk, link.path, real, tree.checkoutAt(walk.root, link.real))) return;
  if (type === 'submodule') {
    walk.submodules.set(real, { path: link.path, real });
  } else if (!isFolder) {
    if (type === 'file') addFile(walk, { path: link.path, real });
    else report(walk, link.path, 'manifest/unreadable', 'links to something other than a regular file', 'remove the link');
  } else if (isPathWithin(folderOf(tree, link.real), real, tree.separator)) {
    report(walk, link.path, 'manifest/symlink-loop', 'links to a parent folder', 'remove the link');
  } else if (hasGoodName(walk, link)) {
    walkFolder(walk, { path: link.path, real });
  }
}

function addFile(walk: Walk, file: FoundPath): void {
  const { tree, files } = walk;
  const { path, real } = file;
  const identity = isDefaultsPath(path)
    ? `${prefixOfFolder(realOf(tree, folderOf(tree, path)), tree.separator)}${nameOf(tree, path)}`
    : real;
  if (!files.has(identity) && hasGoodName(walk, file)) files.set(identity, file);
}

type Reporter = Pick<Walk, 'tree' | 'diagnostics'>;

/** Returns the path without links; adds a diagnostic with the code if it leads nowhere. */
function resolvePath(
  walk: Reporter,
  path: string,
  missing: 'manifest/no-such-path' | 'manifest/unreadable' | undefined,
  { root, shown = path }: { readonly root?: string | undefined; readonly shown?: string } = {},
): string | undefined {
  const found = walk.tree.resolve(path, root);
  if ('real' in found) return found.real;
  const { problem } = found;
  if (problem === 'detour')
    report(
      walk,
      shown,
      'manifest/symlink-escape',
      'is a symbolic link with an absolute path, or out of the repository and back, which no commit can follow',
      'link it by a relative path inside the repository',
    );
  else if (missing === undefined) return undefined;
  else if (problem === 'loop') report(walk, shown, 'manifest/symlink-loop', 'is part of a loop of symbolic links', 'remove the link');
  else if (problem === 'escape') reportEscape(walk, shown);
  else if (problem !== 'missing')
    report(walk, shown, 'manifest/unreadable', `cannot be read: ${problem.unreadable}`, 'check its permissions');
  else if (missing === 'manifest/unreadable') report(walk, shown, missing, 'is a broken symbolic link', 'remove the link');
  else if (walk.tree.hasEmptyFolders) report(walk, shown, missing, 'does not exist', 'check the path');
  return undefined;
}

function isEscape(walk: Walk, path: string, real: string, from: string | undefined): boolean {
  const into = walk.tree.checkoutAt(walk.root, real);
  const staysInCheckout = into === undefined || from !== undefined;
  for (const root of walk.roots) if (isPathWithin(real, root, walk.tree.separator) && staysInCheckout) return false;
  reportEscape(walk, path);
  return true;
}

function reportEscape(walk: Reporter, path: string): void {
  report(walk, path, 'manifest/symlink-escape', 'is a symbolic link out of the repository', 'copy the files in, or remove the link');
}

/** Rejects names that would break lines of output, or that are not UTF-8. */
function hasGoodName(walk: Walk, { path }: FoundPath): boolean {
  if (isPrintableName(nameOf(walk.tree, path))) return true;
  report(walk, path, 'manifest/bad-file-name', 'has a name with control characters', 'rename it');
  return false;
}

function report({ tree, diagnostics }: Reporter, path: string, code: Diagnostic['code'], what: string, hint: string): void {
  diagnostics.push(fileDiagnostic(tree.show(path), code, what, hint));
}

/** Returns the error about a file or folder as a whole, by its displayed path. */
export function fileDiagnostic(shown: string, code: Diagnostic['code'], what: string, hint: string): Diagnostic {
  const file = shown.replaceAll(/[\p{Cc}\u2028\u2029]/gu, '\ufffd');
  const name = JSON.stringify(file.slice(file.lastIndexOf('/') + 1));
  return { code, severity: 'error', message: `${name} ${what}`, hint, at: { file, line: 1, column: 1 } };
}

/** Returns the path without links; unchanged if nothing exists there. */
function realOf(tree: ManifestTree, path: string): string {
  const found = tree.resolve(path);
  return 'real' in found ? found.real : path;
}

function nameOf({ separator }: ManifestTree, path: string): string {
  return path.slice(path.lastIndexOf(separator) + 1);
}

/** Returns the folder of a path; that of a path at the top is the top. */
function folderOf({ separator }: ManifestTree, path: string): string {
  const at = path.lastIndexOf(separator);
  return at === 0 ? separator : path.slice(0, Math.max(0, at));
}

/** Returns what the paths below a folder begin with; the top of a commit is the empty path. */
export function prefixOfFolder(folder: string, separator = '/'): string {
  return folder === '' || folder.endsWith(separator) ? folder : `${folder}${separator}`;
}

/** Returns whether a path is that of the folder, or below it. */
export function isPathWithin(path: string, folder: string, separator = '/'): boolean {
  return path === folder || path.startsWith(prefixOfFolder(folder, separator));
}
