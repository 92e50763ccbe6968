import { join, posix, relative, sep } from 'node:path';
import { maxBytes } from '../disk/text-file.ts';
import { readThroughLinks } from '../git/read-tree.ts';
import type { Repository } from '../git/repository.ts';
import { resolveCommit } from '../git/resolve-commit.ts';
import { type Config, defaultApprovals, type PemSource, type Target } from '../model/config.ts';
import { hasErrors } from '../model/diagnostic.ts';
import { defined } from '../model/json.ts';
import { AppError, InputError } from '../model/errors.ts';
import { absences, readCommittedConfig, readCommittedChecks, readCommittedTree } from './committed-manifests.ts';
import { type OpenProject, readableRepository } from './project.ts';
import type { Policy } from '../model/protection/policy.ts';
import { type ChangedCheck, compareChecks, type StatedCheck } from '../model/plan/changed-check.ts';
import type { ResolvedConfig } from './resolved-config.ts';
import { requireConfigOfCheckout } from './config-checkout.ts';

/**
 * Returns the config of the project. With `configRef`, its targets, URLs, names of tokens and secrets, limits, approvers and record keys are those of that
 * commit: the author of a pull request must not choose how the pull request is checked. The config of the working tree is `proposed`.
 * Throws AppError outside a repository and for a config file in another checkout than the working directory, whose branches another
 * person may have chosen; InputError for an invalid config at that commit.
 */
export async function reviewConfig(opened: Omit<OpenProject, 'target'>): Promise<ResolvedConfig> {
  const { config, selection, context } = opened;
  if (selection.configRef === undefined || config.file === undefined) return config;
  const repository = readableRepository(opened);
  if (repository === undefined)
    throw new AppError(
      'git/no-repository',
      3,
      `${config.root} is not in a git repository, so there is no config of ${selection.configRef}`,
      {
        hint: 'remove --config-ref, or run in a clone',
      },
    );
  requireConfigOfCheckout(selection, context);
  const commit = await resolveCommit(repository, selection.configRef);
  const target = { name: selection.target ?? config.targets[0]?.name ?? '' };
  const { value: reviewed, diagnostics } = await readCommittedConfig({ repository, config, target }, commit);
  if (reviewed !== undefined && !hasErrors(diagnostics)) {
    const targets = await Promise.all(reviewed.targets.map((one) => withReviewedPem(one, { repository, commit, root: config.root })));
    return withReviewedTargets({ ...reviewed, targets }, config);
  }
  if (diagnostics.some(({ code }) => code === 'git/no-config')) return withReviewedTargets({ root: config.root, targets: [] }, config);
  throw new InputError(diagnostics);
}

type PemPlace = { readonly repository: Repository; readonly commit: string; readonly root: string };

/** Takes certificates and keys below the folder of the config from the commit: files of the checkout are not reviewed. */
async function withReviewedPem(target: Target, place: PemPlace): Promise<Target> {
  if (target.tls === undefined) return target;
  const entries = Object.entries(target.tls).map(async ([name, source]) => [name, await reviewedPem(source, place)] as const);
  return { ...target, tls: Object.fromEntries(await Promise.all(entries)) };
}

async function reviewedPem(source: PemSource, { repository, commit, root }: PemPlace): Promise<PemSource> {
  if (!('file' in source) || source.below === undefined) return source;
  const path = relative(source.below, source.file);
  const place = posix.join(repository.prefix, path.split(sep).join('/'));
  const [found] = await readThroughLinks(repository, commit, { paths: [place], maxBytes });
  if (found !== undefined && 'bytes' in found) return { file: join(root, path), below: root, text: found.bytes.toString('utf8') };
  const message = `${JSON.stringify(path)} is not in the commit whose config applies (${commit.slice(0, 7)})`;
  throw new AppError('api/bad-pem', 3, message, { hint: 'commit it there, or name a variable or an absolute path' });
}

/** Returns the config with the reviewed targets and the manifest folders of the working tree. */
export function withReviewedTargets(reviewed: Config, config: ResolvedConfig): ResolvedConfig {
  const now = new Map(config.targets.map((target) => [target.name, target]));
  const then = new Map(reviewed.targets.map((target) => [target.name, target]));
  const targets = reviewed.targets.flatMap((target) => {
    const found = now.get(target.name);
    return found === undefined ? [] : [{ ...target, manifests: found.manifests, overlays: found.overlays }];
  });
  const pending = [...now.keys()].filter((name) => !then.has(name));
  // As after the merge: a proposal that is behind the reviewed branch may not have the key yet.
  const digestKey = config.digestKey ?? reviewed.digestKey;
  const { approvals: _, recordKeys: __, ...rest } = config;
  return {
    ...rest,
    ...defined({ approvals: reviewed.approvals, recordKeys: reviewed.recordKeys, digestKey }),
    targets,
    pending,
    proposed: config,
  };
}

/** Returns what the config of the working tree changes of the checks of a target since a commit. */
export function changedConfig(then: Config, now: Config, target: string): readonly ChangedCheck[] {
  const at = { file: now.file ?? '', line: 1, column: 1 };
  const [before, after] = [then, now].map(({ targets }) => checksOfTarget(targets.find(({ name }) => name === target)));
  const changes = before === undefined || after === undefined ? [] : compareChecks(before, after);
  return [...compareChecks(generalChecks(then), generalChecks(now)), ...changes].map((one) => ({ ...one, at }));
}

function generalChecks({ approvals = defaultApprovals, recordKeys, targets }: Config): ReadonlyMap<string, StatedCheck> {
  const fields = [
    ['approvers', listOrNone(approvals.approvers)],
    ['self_approval', String(approvals.selfApproval)],
    ['record.keys', listOrNone(recordKeys)],
  ] as const;
  return new Map<string, StatedCheck>([
    ...fields.map(([field, value]) => [field, { text: value, value }] as const),
    ...targets.map(({ name }) => [`target ${name}`, { text: name }] as const),
  ]);
}

/** Returns the fields of a target that decide how it is checked; undefined without the target, which is a change of its own. */
function checksOfTarget(target: Target | undefined): ReadonlyMap<string, StatedCheck> | undefined {
  if (target === undefined) return undefined;
  return new Map([...checkFieldsOf(target)].map(([field, value]) => [`${field} of target ${target.name}`, { text: value, value }]));
}

function listOrNone(values: readonly string[] = []): string {
  return values.length === 0 ? 'none' : values.toSorted().join(', ');
}

function pemText(source: PemSource | undefined): string {
  if (source === undefined) return 'none';
  if ('env' in source) return `env:${source.env}`;
  return `file:${source.below === undefined ? source.file : relative(source.below, source.file)}`;
}

/** Returns the fields of a target that decide how it is checked, as text. */
function checkFieldsOf({
  url,
  dialect,
  auth,
  token,
  tls = {},
  secretPrefixes,
  limits,
  prune,
  reportUnmanaged,
  watchAccess,
  expire,
  released,
  reviewed,
}: Target): ReadonlyMap<string, string> {
  const { newAccess, ...rest } = limits;
  const shares = Object.entries(rest).map(([key, value]) => [`limits.${key}`, String(value)] as const);
  const fields = [
    ['url', url],
    ['dialect', dialect],
    ['auth', auth],
    ['token', token.env],
    ['ca', pemText(tls.ca)],
    ['client_certificate', pemText(tls.clientCertificate)],
    ['client_key', pemText(tls.clientKey)],
    ['secret_prefixes', secretPrefixes.join(', ')],
    ['prune', String(prune)],
    ['unmanaged', reportUnmanaged ? 'report' : 'silent'],
    ['unmanaged_access', watchAccess ? 'report' : 'ignore'],
    ['expire', expire],
    ['released', released.length === 0 ? 'none' : released.join(', ')],
    ['reviewed', reviewed ?? 'the default branch'],
    ['limits.new_access', newAccessText(newAccess)],
  ] as const;
  return new Map([...fields, ...shares]);
}

function newAccessText(limit: Target['limits']['newAccess']): string {
  if (typeof limit === 'string') return limit;
  const tags = Object.entries(limit.tags).map(([key, value]) => `${key}=${value}`);
  return `refuse on ${tags.toSorted().join(', ')}`;
}

/**
 * Reads the policies that the commit of `--config-ref` has for the target. Returns undefined without such a commit, a config file or a
 * repository: then the proposed ones apply. Throws InputError when they cannot be read.
 */
export async function readReviewedPolicies(project: OpenProject): Promise<readonly Policy[] | undefined> {
  const { config, selection } = project;
  const { configRef } = selection;
  if (configRef === undefined || config.file === undefined) return undefined;
  const repository = readableRepository(project);
  if (repository === undefined) return undefined;
  const tree = await readCommittedTree({ ...project, repository }, await resolveCommit(repository, configRef));
  if (tree.value === undefined) {
    const errors = tree.diagnostics.filter(({ code, severity }) => severity === 'error' && !absences.has(code));
    if (errors.length > 0) throw new InputError(errors);
    return [];
  }
  const { value, diagnostics } = readCommittedChecks(tree.value);
  if (hasErrors(diagnostics)) throw new InputError(diagnostics);
  return value?.policies ?? [];
}
