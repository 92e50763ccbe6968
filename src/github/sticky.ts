import { createHash } from 'node:crypto';
import type { Comment, GitHub } from './client.ts';

/** One comment of ours that is kept up to date. */
export type Sticky = {
  readonly number: number;
  /** What the comment is found by: the same for every run of one purpose and target. */
  readonly key: readonly string[];
  readonly body: string;
  /** There is nothing to say that would be worth a comment of its own. */
  readonly onlyUpdate: boolean;
};

/** How long the body of a sticky comment may be: GitHub's limit less the marker. */
export const stickyLimit: number = 65_536 - 100;

/** Keeps the comment: updates ours, or creates it; a comment with our marker that somebody else wrote is left alone. */
export async function keepComment(github: GitHub, { number, key, body, onlyUpdate }: Sticky): Promise<void> {
  const marker = markerOf(key);
  const whole = `${marker}\n${body}`;
  const marked = (await github.comments(number)).filter((comment) => comment.body.startsWith(marker));
  const ours = marked.length === 0 ? undefined : ownOf(marked, await github.whoAmI());
  if (ours !== undefined) {
    if (!sameText(ours.body, whole)) await github.updateComment(ours.id, whole);
  } else if (!onlyUpdate) await github.createComment(number, whole);
}

function markerOf(key: readonly string[]): string {
  return `<!-- ostiary ${createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 32)} -->`;
}

function ownOf(comments: readonly Comment[], login: string): Comment | undefined {
  return comments.find(({ author }) => author.toLowerCase() === login.toLowerCase());
}

/** GitHub trims what it stores, and may spell line ends in its own way. */
function sameText(left: string, right: string): boolean {
  return left.replaceAll('\r\n', '\n').trim() === right.replaceAll('\r\n', '\n').trim();
}
