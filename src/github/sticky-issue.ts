import type { GitHub } from './client.ts';
import type { Issue, Label } from './issue-calls.ts';
import { digestOf, nothing, ownOf, textOf, toldIn, withMarks } from './sticky.ts';

/** An issue of ours that is kept up to date. */
export type StickyIssue = {
  /** What it is found by: the same for every run of one purpose and target. */
  readonly key: readonly string[];
  readonly title: string;
  readonly body: string;
  /** What the body says, without what differs from run to run: only where this changes is anything written. */
  readonly content: string;
  readonly label: Label;
};

type Sought = Pick<StickyIssue, 'key'> & { readonly label: Pick<Label, 'name'> };

/**
 * Keeps the issue and tells its number: opens one, brings ours up to date or opens it again. What somebody closed by hand
 * stays closed as long as there is nothing else to say.
 */
export async function keepIssue(github: GitHub, { key, title, body, content, label }: StickyIssue): Promise<number> {
  const ours = await find(github, { key, label });
  const digest = digestOf(content);
  const whole = withMarks(key, digest, body);
  if (ours === undefined) {
    await github.ensureLabel(label);
    return github.createIssue({ title, body: whole, label: label.name });
  }
  if (toldIn(ours) !== digest) await github.updateIssue(ours.number, { body: whole, ...(ours.open ? {} : { open: true }) });
  return ours.number;
}

/** Closes our issue, with a word, where it is open; its number, where there is one. */
export async function closeIssue(github: GitHub, sought: Sought, word: string): Promise<number | undefined> {
  const ours = await find(github, sought);
  if (ours === undefined) return undefined;
  // What comes back after this is told again, even if it is the same.
  const body = withMarks(sought.key, nothing, textOf(ours));
  if (ours.open || toldIn(ours) !== nothing) await github.updateIssue(ours.number, { body, ...(ours.open ? { open: false } : {}) });
  if (ours.open) await github.createComment(ours.number, word);
  return ours.number;
}

/** Ours: an open one before closed ones; by its label, or, where somebody took that away, by who opened it. */
async function find(github: GitHub, { key, label }: Sought): Promise<Issue | undefined> {
  const labelled = await ownOf(github, key, await github.labelledIssues(label.name));
  const ours = labelled.length > 0 ? labelled : await ownOf(github, key, await github.openIssuesOf(await github.whoAmI()));
  return ours.find(({ open }) => open) ?? ours[0];
}
