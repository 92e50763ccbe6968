import type { GitHub } from './client.ts';
import { digestOf, nothing, ownOf, textOf, toldIn, withMarks } from './sticky.ts';

/** A pull request of ours that is kept up to date. */
export type StickyPullRequest = {
  readonly key: readonly string[];
  readonly title: string;
  readonly body: string;
  /** What the body says, without what differs from run to run. */
  readonly content: string;
  /** The branch that it is from, and the one that it is for. */
  readonly head: string;
  readonly base: string;
};

/**
 * Keeps the pull request of the branch and tells its number: opens one, or brings ours up to date. What somebody else opened is left
 * alone; where somebody closed ours, none is opened as long as there is nothing else to say.
 */
export async function keepPullRequest(
  github: GitHub,
  { key, title, body, content, head, base }: StickyPullRequest,
): Promise<number | undefined> {
  const all = await github.pullRequestsFrom(head);
  const own = await ownOf(github, key, all);
  const digest = digestOf(content);
  const whole = withMarks(key, digest, body);
  const ours = own.find(({ open }) => open);
  if (ours !== undefined && toldIn(ours) !== digest) await github.updatePullRequest(ours.number, { body: whole });
  const known = ours ?? all.find(({ open }) => open);
  if (known !== undefined) return known.number;
  const [last] = own;
  if (last?.merged === false && toldIn(last) === digest) return undefined;
  return github.createPullRequest({ title, body: whole, head, base });
}

/** Closes our pull request of the branch, with a word, where one is open. */
export async function closePullRequest(
  github: GitHub,
  { key, head }: Pick<StickyPullRequest, 'key' | 'head'>,
  word: string,
): Promise<void> {
  const [last] = await ownOf(github, key, await github.pullRequestsFrom(head));
  if (last === undefined || last.merged) return;
  // What comes back after this is told again, even if it is the same.
  const body = withMarks(key, nothing, textOf(last));
  if (last.open || toldIn(last) !== nothing) await github.updatePullRequest(last.number, { body, ...(last.open ? { open: false } : {}) });
  if (last.open) await github.createComment(last.number, word);
}
