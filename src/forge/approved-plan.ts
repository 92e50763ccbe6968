import type { ForgeNames } from './ci-system.ts';
import type { Comment, Forge, PullRequestSummary } from './forge.ts';
import { sectionOf } from './comment-sections.ts';
import { onlyOurs } from './sticky-posts.ts';

/** The digest of the plan that a pull request showed, or the reason why there is none. */
type ApprovedPlan = { readonly digest: string } | { readonly reason: string };

/** A pull request, and the last commit of its branch. */
export type PullRequestHead = { readonly number: number; readonly head: string };

type Comments = Pick<Forge, 'whoAmI' | 'comments' | 'latestOf'>;

const planLine = /^<!-- ostiary plan ([0-9a-f]{64}) of ([0-9a-f]{40,64}) -->$/;

/** Returns the hidden line of a section that names the plan it shows and the commit of the branch. */
export function planMark(digest: string, head: string): string {
  return `<!-- ostiary plan ${digest} of ${head} -->\n`;
}

/** The key of a comment, and the name of one of its sections. */
type SectionPlace = { readonly key: readonly string[]; readonly section: string };

/**
 * Finds the plan that reviewers approved by merging: the one that the section of our comment on the merged pull request shows for its
 * last commit. Comments by others do not count, neither do ours if another account edited them, or if jobs of others share our account.
 */
export async function findApprovedPlan(
  forge: Comments,
  { key, section }: SectionPlace,
  merged: readonly PullRequestHead[],
  { request, sharedAccount }: Pick<ForgeNames, 'request' | 'sharedAccount'>,
): Promise<ApprovedPlan> {
  const [pullRequest, ...others] = merged;
  if (pullRequest === undefined) return { reason: `the commit belongs to no ${request}` };
  if (others.length > 0) return { reason: `the commit belongs to several ${request}s (${merged.map(({ number }) => number).join(', ')})` };
  if (sharedAccount !== undefined && (await forge.whoAmI()).toLowerCase() === sharedAccount)
    return { reason: `every workflow of the repository can write comments as ${sharedAccount}, so they approve nothing` };
  const { number, head } = pullRequest;
  const ours = await onlyOurs(forge, key, await forge.comments(number));
  if (ours.length === 0) return { reason: `${request} ${number} has no comment by Ostiary` };
  const versions = await Promise.all(ours.map((comment) => forge.latestOf(comment)));
  const editor = versions.map((one) => one.editor).find((login, index) => isOther(login, ours[index]));
  if (editor !== undefined) return { reason: `the comment on ${request} ${number} was edited by ${editor}` };
  const texts = versions.flatMap(({ body }) => sectionOf(body, section) ?? []);
  if (texts.length === 0)
    return { reason: `the comment on ${request} ${number} has no section${section === '' ? ' of this config' : ` for ${section}`}` };
  const shown = texts.flatMap(approvalIn);
  const digests = new Set(shown.filter(({ commit }) => commit === head).map(({ digest }) => digest));
  const [digest, ...more] = digests;
  if (digest !== undefined && more.length === 0) return { digest };
  if (more.length > 0) return { reason: `${request} ${number} has comments with several plans` };
  const [other] = shown;
  const instead = other === undefined ? 'shows no plan that was not refused' : `shows the plan of commit ${other.commit.slice(0, 10)}`;
  return { reason: `the comment on ${request} ${number} ${instead}, and commit ${head.slice(0, 10)} was merged` };
}

/** Returns whether an account other than the author edited a comment. */
function isOther(editor: string | undefined, comment: Comment | undefined): boolean {
  return editor !== undefined && editor.toLowerCase() !== comment?.author.toLowerCase();
}

/** Reads the first line of a section, which never contains text from a plan. */
function approvalIn(text: string): readonly { readonly digest: string; readonly commit: string }[] {
  const [line = ''] = text.split('\n');
  const [, digest, commit] = planLine.exec(line) ?? [];
  return digest === undefined || commit === undefined ? [] : [{ digest, commit }];
}

/** Returns the merged pull requests behind a commit of a branch: those that it merges, otherwise those that it belongs to. */
export async function mergedPullRequests(forge: Forge, commit: string, branch: string): Promise<readonly PullRequestSummary[]> {
  const merged = (await forge.pullRequestsOf(commit)).filter((one) => one.merged && one.base === branch);
  const exact = merged.filter(({ mergeCommit }) => mergeCommit === commit);
  return exact.length > 0 ? exact : merged;
}
