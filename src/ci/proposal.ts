import { isOriginOf } from '../git/origin.ts';
import { findRef, ofOrigin } from '../git/refs.ts';
import { containsCommit, isCommitId, parentsOf, type Repository } from '../git/repository.ts';
import { resolveCommit } from '../git/resolve-commit.ts';
import type { PullRequest } from '../forge/forge.ts';
import type { CiRun } from '../forge/ci-system.ts';
import { AppError, UsageError } from '../model/errors.ts';
import { uncommittedConfig } from '../project/config-checkout.ts';
import type { CliContext } from '../commands/context/cli-context.ts';
import type { ActionInputs } from './inputs.ts';

/** A checkout that is not merged: `configRef` has the reviewed config, `own` the commit that it is proposed for. */
export type Proposal = { readonly configRef: string; readonly own: string };

/**
 * Returns the proposal that is checked out; undefined if HEAD is a commit of the reviewed branch, that is of the input `config-ref`
 * or of the default branch, and the config file is that of HEAD. The event does not decide this, because a workflow can check out any commit for any event. Throws AppError
 * for a checkout without the head of the pull request, and UsageError for a proposal in modes that need a merged commit.
 */
export async function findProposal(
  inputs: ActionInputs,
  run: CiRun,
  { repository, context }: { readonly repository: Repository | undefined; readonly context: CliContext },
): Promise<Proposal | undefined> {
  const head = repository?.head;
  const checkout = repository === undefined || head === undefined ? undefined : { repository, head };
  const { mode } = inputs;
  if (mode === 'apply' || mode === 'drift') refuseUnmerged(run, mode);
  if (isOpen(run)) await requirePullRequestHead(run, run.pullRequest, checkout);
  if (mode === 'validate') return undefined;
  const { proposedFor } = run;
  const isProposed = proposedFor !== undefined && run.pullRequest?.merged !== true;
  const reviewed = await reviewedCommits(inputs, run, checkout?.repository);
  if (!isProposed && checkout !== undefined && (await isReviewed(checkout, reviewed))) {
    const edited = await uncommittedConfig({ config: inputs.flags['config'] }, checkout.repository, context);
    if (edited === undefined) return undefined;
    if (!isForProposals(mode)) throw unreviewedConfig(inputs, checkout.head, edited);
  }
  if (!isForProposals(mode)) throw unreviewedCheckout(inputs, run, checkout?.head);
  const isForDefault = isProposed && inputs.configRef === undefined && proposedFor.branch === run.defaultBranch;
  const [configRef] = isForDefault ? [proposedFor.commit] : reviewed;
  if (configRef === undefined) throw unknownBranch(run);
  return { configRef, own: isProposed ? proposedFor.commit : configRef };
}

/** Returns whether a step is about commits that are not reviewed yet; it writes nothing to a gateway. */
function isForProposals(mode: ActionInputs['mode']): boolean {
  return mode === 'plan' || mode === 'targets';
}

type GitCheckout = { readonly repository: Repository; readonly head: string };

function isOpen(run: CiRun): run is CiRun & { readonly pullRequest: PullRequest } {
  return run.pullRequest !== undefined && !run.pullRequest.merged;
}

/** Returns the commits whose history is reviewed: `config-ref`, otherwise the default branch. Throws AppError for a name in the checkout of a fork. */
async function reviewedCommits({ configRef }: ActionInputs, run: CiRun, repository: Repository | undefined): Promise<readonly string[]> {
  // A checkout of a fork has branches of the same names, so origin must be this repository.
  const isOurs = repository !== undefined && isOriginOf(repository, run.page);
  if (configRef !== undefined) {
    if (repository === undefined) return [configRef];
    if (run.pullRequest?.fork === true && !isOurs && !isCommitId(repository, configRef)) throw branchOfFork(configRef, run);
    return [await resolveCommit(repository, configRef)];
  }
  if (run.defaultBranch === undefined) return [];
  const tip = isOurs ? await findRef(repository, `${ofOrigin}${run.defaultBranch}`) : undefined;
  return [...(run.branch === run.defaultBranch ? [run.commit] : []), ...(tip === undefined ? [] : [tip])];
}

async function isReviewed({ repository, head }: GitCheckout, reviewed: readonly string[]): Promise<boolean> {
  for (const commit of reviewed) if (await containsCommit(repository, commit, head)) return true;
  return false;
}

/** Throws AppError if the checkout is not what the pull request proposes: a report about it would show other manifests. */
async function requirePullRequestHead(run: CiRun, { number, head }: PullRequest, checkout: GitCheckout | undefined): Promise<void> {
  // The commit of these events is the test merge of the pull request.
  const isTestMerge = run.event !== 'pull_request_target' && run.mention === undefined;
  if (checkout === undefined) {
    if (isTestMerge) return;
  } else {
    const { repository, head: found } = checkout;
    if (isTestMerge && found === run.commit) return;
    if ((await parentsOf(repository, found)).includes(head) || (await containsCommit(repository, found, head))) return;
  }
  const found =
    checkout === undefined
      ? 'the folder is not a git checkout, so it may not contain'
      : `HEAD is ${checkout.head.slice(0, 12)} and does not contain`;
  throw new AppError('forge/other-checkout', 3, `${found} commit ${head.slice(0, 12)} of ${run.names.request} ${number}`, {
    hint: run.names.checkoutHint(run, number),
  });
}

function refuseUnmerged({ event, pullRequest, proposedFor, names }: CiRun, mode: 'apply' | 'drift'): void {
  if (pullRequest === undefined ? proposedFor === undefined : pullRequest.merged) return;
  const what = pullRequest === undefined ? `the commit of this ${event}` : `${names.request} ${pullRequest.number} of this ${event}`;
  throw new UsageError(
    `mode: ${mode} requires a merged commit, but ${what} is not merged`,
    mode === 'drift'
      ? 'run it on a schedule, by hand or on push to the branch'
      : `run it on push to the branch, or on a ${names.request} that was closed by its merge`,
  );
}

function unreviewedCheckout({ mode, configRef }: ActionInputs, run: CiRun, head: string | undefined): AppError {
  if (configRef === undefined && run.defaultBranch === undefined) return unknownBranch(run);
  const branch = configRef ?? `the default branch ${run.defaultBranch ?? ''}`;
  const message =
    head === undefined
      ? `mode: ${mode} needs a commit of ${branch}, but the folder is not a git checkout`
      : `mode: ${mode} needs a commit of ${branch}, but HEAD ${head.slice(0, 12)} is not known to be one`;
  return new AppError('forge/not-reviewed', 3, message, {
    hint: `check out that branch with ${run.names.wholeHistory}; if another branch is also reviewed, set config-ref: origin/BRANCH`,
  });
}

function unreviewedConfig({ mode }: ActionInputs, head: string, file: string): AppError {
  const message = `mode: ${mode} needs a reviewed config file, but ${file} differs from commit ${head.slice(0, 12)}`;
  return new AppError('forge/not-reviewed', 3, message, { hint: 'commit the file and merge it; another URL can be set with OSTIARY_URL' });
}

function branchOfFork(name: string, { names }: CiRun): AppError {
  const message = `the origin of this checkout is the fork of the ${names.request}, whose author chose what its ${name} is`;
  return new AppError('forge/not-reviewed', 3, message, {
    hint: 'check out this repository, at the head of the request; or set config-ref to a whole commit ID',
  });
}

function unknownBranch({ event, names }: CiRun): AppError {
  return new AppError('forge/not-reviewed', 3, `this run of ${event} has no commit of the default branch, so it has no reviewed config`, {
    hint: `check out this repository with ${names.wholeHistory}, or set config-ref: origin/BRANCH`,
  });
}
