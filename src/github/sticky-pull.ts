import type { GitHub } from './client.ts';
import { digestOf, ownOf, withMarks, toldIn } from './sticky.ts';

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

/** Keeps the pull request of the branch and tells its number: opens one, or brings ours up to date. What somebody else opened is left alone. */
export async function keepPullRequest(github: GitHub, { key, title, body, content, head, base }: StickyPullRequest): Promise<number> {
  const open = await github.pullRequestsFrom(head);
  const digest = digestOf(content);
  const whole = withMarks(key, digest, body);
  const [ours] = await ownOf(github, key, open);
  if (ours !== undefined && toldIn(ours) !== digest) await github.updatePullRequest(ours.number, { body: whole });
  return (ours ?? open[0])?.number ?? (await github.createPullRequest({ title, body: whole, head, base }));
}

/** Closes our pull request of the branch, with a word, where one is open. */
export async function closePullRequest(
  github: GitHub,
  { key, head }: Pick<StickyPullRequest, 'key' | 'head'>,
  word: string,
): Promise<void> {
  const [ours] = await ownOf(github, key, await github.pullRequestsFrom(head));
  if (ours === undefined) return;
  await github.updatePullRequest(ours.number, { open: false });
  await github.createComment(ours.number, word);
}
