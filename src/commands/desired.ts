import { isAbsolute, join, relative, sep } from 'node:path';
import { readSecretFile } from '../disk/secret-file.ts';
import { readTree } from '../disk/walk.ts';
import { referencePrefixesOf } from '../gateway/dialects/index.ts';
import { registry } from '../kinds/index.ts';
import { loadManifests, type LoadInput } from '../manifest/load.ts';
import type { Target } from '../model/config.ts';
import type { DesiredState } from '../model/desired.ts';
import { hasErrors, type Checked } from '../model/diagnostic.ts';
import { UsageError } from '../model/errors.ts';
import type { SourceFile } from '../model/source.ts';
import type { TargetFlags } from './flags.ts';
import { absolute, type Setting } from './setting.ts';
import type { World } from './world.ts';

export type Loading = { readonly flags: TargetFlags; readonly world: World; readonly secrets: 'resolve' | 'leave' };

/** Reads and loads all manifests of a target; every mistake is a diagnostic. */
export function desiredFor(setting: Setting, target: Target, { flags, world, secrets }: Loading): Checked<DesiredState> {
  if (target.manifests.length === 0)
    throw new UsageError('there is no config file here and no path was given', 'run ostiary init, or give the folders of the manifests');
  const options = { root: setting.root, cwd: world.cwd, exclude: setting.targets.flatMap((one) => one.overlays) };
  const tree = readTree(target.manifests, options);
  const folders = target.overlays.map((folder) => readTree([folder], { ...options, exclude: [] }));
  const diagnostics = [...setting.notices, ...tree.diagnostics, ...folders.flatMap((folder) => folder.diagnostics)];
  if (hasErrors(diagnostics) && (tree.value ?? []).length === 0) return { diagnostics };
  const loaded = loadManifests({
    files: tree.value ?? [],
    overlays: folders.map((folder) => folder.value ?? []),
    target: target.name,
    targets: setting.targets.map((one) => one.name),
    ...selectionOf(setting, flags, world),
    secretPrefixes: target.secretPrefixes,
    referencePrefixes: referencePrefixesOf(target.dialect),
    ...(secrets === 'resolve' ? { resolve: resolver(setting.root, world) } : {}),
    registry,
    ...(setting.root === world.cwd ? {} : { pathInTree: (path) => relative(setting.root, absolute(path, world)).split(sep).join('/') }),
  });
  const all = [...diagnostics, ...loaded.diagnostics];
  return loaded.value === undefined || hasErrors(all) ? { diagnostics: all } : { value: loaded.value, diagnostics: all };
}

/** `--only` and, beside a config file, paths select; without a config file the paths are all there is. */
function selectionOf(setting: Setting, flags: TargetFlags, world: World): Pick<LoadInput, 'selection'> {
  const paths = setting.file === undefined ? [] : flags.paths.map((path) => absolute(path, world));
  if (paths.length === 0 && flags.only.length === 0) return {};
  const within = (file: SourceFile['path']): boolean => paths.some((path) => isBelow(absolute(file, world), path));
  return { selection: { only: flags.only, ...(paths.length === 0 ? {} : { paths: within }) } };
}

function isBelow(file: string, path: string): boolean {
  const way = relative(path, file);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function resolver(root: string, world: World): NonNullable<LoadInput['resolve']> {
  return (source) => {
    if ('file' in source) return readSecretFile(root, join(source.file));
    const value = world.env[source.env];
    if (value !== undefined && value !== '') return { value, diagnostics: [] };
    const message = value === undefined ? `the variable ${source.env} is not set` : `the variable ${source.env} is empty`;
    return {
      diagnostics: [{ code: 'secret/undefined-variable', severity: 'error', message, hint: 'set it in the environment of this command' }],
    };
  };
}
