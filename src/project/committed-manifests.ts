import { basename, dirname, posix, relative, sep } from 'node:path';
import { maxBytes } from '../disk/text-file.ts';
import { decodeFile } from '../disk/walk.ts';
import { referencePrefixesOf } from '../gateway/dialects/choose-dialect.ts';
import type { Repository } from '../git/repository.ts';
import { listCommit, readTreeAt, type TreeOptions } from '../git/read-tree.ts';
import { registry } from '../kinds/index.ts';
import { readConfig } from '../manifest/read-config.ts';
import { loadManifests, loadPolicies, hashTree } from '../manifest/load-manifests.ts';
import type { Config, Target } from '../model/gateway.ts';
import type { DesiredState } from '../model/desired.ts';
import { defaultsAbove, hasErrors, type Checked, type Diagnostic, isManifestFolder, type SourceFile } from '../model/diagnostic.ts';
import type { Policy } from '../model/protection/policy.ts';
import { contentsOf, readContentsAt, secretFilesOf, withContents } from './committed-files.ts';
import type { ResolvedConfig } from './resolved-config.ts';

/** The default names of a config file. */
export const configNames: readonly string[] = ['ostiary.yaml', 'ostiary.yml'];

/** A target whose manifests are in a git repository. */
export type CommittedTarget = { readonly repository: Repository; readonly config: ResolvedConfig; readonly target: Target };

/** A config file in a git repository; the target's name distinguishes several config files of the repository. */
type CommittedConfig = Pick<CommittedTarget, 'repository' | 'config'> & { readonly target: Pick<Target, 'name'> };

/** The manifest files of a target at a commit; folders are relative to the top of the repository. */
export type CommittedTree = {
  readonly target: Target;
  readonly targets: readonly string[];
  readonly folders: readonly string[];
  readonly files: readonly SourceFile[];
  readonly overlays: readonly (readonly SourceFile[])[];
  /** The folders of overlays, relative to that of the config file. */
  readonly layers: readonly string[];
  /** The folder of the config file, relative to the top of the repository. */
  readonly root: string;
  /** Returns a file's path relative to the folder of the config file. */
  readonly pathInTree: (path: string) => string;
};

/** Reads the manifest files of a target at a commit; the config file of that commit names their folders. */
export async function readCommittedTree(site: CommittedTarget, commit: string): Promise<Checked<CommittedTree>> {
  const { value: committed, diagnostics: found } = await readCommittedConfig(site, commit);
  const target = committed?.targets.find(({ name }) => name === site.target.name);
  if (committed === undefined) return { diagnostics: found };
  if (target === undefined) return { diagnostics: [noTarget(commit, site.target.name, committed.file ?? '')] };
  const root = inRepository(committed.root);
  const folders = target.manifests.map(inRepository);
  const overlays = target.overlays.map(inRepository);
  const options = treeOptionsAt(commit, root);
  const top = root === '' ? '' : `${root}/`;
  const exclude = committed.targets.flatMap((one) => one.overlays.map(inRepository));
  const trees = await Promise.all([
    readTreeAt(site.repository, commit, { paths: [...folders, ...defaultsAbove(folders, top)], options: { ...options, exclude } }),
    ...overlays.map((folder) => readTreeAt(site.repository, commit, { paths: [folder], options })),
  ]);
  const [files = [], ...over] = trees.map(({ value }) => value ?? []);
  const before = options.show('').length;
  const pathInTree = (path: string): string =>
    path.startsWith(top, before) ? path.slice(before + top.length) : posix.relative(root, path.slice(before));
  const layers = target.overlays.map((folder) => posix.relative(committed.root, folder));
  const targets = committed.targets.map(({ name }) => name);
  const diagnostics = trees.flatMap((tree) => tree.diagnostics);
  const value = { target, targets, folders, root, files, overlays: over, layers, pathInTree };
  return hasErrors(diagnostics) ? { diagnostics } : { value, diagnostics };
}

/** Loads the manifests of a commit without their secrets, and the hashes of the files that secrets come from. */
export async function loadCommittedState(repository: Repository, commit: string, tree: CommittedTree): Promise<Checked<DesiredState>> {
  const { value, diagnostics } = loadCommittedTree(tree);
  if (value === undefined) return { diagnostics };
  const contents = await readContentsAt(repository, commit, { root: tree.root, files: secretFilesOf(value) });
  return { value: withContents(value, contents), diagnostics };
}

/** Loads the manifests of a commit without their secrets. */
function loadCommittedTree({ target, targets, files, overlays, pathInTree }: CommittedTree): Checked<DesiredState> {
  const { name, secretPrefixes, allowedValues, dialect } = target;
  const referencePrefixes = referencePrefixesOf(dialect);
  return loadManifests({
    files,
    overlays,
    target: name,
    targets,
    secretPrefixes,
    allowedValues,
    referencePrefixes,
    registry,
    pathInTree,
  });
}

/** Loads the policies of a commit. */
export function readCommittedPolicies({ target: { name }, targets, files }: CommittedTree): Checked<readonly Policy[]> {
  return loadPolicies({ files, target: name, targets, registry });
}

/**
 * Returns true if a commit has the same manifests as those that were loaded from the working tree, with overlays in the same
 * folders, and the same committed files of secrets.
 */
export async function isSameTree(
  { files, overlays, layers, root, pathInTree }: CommittedTree,
  { repository, config, target }: CommittedTarget,
  { commit, desired }: { readonly commit: string; readonly desired: DesiredState },
): Promise<boolean> {
  const loaded = target.overlays.map((folder) => relative(config.root, folder).split(sep).join('/'));
  if (loaded.join('\0') !== layers.join('\0') || hashTree([...files, ...overlays.flat()], pathInTree) !== desired.tree) return false;
  const then = await readContentsAt(repository, commit, { root, files: secretFilesOf(desired) });
  const now = contentsOf(desired);
  return then.size === now.size && [...then].every(([file, content]) => now.get(file) === content);
}

/** Reads the config at a commit; its folders are absolute paths below `/`, which means the top of the repository. */
export async function readCommittedConfig({ repository, config, target }: CommittedConfig, commit: string): Promise<Checked<Config>> {
  const { prefix } = repository;
  if (config.file === undefined) return { value: configWithoutFile(config, prefix), diagnostics: [] };
  const path = prefix === '' ? basename(config.file) : `${prefix}/${basename(config.file)}`;
  const options = treeOptionsAt(commit, '');
  const here = await readTreeAt(repository, commit, { paths: [path], options });
  const files = here.value?.length === 0 ? await findMovedConfigs(repository, commit, basename(path)) : here;
  const configs = (files.value ?? []).map((file) => readConfig(file, dirname(`/${file.path.slice(options.show('').length)}`)));
  const named = configs.length < 2 ? configs : configs.filter(({ value }) => value?.targets.some(({ name }) => name === target.name));
  const [committed, second] = named;
  if (hasErrors(files.diagnostics)) return { diagnostics: files.diagnostics };
  return committed === undefined || second !== undefined ? { diagnostics: [noConfig(commit, path)] } : committed;
}

/** Reads the config files of a commit that are in other folders. */
async function findMovedConfigs(repository: Repository, commit: string, name: string): Promise<Checked<readonly SourceFile[]>> {
  const names = new Set([name, ...configNames]);
  const isConfig = (path: string): boolean => names.has(basename(path)) && path.split('/').slice(0, -1).every(isManifestFolder);
  const paths = (await listCommit(repository, commit)).map(({ path }) => path).filter(isConfig);
  return readTreeAt(repository, commit, { paths, options: treeOptionsAt(commit, '') });
}

/** Returns a config without a file, with `/` as the top of the repository; folders outside the repository are left out because no commit has them. */
function configWithoutFile(config: ResolvedConfig, prefix: string): Config {
  const placed = (paths: readonly string[]): readonly string[] =>
    paths
      .map((path) => posix.join('.', prefix, ...relative(config.root, path).split(sep)))
      .filter((path) => path !== '..' && !path.startsWith('../'))
      .map((path) => (path === '.' ? '/' : `/${path}`));
  const targets = config.targets.map((target) => ({ ...target, manifests: placed(target.manifests), overlays: placed(target.overlays) }));
  return { root: `/${prefix}`, targets };
}

/** Returns the options for reading a tree; files of a commit are displayed as git names them, `COMMIT:PATH`. */
function treeOptionsAt(commit: string, root: string): TreeOptions {
  return { root, exclude: [], show: (path) => `${commit.slice(0, 10)}:${path}`, maxBytes: maxBytes, decode: decodeFile };
}

function inRepository(path: string): string {
  return path.slice(1);
}

function noConfig(commit: string, path: string): Diagnostic {
  return {
    code: 'git/no-config',
    severity: 'error',
    message: `the commit ${commit.slice(0, 10)} has no config file ${path}, and no other file that is surely the same`,
    hint: 'the config lists the folders of manifests',
  };
}

function noTarget(commit: string, name: string, file: string): Diagnostic {
  const message = `the commit ${commit.slice(0, 10)} has no target "${name}"`;
  return { code: 'git/no-target', severity: 'error', message, at: { file, line: 1, column: 1 } };
}
