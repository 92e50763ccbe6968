import type { Comment, Forge, Issue, Label } from './forge.ts';
import { withForgeErrors } from './forge-errors.ts';
import { contentDigest, noContent, readStickyBody, withoutMarks, withOtherEnd, writeStickyBody } from './sticky-body.ts';
import type { Checked } from '../model/diagnostic.ts';

/** The most characters of a body on GitHub, and those of our marks. */
const longestBody = 65_536;
const marksLength = 300;

type Post = { readonly author: string; readonly body: string };

/** Returns the posts that this token's account wrote; anyone can copy a marker. */
export async function byThisAccount<T extends Pick<Post, 'author'>>(
  forge: Pick<Forge, 'whoAmI'>,
  marked: readonly T[],
): Promise<readonly T[]> {
  if (marked.length === 0) return [];
  const login = (await forge.whoAmI()).toLowerCase();
  return marked.filter(({ author }) => author.toLowerCase() === login);
}

/** A comment that every run of a step writes again. */
export type StickyComment = Pick<StickyIssue, 'key' | 'bodyWithin'> & {
  /** It is written only if there is none yet, only if there is one, or only if that one does not report a success. */
  readonly only?: 'new' | 'existing' | 'unsuccessful' | undefined;
  /** It reports that everything is done. */
  readonly isSuccess?: boolean;
};

type CommentCalls = Pick<Forge, 'whoAmI' | 'comments' | 'createComment' | 'updateComment' | 'deleteComment'>;

/**
 * Creates or updates our comments on a pull request. What people write around our text stays: of several comments with one key only the
 * first one keeps our text, and one that their text fills leaves it to a new one.
 */
export async function keepComments(forge: CommentCalls, number: number, wanted: readonly StickyComment[]): Promise<void> {
  const comments = await forge.comments(number);
  for (const one of wanted) await keepComment(forge, number, one, comments);
}

async function keepComment(
  forge: CommentCalls,
  number: number,
  { key, bodyWithin, only, isSuccess = false }: StickyComment,
  comments: readonly Comment[],
): Promise<void> {
  const all = await readOurs(forge, key, comments);
  const [ours] = all;
  if (ours === undefined ? only === 'existing' || only === 'unsuccessful' : only === 'new') return;
  if (only === 'unsuccessful' && ours?.digest === noContent) return;
  const made = { key, digest: isSuccess ? noContent : undefined, bodyWithin };
  const body = bodyAround(ours, made);
  const kept = body.length > longestBody ? undefined : ours;
  if (kept === undefined) await forge.createComment(number, bodyAround(undefined, made));
  else await forge.updateComment(number, kept.id, isSameText(kept.body, body) ? withOtherEnd(body) : body);
  for (const { id, above, below } of all.filter((one) => one !== kept && !one.isMixed)) {
    const theirs = withoutMarks(`${above}${below}`).trim();
    if (theirs === '') await forge.deleteComment(number, id);
    else await forge.updateComment(number, id, theirs);
  }
}

/** Compares texts as GitHub stores them: trimmed, with line ends of its own. */
function isSameText(left: string, right: string): boolean {
  return left.replaceAll('\r\n', '\n').trim() === right.replaceAll('\r\n', '\n').trim();
}

/** An issue that every run updates. */
type StickyIssue = {
  /** Identifies the issue: the same for every run of one purpose and target. */
  readonly key: readonly string[];
  readonly title: string;
  /** Makes the body, within a number of characters. */
  readonly bodyWithin: (limit: number) => string;
  /** The body without what differs from run to run; only a change of it is written. */
  readonly content: string;
  readonly label: Label;
  /** More labels and the assignees of a new issue. */
  readonly labels: readonly string[];
  readonly assignees: readonly string[];
  /** The comment that reports a change of the content, because GitHub sends no notification for an edit; without it, none is written. */
  readonly onChange?: string;
};

type IssueQuery = Pick<StickyIssue, 'key'> & { readonly label: Pick<Label, 'name'> };

/**
 * Opens, updates or reopens the issue and returns its number. An issue that a person closed stays closed while its content is
 * the same; what people write around our text stays. A refused comment, label or assignee is a warning.
 */
export async function keepIssue(forge: Forge, issue: StickyIssue): Promise<Checked<number>> {
  const { key, title, bodyWithin, content, label, labels, assignees, onChange } = issue;
  const ours = await findOurs(forge, { key, label });
  const digest = contentDigest(content);
  const body = bodyAround(ours, { key, digest, bodyWithin });
  if (ours === undefined) {
    await forge.ensureLabel(label);
    return forge.openIssue({ title, body, labels: [label.name, ...labels], assignees });
  }
  if (ours.digest === digest) return { value: ours.number, diagnostics: [] };
  await forge.updateIssue(ours.number, { title, body, ...(ours.open ? {} : { open: true }) });
  return { value: ours.number, diagnostics: onChange === undefined ? [] : await say(forge, ours.number, onChange) };
}

/** Closes our open issue with a comment; returns the number of our issue, open or closed. */
export async function closeIssue(forge: Forge, sought: IssueQuery, word: string): Promise<Checked<number>> {
  const ours = await findOurs(forge, sought);
  if (ours === undefined) return { diagnostics: [] };
  // If the same content returns later, it is reported again.
  if (ours.open || ours.digest !== noContent)
    await forge.updateIssue(ours.number, {
      body: writeStickyBody(sought.key, noContent, ours.text, ours),
      ...(ours.open ? { open: false } : {}),
    });
  return { value: ours.number, diagnostics: ours.open ? await say(forge, ours.number, word) : [] };
}

/** Writes a comment about what is done already; a refusal, such as of a locked conversation, is a warning. */
async function say(forge: Forge, number: number, word: string): Promise<Checked<number>['diagnostics']> {
  return (await withForgeErrors(() => forge.commentOnIssue(number, word), `the comment on issue ${number}`)).diagnostics;
}

type Read<T> = T & NonNullable<ReturnType<typeof readStickyBody>>;

/** Returns the posts of this account that have the key, with their parts; the last ones have marks of others, too. */
async function readOurs<T extends Post>(
  forge: Pick<Forge, 'whoAmI'>,
  key: readonly string[],
  found: readonly T[],
): Promise<readonly Read<T>[]> {
  const marked = found.flatMap((one) => {
    const parts = readStickyBody(one.body, key);
    return parts === undefined ? [] : [{ ...one, ...parts }];
  });
  return (await byThisAccount(forge, marked)).toSorted((left, right) => Number(left.isMixed) - Number(right.isMixed));
}

type NewBody = Pick<StickyIssue, 'key' | 'bodyWithin'> & { readonly digest: string | undefined };

/** Returns the body of a post, with what people wrote around the earlier one. */
function bodyAround(earlier: { readonly above: string; readonly below: string } | undefined, { key, digest, bodyWithin }: NewBody): string {
  const { above = '', below = '' } = earlier ?? {};
  const room = longestBody - marksLength - above.length - below.length;
  return writeStickyBody(key, digest, bodyWithin(Math.max(room, shortest)), { above, below });
}

/** The fewest characters that a report is made for, however much people wrote around it. */
const shortest = 1000;

/** Finds our issue, an open one first: by its label, or by its author if the label was removed. */
async function findOurs(forge: Forge, { key, label }: IssueQuery): Promise<Read<Issue> | undefined> {
  const labeled = await readOurs(forge, key, await forge.labeledIssues(label.name));
  const ours = labeled.length > 0 ? labeled : await readOurs(forge, key, await forge.issuesOf(await forge.whoAmI()));
  return ours.find(({ open }) => open) ?? ours[0];
}

/** A pull request that every run updates. */
type StickyPullRequest = {
  readonly key: readonly string[];
  readonly title: string;
  /** Makes the body, within a number of characters. */
  readonly bodyWithin: (limit: number) => string;
  /** The body without what differs from run to run. */
  readonly content: string;
  /** The branch with the commits, and the branch that they are proposed for. */
  readonly head: string;
  readonly base: string;
};

/**
 * Opens or updates the pull request of the branch and returns its number. A pull request by another account is left alone; if a
 * person closed ours, Ostiary does not open another one with the same content and returns undefined.
 */
export async function keepPullRequest(
  forge: Forge,
  { key, title, bodyWithin, content, head, base }: StickyPullRequest,
): Promise<number | undefined> {
  const all = await forge.pullRequestsFrom(head);
  const own = await readOurs(forge, key, all);
  const digest = contentDigest(content);
  const ours = own.find(({ open }) => open);
  const body = bodyAround(ours, { key, digest, bodyWithin });
  if (ours !== undefined && ours.digest !== digest) await forge.updatePullRequest(ours.number, { body });
  const known = ours ?? all.find(({ open }) => open);
  if (known !== undefined) return known.number;
  const [last] = own;
  if (last?.merged === false && last.digest === digest) return undefined;
  return forge.createPullRequest({ title, body, head, base });
}

/** Returns the number of our pull request of the branch, an open one first; undefined if there is none, or it is merged. */
export async function findPullRequest(forge: Forge, { key, head }: Pick<StickyPullRequest, 'key' | 'head'>): Promise<number | undefined> {
  const own = await readOurs(forge, key, await forge.pullRequestsFrom(head));
  const found = own.find(({ open }) => open) ?? own[0];
  return found?.merged === false ? found.number : undefined;
}

/** Closes our open pull request of the branch with a comment. */
export async function closePullRequest(forge: Forge, { key, head }: Pick<StickyPullRequest, 'key' | 'head'>, word: string): Promise<void> {
  const [last] = await readOurs(forge, key, await forge.pullRequestsFrom(head));
  if (last === undefined || last.merged) return;
  // If the same content returns later, it is reported again.
  if (last.open || last.digest !== noContent)
    await forge.updatePullRequest(last.number, {
      body: writeStickyBody(key, noContent, last.text, last),
      ...(last.open ? { open: false } : {}),
    });
  if (last.open) await forge.createComment(last.number, word);
}
