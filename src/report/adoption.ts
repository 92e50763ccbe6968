import type { Adoption } from '../model/result/drift.ts';
import { footer, type Message } from './markdown/comment.ts';
import { plural, shortList } from './wording/counts.ts';
import { diagnosticsMarkdown } from './diagnostics-markdown.ts';
import { driftMarkdown } from './drift-markdown.ts';
import { codeSpan } from './escape.ts';

const room = 12_000;

/** The pull request that accepts a drift, within the limit. */
export function adoptionRequest(
  {
    adoption,
    issue,
    linkOf,
    ...made
  }: { readonly adoption: Adoption; readonly issue?: number | undefined } & Pick<Message, 'at' | 'version' | 'linkOf'>,
  limit: number,
): string {
  const accepted = acceptedMarkdown(adoption, linkOf, limit - 2 * room);
  const about = issue === undefined ? '' : `Belongs to #${issue}. `;
  const head = [
    `This edits the manifests so that they say what somebody changed on the gateway by hand. ${about}`,
    'Merged and applied, it leaves no drift. Who does not want it closes this, and undoes the change with `ostiary drift --revert`. ',
    'No value of a secret is written: what is live is kept.\n\n',
  ].join('');
  return `${head}${accepted}${leftMarkdown(adoption, linkOf)}${footer(made)}`;
}

/** What the pull request accepts, and what not, without what differs from run to run. */
export function adoptionContent(adoption: Adoption, issue: number | undefined): string {
  return `${issue ?? ''}\n${acceptedMarkdown(adoption, undefined, room * 4)}${leftMarkdown(adoption, undefined)}`;
}

function acceptedMarkdown({ accepted, created = [] }: Adoption, linkOf: Message['linkOf'], limit: number): string {
  const made = createdMarkdown(created);
  return `${accepted === undefined ? '' : driftMarkdown([accepted], limit - made.length, linkOf)}${made}`;
}

/** The file is on the branch alone, so nothing links to it. */
function createdMarkdown(created: NonNullable<Adoption['created']>): string {
  if (created.length === 0) return '';
  const lines = shortList(
    created.map(({ id, file }) => `${codeSpan(id)} in ${codeSpan(file)}`),
    mostCreated,
  );
  return `**${plural(created.length, 'new manifest')}:**\n\n${lines.map((line) => `- ${line}\n`).join('')}\n`;
}

const mostCreated = 50;

function leftMarkdown({ left }: Adoption, linkOf: Message['linkOf']): string {
  if (left.length === 0) return '';
  const parts = left.filter(({ severity }) => severity !== 'notice').length;
  return `**${parts === 0 ? 'To know' : `${plural(parts, 'part')} not accepted`}:**\n\n${diagnosticsMarkdown(left, room, linkOf)}`;
}
