import { hasOrigin } from '../git/origin.ts';
import { type ReviewedBranch, reviewedBranchOf } from '../git/reviewed-branch.ts';
import type { AppliedRecord } from '../model/applied-record.ts';
import type { Target } from '../model/config.ts';
import { AppError } from '../model/errors.ts';
import { defined } from '../model/json.ts';
import type { UnmergedApply } from '../model/result/drift.ts';
import type { Refusal } from '../model/plan/plan.ts';
import { readCommittedConfig } from './committed-manifests.ts';
import type { CommittedProject } from './project.ts';

/** The value of `reviewed` with which every commit counts. */
const anyCommit = 'any';

/**
 * Returns the branch whose commits are reviewed; undefined if every commit counts: the config says so, or there is no origin, so that
 * whoever can write the record can also write every commit; or `origin` may not be asked, and this clone does not know its default branch.
 */
export async function findReviewedBranch(site: CommittedProject, origin: boolean): Promise<ReviewedBranch | undefined> {
  const { repository } = site;
  const { reviewed } = await trustedTarget(site, origin);
  if (reviewed === anyCommit || (reviewed === undefined && !hasOrigin(repository))) return undefined;
  const branch = reviewedBranchOf(repository, { branch: reviewed, origin });
  return origin || reviewed !== undefined || (await branch.tip()) !== undefined ? branch : undefined;
}

/**
 * Returns the target as reviewed commits configure it. A commit that is not reviewed must not decide that it needs no review: `reviewed`
 * counts if the default branch contains HEAD, or has the same value.
 */
async function trustedTarget(site: CommittedProject, origin: boolean): Promise<Pick<Target, 'reviewed'>> {
  const { repository, target, selection } = site;
  if (target.reviewed === undefined || selection.configRef !== undefined || !hasOrigin(repository)) return target;
  const byDefault = reviewedBranchOf(repository, { branch: undefined, origin });
  const head = repository.head;
  if (head !== undefined && (await byDefault.contains(head))) return target;
  const tip = await byDefault.tip();
  if (tip === undefined) return target;
  const { value: config, diagnostics } = await readCommittedConfig(site, tip);
  if (config === undefined && diagnostics.some(({ code }) => code === 'git/no-config')) return target;
  const { reviewed } = config?.targets.find(({ name }) => name === target.name) ?? {};
  return defined({ reviewed });
}

/** What the record may decide, and why apply is refused if it names commits that are not reviewed. */
export type CheckedRecord = {
  /** The record with a reviewed commit as the last applied one. */
  readonly record: AppliedRecord;
  readonly refusals: readonly Refusal[];
  /** The applied commit that the reviewed branch does not contain. */
  readonly unmerged?: UnmergedApply;
};

/**
 * Checks that the reviewed branch contains the last applied commit. Otherwise the plan compares with the last reviewed commit that the
 * applied one contains: what the rest changed on the gateway is drift. A recorded override needs no other one, so that the reviewed branch
 * can always repair the gateway; a commit without one was recorded by something other than apply.
 */
export async function checkAppliedCommit(
  record: AppliedRecord,
  branch: ReviewedBranch,
  target: Pick<Target, 'name'>,
): Promise<CheckedRecord> {
  const { commit, unmerged, overrides = [], ...rest } = record;
  if (unmerged !== undefined && (await branch.contains(unmerged))) return { record: { ...rest, commit: unmerged }, refusals: [] };
  const name = (await branch.name()) ?? noDefaultBranch;
  const reason = overrides.find(({ code }) => code === unmergedCode)?.reason;
  const found = unmerged === undefined ? {} : { unmerged: { commit: unmerged, branch: name, ...defined({ reason }) } };
  const isReviewed = commit === undefined || (await branch.contains(commit));
  if (isReviewed) {
    const base = commit ?? (unmerged === undefined ? undefined : await branch.forkOf(unmerged));
    return { record: { ...record, ...defined({ commit: base }) }, refusals: [], ...found };
  }
  const fork = await branch.forkOf(commit);
  const { commit: _, ...others } = record;
  return {
    record: { ...others, ...defined({ commit: fork }) },
    refusals: [unmergedBase(commit, { name, fork, target: target.name })],
    unmerged: found.unmerged ?? { commit, branch: name },
  };
}

/** A HEAD that the reviewed branch does not contain, and the last reviewed commit that it contains. */
export type UnmergedHead = { readonly commit: string; readonly reviewed: string | undefined; readonly refusal: Refusal };

/** Finds out whether the reviewed branch contains HEAD; undefined if it does, and before the first commit. */
export async function findUnmergedHead({ repository }: CommittedProject, branch: ReviewedBranch): Promise<UnmergedHead | undefined> {
  const commit = repository.head;
  if (commit === undefined) return undefined;
  try {
    if (await branch.contains(commit)) return undefined;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const reason = `${await knownName(branch)} does not contain it, as far as this clone shows: ${error.message}`;
    return { commit, reviewed: undefined, refusal: unmergedHead(commit, reason) };
  }
  const name = await knownName(branch);
  const isMissing = (await branch.tip()) === undefined;
  const reason = isMissing ? `${name} has no commits${hasOrigin(repository) ? ' on origin' : ''}` : `${name} does not contain it`;
  return { commit, reviewed: await branch.forkOf(commit), refusal: unmergedHead(commit, reason) };
}

async function knownName(branch: ReviewedBranch): Promise<string> {
  try {
    return (await branch.name()) ?? noDefaultBranch;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return noDefaultBranch;
  }
}

const noDefaultBranch = 'the default branch of origin';

/** The code of a refused HEAD. */
const unmergedCode = 'git/unmerged-commit';

function unmergedHead(commit: string, reason: string): Refusal {
  return {
    code: unmergedCode,
    message: `HEAD (${commit.slice(0, 10)}) is not reviewed: ${reason}`,
    hint: 'merge and push it, then apply that branch; for another branch, or to apply before the merge, set reviewed: in the config',
    allowable: true,
  };
}

/** Returns the record without what only reviewed commits prove, because origin cannot be asked for them. */
export function uncheckedRecord(record: AppliedRecord, target: Pick<Target, 'name'>, failure: AppError): CheckedRecord {
  const { commit } = record;
  const refusal: Refusal = {
    code: 'git/unmerged-base',
    message: `the record of "${target.name}" cannot be compared with the reviewed branch: ${failure.message}`,
    hint: failure.hint ?? 'give this clone access to origin, or name the base with --base REF',
    allowable: true,
  };
  return { record: { ...record, orphans: [], pending: [] }, refusals: commit === undefined ? [] : [refusal] };
}

type UnmergedBase = { readonly name: string; readonly fork: string | undefined; readonly target: string };

function unmergedBase(commit: string, { name, fork, target }: UnmergedBase): Refusal {
  const instead = fork === undefined ? 'without a base' : `with ${fork.slice(0, 10)}`;
  return {
    code: 'git/unmerged-base',
    message: `the record says that ${commit.slice(0, 10)} was applied to "${target}", which ${name} does not contain; this plan compares ${instead}`,
    hint: 'find out who moved the ref: whoever can push can forge it; then override to record the next apply, or name the base with --base REF',
    allowable: true,
  };
}
