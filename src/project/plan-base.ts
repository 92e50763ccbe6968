import { mergeBaseOf, type Repository } from '../git/repository.ts';
import { resolveCommit, shallowHint } from '../git/resolve-commit.ts';
import { catchOriginError, findAppliedFork, parseAppliedRefName } from '../git/applied-refs.ts';
import type { ReviewedBranch } from '../git/reviewed-branch.ts';
import { findRemovals } from '../git/find-removals.ts';
import { listDeclared } from '../manifest/read-documents.ts';
import { decodeFile } from '../disk/walk.ts';
import { maxBytes } from '../disk/text-file.ts';
import { type AppliedRecord, emptyRecord, type Remembered } from '../model/applied-record.ts';
import { type BaseState, type DesiredState, emptyState } from '../model/desired.ts';
import type { Target } from '../model/config.ts';
import type { Checked, Diagnostic } from '../model/diagnostic.ts';
import { AppError, InputError } from '../model/errors.ts';
import type { UnmergedApply } from '../model/result/drift.ts';
import type { Refusal } from '../model/plan/plan.ts';
import type { ResourceId } from '../model/resource.ts';
import { firstOf } from '../model/collections.ts';
import { timeText } from '../model/time.ts';
import {
  absences,
  type CommittedTree,
  loadCommittedState,
  readCommittedChecks,
  readCommittedConfig,
  readCommittedState,
  readCommittedTree,
} from './committed-manifests.ts';
import { readAppliedRecord, type ReadRecord } from './record/applied-record.ts';
import { findSignerRefusals, proveRecord, type RecordProof } from './record/record-proof.ts';
import { type ProvenRecord, readRemembered } from './remembered-objects.ts';
import {
  checkAppliedCommit,
  type CheckedRecord,
  findReviewedBranch,
  findUnmergedHead,
  uncheckedRecord,
  type UnmergedHead,
} from './reviewed-commits.ts';
import type { ProposedChecks } from '../model/plan/changed-check.ts';
import { changedConfig } from './reviewed-config.ts';
import { type CommittedProject, isTracked, type OpenProject, readableRepository } from './project.ts';

/** Which commits a plan compares with. */
export type PlanBaseOptions = {
  /** The commit to use as last applied, instead of the recorded one; `none` for none. */
  readonly base?: string;
  /** The target branch of the pull request; what changed since the branch point is the pull request's own. */
  readonly own?: string;
  /** Whether to fetch from origin what was last applied, and to push what is applied now. */
  readonly origin: boolean;
  /** The folder of caches. */
  readonly cache?: string | undefined;
};

/** The manifests of earlier commits that a plan compares with. */
export type PlanBase = {
  readonly base: BaseState | undefined;
  /** The manifests at the branch point of the pull request; undefined unless `own` is set. */
  readonly own: DesiredState | undefined;
  /** What a proposal may change of its own checks: since the branch point from the reviewed config, otherwise from `own`. */
  readonly proposed?: ProposedChecks | undefined;
  /** The record of applies to the target; undefined if none was read. */
  readonly read?: ReadRecord;
  /** What the record knows beyond the base. */
  readonly remembered?: Remembered | undefined;
  /** HEAD is an ancestor of the last applied commit, or has diverged from it, and has other manifests. */
  readonly behind?: Behind | undefined;
  /** No commit is recorded as applied to this gateway, although HEAD could be. */
  readonly isUnrecorded?: true;
  /** The last apply was of a commit that is not reviewed. */
  readonly unmerged?: UnmergedApply | undefined;
  /** HEAD is not reviewed; only found for an apply. */
  readonly unmergedHead?: UnmergedHead | undefined;
  /** How far record keys prove the record. */
  readonly proof?: RecordProof;
  /** Why apply must not trust the record. */
  readonly refusals: readonly Refusal[];
  readonly diagnostics: readonly Diagnostic[];
};

/** A HEAD without what was applied. */
export type Behind = {
  readonly head: string;
  readonly applied: string;
  /** The manifests of the last common ancestor; undefined if that is HEAD. */
  readonly fork?: DesiredState;
};

export type PlanBaseInput = OpenProject & {
  readonly desired: DesiredState;
  /** What the state was loaded from. */
  readonly files?: CommittedProject['files'];
  readonly options: PlanBaseOptions;
  /** Whether HEAD is about to be applied, so that it has to be reviewed. */
  readonly applies?: boolean;
};

const noBase: PlanBase = { base: undefined, own: undefined, refusals: [], diagnostics: [] };

/**
 * Reads the manifests that were last completely applied to the target, or those of the `base` option, and those of the `own`
 * option. Throws InputError when a recorded base cannot be read: an unreadable base must never count as no base, because a
 * plan without a base would undo what is stricter on the gateway.
 */
export async function readPlanBase(input: PlanBaseInput): Promise<PlanBase> {
  const { config, options, selection } = input;
  const configRef = config.file === undefined ? undefined : selection.configRef;
  const isAsked = (options.base !== undefined && options.base !== 'none') || options.own !== undefined || configRef !== undefined;
  const tracked = isTracked(input);
  const needsReview = input.applies === true && tracked;
  if (!isAsked && !needsReview && (options.base === 'none' || !tracked)) return noBase;
  // One that cannot be read is left to the recorder, which refuses to begin, if there is no base to read.
  const isUnused = !isAsked && options.base === 'none' && input.repository instanceof AppError;
  const repository = isUnused ? undefined : readableRepository(input);
  if (repository === undefined && isAsked) {
    throw new AppError('git/no-repository', 3, `${config.root} is not in a git repository, so there is no commit to compare with`, {
      hint: 'remove --base and --own, or run in a clone',
    });
  }
  if (repository === undefined) return noBase;
  const site = { ...input, repository };
  const branch = tracked ? await findReviewedBranch(site, options.origin) : undefined;
  const based = tracked || options.base !== undefined ? await readBase(site, branch) : noBase;
  const unmergedHead = needsReview && branch !== undefined ? await findUnmergedHead(site, branch) : undefined;
  const unsignable = needsReview ? await findSignerRefusals(site, options.origin, based.proof) : [];
  const isOfName = based.read === undefined || parseAppliedRefName(based.read.name)?.target === input.target.name;
  const known = isOfName ? based.base : undefined;
  const own = options.own === undefined ? undefined : await readOwn(site, options.own, known);
  const reviewed = configRef === undefined || configRef === options.own ? own : await readOwn(site, configRef, known);
  const proposed = reviewed === undefined ? undefined : await readProposed(site, reviewed);
  return {
    ...based,
    unmergedHead,
    refusals: [...based.refusals, ...(unmergedHead === undefined ? [] : [unmergedHead.refusal]), ...unsignable],
    own: own?.value,
    proposed,
    diagnostics: [...based.diagnostics, ...new Set([...(own?.diagnostics ?? []), ...(reviewed?.diagnostics ?? [])])],
  };
}

async function readBase(
  site: PlanBaseInput & CommittedProject,
  branch: ReviewedBranch | undefined,
): Promise<Omit<PlanBase, 'own' | 'proposed'>> {
  const { options, target, desired: head } = site;
  if (options.base === 'none') return noBase;
  if (options.base !== undefined) {
    const commit = await resolveCommit(site.repository, options.base);
    return { ...noBase, base: await loadBase(await requireTree(site, commit), head) };
  }
  const found = await readAppliedRecord(site, options.origin);
  const proof = await proveRecord(site, found.read, { ...options, applies: site.applies === true });
  const { record, remembered, unproven, refusals, unmerged } = await checkRecord(site, found.read.record, { head, branch });
  const read = record === found.read.record ? found.read : { ...found.read, record, isRepaired: true as const };
  const diagnostics = [
    ...found.diagnostics,
    ...(unmerged === undefined || refusals.length > 0 ? [] : [unmergedWarning(unmerged, target)]),
    ...unprovenWarning(unproven, site),
    ...unfinishedNotice(read),
  ];
  const { commit } = record;
  const tree = commit === undefined ? undefined : await requireTree(site, commit, parseAppliedRefName(read.name)?.target);
  const known = { refusals: [...proof.refusals, ...refusals], proof, read, unmerged };
  if (commit !== undefined && tree !== undefined && tree.target.url !== target.url) {
    const warning = otherGateway(commit, tree.target, target);
    return {
      base: undefined,
      ...known,
      read: { ...read, record: emptyRecord },
      isUnrecorded: true,
      diagnostics: [...diagnostics, warning],
    };
  }
  const more = { ...known, remembered };
  if (commit === undefined || tree === undefined) {
    const notices = await warnNoneRecorded(site.repository, target);
    return { base: undefined, ...more, ...(notices.length === 0 ? {} : { isUnrecorded: true }), diagnostics: [...diagnostics, ...notices] };
  }
  const { left = [], names = [] } = record;
  const base = {
    ...(await loadBase(tree, head)),
    left: new Map(left.map(({ id, fields }) => [id, fields])),
    names: new Map(names.map(({ id, former }) => [id, former])),
  };
  const behind = base.desired === head ? undefined : await compareHistory(site, { commit, name: options.origin ? read.name : undefined });
  return { base, ...more, behind, diagnostics };
}

/** Checks a record against the reviewed branch, if there is one, and reads what it knows beyond the last complete apply. */
async function checkRecord(
  site: CommittedProject,
  record: AppliedRecord,
  { head, branch }: { readonly head: DesiredState; readonly branch: ReviewedBranch | undefined },
): Promise<CheckedRecord & ProvenRecord> {
  const checkAll = async (): Promise<CheckedRecord & ProvenRecord> => {
    const checked = branch === undefined ? { record, refusals: [] } : await checkAppliedCommit(record, branch, site.target);
    return { ...checked, ...(await readRemembered(site, checked.record, { head, branch })) };
  };
  const result = branch === undefined ? await checkAll() : await catchOriginError(checkAll);
  return result instanceof AppError ? { ...uncheckedRecord(record, site.target, result), unproven: [] } : result;
}

function unmergedWarning({ commit, branch, reason }: UnmergedApply, { name }: Target): Diagnostic {
  const why = reason === undefined ? '' : ` (allowed: ${reason})`;
  return {
    code: 'git/unmerged-apply',
    severity: 'warning',
    message: `"${name}" was applied from ${commit.slice(0, 10)}, which ${branch} does not contain${why}`,
    hint: 'apply reverts what only that commit changed; merge the commit to keep it',
  };
}

/**
 * Reports an apply that was interrupted, or still runs: when its record was last written, and what finishes it. One that gave its lease back
 * has ended: it was of a selection, or could not write the rest.
 */
function unfinishedNotice({ record, at }: ReadRecord): readonly Diagnostic[] {
  const last = record.pending.at(-1);
  if (last === undefined || at === undefined) return [];
  const of = last.commit === undefined ? 'uncommitted manifests' : last.commit.slice(0, 10);
  const when = `(last record: ${timeText(at.toISOString())})`;
  const message =
    record.lease === undefined
      ? `only a part of ${of} is applied ${when}; the next apply of everything writes the rest`
      : `the apply of ${of} has not finished ${when}; the next apply finishes it`;
  return [{ code: 'git/unfinished-apply', severity: 'notice', message }];
}

function unprovenWarning(unproven: readonly ResourceId[], { target: { name }, desired }: PlanBaseInput): readonly Diagnostic[] {
  // What the manifests declare is not unmanaged.
  const declared = new Set<ResourceId>([...desired.resources, ...desired.unselected].map(({ id }) => id));
  const ids = unproven.filter((id) => !declared.has(id));
  if (ids.length === 0) return [];
  return [
    {
      code: 'git/unproven-object',
      severity: 'warning',
      message: `the record of "${name}" names ${firstOf(ids, 5)}, but no reviewed commit declares ${ids.length === 1 ? 'it' : 'them'}; unmanaged`,
      hint: 'whoever can push refs can write the record; if an apply made the object, delete it on the gateway or write a manifest',
    },
  ];
}

/** Reads the files of the base. Throws InputError when they cannot be read. */
async function requireTree(site: CommittedProject, commit: string, named?: string): Promise<CommittedTree> {
  const { value, diagnostics } = await readCommittedTree(site, commit, { named });
  if (value === undefined) throw unreadable(commit, diagnostics);
  return value;
}

async function loadBase(tree: CommittedTree, head: DesiredState): Promise<BaseState> {
  const { site, commit } = tree;
  const { value: desired, diagnostics } = await loadCommittedState(tree, head);
  if (desired === undefined) throw unreadable(commit, diagnostics);
  const kept = new Set<ResourceId>([...head.resources, ...head.unselected].map(({ id }) => id));
  const ids = desired.resources.map(({ id }) => id).filter((id) => !kept.has(id));
  const until = ids.length === 0 ? undefined : site.repository.head;
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
  if (repository.head === undefined) return [];
  const message = `no commit is recorded as completely applied to "${name}", so the plan cannot distinguish intent from drift: nothing is held or deleted`;
  return [
    { code: 'git/no-base', severity: 'notice', message, hint: 'the first complete apply records one; --base REF sets one for this run' },
  ];
}

/** Finds out whether applied commits are missing from HEAD, and reads the manifests that both started from. */
async function compareHistory(
  site: CommittedProject,
  { commit, name }: { readonly commit: string; readonly name: string | undefined },
): Promise<Behind | undefined> {
  const { repository } = site;
  const head = repository.head;
  if (head === undefined || head === commit) return undefined;
  const fork = await findAppliedFork(repository, { head, commit, name });
  if (fork === commit) return undefined;
  if (fork === head) return { head, applied: commit };
  // A shallow clone may just not have the common history.
  if (fork === undefined) return repository.shallow ? undefined : { head, applied: commit, fork: emptyState };
  const { value: state = emptyState } = await readCommittedState(site, fork);
  return { head, applied: commit, fork: state };
}

function otherGateway(commit: string, then: Target, now: Target): Diagnostic {
  return {
    code: 'git/other-gateway',
    severity: 'warning',
    message: `${commit.slice(0, 10)} was applied to ${then.url}, but "${now.name}" is now ${now.url}, where no apply is recorded`,
    hint: `if it is the same gateway, pass --base ${commit}`,
  };
}

/** The manifests at a branch point. */
type BranchPoint = Checked<DesiredState> & { readonly commit: string };

/** Returns the checks at a branch point that a proposal may change, and what it changes of the config. */
async function readProposed(site: CommittedProject, { commit, value }: BranchPoint): Promise<ProposedChecks> {
  const { config, target } = site;
  const { value: then = { root: config.root, targets: [] } } = await readCommittedConfig(site, commit);
  return { config: changedConfig(then, config.proposed ?? config, target.name), reviewed: value };
}

/** Reads the manifests at the branch point, unless they are those of the base. Unreadable manifests are a warning; a commit without manifests makes every change the pull request's own. */
async function readOwn(site: CommittedProject, ref: string, base: BaseState | undefined): Promise<BranchPoint> {
  const { commit, diagnostics } = await findBranchPoint(site.repository, ref);
  if (commit === base?.commit) return { commit, value: base.desired, diagnostics };
  const { value: tree, diagnostics: unread } = await readCommittedTree(site, commit);
  const { value, diagnostics: found } = tree === undefined ? { diagnostics: unread } : await loadCommittedState(tree);
  if (value !== undefined) return { commit, value, diagnostics };
  const errors = [...unread, ...found].filter(({ severity }) => severity === 'error');
  // A commit may have policies and no other manifest.
  const checks = tree === undefined ? {} : readCommittedChecks(tree).value;
  if (errors.every(({ code }) => absences.has(code))) return { commit, value: { ...emptyState, ...checks }, diagnostics };
  const [first] = errors;
  const message = `own changes cannot be marked: the manifests of ${ref} cannot be loaded`;
  const at = first?.at === undefined ? {} : { at: first.at };
  return {
    commit,
    diagnostics: [...diagnostics, { code: 'git/own-unreadable', severity: 'warning', message, hint: first?.message ?? '', ...at }],
  };
}

/** Returns the commit that HEAD has in common with a branch; without one that of the branch, and a warning. */
export async function findBranchPoint(
  repository: Repository,
  ref: string,
): Promise<{ readonly commit: string; readonly diagnostics: readonly Diagnostic[] }> {
  const given = await resolveCommit(repository, ref);
  const head = repository.head;
  const shared = head === undefined ? undefined : await mergeBaseOf(repository, given, head);
  return { commit: shared ?? given, diagnostics: shared === undefined ? [noMergeBase(repository, ref)] : [] };
}

function noMergeBase({ shallow }: Repository, ref: string): Diagnostic {
  return {
    code: 'git/no-merge-base',
    severity: 'warning',
    message: `HEAD and ${ref} have no common ancestor in this clone; the plan compares with ${ref} itself`,
    hint: shallow ? shallowHint(ref) : 'check the name of the branch',
  };
}
