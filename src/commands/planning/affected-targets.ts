import { addToGroup } from '../../model/collections.ts';
import { runPool } from '../../model/concurrency.ts';
import type { Config, Target } from '../../model/config.ts';
import { type Checked, type Diagnostic, formatPosition } from '../../model/diagnostic.ts';
import { AppError, UsageError } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import { loadCommittedState, readCommittedConfig, readCommittedTree, withTrackedContents } from '../../project/committed-manifests.ts';
import { loadWhole, readSources } from '../../project/manifests.ts';
import { openConfig } from '../../project/open-project.ts';
import { findBranchPoint } from '../../project/plan-base.ts';
import { type CommittedProject, readableRepository } from '../../project/project.ts';
import { changedConfig } from '../../project/reviewed-config.ts';
import type { ProjectSelection } from '../../project/resolved-config.ts';
import { type AffectedReason, differencesBetweenStates } from '../../reconcile/explain/affected-by.ts';
import { plural, shortList } from '../../report/wording/phrases.ts';
import type { CliContext } from '../context/cli-context.ts';

/** A target, and why a change affects it; one without a reason has the same plan as without the change. */
export type ComparedTarget = { readonly name: string; readonly reasons: readonly AffectedReason[] };

/** The targets of the config, each compared with the branch point of a change. */
export type AffectedTargets = {
  /** The branch point. */
  readonly since: string;
  readonly targets: readonly ComparedTarget[];
  readonly diagnostics: readonly Diagnostic[];
};

/** `own` is the branch that the change is for. */
export type AffectedFlags = Pick<ProjectSelection, 'config' | 'configRef'> & { readonly own?: string };

/**
 * Compares what the plan of each target depends on with the branch point of a change: its manifests, overlays and committed files of secrets, its
 * policies and access tests, and the config. Reads no gateway, no token and no value of a secret. A target that cannot be compared is affected.
 * Throws UsageError without a branch, and AppError outside a repository.
 */
export async function findAffectedTargets(flags: AffectedFlags, context: CliContext): Promise<AffectedTargets> {
  const { own } = flags;
  if (own === undefined)
    throw new UsageError('missing --own: affected targets are those that differ from a branch', 'pass the branch: --own origin/main');
  const selection = { ...flags, only: [], paths: [] };
  const { config, repository: found } = await openConfig(selection, context);
  const repository = readableRepository({ repository: found });
  if (repository === undefined)
    throw new AppError('git/no-repository', 3, `${config.root} is not in a git repository, so no target can be compared with ${own}`, {
      hint: 'run in a clone',
    });
  const { commit, diagnostics } = await findBranchPoint(repository, own);
  const sites = new Map(config.targets.map((target) => [target.name, { config, target, selection, context, repository }]));
  const [first] = sites.values();
  const then = first === undefined ? { diagnostics: [] } : await readCommittedConfig(first, commit);
  const names = (config.proposed ?? config).targets.map(({ name }) => name);
  const reasons = new Map<string, readonly AffectedReason[]>();
  // While git reads the manifests of one target, those of others are compared.
  await runPool(names, 8, async (name) => {
    const site = sites.get(name);
    reasons.set(name, site === undefined ? isNew : await compareTarget(site, commit, then));
  });
  return { since: commit, targets: names.map((name) => ({ name, reasons: reasons.get(name) ?? [] })), diagnostics };
}

const isNew: readonly AffectedReason[] = [{ is: 'not compared', names: ['the target is new'] }];

async function compareTarget(site: CommittedProject, commit: string, then: Checked<Config>): Promise<readonly AffectedReason[]> {
  const { value: loaded, diagnostics } = loadWhole(readSources(site), site);
  if (loaded === undefined) return notCompared(diagnostics);
  const tree = await readCommittedTree(site, commit, { read: then });
  if (then.value === undefined || tree.value === undefined) return notCompared(tree.diagnostics);
  const config = changedSettings(then.value, site);
  const desired = await withTrackedContents(loaded, site);
  const before = await loadCommittedState(tree.value, desired);
  if (before.value === desired) return config;
  return [...config, ...(before.value === undefined ? notCompared(before.diagnostics) : differencesBetweenStates(before.value, desired))];
}

/** Returns the settings of the config that differ, of the target and of all targets. */
function changedSettings(
  then: Config,
  { config, target: { name } }: { readonly config: Config & { readonly proposed?: Config }; readonly target: Pick<Target, 'name'> },
): readonly AffectedReason[] {
  const now = config.proposed ?? config;
  const changed = changedConfig(then, now, name).map(({ check }) => check.replace(` of target ${name}`, ''));
  const names = [...changed, ...(then.digestKey === now.digestKey ? [] : ['digest_key'])];
  return names.length === 0 ? [] : [{ is: 'config', names }];
}

function notCompared(diagnostics: readonly Diagnostic[]): readonly AffectedReason[] {
  const [first] = diagnostics.filter(({ severity }) => severity === 'error');
  if (first?.code === 'git/no-target') return isNew;
  const place = first?.at === undefined ? '' : `${formatPosition(first.at)} `;
  return [{ is: 'not compared', names: [`${place}${first?.message ?? 'the manifests cannot be read'}`] }];
}

/** Returns the names of the affected targets. */
export function affectedNames({ targets }: Pick<AffectedTargets, 'targets'>): readonly string[] {
  return targets.flatMap(({ name, reasons }) => (reasons.length === 0 ? [] : [name]));
}

/** Returns the names of the targets whose plans are the same as without the change. */
export function unaffectedNames({ targets }: Pick<AffectedTargets, 'targets'>): readonly string[] {
  return targets.flatMap(({ name, reasons }) => (reasons.length === 0 ? [name] : []));
}

const mostNames = 5;

/** Returns `Affected targets: eu-west, us-east`; undefined are those that could not be listed. */
export function affectedText(names: readonly string[] | undefined): string {
  if (names === undefined) return 'The affected targets could not be listed';
  return names.length === 0 ? 'No target is affected' : `Affected targets: ${shortList(names, mostNames).join(', ')}`;
}

/** Returns `manifests Connection/orders-db; config limits.updates`. */
export function reasonsText(reasons: readonly AffectedReason[]): string {
  return reasons.map(({ is, names }) => `${is} ${shortList(names, mostNames).join(', ')}`).join('; ');
}

/** Returns a sentence that counts the affected targets, and a line for each reason with the targets that have it. */
export function affectedLines({ since, targets }: Pick<AffectedTargets, 'since' | 'targets'>): readonly string[] {
  const byReason = new Map<string, string[]>();
  for (const { name, reasons } of targets) if (reasons.length > 0) addToGroup(byReason, reasonsText(reasons), name);
  const count = affectedNames({ targets }).length;
  const counted = `${count} of ${plural(targets.length, 'target')} ${count === 1 ? 'is' : 'are'} affected since ${since.slice(0, 10)}`;
  return [
    `${counted}${count === 0 ? '.' : ':'}`,
    ...[...byReason].map(([text, names]) => `  ${shortList(names, mostNames).join(', ')}: ${text}`),
  ];
}

/** Returns the affected targets with their reasons as JSON, and the names of the others. */
export function affectedDocument({ since, targets }: AffectedTargets): JsonObject {
  return {
    since,
    targets: targets.flatMap(({ name, reasons }) =>
      reasons.length === 0 ? [] : [{ target: name, reasons: reasons.map(({ is, names }) => ({ reason: is, names })) }],
    ),
    unaffected: unaffectedNames({ targets }),
  };
}
