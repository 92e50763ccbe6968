import { createHash } from 'node:crypto';
import { basename, dirname, join, posix, relative, sep } from 'node:path';
import { readSecretFile } from '../disk/secret-file.ts';
import { maxBytes } from '../disk/text-file.ts';
import { decodeFile } from '../disk/walk.ts';
import { referencePrefixesOf, spellingOf } from '../gateway/dialects/choose-dialect.ts';
import { listCommit, readThroughLinks, readTreeAt, type TreeOptions } from '../git/read-tree.ts';
import { configNames } from '../disk/find-config.ts';
import { mayBeInRepository, type Repository } from '../git/repository.ts';
import { registry } from '../kinds/index.ts';
import { hashTree, loadChecks, loadManifests, type Checks } from '../manifest/load-manifests.ts';
import { readConfig } from '../manifest/read-config.ts';
import type { DesiredResource, DesiredState } from '../model/desired.ts';
import { type Checked, defaultsAbove, type Diagnostic, hasErrors, isManifestFolder, type SourceFile } from '../model/diagnostic.ts';
import type { Config, Target } from '../model/config.ts';
import type { Pointer } from '../model/pointer.ts';
import { type DesiredSecret, seal, withContent } from '../model/secret.ts';
import { type CommittedProject, type OpenProject, readableRepository, pathsInRepository } from './project.ts';
import type { ResolvedConfig } from './resolved-config.ts';

/** Hashes of the contents of secret files, by their paths relative to the folder of the config file. */
type FileContents = ReadonlyMap<string, string>;

const noContents: FileContents = new Map();

/** Lists the files that secrets come from. */
function secretFilesOf({ resources }: Pick<DesiredState, 'resources'>): readonly string[] {
  return [...new Set(resources.flatMap(({ secrets }) => Object.values(secrets).flatMap(({ source }) => fileOf(source) ?? [])))];
}

function fileOf(source: string): string | undefined {
  return source.startsWith('file:') ? source.slice('file:'.length) : undefined;
}

/** Adds to each secret from a file the hash of the content; secrets of other files have none. */
function withContents(state: DesiredState, contents: FileContents): DesiredState {
  if (contents.size === 0) return state;
  const resources = state.resources.map((resource): DesiredResource => {
    const entries = Object.entries(resource.secrets);
    const added = entries.map(([path, secret]): readonly [Pointer, DesiredSecret] => {
      const content = contents.get(fileOf(secret.source) ?? '');
      return [path, content === undefined ? secret : withContent(secret, content)];
    });
    return added.every(([path, secret]) => secret === resource.secrets[path])
      ? resource
      : { ...resource, secrets: Object.fromEntries(added) };
  });
  return { ...state, resources };
}

/** Returns the hashes of the contents that secrets of the state have. */
function contentsOf({ resources }: Pick<DesiredState, 'resources'>): FileContents {
  const found = resources.flatMap(({ secrets }) =>
    Object.values(secrets).flatMap(({ source, content }) => (content === undefined ? [] : [[fileOf(source) ?? '', content] as const])),
  );
  return new Map(found);
}

/** Hashes files as they are in a commit, through its links; files that it does not have are left out. */
async function readContentsAt({ site, commit, root }: CommittedTree, files: readonly string[]): Promise<FileContents> {
  if (files.length === 0) return noContents;
  const places = new Map(files.map((file) => [posix.join(root, file), file]));
  const found = await readThroughLinks(site.repository, commit, { paths: [...places.keys()], maxBytes: maxBytes + 1 });
  return new Map(found.map((one) => [places.get(one.path) ?? '', 'bytes' in one ? hashOf(one.bytes) : linkOf(one.missing)]));
}

/** Returns the content of a file that only a link in the commit names: the path of the link's target. */
function linkOf(target: string): string {
  return `link:${target}`;
}

/**
 * Adds to each secret from a file that HEAD has the hash of the content in the working tree: the content of a committed file
 * belongs to the manifests. No hash is made of other files, because the repository does not decide about their content.
 */
export async function withTrackedContents(state: DesiredState, project: OpenProject): Promise<DesiredState> {
  const { root } = project.config;
  const files = secretFilesOf(state);
  if (files.length === 0 || !mayBeInRepository(root)) return state;
  const repository = readableRepository(project);
  const head = repository?.head;
  if (repository === undefined || head === undefined) return state;
  const places = new Map(files.map((file) => [posix.join(repository.prefix, file), file]));
  const committed = await readThroughLinks(repository, head, { paths: [...places.keys()], maxBytes: maxBytes + 1 });
  const contents = new Map<string, string>();
  const converted = new Map<string, ConvertedFile>();
  for (const found of committed) {
    const file = places.get(found.path) ?? '';
    if ('missing' in found) contents.set(file, linkOf(found.missing));
    if ('missing' in found) continue;
    const { bytes } = found;
    const { value } = readSecretFile(root, join(file));
    if (value === undefined) continue;
    contents.set(file, hashOf(value));
    if (bytes.equals(value) || !bytes.equals(withoutReturns(value))) continue;
    project.context.onEvent?.({ secret: bytes });
    converted.set(file, { here: value, bytes });
  }
  return withContents(withCommittedBreaks(state, converted), contents);
}

/** A committed file whose line breaks git converted for the working tree, and its content in the commit. */
type ConvertedFile = { readonly here: Buffer; readonly bytes: Buffer };

/** Gives secrets from converted files the value that the commit has: the settings of a clone must not change what is applied. */
function withCommittedBreaks(state: DesiredState, converted: ReadonlyMap<string, ConvertedFile>): DesiredState {
  if (converted.size === 0) return state;
  const original = (secret: DesiredSecret): DesiredSecret => {
    const found = converted.get(fileOf(secret.source) ?? '');
    if (found === undefined || secret.state !== 'value') return secret;
    const encoding = secret.reveal() === found.here.toString('base64') ? 'base64' : 'utf8';
    return seal(secret.source, found.bytes.toString(encoding));
  };
  const resources = state.resources.map((resource): DesiredResource => {
    const secrets = Object.entries(resource.secrets).map(([path, secret]) => [path, original(secret)] as const);
    return { ...resource, secrets: Object.fromEntries(secrets) };
  });
  return { ...state, resources };
}

function withoutReturns(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
}

/** Hashes the content without the line breaks of Windows, which git may add to a working tree. */
function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(withoutReturns(bytes)).digest('hex');
}

/** The errors of a commit without the config, the target or its manifests. */
export const absences: ReadonlySet<string> = new Set(['git/no-config', 'git/no-target', 'manifest/none']);

/** A config file in a git repository; the target's name distinguishes several config files of the repository. */
type CommittedConfig = Pick<CommittedProject, 'repository' | 'config'> & { readonly target: Pick<Target, 'name'> };

/** The manifest files of a target at a commit; folders are relative to the top of the repository. */
export type CommittedTree = {
  readonly site: CommittedProject;
  readonly commit: string;
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

/**
 * Reads the manifest files of a target at a commit: of the one `named` there, or else of the same gateway. The config file of that commit, unless it
 * was read before, names their folders.
 */
export async function readCommittedTree(
  site: CommittedProject,
  commit: string,
  { read, named }: { readonly read?: Checked<Config>; readonly named?: string | undefined } = {},
): Promise<Checked<CommittedTree>> {
  const { value: committed, diagnostics: found } = read ?? (await readCommittedConfig(site, commit));
  if (committed === undefined) return { diagnostics: found };
  const target = committed.targets.find(({ name }) => name === named) ?? findTargetThen(committed.targets, site);
  if (target === undefined) return { diagnostics: [noTarget(commit, site.target.name, committed.file ?? '')] };
  const root = inRepository(committed.root);
  const folders = target.manifests.map(inRepository);
  const overlays = target.overlays.map(inRepository);
  const top = root === '' ? '' : `${root}/`;
  const shared = new Map<string, string>();
  const options: TreeOptions = {
    ...treeOptionsAt(commit, root),
    decode(path, bytes) {
      const decoded = decodeFile(path, bytes);
      const place = pathInTree(path);
      const known = site.files?.get(place);
      if (known === undefined || known.text !== decoded.value?.text) return decoded;
      shared.set(known.path, place);
      return { value: known, diagnostics: [] };
    },
  };
  const before = options.show('').length;
  const pathInTree = (path: string): string =>
    shared.get(path) ?? (path.startsWith(top, before) ? path.slice(before + top.length) : posix.relative(root, path.slice(before)));
  const exclude = committed.targets.flatMap((one) => one.overlays.map(inRepository));
  const trees = await Promise.all([
    readTreeAt(site.repository, commit, { paths: [...folders, ...defaultsAbove(folders, top)], options: { ...options, exclude } }),
    ...overlays.map((folder) => readTreeAt(site.repository, commit, { paths: [folder], options })),
  ]);
  const [files = [], ...over] = trees.map(({ value }) => value ?? []);
  const layers = target.overlays.map((folder) => posix.relative(committed.root, folder));
  const targets = committed.targets.map(({ name }) => name);
  const diagnostics = trees.flatMap((tree) => tree.diagnostics);
  const value = { site, commit, target, targets, folders, root, files, overlays: over, layers, pathInTree };
  return hasErrors(diagnostics) ? { diagnostics } : { value, diagnostics };
}

/**
 * Returns a target as a commit has it: by its name, if that is the same gateway; otherwise the one of the same gateway that has another name,
 * or is another gateway, now.
 */
export function findTargetThen(
  then: readonly Target[],
  { config, target }: Pick<CommittedProject, 'config' | 'target'>,
): Target | undefined {
  const named = then.find(({ name }) => name === target.name);
  if (named?.url === target.url) return named;
  const current = new Map(config.targets.map(({ name, url }) => [name, url]));
  const [renamed, another] = then.filter(({ name, url }) => url === target.url && current.get(name) !== url);
  return renamed === undefined || another !== undefined ? named : renamed;
}

/** Reads the manifests of a commit like `loadCommittedState`. */
export async function readCommittedState(site: CommittedProject, commit: string, here?: DesiredState): Promise<Checked<DesiredState>> {
  const { value: tree, diagnostics } = await readCommittedTree(site, commit);
  return tree === undefined ? { diagnostics } : loadCommittedState(tree, here);
}

/**
 * Loads the manifests of a commit without their secrets, and the hashes of the files that secrets come from. Returns the state of the working
 * tree, `here`, if that has the same manifests and all of them are loaded.
 */
export async function loadCommittedState(tree: CommittedTree, here?: DesiredState): Promise<Checked<DesiredState>> {
  if (here?.unselected.length === 0 && (await isSameTree(tree, here))) return { value: here, diagnostics: [] };
  const { value, diagnostics } = loadCommittedTree(tree);
  if (value === undefined) return { diagnostics };
  const contents = await readContentsAt(tree, secretFilesOf(value));
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
    spelling: spellingOf([target]),
    referencePrefixes,
    registry,
    pathInTree,
  });
}

/** Loads the policies and access tests of a commit. */
export function readCommittedChecks({ target: { name }, targets, files }: CommittedTree): Checked<Checks> {
  return loadChecks({ files, target: name, targets, registry });
}

/**
 * Returns true if a commit has the same manifests as those that were loaded from the working tree, with overlays in the same
 * folders, and the same committed files of secrets.
 */
export async function isSameTree(tree: CommittedTree, desired: DesiredState): Promise<boolean> {
  const { files, overlays, layers, pathInTree } = tree;
  const { config, target } = tree.site;
  const loaded = target.overlays.map((folder) => relative(config.root, folder).split(sep).join('/'));
  if (loaded.join('\0') !== layers.join('\0') || hashTree([...files, ...overlays.flat()], pathInTree) !== desired.tree) return false;
  const then = await readContentsAt(tree, secretFilesOf(desired));
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
  const placed = (paths: readonly string[]): readonly string[] => pathsInRepository(paths, config.root, prefix).map((path) => `/${path}`);
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
