import { createHash } from 'node:crypto';
import type { GitHub } from './github-client.ts';
import type { Issue, Label } from './calls.ts';

/** A comment that every run updates. */
type StickyComment = {
  readonly number: number;
  /** Identifies the comment: the same for every run of one purpose and target. */
  readonly key: readonly string[];
  /** Makes the body; `previous` is that of our comment, if there is one. */
  readonly bodyAfter: (previous: string | undefined) => string;
  /** The body is not worth a new comment; only an existing one is updated. */
  readonly onlyUpdate: boolean;
};

type Comments = Pick<GitHub, 'whoAmI' | 'comments' | 'createComment' | 'updateComment'>;

/** The most characters of a body: GitHub's limit less the marks. */
export const stickyLimit: number = 65_536 - 300;

/** Updates our comment or creates it; a comment with our marker by another account is left alone. */
export async function keepComment(github: Comments, { number, key, bodyAfter, onlyUpdate }: StickyComment): Promise<void> {
  const ours = await onlyOurs(github, key, await github.comments(number));
  const whole = `${markerOf(key)}\n${bodyAfter(ours[0]?.body)}`;
  if (ours.length === 0 && !onlyUpdate) await github.createComment(number, whole);
  // Two runs at the same time may have created two comments: neither may stay outdated.
  for (const one of ours) if (!sameText(one.body, whole)) await github.updateComment(one.id, whole);
}

function markerOf(key: readonly string[]): string {
  return `<!-- ostiary ${createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 32)} -->`;
}

/** Returns those with our marker that this token's account wrote; anyone can copy a marker. */
export async function onlyOurs<T extends { readonly author: string; readonly body: string }>(
  github: Pick<GitHub, 'whoAmI'>,
  key: readonly string[],
  found: readonly T[],
): Promise<readonly T[]> {
  const marker = markerOf(key);
  const marked = found.filter(({ body }) => body.startsWith(marker));
  if (marked.length === 0) return [];
  const login = (await github.whoAmI()).toLowerCase();
  return marked.filter(({ author }) => author.toLowerCase() === login);
}

/** Compares texts as GitHub stores them: trimmed, with line ends of its own. */
function sameText(left: string, right: string): boolean {
  return left.replaceAll('\r\n', '\n').trim() === right.replaceAll('\r\n', '\n').trim();
}

/** The digest of a closed post: any content differs from it. */
const noContent = 'nothing';

const digestLine = /^<!-- says (\w+) -->$/;

/** Returns the digest that represents content in a mark. */
function contentDigest(content: string): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 32);
}

/** Returns a text with two hidden marks at its head: its key, and the digest of its content. */
function withMarks(key: readonly string[], digest: string, text: string): string {
  return `${markerOf(key)}\n<!-- says ${digest} -->\n${text}`;
}

type Marked = { readonly body: string };

/** Returns the content digest of a marked body; undefined if there is none. */
function contentDigestIn({ body }: Marked): string | undefined {
  return digestLine.exec(linesOf(body)[1] ?? '')?.[1];
}

/** Returns a marked body without its marks. */
function withoutMarks({ body }: Marked): string {
  return linesOf(body)
    .slice(contentDigestIn({ body }) === undefined ? 1 : 2)
    .join('\n');
}

function linesOf(body: string): readonly string[] {
  return body.replaceAll('\r\n', '\n').split('\n');
}

/** An issue that every run updates. */
type StickyIssue = {
  /** Identifies the issue: the same for every run of one purpose and target. */
  readonly key: readonly string[];
  readonly title: string;
  readonly body: string;
  /** The body without what differs from run to run; only a change of it is written. */
  readonly content: string;
  readonly label: Label;
  /** More labels and the assignees of a new issue. */
  readonly labels: readonly string[];
  readonly assignees: readonly string[];
  /** The comment that reports a change of the content, because GitHub sends no notification for an edit. */
  readonly onChange: string;
};

type IssueQuery = Pick<StickyIssue, 'key'> & { readonly label: Pick<Label, 'name'> };

/**
 * Opens, updates or reopens the issue and returns its number. An issue that a person closed stays closed while its content is
 * the same.
 */
export async function keepIssue(github: GitHub, issue: StickyIssue): Promise<number> {
  const { key, title, body, content, label, labels, assignees, onChange } = issue;
  const ours = await findOurs(github, { key, label });
  const digest = contentDigest(content);
  const whole = withMarks(key, digest, body);
  if (ours === undefined) {
    await github.ensureLabel(label);
    return github.createIssue({ title, body: whole, labels: [label.name, ...labels], assignees });
  }
  if (contentDigestIn(ours) === digest) return ours.number;
  await github.updateIssue(ours.number, { body: whole, ...(ours.open ? {} : { open: true }) });
  await github.createComment(ours.number, onChange);
  return ours.number;
}

/** Closes our open issue with a comment; returns the number of our issue, open or closed. */
export async function closeIssue(github: GitHub, sought: IssueQuery, word: string): Promise<number | undefined> {
  const ours = await findOurs(github, sought);
  if (ours === undefined) return undefined;
  // If the same content returns later, it is reported again.
  const body = withMarks(sought.key, noContent, withoutMarks(ours));
  if (ours.open || contentDigestIn(ours) !== noContent)
    await github.updateIssue(ours.number, { body, ...(ours.open ? { open: false } : {}) });
  if (ours.open) await github.createComment(ours.number, word);
  return ours.number;
}

/** Finds our issue, an open one first: by its label, or by its author if the label was removed. */
async function findOurs(github: GitHub, { key, label }: IssueQuery): Promise<Issue | undefined> {
  const labeled = await onlyOurs(github, key, await github.labeledIssues(label.name));
  const ours = labeled.length > 0 ? labeled : await onlyOurs(github, key, await github.openIssuesOf(await github.whoAmI()));
  return ours.find(({ open }) => open) ?? ours[0];
}

/** A pull request that every run updates. */
type StickyPullRequest = {
  readonly key: readonly string[];
  readonly title: string;
  readonly body: string;
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
  github: GitHub,
  { key, title, body, content, head, base }: StickyPullRequest,
): Promise<number | undefined> {
  const all = await github.pullRequestsFrom(head);
  const own = await onlyOurs(github, key, all);
  const digest = contentDigest(content);
  const whole = withMarks(key, digest, body);
  const ours = own.find(({ open }) => open);
  if (ours !== undefined && contentDigestIn(ours) !== digest) await github.updatePullRequest(ours.number, { body: whole });
  const known = ours ?? all.find(({ open }) => open);
  if (known !== undefined) return known.number;
  const [last] = own;
  if (last?.merged === false && contentDigestIn(last) === digest) return undefined;
  return github.createPullRequest({ title, body: whole, head, base });
}

/** Closes our open pull request of the branch with a comment. */
export async function closePullRequest(
  github: GitHub,
  { key, head }: Pick<StickyPullRequest, 'key' | 'head'>,
  word: string,
): Promise<void> {
  const [last] = await onlyOurs(github, key, await github.pullRequestsFrom(head));
  if (last === undefined || last.merged) return;
  // If the same content returns later, it is reported again.
  const body = withMarks(key, noContent, withoutMarks(last));
  if (last.open || contentDigestIn(last) !== noContent)
    await github.updatePullRequest(last.number, { body, ...(last.open ? { open: false } : {}) });
  if (last.open) await github.createComment(last.number, word);
}

/** How a run ended: the address of its page, and one sentence of letters, digits and simple punctuation. */
type RunEnd = { readonly url: string; readonly text: string };

const endLine = /^<!-- ostiary run (https?:\/\/[^\s)]+) ([\w ,.:/-]+) -->$/;
const listLine = /^- \[run\]\((https?:\/\/[^\s)]+)\): ([\w ,.:/-]+)$/;
const listTitle = '**Earlier runs**';
const longestList = 10;

/** Returns a comment with the end of this run as a hidden line, and with the ends of the earlier runs that the previous comment names. */
export function withRunHistory(body: string, end: RunEnd, previous: string | undefined): string {
  const earlier = endsIn(previous ?? '')
    .filter(({ url }) => url !== end.url)
    .slice(-longestList);
  const list = earlier.map(({ url, text }) => `- [run](${url}): ${text}\n`).join('');
  const mark = `<!-- ostiary run ${end.url} ${end.text.replaceAll(/[^\w ,.:/-]/g, ' ')} -->\n`;
  return `${mark}${body}${list === '' ? '' : `\n${listTitle}\n\n${list}`}`;
}

/** The most characters that the history adds to a body. */
export const historyRoom = 6000;

/** Returns the ends that a comment names, the oldest first. */
function endsIn(comment: string): readonly RunEnd[] {
  const lines = comment.replaceAll('\r\n', '\n').split('\n');
  const listed = lines.includes(listTitle) ? lines.slice(lines.lastIndexOf(listTitle)) : [];
  return [...listed.map((line) => listLine.exec(line)), endLine.exec(lines[1] ?? '')].flatMap((found) => {
    const [, url, text] = found ?? [];
    return url === undefined || text === undefined ? [] : [{ url, text }];
  });
}
