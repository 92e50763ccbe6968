import { existsSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { readSecretFile } from '../disk/secret-file.ts';
import { missingPaths, readTree, shower, shownFolder } from '../disk/walk.ts';
import { gatewayNames, knownValuesOf, manifestCheckOf, referencePrefixesOf, spellingOf } from '../gateway/dialects/choose-dialect.ts';
import { registry } from '../kinds/index.ts';
import { hashTree, type LoadInput, loadManifests, withTexts } from '../manifest/load-manifests.ts';
import type { DesiredState } from '../model/desired.ts';
import { type Checked, defaultsAbove, type Diagnostic, hasErrors, type SourceFile } from '../model/diagnostic.ts';
import { UsageError } from '../model/errors.ts';
import { findListedCheckouts } from './listed-checkouts.ts';
import type { Project, ReadFiles, WholeProject } from './project.ts';
import {
  absolutePath,
  isPartialSelection,
  type ProjectContext,
  type ProjectSelection,
  type ResolvedConfig,
  withoutQuotes,
} from './resolved-config.ts';

export type LoadOptions = {
  /** The secrets to read: all, none, or those of the named resources. */
  readonly secrets: 'resolve' | 'leave' | ReadonlySet<string>;
  /** Checks each resource, for example the patterns of a rule. */
  readonly inspect?: LoadInput['inspect'];
  /** The dialect that checks each resource. */
  readonly checkedDialect?: string;
  readonly everyPlace?: LoadInput['everyPlace'];
  /** When ends of access are checked, and what one that is over is. */
  readonly ends?: LoadInput['ends'];
  /** The files and their hash, if they were read before. */
  readonly read?: HashedSources | undefined;
};

/** Reads and loads the selected manifests of a target; every mistake in them is a diagnostic. Throws UsageError when there are no folders to read. */
export function loadTarget(project: Project, loading: LoadOptions): Checked<DesiredState> {
  return loadSources(loading.read?.sources ?? readSelected(project), project, loading);
}

/** The files of a target with their hash, which is the `tree` of the state that is loaded from them. */
export type HashedSources = { readonly sources: ManifestSources; readonly tree: string };

/** Returns the files of a target by their paths in its tree. */
export function filesByPlace({ files, overlays }: ManifestSources, { config, context }: Project): ReadFiles {
  const placeOf = pathBelow(config.root, context);
  return new Map([...files, ...overlays.flat()].map((file) => [placeOf(file.path), file]));
}

/** Reads the files of a target like `loadTarget`, and hashes them. Throws UsageError when there are no folders to read. */
export function readHashed(project: Project): HashedSources {
  const sources = readSelected(project);
  const { files, overlays, pathInTree } = loadInputOf(sources, project, { secrets: 'leave' });
  return { sources, tree: hashTree([...files, ...overlays.flat()], pathInTree) };
}

function readSelected(project: Project): ManifestSources {
  const { config, target, selection, context } = project;
  if (target.manifests.length === 0)
    throw new UsageError('found no config file, and no path was given', 'run ostiary init, or pass the folders of manifests');
  const absent = missingPaths(
    (selection.paths ?? []).map((path) => absolutePath(path, context)),
    context.cwd,
  );
  if (absent.length > 0) return { files: [], overlays: [], diagnostics: [...config.notices, ...absent] };
  return readSources(project);
}

/** The files of a target's manifests and overlays, and the errors of reading them. */
export type ManifestSources = Pick<LoadInput, 'files' | 'overlays'> & { readonly diagnostics: readonly Diagnostic[] };

/** Reads the manifest files and overlay files of a target. */
export function readSources({ config, target, context }: WholeProject): ManifestSources {
  const options = { root: config.root, cwd: context.cwd, exclude: config.targets.flatMap((one) => one.overlays) };
  const refused = findListedCheckouts([...target.manifests, ...target.overlays], config, context);
  const isRefused = (path: string): boolean => refused.some((one) => one.path === path);
  const manifests = target.manifests.filter((path) => !isRefused(path));
  const tree = readTree([...manifests, ...existingDefaultsAbove(manifests, config.root)], options);
  const folders = target.overlays.filter((path) => !isRefused(path)).map((folder) => readTree([folder], { ...options, exclude: [] }));
  return {
    files: tree.value ?? [],
    overlays: folders.map((folder) => folder.value ?? []),
    diagnostics: [
      ...config.notices,
      ...refused.map(({ diagnostic }) => diagnostic),
      ...[...tree.diagnostics, ...folders.flatMap((folder) => folder.diagnostics)].map((one) => atConfigLine(one, config, context)),
    ],
  };
}

/** Returns the defaults files in folders above the paths, up to the root; also those with the wrong extension, which are errors. */
export function existingDefaultsAbove(paths: readonly string[], root: string): readonly string[] {
  const named = defaultsAbove(paths, root.endsWith(sep) ? root : `${root}${sep}`, sep);
  return named.flatMap((path) => [path, path.replace(/yaml$/, 'yml')]).filter((path) => existsSync(path));
}

/** Moves the diagnostic of a missing path to the line of the config file that names the path. */
function atConfigLine(found: Diagnostic, { placeOf }: ResolvedConfig, context: ProjectContext): Diagnostic {
  const path = found.code === 'manifest/no-such-path' ? found.at?.file : undefined;
  const { at, frame } = (path === undefined ? undefined : placeOf?.(absolutePath(path, context))) ?? {};
  if (at === undefined) return found;
  return { ...found, at, message: `${JSON.stringify(path)} does not exist`, frame };
}

/** Returns the sources with the texts of the given files, matched by path. */
export function replaceTexts(sources: ManifestSources, files: readonly SourceFile[]): ManifestSources {
  return withTexts(sources, new Map(files.map(({ path, text }) => [path, text])));
}

/** Returns the input of `loadManifests` for all manifests of a target, without the values of secrets. */
export function wholeInputOf(sources: ManifestSources, project: WholeProject): LoadInput {
  return loadInputOf(sources, { ...project, selection: {} }, { secrets: 'leave' });
}

/** Loads all manifests of a target without the values of secrets. */
export function loadWhole(
  sources: ManifestSources,
  project: WholeProject,
  checking: Pick<LoadOptions, 'checkedDialect' | 'everyPlace' | 'inspect'> = {},
): Checked<DesiredState> {
  return loadSources(sources, { ...project, selection: {} }, { secrets: 'leave', ...checking });
}

/** Returns the texts of all files and overlay files by path. */
export function textsByPath({ files, overlays }: ManifestSources): ReadonlyMap<string, string> {
  return new Map([...files, ...overlays.flat()].map(({ path, text }) => [path, text]));
}

/** Loads files that were read before; every mistake in them is a diagnostic. */
function loadSources(sources: ManifestSources, project: Project, loading: LoadOptions): Checked<DesiredState> {
  const { files, diagnostics } = sources;
  if (hasErrors(diagnostics) && files.length === 0) return { diagnostics };
  const loaded = loadManifests(loadInputOf(sources, project, loading));
  const all = [...diagnostics, ...withoutQuotes(loaded.diagnostics, [sources.files, ...sources.overlays].flat())];
  return loaded.value === undefined || hasErrors(all) ? { diagnostics: all } : { value: loaded.value, diagnostics: all };
}

/** Returns the input of `loadManifests` for the given files. */
function loadInputOf(
  { files, overlays }: ManifestSources,
  { config, target, selection, context }: Project,
  { secrets, inspect, checkedDialect, everyPlace, ends, read }: LoadOptions,
): LoadInput {
  return {
    files,
    overlays,
    target: target.name,
    targets: config.targets.map((one) => one.name),
    ...selectionOf(selection, context),
    secretPrefixes: target.secretPrefixes,
    allowedValues: knownValuesOf(target),
    spelling: spellingOf(config.targets),
    gatewayNames: gatewayNames(),
    digestKey: config.digestKey,
    referencePrefixes: referencePrefixesOf(target.dialect),
    peek: (file) => readSecretFile(config.root, join(file)).value,
    ...(secrets === 'leave' ? {} : { resolve: secretReader(config.root, context) }),
    ...(typeof secrets === 'string' ? {} : { resolveOnly: secrets }),
    registry,
    inspect,
    ...(checkedDialect === undefined ? {} : { checkForGateway: manifestCheckOf(checkedDialect, target.allowedValues) }),
    everyPlace,
    ends,
    ...(read === undefined ? {} : { tree: read.tree }),
    ...(config.root === context.cwd ? {} : { pathInTree: pathBelow(config.root, context) }),
  };
}

/** Returns a function that makes a displayed path relative to the root. Fast path: most displayed paths start with that of the root. */
function pathBelow(root: string, context: ProjectContext): (path: string) => string {
  const home = shownFolder(root, context.cwd);
  const isBelowHome = (path: string): boolean => path.startsWith(home) && !isAbsolute(path.slice(home.length)) && !path.includes('..');
  return (path) => (isBelowHome(path) ? path.slice(home.length) : relative(root, absolutePath(path, context)).split(sep).join('/'));
}

/** Returns the filter for names, tags and paths; each path must contain a manifest. */
function selectionOf(selection: ProjectSelection, context: ProjectContext): Pick<LoadInput, 'selection'> {
  const { only = [], tag = [], exclude = [], paths: named = [] } = selection;
  if (!isPartialSelection(selection)) return {};
  const paths = named.map((path) => ({ path, holds: pathMatcher(resolve(context.cwd, path), context.cwd) }));
  return { selection: { only, tag, exclude, ...(paths.length === 0 ? {} : { paths }) } };
}

/** Returns a function that tests whether a displayed path (absolute, or relative to the working directory) is at or below `top`. */
function pathMatcher(top: string, cwd: string): (file: SourceFile['path']) => boolean {
  if (sep !== '/' || !isAtOrBelow(top, cwd)) return (file) => isAtOrBelow(resolve(cwd, file), top);
  if (top === cwd) return (file) => !file.startsWith('/');
  const shown = shower(cwd)(top);
  const folder = `${shown}/`;
  return (file) => file === shown || file.startsWith(folder);
}

/** Returns true if an absolute path is the other path, or lies below it. */
export function isAtOrBelow(file: string, path: string): boolean {
  return file === path || file.startsWith(path.endsWith(sep) ? path : `${path}${sep}`);
}

function secretReader(root: string, context: ProjectContext): NonNullable<LoadInput['resolve']> {
  return (source) => {
    if ('file' in source) {
      const file = readSecretFile(root, join(source.file));
      if (file.value !== undefined) context.onEvent?.({ secret: file.value });
      return file;
    }
    const value = context.env[source.env];
    if (value === undefined) return { diagnostics: [] };
    if (value !== '') context.onEvent?.({ secret: value });
    return { value, diagnostics: [] };
  };
}
