import type { Adoption, Drift } from '../../model/result/drift.ts';
import { codeSpan } from '../escape.ts';
import { adoptionDocument, driftDocument } from '../subjects/drift.ts';
import { plural, shortList } from '../wording/counts.ts';
import { footer, type RunReport } from './comment.ts';
import { diagnosticsMarkdown } from './fit-to-limit.ts';
import { renderMarkdown } from './markdown.ts';

const room = 12_000;

const advice = [
  '**To accept it**, `ostiary drift --adopt` edits the manifests on a separate branch (in the workflow: `adopt: true`). ',
  '**To revert it**, run `ostiary drift --revert`. The next apply also reverts it, except for held drift.\n\n',
].join('');

/** Returns the text of the issue that reports a drift, within the limit. */
export function driftIssue(
  { drift, linkOf, label, ...made }: { readonly drift: Drift } & Pick<RunReport, 'at' | 'version' | 'linkOf' | 'label'>,
  limit: number,
): string {
  const tail = `${advice}${footer(made)}`;
  return `${renderMarkdown(driftDocument([drift]), { limit: limit - tail.length, linkOf, label, fullReport: made.at?.runUrl })}${tail}`;
}

/** Returns the text of the pull request that adopts a drift, within the limit. */
export function adoptionRequest(
  {
    adoption,
    target,
    issue,
    linkOf,
    label,
    ...made
  }: { readonly adoption: Adoption; readonly target: string; readonly issue?: number | undefined } & Pick<
    RunReport,
    'at' | 'version' | 'linkOf' | 'label'
  >,
  limit: number,
): string {
  const accepted = renderMarkdown(adoptionDocument(adoption, target), { limit: limit - 3 * room, linkOf, label });
  const verdictEnd = accepted.indexOf('\n\n') + 2;
  const about = issue === undefined ? '' : ` Belongs to #${issue}.`;
  const steps = [
    'To accept these changes, merge this pull request. To reject them, close it and run `ostiary drift --revert`. ',
    `The manifests get no secret values; apply keeps the live ones.${about}\n\n`,
  ].join('');
  const rest = `${accepted.slice(verdictEnd)}${createdMarkdown(adoption)}${notAdoptedMarkdown(adoption, linkOf)}${footer(made)}`;
  return `${accepted.slice(0, verdictEnd)}${steps}${rest}`;
}

/** Returns what the pull request adopts and what it cannot, without the parts that differ from run to run. */
export function adoptionContent(adoption: Adoption, target: string, issue: number | undefined): string {
  const accepted = renderMarkdown(adoptionDocument(adoption, target), { limit: room * 4 });
  return `${issue ?? ''}\n${accepted}${createdMarkdown(adoption)}${notAdoptedMarkdown(adoption, undefined)}`;
}

/** Returns the new manifests. Their files are on the branch alone, so nothing links to them. */
function createdMarkdown({ created = [] }: Adoption): string {
  if (created.length === 0) return '';
  const lines = shortList(
    created.map(({ id, file }) => `${codeSpan(id)} in ${codeSpan(file)}`),
    mostCreated,
  );
  return `**${plural(created.length, 'new manifest')}:**\n\n${lines.map((line) => `- ${line}\n`).join('')}\n`;
}

const mostCreated = 50;

function notAdoptedMarkdown({ left }: Adoption, linkOf: RunReport['linkOf']): string {
  if (left.length === 0) return '';
  const parts = left.filter(({ severity }) => severity !== 'notice').length;
  return `**${parts === 0 ? 'Notes' : `${plural(parts, 'part')} not accepted`}:**\n\n${diagnosticsMarkdown(left, room, linkOf)}`;
}
