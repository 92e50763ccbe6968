import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findConfig } from '../disk/find-config.ts';
import { requireFolder } from '../disk/tree-writer.ts';
import type { Target } from '../model/config.ts';
import { dialectNames } from '../model/dialects.ts';
import { type DesiredState, emptyState } from '../model/desired.ts';
import { hasErrors } from '../model/diagnostic.ts';
import { InputError, UsageError } from '../model/errors.ts';
import type { Json } from '../model/json.ts';
import { manifestText } from '../manifest/draft/manifest-text.ts';
import { isAtOrBelow, loadWhole, type ManifestSources, readSources } from '../project/manifests.ts';
import type { WholeProject } from '../project/project.ts';
import {
  chooseTarget,
  configInForce,
  type ProjectContext,
  type ProjectSelection,
  resolveConfig,
  type ResolvedConfig,
} from '../project/resolved-config.ts';
import { newDigestKey } from '../project/new-digest-key.ts';
import { schemaPath } from '../project/templates/schema-files.ts';

/** The project that a pull writes to, and the manifests that it has already. */
export type PullProject = WholeProject & {
  readonly root: string;
  readonly folder: string;
  /** Describes the config file that names the target; undefined without one. */
  readonly configInForce: string | undefined;
  /** Returns the text of the config file to write; undefined if there is one. */
  readonly newConfig: ((target: Target) => string) | undefined;
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
  const isExisting = isThere && isAtOrBelow(home, config.root);
  if (!isExisting) return { ...newProject(target, home, context), configInForce: configInForce(config, target.name) };
  const project = { config: { ...config, notices: [] }, target, context };
  return existingProject(project, folderToPull(project, given), requireContent(project));
}

/** Returns the project to which new manifests are added in the folder. */
export function existingProject(project: WholeProject, folder: string, content: Content): PullProject {
  const { config, target } = project;
  return { ...project, root: config.root, folder, configInForce: configInForce(config, target.name), newConfig: undefined, ...content };
}

/** Returns the folder for new manifests: the given one, or the first of the target. Throws UsageError if the target does not read it. */
export function folderToPull({ config, target }: WholeProject, given?: string): string {
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
  return folder;
}

/** Describes a new project: its manifests are in access/, unless the folder has manifests elsewhere. */
function newProject(origin: Target, root: string, context: ProjectContext): Omit<PullProject, 'configInForce'> {
  const name = origin.name === 'default' ? 'production' : origin.name;
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) throw new UsageError(`invalid target name "${name}"`, 'use letters, digits, - and _');
  const access = join(root, 'access');
  const config: ResolvedConfig = { root, targets: [], notices: [] };
  const target = (manifests: readonly string[]): Target => ({ ...origin, name, manifests, overlays: [] });
  const whole = readContent({ config: { ...config, targets: [target([root])] }, target: target([root]), context });
  const isElsewhere = whole.declared?.resources.some(({ locate }) => !isAtOrBelow(resolve(context.cwd, locate('').file), access)) === true;
  const chosen = target([isElsewhere ? root : access]);
  const project = { config: { ...config, targets: [chosen] }, target: chosen, context };
  return { ...project, root, folder: access, newConfig: (final) => printConfig(final, isElsewhere), ...requireContent(project) };
}

/** Returns a new project with the dialect of its gateway, so that manifests and later commands have the names of the gateway. */
export function withDialect(project: PullProject, dialect: string): PullProject {
  const name = dialectNames.find((one) => one === dialect);
  if (project.newConfig === undefined || project.target.dialect !== 'auto' || name === undefined || name === dialectNames[0])
    return project;
  const target = { ...project.target, dialect: name };
  return { ...project, target, config: { ...project.config, targets: [target] } };
}

type Content = Pick<PullProject, 'sources' | 'declared'>;

function requireContent(project: WholeProject): Content {
  const { sources, declared, diagnostics } = readContent(project);
  if (declared === undefined) throw new InputError(diagnostics);
  return { sources, declared };
}

function readContent(project: WholeProject): {
  readonly sources: ManifestSources;
  readonly declared: DesiredState | undefined;
  readonly diagnostics: ManifestSources['diagnostics'];
} {
  const { target } = project;
  const manifests = target.manifests.filter((path) => existsSync(path));
  const sources = readSources({ ...project, target: { ...target, manifests } });
  const { value, diagnostics } = loadWhole(sources, project);
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
  const about =
    '# The gateways of these manifests. Tokens are read from the environment. digest_key seals values in digests, and opens nothing.';
  return manifestText(value, schemaPath('Config'), about);
}

function isFile(path: string): boolean {
  return /\.ya?ml$/.test(path) || statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
