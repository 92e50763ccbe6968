import { join, relative, resolve, sep } from 'node:path';
import { readSecretFile } from '../disk/secret-file.ts';
import { missingPaths, readTree, shower, shownFolder } from '../disk/walk.ts';
import { referencePrefixesOf } from '../gateway/dialects/index.ts';
import { registry } from '../kinds/index.ts';
import { loadManifests, type LoadInput } from '../manifest/load-manifests.ts';
import type { Target } from '../model/config.ts';
import type { DesiredState } from '../model/desired.ts';
import { hasErrors, type Checked, type Diagnostic } from '../model/diagnostic.ts';
import { UsageError } from '../model/errors.ts';
import type { SourceFile } from '../model/source.ts';
import type { TargetFlags } from './flags.ts';
import { absolute, type ResolvedConfig } from './resolved-config.ts';
import type { CliContext } from './cli-context.ts';

/** Which secrets are read: all, none, or those of some resources alone. */
export type Loading = {
  readonly flags: TargetFlags;
  readonly context: CliContext;
  readonly secrets: 'resolve' | 'leave' | ReadonlySet<string>;
  /** Looks through each resource. */
  readonly inspect?: LoadInput['inspect'];
};

/** Reads and loads all manifests of a target; every mistake is a diagnostic. */
export function desiredFor(config: ResolvedConfig, target: Target, loading: Loading): Checked<DesiredState> {
  const { flags, context } = loading;
  if (target.manifests.length === 0)
    throw new UsageError('there is no config file here and no path was given', 'run ostiary init, or give the folders of the manifests');
  const absent = missingPaths(
    flags.paths.map((path) => absolute(path, context)),
    context.cwd,
  );
  if (absent.length > 0) return { diagnostics: [...config.notices, ...absent] };
  return loadSources(sourcesOf(config, target, context), { ...loading, config, target });
}

/** The files of a target's manifests and overlays, and what was wrong with reading them. */
export type Sources = Pick<LoadInput, 'files' | 'overlays'> & { readonly diagnostics: readonly Diagnostic[] };

/** Reads the files of a target. */
export function sourcesOf(config: ResolvedConfig, target: Target, context: CliContext): Sources {
  const options = { root: config.root, cwd: context.cwd, exclude: config.targets.flatMap((one) => one.overlays) };
  const tree = readTree(target.manifests, options);
  const folders = target.overlays.map((folder) => readTree([folder], { ...options, exclude: [] }));
  return {
    files: tree.value ?? [],
    overlays: folders.map((folder) => folder.value ?? []),
    diagnostics: [
      ...config.notices,
      ...[...tree.diagnostics, ...folders.flatMap((folder) => folder.diagnostics)].map((one) => whereNamed(one, config, context)),
    ],
  };
}

/** A path that is not there is told of where the config file names it. */
function whereNamed(found: Diagnostic, { placeOf }: ResolvedConfig, context: CliContext): Diagnostic {
  const path = found.code === 'manifest/no-such-path' ? found.at?.file : undefined;
  const { at, frame } = (path === undefined ? undefined : placeOf?.(absolute(path, context))) ?? {};
  if (at === undefined) return found;
  return { ...found, at, message: `${JSON.stringify(path)} does not exist`, ...(frame === undefined ? {} : { frame }) };
}

/** The sources with other texts of files, by their paths. */
export function withTexts(sources: Sources, files: readonly SourceFile[]): Sources {
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const now = ({ path, text }: SourceFile): SourceFile => ({ path, text: texts.get(path) ?? text });
  return { ...sources, files: sources.files.map(now), overlays: sources.overlays.map((folder) => folder.map(now)) };
}

/** How manifests of which target are loaded. */
export type Site = Loading & { readonly config: ResolvedConfig; readonly target: Target };

/** Loads what was read of a target; every mistake is a diagnostic. */
export function loadSources(sources: Sources, site: Site): Checked<DesiredState> {
  const { files, diagnostics } = sources;
  if (hasErrors(diagnostics) && files.length === 0) return { diagnostics };
  const loaded = loadManifests(inputOf(sources, site));
  const all = [...diagnostics, ...loaded.diagnostics];
  return loaded.value === undefined || hasErrors(all) ? { diagnostics: all } : { value: loaded.value, diagnostics: all };
}

/** Everything that decides what the manifests that were read want. */
export function inputOf({ files, overlays }: Sources, { config, target, flags, context, secrets, inspect }: Site): LoadInput {
  return {
    files,
    overlays,
    target: target.name,
    targets: config.targets.map((one) => one.name),
    ...selectionOf(flags, context),
    secretPrefixes: target.secretPrefixes,
    referencePrefixes: referencePrefixesOf(target.dialect),
    ...(secrets === 'leave' ? {} : { resolve: resolver(config.root, context) }),
    ...(typeof secrets === 'string' ? {} : { resolveOnly: secrets }),
    registry,
    ...(inspect === undefined ? {} : { inspect }),
    ...(config.root === context.cwd ? {} : { pathInTree: pathBelow(config.root, context) }),
  };
}

/** Makes a shown path one below the root; that of most files is what follows the root's own. */
function pathBelow(root: string, context: CliContext): (path: string) => string {
  const home = shownFolder(root, context.cwd);
  const isBelowHome = (path: string): boolean => home !== '' && path.startsWith(home) && !path.includes('..');
  return (path) => (isBelowHome(path) ? path.slice(home.length) : relative(root, absolute(path, context)).split(sep).join('/'));
}

/** `--only` and paths select; without a config file the paths are all there is, and each must hold something. */
function selectionOf(flags: TargetFlags, context: CliContext): Pick<LoadInput, 'selection'> {
  const { only } = flags;
  if (flags.paths.length === 0 && only.length === 0) return {};
  const paths = flags.paths.map((path) => ({ path, holds: holder(resolve(context.cwd, path), context.cwd) }));
  return { selection: { only, ...(paths.length === 0 ? {} : { paths }) } };
}

/** Tells of shown paths whether they lie at or below a place. They have one form: absolute, or below the working directory. */
function holder(top: string, cwd: string): (file: SourceFile['path']) => boolean {
  if (sep !== '/' || !isBelow(top, cwd)) return (file) => isBelow(resolve(cwd, file), top);
  if (top === cwd) return (file) => !file.startsWith('/');
  const shown = shower(cwd)(top);
  const folder = `${shown}/`;
  return (file) => file === shown || file.startsWith(folder);
}

function isBelow(file: string, path: string): boolean {
  return file === path || file.startsWith(path.endsWith(sep) ? path : `${path}${sep}`);
}

function resolver(root: string, context: CliContext): NonNullable<LoadInput['resolve']> {
  return (source) => {
    if ('file' in source) {
      const file = readSecretFile(root, join(source.file));
      if (file.value !== undefined) context.onEvent?.({ secret: file.value });
      return file;
    }
    const value = context.env[source.env];
    if (value !== undefined && value !== '') {
      context.onEvent?.({ secret: value });
      return { value, diagnostics: [] };
    }
    const message = value === undefined ? `the variable ${source.env} is not set` : `the variable ${source.env} is empty`;
    return {
      diagnostics: [{ code: 'secret/undefined-variable', severity: 'error', message, hint: 'set it in the environment of this command' }],
    };
  };
}
