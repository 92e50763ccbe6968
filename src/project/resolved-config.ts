import { isAbsolute, join, resolve } from 'node:path';
import { findConfig } from '../disk/find-config.ts';
import { requireNoLink } from '../disk/write.ts';
import { readConfig } from '../manifest/read-config.ts';
import { type Config, defaultLimits, defaultReadConcurrency, gatewayUrl, type Target } from '../model/config.ts';
import { type Diagnostic, hasErrors, type SourceFile, didYouMean } from '../model/diagnostic.ts';
import { InputError, UsageError } from '../model/errors.ts';
import { isPartial } from '../model/resource-selection.ts';

/** What reading a project needs from outside the program. */
export type ProjectContext = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The absolute working directory; relative paths count from it. */
  readonly cwd: string;
  /** Receives every secret that is read, before a text that contains it can be printed. */
  readonly onEvent?: (event: { readonly secret: string | Uint8Array }) => void;
};

/** Which config file, target and manifests the caller asks for; `url`, `dialect` and `auth` override those of the target. */
export type ProjectSelection = Partial<Pick<Target, 'url' | 'dialect' | 'auth' | 'readConcurrency'>> & {
  /** The path of the config file; the nearest one in this folder or above if undefined. */
  readonly config?: string | undefined;
  /** The commit whose config decides targets, URLs, names of tokens and secrets, and limits. */
  readonly configRef?: string | undefined;
  readonly target?: string | undefined;
  /** The resources to load, as `KIND/NAME` or patterns; all if empty. */
  readonly only?: readonly string[];
  /** The tags that the resources must have, as `KEY=VALUE`. */
  readonly tag?: readonly string[];
  /** The resources to leave out, as `KIND/NAME` or patterns. */
  readonly exclude?: readonly string[];
  /** The files and folders to load; all if empty. */
  readonly paths?: readonly string[];
};

/** The content of the config file; without one, a config made of command-line options and environment variables. */
export type ResolvedConfig = Config & {
  readonly notices: readonly Diagnostic[];
  /** The URL that overrides that of the target, and the option or variable that it comes from. */
  readonly override?: { readonly url: string; readonly from: '--url' | 'OSTIARY_URL' } | undefined;
  /** The config of the working tree; absent if it is the one that applies. */
  readonly proposed?: Config;
  /** Names of targets that the working tree declares and the reviewed config does not. */
  readonly pending?: readonly string[];
};

/**
 * Reads the config file of the selection, or the nearest one in this folder or above. OSTIARY_URL overrides the URL of its target, as `--url` does. Without a config
 * file, the URL (`--url` or OSTIARY_URL) and the paths make up a config. Throws InputError for an invalid config file, and for one of
 * another user where nothing else names the gateway.
 */
export function resolveConfig(selection: ProjectSelection, context: ProjectContext): ResolvedConfig {
  const override = urlOverride(selection, context);
  const found = findConfig(context, selection.config);
  if (hasErrors(found.diagnostics)) throw new InputError(found.diagnostics);
  if (found.value === undefined) {
    if (found.diagnostics.length > 0 && override === undefined)
      throw new InputError(found.diagnostics.map((ignored) => ({ ...ignored, severity: 'error' })));
    return { ...configFromSelection({ ...selection, url: override?.url ?? '' }, context), notices: found.diagnostics };
  }
  const { value, diagnostics: quoting } = readConfig(found.value.file, found.value.folder);
  const diagnostics = withoutQuotes(quoting, [found.value.file]);
  if (value === undefined || hasErrors(diagnostics)) throw new InputError(diagnostics);
  return { ...value, override, notices: [...found.diagnostics, ...diagnostics] };
}

/** Removes everything that diagnostics quote from private files. */
export function withoutQuotes(diagnostics: readonly Diagnostic[], files: readonly SourceFile[]): readonly Diagnostic[] {
  const hidden = new Set(files.flatMap(({ path, isPrivate }) => (isPrivate === true ? [path] : [])));
  return diagnostics.map((found) => {
    const { code, severity, at } = found;
    if (at === undefined || !hidden.has(at.file)) return found;
    const message = 'the text is not shown: the file is a link out of the repository, or to a file that is hidden or ignored by git';
    return { code, severity, at, message, hint: 'replace the link with a copy of the file, then run the command again' };
  });
}

/** Returns the URL of `--url`, otherwise of OSTIARY_URL unless that is empty. */
function urlOverride({ url }: Pick<ProjectSelection, 'url'>, { env }: Pick<ProjectContext, 'env'>): ResolvedConfig['override'] {
  if (url !== undefined) return { url: gatewayUrl(url), from: '--url' };
  const variable = env['OSTIARY_URL'] ?? '';
  return variable === '' ? undefined : { url: gatewayUrl(variable), from: 'OSTIARY_URL' };
}

/** Describes the config file that is in force, and what overrides the URL of a target; undefined without a config file. */
export function configInForce(config: ResolvedConfig, target: string): string | undefined {
  if (config.file === undefined) return undefined;
  const override = overriddenUrl(config, target);
  return `config ${config.file}${override === undefined ? '' : `, ${override}`}`;
}

/** States what overrides the URL of a target in the config file; undefined if nothing does. */
export function overriddenUrl({ file, override, targets }: ResolvedConfig, target: string): string | undefined {
  const configured = targets.find(({ name }) => name === target)?.url;
  if (file === undefined || override === undefined || configured === undefined || configured === override.url) return undefined;
  return `${override.from} overrides its URL ${configured}`;
}

/** Returns the name of the environment variable with the target's token; the default name if no readable config names one. */
export function tokenVariable({ config, target: name }: Pick<ProjectSelection, 'config' | 'target'>, context: ProjectContext): string {
  const { value: found } = findConfig(context, config);
  const targets = found === undefined ? [] : (readConfig(found.file, found.folder).value?.targets ?? []);
  const target = name === undefined ? targets[0] : targets.find((one) => one.name === name);
  return (target?.token ?? defaultToken).env;
}

const defaultToken = { env: 'OSTIARY_TOKEN' } as const;

function configFromSelection(selection: ProjectSelection, context: ProjectContext): ResolvedConfig {
  const target: Target = {
    name: selection.target ?? 'default',
    url: selection.url ?? '',
    dialect: selection.dialect ?? 'auto',
    auth: 'auto',
    token: defaultToken,
    secretPrefixes: ['OSTIARY_SECRET_'],
    allowedValues: {},
    manifests: (selection.paths ?? []).map((path) => absolutePath(path, context)),

    overlays: [],
    limits: defaultLimits,
    prune: false,
    reportUnmanaged: false,
    watchAccess: true,
    expire: 'report',
    readConcurrency: defaultReadConcurrency,
    released: [],
  };
  return { root: context.cwd, targets: [target], notices: [] };
}

/**
 * Returns the selected target with the URL, dialect and auth of the selection. Throws UsageError when the selection names no
 * known target, or names none and the config has several.
 */
export function chooseTarget(config: ResolvedConfig, selection: ProjectSelection): Target {
  const names = config.targets.map((target) => target.name);
  if (isPendingTarget(config, selection))
    throw new UsageError(
      `the target "${selection.target ?? config.pending?.[0] ?? ''}" is new in this change`,
      'it can be used after the merge',
    );
  const [first] = config.targets;
  const target = selection.target === undefined ? first : config.targets.find((one) => one.name === selection.target);
  if (selection.target === undefined && names.length > 1)
    throw new UsageError('--target is required: the config has more than one target', `targets: ${names.join(', ')}`);
  if (target === undefined) {
    const resource = selection.target?.includes('/') === true ? `; to select a resource, pass --only ${selection.target}` : '';
    throw new UsageError(
      `unknown target "${selection.target ?? ''}" in ${config.file ?? 'the config'}`,
      didYouMean(selection.target ?? '', names) ?? `targets: ${names.join(', ')}${resource}`,
    );
  }
  return {
    ...target,
    url: selection.url ?? config.override?.url ?? target.url,
    dialect: selection.dialect ?? target.dialect,
    auth: selection.auth ?? target.auth,
    readConcurrency: selection.readConcurrency ?? target.readConcurrency,
  };
}

/** Returns true if the selected target is not part of the reviewed config yet. */
export function isPendingTarget({ targets, pending = [] }: ResolvedConfig, { target }: Pick<ProjectSelection, 'target'>): boolean {
  return target === undefined ? targets.length === 0 && pending.length > 0 : pending.includes(target);
}

/** Returns whether the selection may leave out manifests: nothing is an orphan then, and no commit counts as applied. */
export function isPartialSelection(selection: Pick<ProjectSelection, 'only' | 'tag' | 'exclude' | 'paths'>): boolean {
  return (selection.paths ?? []).length > 0 || isPartial(selection);
}

/** Returns the absolute form of a path of the command line. */
export function absolutePath(path: string, context: ProjectContext): string {
  return isAbsolute(path) ? path : join(context.cwd, path);
}

/** Returns the absolute form of the path of a file or folder to write. Throws AppError if it is a link, or leads through a link below the working folder. */
export function outputPath(path: string, context: ProjectContext): string {
  const file = absolutePath(path, context);
  requireNoLink(file, context.cwd);
  return file;
}

/** The options that select one target or several, and those that need a single target. */
export type TargetSelector = Pick<ProjectSelection, 'config' | 'target' | 'url'> & {
  readonly allTargets?: boolean;
  readonly plan?: string;
  readonly digest?: string;
};

const placeholder = '{target}';

/**
 * Returns the names of the selected targets, or undefined when the options select a single target. Throws UsageError for unknown
 * names, and for options that need a single target.
 */
export function selectTargets(selector: TargetSelector, context: ProjectContext): readonly string[] | undefined {
  const { target, allTargets = false } = selector;
  if (!allTargets && target?.includes(',') !== true) return undefined;
  refuseBoth(selector);
  if (selector.plan !== undefined || selector.digest !== undefined)
    throw new UsageError('--plan and --digest can be used with only one target', 'name one target');
  const override = urlOverride(selector, context);
  if (override !== undefined) throw new UsageError(`${override.from} can be used with only one target`, 'remove it, or pass one --target');
  const names = target === undefined ? undefined : namesIn(target);
  const config = resolveConfig(selector, context);
  for (const name of names ?? []) chooseTarget(config, { target: name });
  return names ?? config.targets.map(({ name }) => name);
}

/** Returns the selected targets for a command that runs once for all: those of the config unless the selection names some. Throws UsageError for unknown names. */
export function chooseTargets(config: ResolvedConfig, selection: ProjectSelection & TargetSelector): readonly Target[] {
  refuseBoth(selection);
  if (selection.target === undefined) return config.targets;
  return namesIn(selection.target).map((name) => chooseTarget(config, { ...selection, target: name }));
}

function refuseBoth({ target, allTargets = false }: TargetSelector): void {
  if (allTargets && target !== undefined) throw new UsageError('--all-targets and --target cannot be combined', 'pass one of them');
}

function namesIn(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  const duplicate = names.find((name, index) => names.indexOf(name) < index);
  if (names.includes(''))
    throw new UsageError(`invalid value "${text}" for --target`, 'expected names separated by commas, such as staging,production');
  if (duplicate !== undefined) throw new UsageError(`duplicate target "${duplicate}"`, 'pass it once');
  return names;
}

/** Throws UsageError when several targets would use the same file. */
export function requirePathPerTarget(paths: readonly string[]): void {
  const shared = paths.find((path) => !path.includes(placeholder));
  if (shared !== undefined) throw new UsageError(`several targets would use the same file "${shared}"`, `add ${placeholder} to its name`);
}

/** Throws UsageError when a run would write two outputs to one file, or one over its config. */
export function requireOwnFiles(paths: readonly string[], { config }: Pick<ProjectSelection, 'config'>, context: ProjectContext): void {
  if (paths.length === 0) return;
  const files = paths.map((path) => resolve(context.cwd, path));
  const again = paths.find((_, index) => files.indexOf(files[index] ?? '') < index);
  if (again !== undefined) throw new UsageError(`two outputs would be written to the same file "${again}"`, 'give each a name of its own');
  const { value: found } = findConfig(context, config);
  const over = found === undefined ? -1 : files.indexOf(resolve(context.cwd, found.file.path));
  if (over !== -1) throw new UsageError(`"${paths[over] ?? ''}" is the config file, and would be overwritten`, 'write to another file');
}

/** Returns the path with the target's name in place of `{target}`. */
export function pathForTarget(path: string, target: string): string {
  return path.replaceAll(placeholder, target.replaceAll(/[^\w.-]/g, '-'));
}

/** Returns whether each target has its own file at the path. */
export function isPathPerTarget(path: string): boolean {
  return path.includes(placeholder);
}
