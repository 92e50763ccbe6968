import { existsSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { maxBytes } from '../disk/text-file.ts';
import { findOtherCheckout, isRepositoryTop, isSubmodule } from '../disk/other-checkout.ts';
import { decodeFile, shower } from '../disk/walk.ts';
import { findLeftOut } from '../git/left-out.ts';
import { readBlobs } from '../git/objects.ts';
import { listFilesAt } from '../git/read-tree.ts';
import { findCommit, openRepository, type Repository } from '../git/repository.ts';
import { listDeclared } from '../manifest/read-documents.ts';
import { defaultsAbove, type Diagnostic, isDefaultsPath, type SourceFile } from '../model/diagnostic.ts';
import { AppError } from '../model/errors.ts';
import type { ResourceId } from '../model/resource.ts';
import { type HashedSources, type ManifestSources, readHashed } from './manifests.ts';
import { type OpenProject, readableRepository, pathsInRepository } from './project.ts';
import type { ProjectContext } from './resolved-config.ts';

/** A file of HEAD that the working tree does not have: its displayed path, and the objects that it declares. */
type DeletedFile = { readonly path: string; readonly declares: readonly ResourceId[] };

/** How the working tree differs from HEAD: errors for what was not checked out, and files whose deletion is not committed. */
type Checkout = { readonly diagnostics: readonly Diagnostic[]; readonly deleted: readonly DeletedFile[] };

/** The files of a target, with an error for each one that was not checked out, and those that are deleted but still in HEAD. */
export type CheckedSources = HashedSources & Pick<Checkout, 'deleted'>;

/** Reads the files of a target like `readHashed`, and compares them with HEAD. Throws UsageError when there are no folders to read. */
export async function readWorkingTree(project: OpenProject): Promise<CheckedSources> {
  const { sources, tree } = readHashed(project);
  const { diagnostics, deleted } = await compareWithHead(sources, project);
  const all = diagnostics.length === 0 ? sources : { ...sources, diagnostics: [...sources.diagnostics, ...diagnostics] };
  return { sources: all, tree, deleted };
}

const complete: Checkout = { diagnostics: [], deleted: [] };

/**
 * Compares the files that were read with the files of HEAD and of the submodules that it names. A file that git left out of the working tree
 * is an error: its objects would count as removed, its defaults and policies would not count at all.
 */
async function compareWithHead({ files, overlays }: ManifestSources, project: OpenProject): Promise<Checkout> {
  try {
    const repository = readableRepository(project);
    const commit = repository?.head;
    if (repository === undefined || commit === undefined) return complete;
    const { context } = project;
    const read = [...files, ...overlays.flat()];
    const top = topOf(repository, project.config.root);
    return await comparePlaces(foldersIn(repository, project), { repository, commit, top, read, context });
  } catch (error) {
    // Nothing is known then. Commands that need git report the error.
    if (error instanceof AppError && error.code.startsWith('git/')) return complete;
    throw error;
  }
}

/** The folders and files to search in a repository, relative to its top, with those to leave out. */
type SearchedPaths = { readonly paths: readonly string[]; readonly root: string; readonly exclude: readonly string[] };

type Comparison = {
  readonly repository: Repository;
  readonly commit: string;
  /** The absolute folder of the top of the repository, by the path that leads to the config file. */
  readonly top: string;
  readonly read: readonly SourceFile[];
  readonly context: Pick<ProjectContext, 'cwd' | 'env'>;
};

/** Returns what a target reads; folders outside the repository are left out because no commit has them. */
function foldersIn({ prefix }: Repository, { config, target }: Pick<OpenProject, 'config' | 'target'>): readonly SearchedPaths[] {
  const placed = (paths: readonly string[]): readonly string[] => pathsInRepository(paths, config.root, prefix);
  const folders = placed(target.manifests);
  const exclude = placed(config.targets.flatMap((one) => one.overlays));
  const manifests = { paths: [...folders, ...defaultsAbove(folders, prefix === '' ? '' : `${prefix}/`)], root: prefix, exclude };
  return [manifests, ...placed(target.overlays).map((folder) => ({ paths: [folder], root: prefix, exclude: [] }))];
}

function topOf({ prefix }: Repository, root: string): string {
  return prefix === '' ? root : join(root, ...prefix.split('/').map(() => '..'));
}

async function comparePlaces(places: readonly SearchedPaths[], comparison: Comparison): Promise<Checkout> {
  const { repository, commit, top, read, context } = comparison;
  const show = shower(context.cwd);
  const start = top.endsWith(sep) ? top : `${top}${sep}`;
  const shownPath = (path: string): string => show(`${start}${sep === '/' ? path : path.replaceAll('/', sep)}`);
  const known = new Set(read.map(({ path }) => path));
  const listed = await Promise.all(
    places.map(({ paths, root, exclude }) => listFilesAt(repository, commit, { paths, options: { root, exclude, show } })),
  );
  const committed = listed.flatMap(({ files }) => files);
  // A file that is here was read by another path, or is reported as unreadable.
  const missing = committed.filter(({ path }) => !known.has(shownPath(path)) && !isFile(join(top, path)));
  const unread = committed.flatMap(({ path }) => (known.has(shownPath(path)) ? [] : inOtherCheckout(path, top, shownPath)));
  const submodules = new Map(listed.flatMap((one) => one.submodules).map(({ path, id }) => [path, id]));
  const inside = await Promise.all([...submodules].map(([path, id]) => compareSubmodule({ path, id }, places, comparison)));
  const leftOut = await findLeftOut(
    repository,
    missing.map(({ path }) => path),
  );
  const deleted = await describeDeleted(
    repository,
    missing.filter(({ path }) => !leftOut.has(path)),
    {
      shownPath,
      others: () =>
        filesBeside(
          read,
          committed.map(({ path }) => shownPath(path)),
        ),
    },
  );
  return {
    diagnostics: [...unread, ...notCheckedOut([...leftOut].map(shownPath)), ...inside.flatMap((one) => one.diagnostics)],
    deleted: [...deleted, ...inside.flatMap((one) => one.deleted)],
  };
}

/** Returns an error for a file of HEAD in a folder that has a `.git` of its own, and so is not read. */
function inOtherCheckout(path: string, top: string, shownPath: (path: string) => string): readonly Diagnostic[] {
  const checkout = findOtherCheckout(top, join(top, path));
  if (checkout === undefined) return [];
  const folder = shownPath(relative(top, checkout).split(sep).join('/'));
  const file = shownPath(path);
  const message = `${JSON.stringify(file)} is in HEAD, but not read: ${JSON.stringify(folder)} has a .git of its own`;
  return [{ code: 'git/not-checked-out', severity: 'error', message, hint: `remove ${folder}/.git`, at: startOf(file) }];
}

function filesBeside(files: readonly SourceFile[], paths: readonly string[]): readonly SourceFile[] {
  const committed = new Set(paths);
  return files.filter(({ path }) => !committed.has(path));
}

/** Compares the files of a submodule with the commit that HEAD names, whatever commit is checked out there. */
async function compareSubmodule(
  { path, id }: { readonly path: string; readonly id: string },
  places: readonly SearchedPaths[],
  { top, read, context }: Comparison,
): Promise<Checkout> {
  const folder = join(top, path);
  const shown = shower(context.cwd)(folder);
  if (!existsSync(folder) || !isRepositoryTop(folder)) return { diagnostics: [missingSubmodule(shown, 'is not checked out')], deleted: [] };
  if (!isSubmodule(folder)) return { diagnostics: [missingSubmodule(shown, 'is not named in .gitmodules')], deleted: [] };
  const repository = await openRepository({ folder, env: context.env });
  const commit = repository === undefined ? undefined : await findCommit(repository, id);
  if (repository === undefined || commit === undefined)
    return { diagnostics: [missingSubmodule(shown, `does not have the commit ${id.slice(0, 10)} that HEAD names`)], deleted: [] };
  const inside = (one: string): readonly string[] => {
    if (path === one || one === '' || path.startsWith(`${one}/`)) return [''];
    return one.startsWith(`${path}/`) ? [one.slice(path.length + 1)] : [];
  };
  const below = places.map(({ paths, exclude }) => ({
    paths: [...new Set(paths.flatMap(inside))],
    root: '',
    exclude: exclude.flatMap((one) => (one.startsWith(`${path}/`) ? [one.slice(path.length + 1)] : [])),
  }));
  return comparePlaces(
    below.filter(({ paths }) => paths.length > 0),
    { repository, commit, top: folder, read, context },
  );
}

type Description = {
  readonly shownPath: (path: string) => string;
  /** Returns the files that HEAD does not have. */
  readonly others: () => readonly SourceFile[];
};

/** Returns the deleted files that matter: not those of other tools, and not those whose documents all moved to files that HEAD does not have. */
async function describeDeleted(
  repository: Repository,
  files: readonly { readonly path: string; readonly id: string }[],
  { shownPath, others }: Description,
): Promise<readonly DeletedFile[]> {
  if (files.length === 0) return [];
  const moved = new Set(others().flatMap((file) => listDeclared(file)));
  const texts = new Map<string, SourceFile>();
  await readBlobs(
    repository,
    files.map(({ id }) => id),
    {
      maxBytes: maxBytes + 1,
      onBlob: (id, bytes) => texts.set(id, decodeFile('', bytes).value ?? { path: '', text: 'ostiary/' }),
    },
  );
  return files.flatMap(({ path, id }) => {
    const file = texts.get(id);
    if (file?.text.includes('ostiary/') !== true) return [];
    const declares = listDeclared(file);
    const isMoved = declares.length > 0 && !isDefaultsPath(path) && declares.every((one) => moved.has(one));
    return isMoved ? [] : [{ path: shownPath(path), declares }];
  });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

const mostNamed = 20;

function notCheckedOut(files: readonly string[]): readonly Diagnostic[] {
  const named = files.length > mostNamed + 1 ? files.slice(0, mostNamed) : files;
  const first = named.map((file): Diagnostic => ({ ...leftOutError, message: `${JSON.stringify(file)} is ${reason}`, at: startOf(file) }));
  const more = files.length - named.length;
  return more === 0
    ? first
    : [...first, { ...leftOutError, message: `${more} more files are in HEAD, but git leaves them out of the working tree` }];
}

const reason = 'in HEAD, but git leaves it out of the working tree';
const leftOutError = {
  code: 'git/not-checked-out',
  severity: 'error',
  hint: 'run git sparse-checkout disable; or, for one file, git update-index --no-skip-worktree --no-assume-unchanged FILE, then git restore FILE',
} as const;

function startOf(file: string): NonNullable<Diagnostic['at']> {
  return { file, line: 1, column: 1 };
}

function missingSubmodule(file: string, what: string): Diagnostic {
  return {
    code: 'git/not-checked-out',
    severity: 'error',
    message: `the submodule ${JSON.stringify(file)} ${what}`,
    hint: `git submodule update --init ${file}; for actions/checkout set submodules: true`,
    at: startOf(file),
  };
}
