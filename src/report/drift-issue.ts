import type { Drift } from '../model/result/drift.ts';
import { footer, type Message } from './markdown/comment.ts';
import { driftMarkdown } from './drift-markdown.ts';

const advice = [
  '**To accept it**, `ostiary drift --adopt` edits the manifests on a branch of their own (in the workflow: `adopt: true`). ',
  '**To undo it**, `ostiary drift --revert`. Until then every apply undoes it, except for what is held.\n\n',
].join('');

/** The issue that tells of a drift, within the limit. */
export function driftIssue(
  { drift, linkOf, ...made }: { readonly drift: Drift } & Pick<Message, 'at' | 'version' | 'linkOf'>,
  limit: number,
): string {
  const tail = `${advice}${footer(made)}`;
  return `${driftMarkdown([drift], limit - tail.length, linkOf)}${tail}`;
}
