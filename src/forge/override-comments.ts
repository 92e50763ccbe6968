import { AppError } from '../model/errors.ts';
import type { ApprovalRules } from '../model/config.ts';
import type { ForgeNames } from './ci-system.ts';
import type { Comment, Forge, PeopleCalls } from './forge.ts';
import { findEditor, type PullRequestHead } from './approved-plan.ts';

/** What people decided in comments on a pull request. */
export type OverrideComments = {
  /** The refusals to override, as `CODE=REASON`; the reason names the author. */
  readonly allow: readonly string[];
  /** The digest of the plan to apply; the last comment decides. */
  readonly digest: string | undefined;
  /** The commands that count. */
  readonly decisions: readonly CommentDecision[];
  /** Why commands in other comments do not count. */
  readonly ignored: readonly string[];
  /** What could not be checked about the commands that count. */
  readonly unchecked: readonly string[];
};

/** A command that counts, its author, and its comment. */
export type CommentDecision = { readonly author: string; readonly command: string; readonly comment: number };

type DecidingForge = Pick<Forge, 'comments' | 'latestOf'> &
  PeopleCalls & { readonly names: Pick<ForgeNames, 'forge' | 'request' | 'mayDecide'> };

type Command = { readonly comment: Comment; readonly text: string; readonly isPlain: boolean };

const commandLine = /^\s*\/ostiary\b/m;
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
 * Reads the commands in the comments on a pull request, each on a plain line of a paragraph. A command counts if its author is a
 * person with write access whom the rules accept, and if the comment was never edited. One that overrides a refusal
 * names the head of the pull request, so that it ends with the next push.
 */
export async function readOverrideComments(
  forge: DecidingForge,
  { number, head, author }: PullRequestHead,
  rulesOf: () => Promise<ApprovalRules>,
): Promise<OverrideComments> {
  const comments = (await forge.comments(number)).filter(({ body }) => commandLine.test(body));
  if (comments.length === 0) return { allow: [], digest: undefined, decisions: [], ignored: [], unchecked: [] };
  const judge = openJudge(forge, { head, author }, await rulesOf());
  // The last comment decides.
  const allow = new Map<string, CommentDecision & { readonly override: string }>();
  const ignored: string[] = [];
  let agreed: (CommentDecision & { readonly digest: string }) | undefined;
  for (const comment of comments) {
    const objection = await judge.objectionTo(comment);
    for (const { text, isPlain } of await commandsIn(comment, objection === undefined)) {
      const [, commit = '', code = '', reason = ''] = allowCommand.exec(text) ?? [];
      const [, digest] = applyCommand.exec(text) ?? [];
      const problem = objection ?? (isPlain ? problemWith({ commit, digest, head }, forge.names) : notPlain);
      const decision = { author: comment.author, command: text, comment: comment.id };
      if (problem !== undefined) ignored.push(`"${text}" by ${comment.author} is ignored: ${problem}`);
      else if (digest !== undefined) agreed = { ...decision, digest };
      else allow.set(code, { ...decision, override: `${code}=${reason} (${comment.author}, ${forge.names.request} ${number})` });
    }
  }
  const decisions = [...allow.values(), ...(agreed === undefined ? [] : [agreed])];
  return {
    allow: [...allow.values()].map(({ override }) => override),
    digest: agreed?.digest,
    decisions: decisions.map(({ author: by, command, comment }) => ({ author: by, command, comment })),
    ignored,
    unchecked: judge.unchecked(),
  };
}

const notPlain = 'it is not a plain line of text: a code block, quotation, list or other element contains it';

/** Returns the lines that look like commands; only `isCounted` comments are read as Markdown, and comments of others show as they are. */
async function commandsIn(comment: Comment, isCounted: boolean): Promise<readonly Command[]> {
  const lines = comment.body.split(/\r\n|\r|\n/);
  const plain = isCounted ? (await import('./plain-lines.ts')).plainLinesOf(comment.body) : undefined;
  return lines.flatMap((line, index) =>
    commandLine.test(line) ? [{ comment, text: line.trim(), isPlain: plain?.has(index) === true }] : [],
  );
}

type Judge = {
  /** Returns why no command of the comment counts; undefined if they can count. */
  readonly objectionTo: (comment: Comment) => Promise<string | undefined>;
  /** Returns what could not be checked about comments that count. */
  readonly unchecked: () => readonly string[];
};

/** The longest comment with commands: reading Markdown of any size could take minutes. */
const longestComment = 10_000;

function openJudge(forge: DecidingForge, { head, author }: Omit<PullRequestHead, 'number'>, rules: ApprovalRules): Judge {
  const unchecked = new Set<string>();
  const { names } = forge;
  let authors: ReturnType<PeopleCalls['commitAuthors']> | undefined;

  async function objectionToSelf(login: string): Promise<string | undefined> {
    if (rules.selfApproval) return undefined;
    if (isSameLogin(login, author)) return `${login} is the author of the ${names.request}${selfHint}`;
    const commit = head.slice(0, 12);
    authors ??= forge.commitAuthors(head);
    const found = await authors;
    if (found === undefined) {
      unchecked.add(`${names.forge} does not show commit ${commit}, so its author may have written a command that counts`);
      return undefined;
    }
    if (found.length === 0) return `${names.forge} knows no account for the author of commit ${commit}${selfHint}`;
    return found.some((one) => isSameLogin(login, one)) ? `${login} is the author of commit ${commit}${selfHint}` : undefined;
  }

  async function objectionByApprovers(login: string): Promise<string | undefined> {
    const { approvers } = rules;
    if (approvers.length === 0 || approvers.some((one) => isSameLogin(one, login))) return undefined;
    const unread: string[] = [];
    for (const [team, slug] of approvers.map((one) => [one, one.split('/')] as const)) {
      const [organization = '', name] = slug;
      if (name === undefined) continue;
      const isMember = await forge.isTeamMember(organization, name, login);
      if (isMember === true) return undefined;
      if (isMember === undefined) unread.push(team);
    }
    const missing = unread.length === 0 ? '' : `; the token may not read the members of ${unread.join(', ')}`;
    return `${login} is not one of the approvers in the config${missing}`;
  }

  return {
    async objectionTo(comment) {
      const { author: login, body } = comment;
      if (comment.isByBot) return 'comments of bots do not count';
      if (body.length > longestComment) return `the comment is longer than ${longestComment} characters`;
      if (!(await mayDecide(forge, login))) return `${names.forge} reports no ${names.mayDecide.replace(/^the /, '')} for ${login}`;
      const editor = await findEditor(forge, comment);
      if (editor !== undefined) return `${editor} edited the comment; a new comment counts`;
      return (await objectionToSelf(login)) ?? objectionByApprovers(login);
    },
    unchecked: () => [...unchecked],
  };
}

const selfHint = '; another person decides, unless the config sets self_approval';

function isSameLogin(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}

/** Returns whether the commands of a person can count: write access or more. */
export async function mayDecide(forge: Pick<PeopleCalls, 'mayWrite'>, login: string): Promise<boolean> {
  try {
    return await forge.mayWrite(login);
  } catch (error) {
    // GitHub answers 404 for accounts that are not collaborators.
    if (error instanceof AppError && error.code === 'forge/forbidden') return false;
    throw error;
  }
}

type ParsedCommand = { readonly commit: string; readonly digest: string | undefined; readonly head: string };

function problemWith({ commit, digest, head }: ParsedCommand, { request }: Pick<ForgeNames, 'request'>): string | undefined {
  if (digest !== undefined) return undefined;
  if (commit === '') return 'write /ostiary allow COMMIT CODE=REASON, or /ostiary apply DIGEST';
  return head.startsWith(commit) ? undefined : `the head of the ${request} is ${head.slice(0, 12)}`;
}
