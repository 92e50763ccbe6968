import type { ForgeNames } from './ci-system.ts';
import type { Comment, Forge, PullRequestSummary } from './forge.ts';
import { contentDigest, readStickyBody } from './sticky-body.ts';
import { byThisAccount } from './sticky-posts.ts';

/** The digest of the plan that a pull request showed, or the reason why there is none. */
type ApprovedPlan = { readonly digest: string } | { readonly reason: string };

/** A pull request, and the last commit of its branch. */
export type PullRequestHead = { readonly number: number; readonly head: string };

type Comments = Pick<Forge, 'whoAmI' | 'comments' | 'latestOf'>;

const planLine = /^<!-- ostiary plan ([0-9a-f]{32}) ([0-9a-f]{64}) of ([0-9a-f]{40,64}) -->$/;

/** A plan that a comment shows: its name, which is that of its config and target, its digest, and the commit of the branch. */
export type ShownPlan = { readonly name: readonly string[]; readonly digest: string; readonly head: string };

/** Returns a report with hidden lines that name the plans it shows, below its heading. */
export function withPlanMarks(report: string, plans: readonly ShownPlan[]): string {
  const [heading = ''] = /^#[^\n]*\n/.exec(report) ?? [];
  const marks = plans.map(({ name, digest, head }) => `<!-- ostiary plan ${nameDigest(name)} ${digest} of ${head} -->\n`);
  return `${heading}${marks.join('')}\n${report.slice(heading.length)}`;
}

/** The most characters that the hidden line of a plan takes. */
export const planMarkLength = 192;

function nameDigest(name: readonly string[]): string {
  return contentDigest(JSON.stringify(name));
}

/**
 * Finds the plan that reviewers approved by merging: the one that our comment on the merged pull request shows for its last
 * commit. Comments by others do not count, neither do ours if another account edited them, or if jobs of others share our account.
 */
export async function findApprovedPlan(
  forge: Comments,
  name: readonly string[],
  merged: readonly PullRequestHead[],
  { request, sharedAccount }: Pick<ForgeNames, 'request' | 'sharedAccount'>,
): Promise<ApprovedPlan> {
  const [pullRequest, ...others] = merged;
  if (pullRequest === undefined) return { reason: `the commit belongs to no ${request}` };
  if (others.length > 0) return { reason: `the commit belongs to several ${request}s (${merged.map(({ number }) => number).join(', ')})` };
  if (sharedAccount !== undefined && (await forge.whoAmI()).toLowerCase() === sharedAccount)
    return { reason: `every workflow of the repository can write comments as ${sharedAccount}, so they approve nothing` };
  const { number, head } = pullRequest;
  const ours = await byThisAccount(
    forge,
    (await forge.comments(number)).filter(({ body }) => readStickyBody(body) !== undefined),
  );
  if (ours.length === 0) return { reason: `${request} ${number} has no comment by Ostiary` };
  const versions = await Promise.all(ours.map(async (comment) => ({ comment, ...(await forge.latestOf(comment)) })));
  const showing = versions.flatMap((one) => plansIn(one.body, name).map((plan) => ({ ...one, ...plan })));
  const edited = showing.find(({ editor, comment }) => isOther(editor, comment));
  if (edited !== undefined) return { reason: `the comment on ${request} ${number} was edited by ${edited.editor}` };
  const shown = showing.map(({ digest, commit }) => ({ digest, commit }));
  const digests = new Set(shown.filter(({ commit }) => commit === head).map(({ digest }) => digest));
  const [digest, ...more] = digests;
  if (digest !== undefined && more.length === 0) return { digest };
  if (more.length > 0) return { reason: `${request} ${number} has comments with several plans` };
  const [other] = shown;
  const instead = other === undefined ? 'shows no plan that was not refused' : `shows the plan of commit ${other.commit.slice(0, 10)}`;
  return { reason: `the comment on ${request} ${number} ${instead}, and commit ${head.slice(0, 10)} was merged` };
}

/** Returns whether an account other than the author edited a comment. */
function isOther(editor: string | undefined, comment: Comment): boolean {
  return editor !== undefined && editor.toLowerCase() !== comment.author.toLowerCase();
}

/** Returns the plans of a name that a comment shows; its first lines name them, and contain no text from a plan. */
function plansIn(body: string, name: readonly string[]): readonly { readonly digest: string; readonly commit: string }[] {
  const lines = (readStickyBody(body)?.text ?? '').replace(/^#[^\n]*\n/, '').split('\n');
  const marks = lines.map((line) => planLine.exec(line));
  const end = marks.indexOf(null);
  return marks.slice(0, end === -1 ? marks.length : end).flatMap((mark) => {
    const [, of, digest = '', commit = ''] = mark ?? [];
    return of === nameDigest(name) ? [{ digest, commit }] : [];
  });
}

/** Returns the merged pull requests behind a commit of a branch: those that it merges, otherwise those that it belongs to. */
export async function mergedPullRequests(forge: Forge, commit: string, branch: string): Promise<readonly PullRequestSummary[]> {
  const merged = (await forge.pullRequestsOf(commit)).filter((one) => one.merged && one.base === branch);
  const exact = merged.filter(({ mergeCommit }) => mergeCommit === commit);
  return exact.length > 0 ? exact : merged;
}
