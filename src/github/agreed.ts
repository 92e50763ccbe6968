import type { Comment, GitHub } from './client.ts';
import { ownOf } from './sticky.ts';

/** The digest of the plan that a pull request showed, or why it showed none to go by. */
export type Agreed = { readonly digest: string } | { readonly reason: string };

/** A pull request that was merged, and the commit that its branch was at then. */
export type Merged = { readonly number: number; readonly head: string };

type Comments = Pick<GitHub, 'whoAmI' | 'comments' | 'editorOf'>;

const planLine = /^<!-- ostiary plan ([0-9a-f]{64}) of ([0-9a-f]{40,64}) -->$/;

/** The unseen line of a comment that says which plan it shows, and of which commit of the branch. */
export function planMark(digest: string, head: string): string {
  return `<!-- ostiary plan ${digest} of ${head} -->\n`;
}

/**
 * Finds the plan that was agreed to with the merge: what our comment on the one merged pull request shows of its last
 * commit. Comments of others do not count, whatever they say, nor do ours where somebody else edited them.
 */
export async function agreedPlan(github: Comments, key: readonly string[], merged: readonly Merged[]): Promise<Agreed> {
  const [pullRequest, ...others] = merged;
  if (pullRequest === undefined) return { reason: 'the commit came with no pull request' };
  if (others.length > 0)
    return { reason: `the commit belongs to several pull requests (${merged.map(({ number }) => number).join(', ')})` };
  const { number, head } = pullRequest;
  const ours = await ownOf(github, key, await github.comments(number));
  if (ours.length === 0) return { reason: `pull request ${number} has no comment of ours` };
  const editor = await strangerOf(github, ours);
  if (editor !== undefined) return { reason: `the comment on pull request ${number} was edited by ${editor}` };
  const shown = ours.flatMap(planIn);
  const digests = new Set(shown.filter(({ commit }) => commit === head).map(({ digest }) => digest));
  const [digest, ...more] = digests;
  if (digest !== undefined && more.length === 0) return { digest };
  if (more.length > 0) return { reason: `pull request ${number} has comments with several plans` };
  const [other] = shown;
  const instead = other === undefined ? 'shows no plan' : `shows the plan of commit ${other.commit.slice(0, 10)}`;
  return { reason: `the comment on pull request ${number} ${instead}, and commit ${head.slice(0, 10)} was merged` };
}

/** Who edited one of the comments beside its author. */
async function strangerOf(github: Comments, comments: readonly Comment[]): Promise<string | undefined> {
  const editors = await Promise.all(
    comments.map(async (comment) => {
      const editor = await github.editorOf(comment);
      return editor === undefined || editor.toLowerCase() === comment.author.toLowerCase() ? [] : [editor];
    }),
  );
  return editors.flat()[0];
}

/** Only the line below the marker counts: nothing that a plan tells stands there. */
function planIn({ body }: Comment): readonly { readonly digest: string; readonly commit: string }[] {
  const [, line = ''] = body.replaceAll('\r\n', '\n').split('\n');
  const [, digest, commit] = planLine.exec(line) ?? [];
  return digest === undefined || commit === undefined ? [] : [{ digest, commit }];
}
