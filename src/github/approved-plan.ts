import { AppError } from '../model/errors.ts';
import type { Comment, GitHub } from './github-client.ts';
import { onlyOurs } from './sticky-posts.ts';
import type { PullRequestSummary } from './calls.ts';

/** The digest of the plan that a pull request showed, or the reason why there is none. */
type ApprovedPlan = { readonly digest: string } | { readonly reason: string };

/** A merged pull request, with the head commit of its branch at that time. */
export type MergedPullRequest = { readonly number: number; readonly head: string };

type Comments = Pick<GitHub, 'whoAmI' | 'comments' | 'editorOf'>;

const planLine = /^<!-- ostiary plan ([0-9a-f]{64}) of ([0-9a-f]{40,64}) -->$/;

/** Returns the hidden line of a comment that names the plan it shows and the commit of the branch. */
export function planMark(digest: string, head: string): string {
  return `<!-- ostiary plan ${digest} of ${head} -->\n`;
}

/**
 * Finds the plan that reviewers approved by merging: the one that our comment on the merged pull request shows for its last
 * commit. Comments by others do not count, and neither do ours if another account edited them.
 */
export async function findApprovedPlan(
  github: Comments,
  key: readonly string[],
  merged: readonly MergedPullRequest[],
): Promise<ApprovedPlan> {
  const [pullRequest, ...others] = merged;
  if (pullRequest === undefined) return { reason: 'the commit belongs to no pull request' };
  if (others.length > 0)
    return { reason: `the commit belongs to several pull requests (${merged.map(({ number }) => number).join(', ')})` };
  const { number, head } = pullRequest;
  const ours = await onlyOurs(github, key, await github.comments(number));
  if (ours.length === 0) return { reason: `pull request ${number} has no comment by Ostiary` };
  const editor = await findOtherEditor(github, ours);
  if (editor !== undefined) return { reason: `the comment on pull request ${number} was edited by ${editor}` };
  const shown = ours.flatMap(approvalIn);
  const digests = new Set(shown.filter(({ commit }) => commit === head).map(({ digest }) => digest));
  const [digest, ...more] = digests;
  if (digest !== undefined && more.length === 0) return { digest };
  if (more.length > 0) return { reason: `pull request ${number} has comments with several plans` };
  const [other] = shown;
  const instead = other === undefined ? 'shows no plan' : `shows the plan of commit ${other.commit.slice(0, 10)}`;
  return { reason: `the comment on pull request ${number} ${instead}, and commit ${head.slice(0, 10)} was merged` };
}

/** Returns the login of an account other than the author that edited one of the comments. */
async function findOtherEditor(github: Pick<Comments, 'editorOf'>, comments: readonly Comment[]): Promise<string | undefined> {
  const editors = await Promise.all(
    comments.map(async (comment) => {
      const editor = await github.editorOf(comment);
      return editor === undefined || editor.toLowerCase() === comment.author.toLowerCase() ? [] : [editor];
    }),
  );
  return editors.flat()[0];
}

/** Reads the line below the marker, which never contains text from a plan. */
function approvalIn({ body }: Comment): readonly { readonly digest: string; readonly commit: string }[] {
  const [, line = ''] = body.replaceAll('\r\n', '\n').split('\n');
  const [, digest, commit] = planLine.exec(line) ?? [];
  return digest === undefined || commit === undefined ? [] : [{ digest, commit }];
}

/** Returns the merged pull requests behind a commit of a branch: those that it merges, otherwise those that it belongs to. */
export async function mergedPullRequests(github: GitHub, commit: string, branch: string): Promise<readonly PullRequestSummary[]> {
  const merged = (await github.pullRequestsOf(commit)).filter((one) => one.merged && one.base === branch);
  const exact = merged.filter(({ mergeCommit }) => mergeCommit === commit);
  return exact.length > 0 ? exact : merged;
}

/** What people with write access decided in comments on a pull request. */
export type OverrideComments = {
  /** The refusals to override, as `CODE=REASON`; the reason names the author. */
  readonly allow: readonly string[];
  /** The digest of the plan to apply; the last comment decides. */
  readonly digest: string | undefined;
  /** Why commands in other comments do not count. */
  readonly ignored: readonly string[];
};

type Command = { readonly comment: Comment; readonly text: string };

const allowCommand = /^\/ostiary allow ([0-9a-f]{7,64}) ([a-z]+\/[a-z-]+)=(\S.*)$/;
const applyCommand = /^\/ostiary apply ([0-9a-f]{64})$/;

/** Returns the command that overrides a refusal of the plan of a commit. */
export function allowCommandFor(head: string, code: string): string {
  return `/ostiary allow ${head.slice(0, 12)} ${code}=REASON`;
}

/** Returns the command that agrees to a plan. */
export function applyCommandFor(digest: string): string {
  return `/ostiary apply ${digest}`;
}

/**
 * Reads the commands in the comments on a pull request, each on a line of its own. A command counts if its author may write to the
 * repository and no other account edited it. One that overrides a refusal names the head of the pull request, so that it ends with
 * the next push.
 */
export async function readOverrideComments(
  github: Pick<GitHub, 'comments' | 'editorOf' | 'mayWrite'>,
  { number, head }: { readonly number: number; readonly head: string },
): Promise<OverrideComments> {
  const commands = (await github.comments(number)).flatMap(commandsIn);
  const reasons = new Map<Comment, string | undefined>();
  for (const { comment } of commands) if (!reasons.has(comment)) reasons.set(comment, await findObjection(github, comment));
  // The last comment decides.
  const allow = new Map<string, string>();
  const ignored: string[] = [];
  let digest: string | undefined;
  for (const { comment, text } of commands) {
    const [, commit = '', code = '', reason = ''] = allowCommand.exec(text) ?? [];
    const [, agreed] = applyCommand.exec(text) ?? [];
    const objection = reasons.get(comment) ?? objectionTo({ commit, agreed, head });
    if (objection !== undefined) ignored.push(`"${text}" by ${comment.author} is ignored: ${objection}`);
    else if (agreed === undefined) allow.set(code, `${code}=${reason} (${comment.author}, pull request ${number})`);
    else digest = agreed;
  }
  return { allow: [...allow.values()], digest, ignored };
}

function commandsIn(comment: Comment): readonly Command[] {
  const lines = comment.body.split(/\r\n|\r|\n/).map((line) => line.trim());
  return lines.filter((line) => /^\/ostiary\b/.test(line)).map((text) => ({ comment, text }));
}

/** Returns why no command of the comment counts; undefined if they count. */
async function findObjection(github: Pick<GitHub, 'editorOf' | 'mayWrite'>, comment: Comment): Promise<string | undefined> {
  const { author } = comment;
  if (!(await mayWrite(github, author))) return `GitHub reports no write access for ${author}`;
  const editor = await findOtherEditor(github, [comment]);
  return editor === undefined ? undefined : `${editor} edited the comment`;
}

async function mayWrite(github: Pick<GitHub, 'mayWrite'>, login: string): Promise<boolean> {
  try {
    return await github.mayWrite(login);
  } catch (error) {
    // GitHub answers 404 for accounts that are not collaborators.
    if (error instanceof AppError && error.code === 'github/forbidden') return false;
    throw error;
  }
}

type ParsedCommand = { readonly commit: string; readonly agreed: string | undefined; readonly head: string };

function objectionTo({ commit, agreed, head }: ParsedCommand): string | undefined {
  if (agreed !== undefined) return undefined;
  if (commit === '') return 'write /ostiary allow COMMIT CODE=REASON, or /ostiary apply DIGEST';
  return head.startsWith(commit) ? undefined : `the head of the pull request is ${head.slice(0, 12)}`;
}
