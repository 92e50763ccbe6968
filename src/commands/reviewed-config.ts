import { openRepository, resolveCommit } from '../git/repository.ts';
import type { Config, Target } from '../model/config.ts';
import { hasErrors, type Diagnostic } from '../model/diagnostic.ts';
import { AppError, InputError } from '../model/errors.ts';
import { configAt } from './at-commit.ts';
import type { TargetFlags } from './flags.ts';
import { resolveConfig, type ResolvedConfig } from './resolved-config.ts';
import type { CliContext } from './cli-context.ts';

/**
 * The config; with `--config-ref` targets, addresses, names of tokens and secrets and limits are those of that commit, and
 * what differs since is told: who proposes a change does not choose how it is checked.
 */
export async function resolveReviewedConfig(flags: TargetFlags, context: CliContext): Promise<ResolvedConfig> {
  const config = resolveConfig(flags, context);
  if (flags.configRef === undefined || config.file === undefined) return config;
  const repository = await openRepository({ folder: config.root, env: context.env });
  if (repository === undefined)
    throw new AppError('git/no-repository', 3, `${config.root} lies in no git repository, so there is no config of ${flags.configRef}`, {
      hint: 'leave out --config-ref, or run in a clone',
    });
  const commit = await resolveCommit(repository, flags.configRef);
  const target = { name: flags.target ?? config.targets[0]?.name ?? '' };
  const { value: reviewed, diagnostics } = await configAt({ repository, config, target }, commit);
  if (reviewed !== undefined && !hasErrors(diagnostics)) return settled(reviewed, config);
  if (diagnostics.some(({ code }) => code === 'git/no-config')) return settled({ root: config.root, targets: [] }, config);
  throw new InputError(diagnostics);
}

/** The targets that were reviewed, with the folders that are there now; differences are warnings. */
function settled(reviewed: Config, config: ResolvedConfig): ResolvedConfig {
  const now = new Map(config.targets.map((target) => [target.name, target]));
  const then = new Map(reviewed.targets.map((target) => [target.name, target]));
  const targets = reviewed.targets.flatMap((target) => {
    const found = now.get(target.name);
    return found === undefined ? [] : [{ ...target, manifests: found.manifests, overlays: found.overlays }];
  });
  const at = { file: config.file ?? '', line: 1, column: 1 };
  const sentences = [...new Set([...then.keys(), ...now.keys()])].flatMap((name) => differences(name, then.get(name), now.get(name)));
  const warnings: readonly Diagnostic[] = sentences.map((message) => ({
    code: 'config/after-merge',
    severity: 'warning',
    message,
    hint: 'until the merge the config of the target branch counts',
    at,
  }));
  const pending = [...now.keys()].filter((name) => !then.has(name));
  return { ...config, targets, pending, notices: [...warnings, ...config.notices] };
}

function differences(name: string, then: Target | undefined, now: Target | undefined): readonly string[] {
  if (now === undefined) return [`the target "${name}" is taken away`];
  if (then === undefined) return [`the target "${name}" is new`];
  const [before, after] = [checksOf(then), checksOf(now)];
  return [...before].flatMap(([field, text]) => {
    const other = after.get(field) ?? '';
    return text === other ? [] : [`${field} of the target "${name}" is changed from ${text} to ${other}`];
  });
}

/** What a target says of how it is checked, field by field. */
function checksOf({ url, dialect, auth, token, secretPrefixes, limits }: Target): ReadonlyMap<string, string> {
  const shares = Object.entries(limits).map(([key, value]) => [`limits.${key}`, String(value)] as const);
  const fields = [
    ['url', url],
    ['dialect', dialect],
    ['auth', auth],
    ['token', token.env],
    ['secret_prefixes', secretPrefixes.join(', ')],
  ] as const;
  return new Map([...fields, ...shares]);
}
