import type { AuthorAddress } from '../model/result/authored-commit.ts';
import type { ApprovalRules } from '../model/config.ts';
import type { Allowance } from '../model/plan/plan.ts';
import type { ForgeNames } from './ci-system.ts';
import { allowCommandFor, beginsWithCommand, firstLineOf, parseCommand } from './comment-commands.ts';
import { unlessRefused } from './forge-errors.ts';
import type { Comment, Forge, PeopleCalls } from './forge.ts';

/** What people decided in comments on a pull request. */
export type OverrideComments = {
  /** The refusals to override; the reason names the author. */
  readonly allow: readonly Allowance[];
  /** The digest of the plan to apply; the last comment decides. */
  readonly digest: string | undefined;
  /** The commands that count. */
  readonly decisions: readonly CommentDecision[];
  /** Why commands in other comments do not count. */
  readonly ignored: readonly string[];
};

/** A command that counts, its author, and its comment. */
export type CommentDecision = { readonly author: string; readonly command: string; readonly comment: number };

/** A plan that comments decide about. */
export type DecidedPlan = {
  /** The pull request whose comments count, and the last commit of its branch. */
  readonly number: number;
  readonly head: string;
  /** The commit that the plan is of: the head of an open pull request, or the merged commit. */
  readonly commit: string;
  /** Returns whether the merged commit contains nothing but the base and the head. */
  readonly isAlone: () => Promise<boolean>;
  readonly authors: () => Promise<ChangeAuthors>;
};

/** Who made everything that would be applied. */
export type ChangeAuthors = {
  /** What each account did, by its login in lower case. */
  readonly known: ReadonlyMap<string, string>;
  /** What bots did, and addresses that belong to no known account. */
  readonly unknown: readonly { readonly part: string; readonly address?: AuthorAddress }[];
  /** Why parts of the change are missing. */
  readonly missing?: string;
};

type DecidingForge = Pick<Forge, 'whoAmI' | 'comments' | 'latestOf' | 'people'> & {
  readonly names: Pick<ForgeNames, 'forge' | 'request' | 'mayDecide'>;
};

type Decided = { readonly override: Allowance } | { readonly digest: string };

/**
 * Reads the commands in the comments on a pull request. A command counts if its author is a person with write access whom the rules accept
 * and who made no part of what would be applied, and if the comment was never edited. One that overrides a refusal names the whole id of
 * a commit, so that it ends with the next push.
 */
export async function readOverrideComments(
  forge: DecidingForge,
  plan: DecidedPlan,
  rulesOf: () => Promise<ApprovalRules>,
): Promise<OverrideComments> {
  const comments = (await forge.comments(plan.number)).filter(({ body }) => beginsWithCommand(body));
  const judge = comments.length === 0 ? undefined : openJudge(forge, plan, await rulesOf());
  // The last comment decides.
  const counted = new Map<string, CommentDecision & Decided>();
  const ignored: string[] = [];
  for (const comment of comments) {
    const found = (await judge?.(comment)) ?? '';
    const line = firstLineOf(comment.body).slice(0, longestQuotation);
    const decision = { author: comment.author, command: line, comment: comment.id };
    if (typeof found === 'string') ignored.push(`"${line}" by ${comment.author} is ignored: ${found}`);
    else counted.set('digest' in found ? '' : found.override.code, { ...decision, ...found });
  }
  const decisions = [...counted.values()];
  return {
    allow: decisions.flatMap((one) => ('override' in one ? [one.override] : [])),
    digest: decisions.flatMap((one) => ('digest' in one ? [one.digest] : []))[0],
    decisions: decisions.map(({ author, command, comment }) => ({ author, command, comment })),
    ignored,
  };
}

/** The longest comment with commands, and the most characters that a message quotes of one. */
const longestComment = 10_000;
const longestQuotation = 500;

/** Returns what a comment decides, or why it decides nothing. */
type Judge = (comment: Comment) => Promise<Decided | string>;

function openJudge(forge: DecidingForge, plan: DecidedPlan, rules: ApprovalRules): Judge {
  const { names, people } = forge;
  const { number, head, commit: planned } = plan;
  const permissions = new Map<string, Promise<boolean>>();

  /** Asks once, however many comments an account writes. */
  function isPermitted(login: string): Promise<boolean> {
    const known = permissions.get(login) ?? mayDecide(people, login);
    permissions.set(login, known);
    return known;
  }

  async function objectionToAccount({ author: login, body }: Comment): Promise<string | undefined> {
    if (body.length > longestComment) return `the comment is longer than ${longestComment} characters`;
    if (people.isBot(login)) return 'comments of bots do not count';
    if (!(await isPermitted(login))) return `${names.forge} reports no ${names.mayDecide.replace(/^the /, '')} for ${login}`;
    return isSameLogin(login, await forge.whoAmI()) ? 'the account of the token does not decide' : undefined;
  }

  async function objectionToCommit(commit: string, code: string): Promise<string | undefined> {
    const command = allowCommandFor(planned, code);
    if (commit === planned) return undefined;
    if (commit === head)
      return (await plan.isAlone())
        ? undefined
        : `commit ${planned} contains more than ${names.request} ${number}; write ${command} to override the refusal of all of it`;
    if ([planned, head].some((one) => one.startsWith(commit))) return `it does not have the whole ID of the commit; write ${command}`;
    return planned === head ? `the head of the ${names.request} is ${head}` : `the applied commit is ${planned}`;
  }

  async function objectionByApprovers(login: string): Promise<string | undefined> {
    const { approvers } = rules;
    if (approvers.length === 0 || approvers.some((one) => isSameLogin(one, login))) return undefined;
    const unread: string[] = [];
    for (const [team, slug] of approvers.map((one) => [one, one.split('/')] as const)) {
      const [organization = '', name] = slug;
      if (name === undefined) continue;
      const isMember = await people.isTeamMember(organization, name, login);
      if (isMember === true) return undefined;
      if (isMember === undefined) unread.push(team);
    }
    const missing = unread.length === 0 ? '' : `; the token may not read the members of ${unread.join(', ')}`;
    return `${login} is not one of the approvers in the config${missing}`;
  }

  async function objectionToAuthor(login: string): Promise<string | undefined> {
    if (rules.selfApproval) return undefined;
    const { known, unknown, missing } = await plan.authors();
    const own = known.get(login.toLowerCase()) ?? unknown.find(({ address }) => isLike(address, login))?.part;
    if (own !== undefined) return `${login} made a part of what would be applied (${own}); another person decides`;
    if (missing !== undefined) return `not all authors of what would be applied are known: ${missing}`;
    const [first] = unknown;
    // Whoever is behind it is not known to be another person.
    if (first === undefined || rules.approvers.length > 0) return undefined;
    return `not all authors of what would be applied are known (${first.part}); a person decides whom approvers in the config names`;
  }

  return async (comment) => {
    const { author: login } = comment;
    const objection = await objectionToAccount(comment);
    if (objection !== undefined) return objection;
    const command = parseCommand(firstLineOf(comment.body));
    if (command === undefined) return 'write /ostiary allow COMMIT CODE=REASON, or /ostiary apply DIGEST';
    const { editor } = await forge.latestOf(comment);
    const other =
      (editor === undefined ? undefined : `${editor} edited the comment; a new comment counts`) ??
      (command.name === 'allow' ? await objectionToCommit(command.commit, command.code) : objectionToDigest(command.digest)) ??
      (await objectionByApprovers(login)) ??
      (await objectionToAuthor(login));
    if (other !== undefined) return other;
    if (command.name === 'apply') return { digest: command.digest };
    const { code, reason } = command;
    return { override: { code, reason: `${reason} (${login}, ${names.request} ${number})` } };
  };
}

function objectionToDigest(digest: string): string | undefined {
  return digest.length === 64 ? undefined : 'it does not have the whole digest, of 64 characters';
}

/** Returns whether an address that belongs to no known account has the login in its name, or before its `@`. */
function isLike(address: AuthorAddress | undefined, login: string): boolean {
  if (address === undefined) return false;
  const text = `${address.name} ${address.email.slice(0, Math.max(address.email.lastIndexOf('@'), 0))}`.toLowerCase();
  return [...text.split(/[\s+]/), ...text.split(/[\s+._-]/)].includes(login.toLowerCase());
}

function isSameLogin(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}

/** Returns whether the commands of a person can count: write access or more. */
export async function mayDecide(people: Pick<PeopleCalls, 'mayWrite'>, login: string): Promise<boolean> {
  // GitHub answers 404 for accounts that are not collaborators.
  return (await unlessRefused(() => people.mayWrite(login))) ?? false;
}
