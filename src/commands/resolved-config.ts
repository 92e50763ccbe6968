import { isAbsolute, join } from 'node:path';
import { findConfig } from '../disk/config.ts';
import { readConfig } from '../manifest/read-config.ts';
import { defaultLimits, type Config, type Target } from '../model/config.ts';
import { hasErrors, type Diagnostic } from '../model/diagnostic.ts';
import { InputError, UsageError } from '../model/errors.ts';
import { suggest } from '../model/suggest.ts';
import type { TargetFlags } from './flags.ts';
import type { CliContext } from './cli-context.ts';

/** The config file's content, or what flags and environment say instead. */
export type ResolvedConfig = Config & {
  readonly notices: readonly Diagnostic[];
  /** Targets that are here, and not in the config that counts. */
  readonly pending?: readonly string[];
};

/** Reads the nearest config file; without one, `--url` (or OSTIARY_URL) and paths say everything. */
export function resolveConfig(flags: TargetFlags, context: CliContext): ResolvedConfig {
  const found = findConfig(context.cwd, flags.config);
  if (hasErrors(found.diagnostics)) throw new InputError(found.diagnostics);
  if (found.value === undefined) return configFromFlags(flags, context);
  const { value, diagnostics } = readConfig(found.value.file, found.value.folder);
  if (value === undefined || hasErrors(diagnostics)) throw new InputError(diagnostics);
  return { ...value, notices: diagnostics };
}

/** The variable that the token of the target is read from; the usual one where the config says nothing that can be read. */
export function tokenVariable({ config, target: name }: Pick<TargetFlags, 'config' | 'target'>, context: CliContext): string {
  const { value: found } = findConfig(context.cwd, config);
  const targets = found === undefined ? [] : (readConfig(found.file, found.folder).value?.targets ?? []);
  const target = name === undefined ? targets[0] : targets.find((one) => one.name === name);
  return (target?.token ?? usualToken).env;
}

const usualToken = { env: 'OSTIARY_TOKEN' } as const;

function configFromFlags(flags: TargetFlags, context: CliContext): ResolvedConfig {
  const target: Target = {
    name: flags.target ?? 'default',
    url: flags.url ?? context.env['OSTIARY_URL'] ?? '',
    dialect: 'auto',
    auth: 'auto',
    token: usualToken,
    secretPrefixes: ['OSTIARY_SECRET_'],
    manifests: flags.paths.map((path) => absolute(path, context)),
    overlays: [],
    limits: defaultLimits,
  };
  return { root: context.cwd, targets: [target], notices: [] };
}

/** The one target that is meant, with what flags override. */
export function chooseTarget(config: ResolvedConfig, flags: TargetFlags): Target {
  const names = config.targets.map((target) => target.name);
  if (isPending(config, flags))
    throw new UsageError(`the target "${flags.target ?? config.pending?.[0] ?? ''}" is new with this change`, 'it counts after the merge');
  const [first] = config.targets;
  const target = flags.target === undefined ? first : config.targets.find((one) => one.name === flags.target);
  if (flags.target === undefined && names.length > 1)
    throw new UsageError('which target?', `pass --target with one of ${names.join(', ')}`);
  if (target === undefined) {
    const near = suggest(flags.target ?? '', names);
    throw new UsageError(
      `there is no target "${flags.target ?? ''}" in ${config.file ?? 'the config'}`,
      near === undefined ? `it has ${names.join(', ')}` : `did you mean "${near}"?`,
    );
  }
  return { ...target, url: flags.url ?? target.url, dialect: flags.dialect ?? target.dialect, auth: flags.auth ?? target.auth };
}

/** Tells whether the target that is meant is not yet in the config that counts. */
export function isPending({ targets, pending = [] }: ResolvedConfig, { target }: Pick<TargetFlags, 'target'>): boolean {
  return target === undefined ? targets.length === 0 && pending.length > 0 : pending.includes(target);
}

/** A path of the command line as an absolute one. */
export function absolute(path: string, context: CliContext): string {
  return isAbsolute(path) ? path : join(context.cwd, path);
}
