import { mayBeInRepository, mergeBaseOf, headOf, repositoryOf, resolveCommit, shallowHint, type Repository } from '../git/repository.ts';
import { findAppliedFork } from '../git/applied-refs.ts';
import { findRemovals } from '../git/find-removals.ts';
import { listDeclared } from '../manifest/read-documents.ts';
import { decodeFile } from '../disk/walk.ts';
import { maxBytes } from '../disk/text-file.ts';
import { emptyRecord, type Remembered, type AppliedRecord, type PendingObject, type RememberedObject } from '../model/applied-record.ts';
import { type BaseState, type DesiredState, desiredByKey, type DesiredResource, emptyState } from '../model/desired.ts';
import type { Target } from '../model/gateway.ts';
import type { Checked, Diagnostic } from '../model/diagnostic.ts';
import { AppError, InputError } from '../model/errors.ts';
import type { ResourceId } from '../model/resource.ts';
import { loadCommittedState, isSameTree, readCommittedTree, type CommittedTarget, type CommittedTree } from './committed-manifests.ts';
import { readAppliedRecord, type ReadRecord, commitsOf } from './applied-record.ts';
import type { ProjectContext, ResolvedConfig } from './resolved-config.ts';

/** Which commits a plan compares with. */
export type PlanBaseOptions = {
  /** The commit to use as last applied, instead of the recorded one; `none` for none. */
  readonly base?: string;
  /** The target branch of the pull request; what changed since the branch point is the pull request's own. */
  readonly own?: string;
  /** Whether to fetch from origin what was last applied, and to push what is applied now. */
  readonly origin: boolean;
};

/** The manifests of earlier commits that a plan compares with. */
export type PlanBase = {
  readonly base: BaseState | undefined;
  /** The manifests at the branch point of the pull request; undefined unless `own` is set. */
  readonly own: DesiredState | undefined;
  /** The record of applies to the target; undefined if none was read. */
  readonly read?: ReadRecord;
  /** What the record knows beyond the base. */
  readonly remembered?: Remembered;
  /** Why HEAD reverts what was applied last: it is an ancestor of the recorded commit, with other manifests. */
  readonly older?: string;
  /** The manifests of the commit at which the branch left the applied history; undefined unless `own` is set and the branch is behind. */
  readonly fork?: DesiredState;
  readonly diagnostics: readonly Diagnostic[];
};

export type PlanBaseInput = {
  readonly config: ResolvedConfig;
  readonly target: Target;
  readonly desired: DesiredState;
  readonly options: PlanBaseOptions;
  readonly context: ProjectContext;
  /** The record of applies, if it was read before. */
  readonly applied?: FoundRecord | undefined;
};

/** The record of applies to a target, and warnings about reading it. */
export type FoundRecord = { readonly read: ReadRecord; readonly diagnostics: readonly Diagnostic[] };

const noBase: PlanBase = { base: undefined, own: undefined, diagnostics: [] };

/**
 * Reads the manifests that were last completely applied to the target, or those of the `base` option, and those of the `own`
 * option. Throws InputError when a recorded base cannot be read: an unreadable base must never count as no base, because a
 * plan without a base would undo what is stricter on the gateway.
 */
export async function readPlanBase(input: PlanBaseInput): Promise<PlanBase> {
  const { config, options } = input;
  const isAsked = (options.base !== undefined && options.base !== 'none') || options.own !== undefined;
  if (!isAsked && (options.base === 'none' || !isTracked(input))) return noBase;
  const repository = await repositoryOf({ folder: config.root, env: input.context.env });
  if (repository === undefined && isAsked) {
    throw new AppError('git/no-repository', 3, `${config.root} is not in a git repository, so there is no commit to compare with`, {
      hint: 'remove --base and --own, or run in a clone',
    });
  }
  if (repository === undefined) return noBase;
  const site = { repository, config, target: input.target };
  const based = await readBase(site, input);
  const own = options.own === undefined ? undefined : await readOwn(site, options.own);
  return { ...based, own: own?.value, diagnostics: [...based.diagnostics, ...(own?.diagnostics ?? [])] };
}

/** Reads the record of applies that `readPlanBase` would read; undefined if it would read none. */
export async function readRecordForBase({
  config,
  target,
  options,
  context,
}: Omit<PlanBaseInput, 'desired'>): Promise<FoundRecord | undefined> {
  if (options.base !== undefined || !isTracked({ config, target })) return undefined;
  const repository = await repositoryOf({ folder: config.root, env: context.env });
  return repository === undefined ? undefined : readAppliedRecord(repository, { target: target.name, origin: options.origin });
}

/** Returns true if applies to the target are recorded: the config file names the same gateway URL, and there is a repository. */
export function isTracked({ config, target }: Pick<PlanBaseInput, 'config' | 'target'>): boolean {
  const configured = config.targets.find(({ name }) => name === target.name);
  return config.file !== undefined && configured?.url === target.url && mayBeInRepository(config.root);
}

async function readBase(site: CommittedTarget, input: PlanBaseInput): Promise<Omit<PlanBase, 'own'>> {
  const { options, target } = input;
  if (options.base === 'none') return { base: undefined, diagnostics: [] };
  if (options.base !== undefined) {
    const commit = await resolveCommit(site.repository, options.base);
    return { base: await loadBase(input, site, { commit, tree: await requireTree(site, commit) }), diagnostics: [] };
  }
  if (!isTracked(input)) return { base: undefined, diagnostics: [] };
  const found = input.applied ?? (await readAppliedRecord(site.repository, { target: target.name, origin: options.origin }));
  const { read, diagnostics } = found;
  const { commit } = read.record;
  const tree = commit === undefined ? undefined : await requireTree(site, commit);
  if (commit !== undefined && tree !== undefined && tree.target.url !== target.url) {
    const elsewhere = { ...read, record: emptyRecord };
    return { base: undefined, read: elsewhere, diagnostics: [...diagnostics, otherGateway(commit, tree.target, target)] };
  }
  const { orphans, pending } = read.record;
  const knowsMore = orphans.length + pending.length > 0;
  const remembered = knowsMore ? { remembered: await readRemembered(site, read.record, input.desired) } : {};
  if (commit === undefined || tree === undefined) {
    return { base: undefined, read, ...remembered, diagnostics: [...diagnostics, ...(await warnNoneRecorded(site.repository, target))] };
  }
  const base = await loadBase(input, site, { commit, tree });
  const behind =
    base.desired === input.desired
      ? {}
      : await compareHistory(site, { commit, name: options.origin ? read.name : undefined }, options.own !== undefined);
  return { base, read, ...remembered, ...behind, diagnostics };
}

/** Reads the files of the base. Throws InputError when they cannot be read. */
async function requireTree(site: CommittedTarget, commit: string): Promise<CommittedTree> {
  const { value, diagnostics } = await readCommittedTree(site, commit);
  if (value === undefined) throw unreadable(commit, diagnostics);
  return value;
}

async function loadBase(
  { desired: head }: PlanBaseInput,
  site: CommittedTarget,
  { commit, tree }: { readonly commit: string; readonly tree: CommittedTree },
): Promise<BaseState> {
  // The base has the same files as the working tree, so the state is loaded already.
  if (head.unselected.length === 0 && (await isSameTree(tree, site, { commit, desired: head })))
    return { commit, desired: head, removedIn: new Map() };
  const { value: desired, diagnostics } = await loadCommittedState(site.repository, commit, tree);
  if (desired === undefined) throw unreadable(commit, diagnostics);
  const kept = new Set<ResourceId>([...head.resources, ...head.unselected].map(({ id }) => id));
  const ids = desired.resources.map(({ id }) => id).filter((id) => !kept.has(id));
  const until = ids.length === 0 ? undefined : await headOf(site.repository);
  if (until === undefined) return { commit, desired, removedIn: new Map() };
  return {
    commit,
    desired,
    removedIn: await findRemovals(site.repository, {
      since: commit,
      until,
      paths: tree.folders,
      ids,
      declaredIds,
      maxBytes: maxBytes,
    }),
  };
}

function declaredIds(bytes: Buffer): readonly ResourceId[] {
  const { value: file } = decodeFile('', bytes);
  return file === undefined ? [] : listDeclared(file);
}

function unreadable(commit: string, diagnostics: readonly Diagnostic[]): InputError {
  const first: Diagnostic = {
    code: 'git/base-unreadable',
    severity: 'error',
    message: `the manifests of the base ${commit.slice(0, 10)} cannot be loaded`,
    hint: 'pass another commit with --base, or plan without a base: --base none',
  };
  return new InputError([first, ...diagnostics.filter(({ severity }) => severity === 'error')]);
}

async function warnNoneRecorded(repository: Repository, { name }: Target): Promise<readonly Diagnostic[]> {
  if ((await headOf(repository)) === undefined) return [];
  const message = `no commit is recorded as completely applied to "${name}", so the plan cannot distinguish intent from drift: nothing is held or deleted`;
  return [
    { code: 'git/no-base', severity: 'notice', message, hint: 'the first complete apply records one; --base REF sets one for this run' },
  ];
}

/** Finds out whether applied commits are missing from HEAD; for a pull request, reads the manifests that both started from. */
async function compareHistory(
  site: CommittedTarget,
  { commit, name }: { readonly commit: string; readonly name: string | undefined },
  isProposal: boolean,
): Promise<Pick<PlanBase, 'older' | 'fork'>> {
  const { repository, target } = site;
  const head = await headOf(repository);
  if (head === undefined || head === commit) return {};
  const fork = await findAppliedFork(repository, { head, commit, name });
  if (fork === undefined || fork === commit) return {};
  if (isProposal) {
    const { value: tree } = await readCommittedTree(site, fork);
    const state = tree === undefined ? undefined : (await loadCommittedState(repository, fork, tree)).value;
    return state === undefined ? {} : { fork: state };
  }
  if (fork !== head) return {};
  return {
    older: `HEAD (${head.slice(0, 10)}) is older than ${commit.slice(0, 10)}, which was last applied to "${target.name}": this reverts later changes`,
  };
}

function otherGateway(commit: string, then: Target, now: Target): Diagnostic {
  return {
    code: 'git/other-gateway',
    severity: 'warning',
    message: `${commit.slice(0, 10)} was applied to ${then.url}, but "${now.name}" is now ${now.url}, where no apply is recorded`,
    hint: `if it is the same gateway, pass --base ${commit.slice(0, 10)}`,
  };
}

/** Reads the manifests at the branch point. Unreadable manifests are a warning; a commit without manifests makes every change the pull request's own. */
async function readOwn({ repository, config, target }: CommittedTarget, ref: string): Promise<Checked<DesiredState>> {
  const given = await resolveCommit(repository, ref);
  const head = await headOf(repository);
  const shared = head === undefined ? undefined : await mergeBaseOf(repository, given, head);
  const diagnostics = shared === undefined ? [noMergeBase(repository, ref)] : [];
  const { value: tree, diagnostics: unread } = await readCommittedTree({ repository, config, target }, shared ?? given);
  const { value, diagnostics: found } =
    tree === undefined ? { diagnostics: unread } : await loadCommittedState(repository, shared ?? given, tree);
  if (value !== undefined) return { value, diagnostics };
  const errors = [...unread, ...found].filter(({ severity }) => severity === 'error');
  if (errors.every(({ code }) => codesOfAbsence.has(code))) return { value: emptyState, diagnostics };
  const [first] = errors;
  const message = `the pull request's own changes cannot be marked: the manifests of ${ref} cannot be loaded`;
  const at = first?.at === undefined ? {} : { at: first.at };
  return { diagnostics: [...diagnostics, { code: 'git/own-unreadable', severity: 'warning', message, hint: first?.message ?? '', ...at }] };
}

const codesOfAbsence: ReadonlySet<string> = new Set(['git/no-config', 'git/no-target', 'manifest/none']);

function noMergeBase({ shallow }: Repository, ref: string): Diagnostic {
  return {
    code: 'git/no-merge-base',
    severity: 'warning',
    message: `HEAD and ${ref} have no common ancestor in this clone; the plan compares with ${ref} itself`,
    hint: shallow ? shallowHint(ref) : 'check the name of the branch',
  };
}

/**
 * Reads what a record knows beyond the last completely applied commit: orphans, and the writes of incomplete applies, with their
 * manifests. Manifests that cannot be read are left out; the objects remain ours.
 */
async function readRemembered(site: CommittedTarget, record: AppliedRecord, head: DesiredState): Promise<Remembered> {
  const states = new Map<string, DesiredState>();
  const elsewhere = new Set<string>();
  const { commit: _, ...beyond } = record;
  for (const commit of commitsOf(beyond)) {
    const state = await readState(site, commit, head);
    if (state === 'other gateway') elsewhere.add(commit);
    else if (state !== undefined) states.set(commit, state);
  }
  return recallObjects(record, states, elsewhere);
}

/** Returns what a record knows beyond the last completely applied commit, without the commits that were applied elsewhere. */
export function recallObjects(
  record: AppliedRecord,
  states: ReadonlyMap<string, DesiredState>,
  elsewhere: ReadonlySet<string> = new Set(),
): Remembered {
  const manifestAt = (commit: string | undefined, { id, key = id }: Pick<PendingObject, 'id' | 'key'>): DesiredResource | undefined => {
    const state = commit === undefined ? undefined : states.get(commit);
    return state === undefined ? undefined : desiredByKey(state.resources).get(key);
  };
  const objects = new Map<ResourceId, RememberedObject>();
  const written = new Map<ResourceId, readonly (DesiredResource | undefined)[]>();
  for (const orphan of record.orphans) {
    if (orphan.commit !== undefined && elsewhere.has(orphan.commit)) continue;
    const { id, key = id, uid } = orphan;
    objects.set(key, { ...orphan, key, resource: manifestAt(orphan.commit, orphan), ...(uid === undefined ? { unfinished: true } : {}) });
  }
  for (const { commit, objects: pending } of record.pending) {
    if (commit !== undefined && elsewhere.has(commit)) continue;
    for (const one of pending) {
      const { id, uid, key = id, ours } = one;
      const resource = manifestAt(commit, one);
      if (ours)
        objects.set(key, {
          id,
          key,
          resource,
          ...(commit === undefined ? {} : { commit }),
          ...(uid === undefined ? { unfinished: true } : { uid }),
        });
      else written.set(key, [...(written.get(key) ?? []), resource]);
    }
  }
  const edges = [...states.values()].flatMap((state) => state.edges.filter((edge) => edgeTouches(edge, objects)));
  return { objects: [...objects.values()], edges, written, attached: record.pending.flatMap((one) => one.edges) };
}

async function readState(site: CommittedTarget, commit: string, head: DesiredState): Promise<DesiredState | 'other gateway' | undefined> {
  const { value: tree } = await readCommittedTree(site, commit);
  if (tree === undefined) return undefined;
  if (tree.target.url !== site.target.url) return 'other gateway';
  if (head.partial !== true && (await isSameTree(tree, site, { commit, desired: head }))) return head;
  return (await loadCommittedState(site.repository, commit, tree)).value;
}

function edgeTouches({ rule, connection }: DesiredState['edges'][number], objects: ReadonlyMap<ResourceId, unknown>): boolean {
  return [rule, connection].some(({ kind, text }) => objects.has(`${kind}/${text}`));
}
