import { mayBeInRepository, mergeBaseOf, headOf, openRepository, resolveCommit, type Repository } from '../git/repository.ts';
import { findLastApplied } from '../git/last-applied.ts';
import { findRemovals } from '../git/removed.ts';
import { declaredIn } from '../manifest/read-documents.ts';
import { decodeFile } from '../disk/walk.ts';
import { maxBytes } from '../disk/text-file.ts';
import type { BaseState, DesiredState } from '../model/desired.ts';
import type { Target } from '../model/config.ts';
import type { Checked, Diagnostic } from '../model/diagnostic.ts';
import { AppError, InputError } from '../model/errors.ts';
import type { ResourceId } from '../model/resource.ts';
import { configNames, desiredAt, isAsLoaded, readTreeOf, type Site, type TreeAt } from './at-commit.ts';
import type { BaseFlags } from './flags.ts';
import type { ResolvedConfig } from './resolved-config.ts';
import type { CliContext } from './cli-context.ts';

/** What a plan stands on besides manifests and gateway. */
export type PlanBase = {
  readonly base: BaseState | undefined;
  /** The manifests that the pull request began with, where `--own` asks for its own changes. */
  readonly own: DesiredState | undefined;
  readonly diagnostics: readonly Diagnostic[];
};

export type PlanBaseInput = {
  readonly config: ResolvedConfig;
  readonly target: Target;
  readonly desired: DesiredState;
  readonly flags: BaseFlags;
  readonly context: CliContext;
};

const nowhere: PlanBase = { base: undefined, own: undefined, diagnostics: [] };

/**
 * Finds what was last wholly applied to the target, or what `--base` says instead, and the commit that `--own` asks for.
 * A base that should be there and cannot be read is thrown: it is never taken for none.
 */
export async function readPlanBase(input: PlanBaseInput): Promise<PlanBase> {
  const { config, flags } = input;
  const isAsked = (flags.base !== undefined && flags.base !== 'none') || flags.own !== undefined;
  if (!isAsked && (flags.base === 'none' || !isTracked(input))) return nowhere;
  const repository = await openRepository({ folder: config.root, env: input.context.env });
  if (repository === undefined && isAsked) {
    throw new AppError('git/no-repository', 3, `${config.root} lies in no git repository, so there is no commit to compare with`, {
      hint: 'leave out --base and --own, or run in a clone',
    });
  }
  if (repository === undefined) return nowhere;
  const site = { repository, config, target: input.target };
  const based = await baseOf(site, input);
  const own = flags.own === undefined ? undefined : await ownOf(site, flags.own);
  return { base: based.value, own: own?.value, diagnostics: [...based.diagnostics, ...(own?.diagnostics ?? [])] };
}

/** Tells whether what is applied to the target is recorded: its gateway is the config's, and there is a repository. */
export function isTracked({ config, target }: Pick<PlanBaseInput, 'config' | 'target'>): boolean {
  const configured = config.targets.find(({ name }) => name === target.name);
  return config.file !== undefined && configured?.url === target.url && mayBeInRepository(config.root);
}

async function baseOf(site: Site, input: PlanBaseInput): Promise<Checked<BaseState>> {
  const { flags, target } = input;
  if (flags.base === 'none') return { diagnostics: [] };
  if (flags.base !== undefined) {
    const commit = await resolveCommit(site.repository, flags.base);
    return { value: await loadBase(input, site, { commit, tree: await soundTree(site, commit) }), diagnostics: [] };
  }
  if (!isTracked(input)) return { diagnostics: [] };
  const { commit, diagnostics } = await findLastApplied(site.repository, {
    target: target.name,
    configs: configNames,
    origin: flags.origin,
  });
  if (commit === undefined) return { diagnostics: [...diagnostics, ...(await noneRecorded(site.repository, target))] };
  const tree = await soundTree(site, commit);
  if (tree.target.url !== target.url) return { diagnostics: [...diagnostics, otherGateway(commit, tree.target, target)] };
  const value = await loadBase(input, site, { commit, tree });
  const behind = value.desired === input.desired ? [] : await behindApplied(site, commit);
  return { value, diagnostics: [...diagnostics, ...behind] };
}

/** The files of the base; throws where they cannot be read. */
async function soundTree(site: Site, commit: string): Promise<TreeAt> {
  const { value, diagnostics } = await readTreeOf(site, commit);
  if (value === undefined) throw unreadable(commit, diagnostics);
  return value;
}

async function loadBase(
  { desired: head }: PlanBaseInput,
  site: Site,
  { commit, tree }: { readonly commit: string; readonly tree: TreeAt },
): Promise<BaseState> {
  // Nothing of it has changed: then it is what is loaded already.
  if (head.unselected.length === 0 && isAsLoaded(tree, site, head)) return { commit, desired: head, removedIn: new Map() };
  const { value: desired, diagnostics } = desiredAt(tree);
  if (desired === undefined) throw unreadable(commit, diagnostics);
  const kept = new Set<ResourceId>([...head.resources, ...head.unselected].map(({ id }) => id));
  const ids = desired.resources.map(({ id }) => id).filter((id) => !kept.has(id));
  const until = ids.length === 0 ? undefined : await headOf(site.repository);
  if (until === undefined) return { commit, desired, removedIn: new Map() };
  return {
    commit,
    desired,
    removedIn: await findRemovals(site.repository, { since: commit, until, paths: tree.folders, ids, declares, most: maxBytes }),
  };
}

function declares(bytes: Buffer): readonly ResourceId[] {
  const { value: file } = decodeFile('', bytes);
  return file === undefined ? [] : declaredIn(file);
}

function unreadable(commit: string, diagnostics: readonly Diagnostic[]): InputError {
  const first: Diagnostic = {
    code: 'git/base-unreadable',
    severity: 'error',
    message: `the manifests as of ${commit.slice(0, 10)}, the base of this plan, cannot be loaded`,
    hint: 'name another commit with --base, or plan without one: --base none',
  };
  return new InputError([first, ...diagnostics.filter(({ severity }) => severity === 'error')]);
}

async function noneRecorded(repository: Repository, { name }: Target): Promise<readonly Diagnostic[]> {
  if ((await headOf(repository)) === undefined) return [];
  const message = `no commit is recorded as wholly applied to "${name}": intent and drift are not told apart, nothing is held or deleted`;
  return [{ code: 'git/no-base', severity: 'notice', message, hint: 'the first whole apply records one; --base REF names one by hand' }];
}

/** Whoever runs an earlier job again, or runs two in the wrong order, takes back what came since. */
async function behindApplied({ repository, target }: Pick<Site, 'repository' | 'target'>, commit: string): Promise<readonly Diagnostic[]> {
  const head = await headOf(repository);
  if (head === undefined || head === commit || (await mergeBaseOf(repository, head, commit)) !== head) return [];
  const message = `HEAD (${head.slice(0, 10)}) is older than ${commit.slice(0, 10)}, which was last applied to "${target.name}": this takes back what came since`;
  const hint = 'check out the branch as it is now; to go back for good, revert the commits';
  return [{ code: 'git/behind-applied', severity: 'warning', message, hint }];
}

function otherGateway(commit: string, then: Target, now: Target): Diagnostic {
  return {
    code: 'git/other-gateway',
    severity: 'warning',
    message: `${commit.slice(0, 10)} was applied to ${then.url}, and "${now.name}" is now ${now.url}: nothing is known to be applied there`,
    hint: `if it is the same gateway: --base ${commit.slice(0, 10)}`,
  };
}

/** What cannot be read labels nothing, and says so; before there were any manifests, all of them are new. */
async function ownOf({ repository, config, target }: Site, words: string): Promise<Checked<DesiredState>> {
  const given = await resolveCommit(repository, words);
  const head = await headOf(repository);
  const shared = head === undefined ? undefined : await mergeBaseOf(repository, given, head);
  const diagnostics = shared === undefined ? [noMergeBase(repository, words)] : [];
  const { value: tree, diagnostics: unread } = await readTreeOf({ repository, config, target }, shared ?? given);
  const { value, diagnostics: found } = tree === undefined ? { diagnostics: unread } : desiredAt(tree);
  if (value !== undefined) return { value, diagnostics };
  const errors = [...unread, ...found].filter(({ severity }) => severity === 'error');
  if (errors.every(({ code }) => absences.has(code))) return { value: nothing, diagnostics };
  const [first] = errors;
  const message = `what is the pull request's own is not told: the manifests as of ${words} cannot be loaded`;
  const at = first?.at === undefined ? {} : { at: first.at };
  return { diagnostics: [...diagnostics, { code: 'git/own-unreadable', severity: 'warning', message, hint: first?.message ?? '', ...at }] };
}

const absences: ReadonlySet<string> = new Set(['git/no-config', 'git/no-target', 'manifest/none']);

const nothing: DesiredState = { resources: [], edges: [], tree: '', unselected: [], notices: [] };

function noMergeBase({ shallow }: Repository, words: string): Diagnostic {
  return {
    code: 'git/no-merge-base',
    severity: 'warning',
    message: `history shows no commit that HEAD and ${words} both come from; ${words} itself is compared with`,
    hint: shallow ? 'the clone is shallow: check out with fetch-depth: 0' : 'check the name of the branch',
  };
}
