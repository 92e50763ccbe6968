import { createHash } from 'node:crypto';
import type { GitHub } from './client.ts';

/** One comment of ours that is kept up to date. */
export type Sticky = {
  readonly number: number;
  /** What the comment is found by: the same for every run of one purpose and target. */
  readonly key: readonly string[];
  readonly body: string;
  /** There is nothing to say that would be worth a comment of its own. */
  readonly onlyUpdate: boolean;
};

type Comments = Pick<GitHub, 'whoAmI' | 'comments' | 'createComment' | 'updateComment'>;

/** How long the body of what is kept up to date may be: GitHub's limit less the marks. */
export const stickyLimit: number = 65_536 - 300;

/** Keeps the comment: updates ours, or creates it; a comment with our marker that somebody else wrote is left alone. */
export async function keepComment(github: Comments, { number, key, body, onlyUpdate }: Sticky): Promise<void> {
  const whole = `${markerOf(key)}\n${body}`;
  const ours = await ownOf(github, key, await github.comments(number));
  if (ours.length === 0 && !onlyUpdate) await github.createComment(number, whole);
  // Two runs at the same time may have made two: neither may go on telling what is no longer so.
  for (const one of ours) if (!sameText(one.body, whole)) await github.updateComment(one.id, whole);
}

function markerOf(key: readonly string[]): string {
  return `<!-- ostiary ${createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 32)} -->`;
}

/** Those with our marker that we wrote; anybody can copy a marker. */
export async function ownOf<T extends { readonly author: string; readonly body: string }>(
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

/** GitHub trims what it stores, and may spell line ends in its own way. */
function sameText(left: string, right: string): boolean {
  return left.replaceAll('\r\n', '\n').trim() === right.replaceAll('\r\n', '\n').trim();
}

/** What is said to nobody. */
export const nothing = 'nothing';

const digestLine = /^<!-- says (\w+) -->$/;

/** What stands for content in a mark. */
export function digestOf(content: string): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 32);
}

/** A text with unseen marks at its head: what it is found by, and the digest of what it says. */
export function withMarks(key: readonly string[], digest: string, text: string): string {
  return `${markerOf(key)}\n<!-- says ${digest} -->\n${text}`;
}

type Marked = { readonly body: string };

/** The digest of what a marked body says; undefined where there is none. */
export function toldIn({ body }: Marked): string | undefined {
  return digestLine.exec(linesOf(body)[1] ?? '')?.[1];
}

/** A marked body without its marks. */
export function textOf({ body }: Marked): string {
  return linesOf(body)
    .slice(toldIn({ body }) === undefined ? 1 : 2)
    .join('\n');
}

function linesOf(body: string): readonly string[] {
  return body.replaceAll('\r\n', '\n').split('\n');
}
