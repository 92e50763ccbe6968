import type { Comment, GitHub } from './github-client.ts';
import { findOtherEditor } from './approved-plan.ts';
import { AppError } from '../model/errors.ts';

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
