import { UsageError } from '../model/errors.ts';
import type { Target } from '../model/gateway.ts';
import {
  type ProjectContext,
  type ProjectSelection,
  type ResolvedConfig,
  chooseTarget,
  resolveConfig,
  urlOverride,
} from './resolved-config.ts';

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
  const config = resolveConfig({ ...selector, ...everything }, context);
  for (const name of names ?? []) chooseTarget(config, { ...everything, target: name });
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

const everything = { only: [], paths: [] } as const;

function namesIn(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  const duplicate = names.find((name, index) => names.indexOf(name) < index);
  if (names.includes(''))
    throw new UsageError(`invalid value "${text}" for --target`, 'expected names separated by commas, such as staging,production');
  if (duplicate !== undefined) throw new UsageError(`duplicate target "${duplicate}"`, 'pass it once');
  return names;
}

/** Throws UsageError when several targets would write the same file. */
export function requirePathPerTarget(paths: readonly string[]): void {
  const shared = paths.find((path) => !path.includes(placeholder));
  if (shared !== undefined) throw new UsageError(`several targets would write the same file "${shared}"`, `add ${placeholder} to its name`);
}

/** Returns the path with the target's name in place of `{target}`. */
export function pathForTarget(path: string, target: string): string {
  return path.replaceAll(placeholder, target.replaceAll(/[^\w.-]/g, '-'));
}

/** Returns whether each target has its own file at the path. */
export function isPathPerTarget(path: string): boolean {
  return path.includes(placeholder);
}
