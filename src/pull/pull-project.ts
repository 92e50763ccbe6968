import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findConfig } from '../disk/find-config.ts';
import { requireFolder } from '../disk/tree-writer.ts';
import type { Target } from '../model/config.ts';
import { type DesiredState, emptyState } from '../model/desired.ts';
import { hasErrors } from '../model/diagnostic.ts';
import { InputError, UsageError } from '../model/errors.ts';
import type { Json } from '../model/json.ts';
import { schemaLine, toYamlText } from '../report/serialize.ts';
import { isAtOrBelow, loadSources, type ManifestSources, readSources, wholeTarget } from '../project/manifests.ts';
import {
  chooseTarget,
  configInForce,
  type ProjectContext,
  type ProjectSelection,
  resolveConfig,
  type ResolvedConfig,
} from '../project/resolved-config.ts';
import { newDigestKey } from '../project/new-digest-key.ts';
import { schemaPath } from '../project/schema-files.ts';

/** The project that a pull writes to, and the manifests that it has already. */
export type PullProject = {
  readonly root: string;
  readonly folder: string;
  readonly config: ResolvedConfig;
  /** Describes the config file that names the target; undefined without one. */
  readonly configInForce: string | undefined;
  /** The target, with the manifest folders that a plan of the project reads. */
  readonly target: Target;
  /** The text of the config file to write; undefined if there is one. */
  readonly newConfig: string | undefined;
  readonly sources: ManifestSources;
  /** The state that the existing manifests declare. */
  readonly declared: DesiredState;
};

type PullSelection = ProjectSelection & { readonly directory?: string };

/** Finds the project of the directory, or describes a new one if there is none. Throws InputError for invalid manifests. */
export function resolvePullProject(selection: PullSelection, context: ProjectContext): PullProject {
  const given = selection.directory === undefined ? undefined : resolve(context.cwd, selection.directory);
  const home = given ?? context.cwd;
  requireFolder(home);
  const isThere = selection.config !== undefined || findConfig({ ...context, cwd: home }).value !== undefined;
  const config = resolveConfig(selection, isThere && selection.config === undefined ? { ...context, cwd: home } : context);
  const target = chooseTarget(config, selection);
  const found = { ...config, notices: [] };
  const isExisting = isThere && isAtOrBelow(home, config.root);
  const project = isExisting ? existingProject(found, target, { given, context }) : newProject(target, home, context);
  return { ...project, configInForce: configInForce(config, target.name) };
}

type Place = { readonly given: string | undefined; readonly context: ProjectContext };

function existingProject(config: ResolvedConfig, target: Target, { given, context }: Place): Omit<PullProject, 'configInForce'> {
  const folders = target.manifests.filter((path) => !isFile(path));
  const folder = given === undefined || given === config.root || !isAtOrBelow(given, config.root) ? folders[0] : given;
  const isRead =
    folders.some((path) => isAtOrBelow(folder ?? '', path)) && !target.overlays.some((path) => isAtOrBelow(folder ?? '', path));
  if (folder === undefined || !isRead)
    throw new UsageError(
      folder === undefined
        ? 'the config lists no folder of manifests'
        : `the target "${target.name}" does not read manifests from this folder`,
      'remove the argument, or pass a folder below manifests of the config',
    );
  return { root: config.root, folder, config, target, newConfig: undefined, ...requireContent(config, target, context) };
}

/** Describes a new project: its manifests are in access/, unless the folder has manifests elsewhere. */
function newProject(origin: Target, root: string, context: ProjectContext): Omit<PullProject, 'configInForce'> {
  const name = origin.name === 'default' ? 'production' : origin.name;
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) throw new UsageError(`invalid target name "${name}"`, 'use letters, digits, - and _');
  const access = join(root, 'access');
  const config: ResolvedConfig = { root, targets: [], notices: [] };
  const target = (manifests: readonly string[]): Target => ({ ...origin, name, manifests, overlays: [] });
  const whole = readContent({ ...config, targets: [target([root])] }, target([root]), context);
  const isElsewhere = whole.declared?.resources.some(({ locate }) => !isAtOrBelow(resolve(context.cwd, locate('').file), access)) === true;
  const chosen = target([isElsewhere ? root : access]);
  const own = { ...config, targets: [chosen] };
  return {
    root,
    folder: access,
    config: own,
    target: chosen,
    newConfig: printConfig(chosen, isElsewhere),
    ...requireContent(own, chosen, context),
  };
}

type Content = Pick<PullProject, 'sources' | 'declared'>;

function requireContent(config: ResolvedConfig, target: Target, context: ProjectContext): Content {
  const { sources, declared, diagnostics } = readContent(config, target, context);
  if (declared === undefined) throw new InputError(diagnostics);
  return { sources, declared };
}

function readContent(
  config: ResolvedConfig,
  target: Target,
  context: ProjectContext,
): {
  readonly sources: ManifestSources;
  readonly declared: DesiredState | undefined;
  readonly diagnostics: ManifestSources['diagnostics'];
} {
  const manifests = target.manifests.filter((path) => existsSync(path));
  const sources = readSources(config, { ...target, manifests }, context);
  const { value, diagnostics } = loadSources(sources, wholeTarget(config, target, context));
  const errors = diagnostics.filter(({ code, severity }) => severity === 'error' && code !== 'manifest/none');
  if (hasErrors(errors)) return { sources, declared: undefined, diagnostics: errors };
  return { sources, declared: value ?? emptyState, diagnostics };
}

function printConfig({ name, url, dialect, auth, token, secretPrefixes }: Target, isWhole: boolean): string {
  const isUsual = secretPrefixes.length === 1 && secretPrefixes[0] === 'OSTIARY_SECRET_';
  const target: Json = {
    url,
    ...(dialect === 'auto' ? {} : { dialect }),
    ...(auth === 'auto' ? {} : { auth }),
    token: { env: token.env },
    ...(isUsual ? {} : { secret_prefixes: secretPrefixes }),
    prune: true,
  };
  const value = {
    apiVersion: 'ostiary/v1',
    kind: 'Config',
    ...(isWhole ? {} : { manifests: ['access/'] }),
    digest_key: newDigestKey(),
    targets: { [name]: target },
  };
  return `${schemaLine(schemaPath('Config'))}# The gateways of these manifests. Tokens are read from the environment. digest_key seals values in digests, and opens nothing.\n${toYamlText(value, 80)}`;
}

function isFile(path: string): boolean {
  return /\.ya?ml$/.test(path) || statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
