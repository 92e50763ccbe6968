import type { Adoption } from '../model/drift.ts';
import { footer, type Message } from './comment.ts';
import { plural } from './counts.ts';
import { diagnosticsMarkdown } from './diagnostics-markdown.ts';
import { driftMarkdown } from './drift-markdown.ts';

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

function acceptedMarkdown({ accepted }: Adoption, linkOf: Message['linkOf'], limit: number): string {
  return accepted === undefined ? '' : driftMarkdown([accepted], limit, linkOf);
}

function leftMarkdown({ left }: Adoption, linkOf: Message['linkOf']): string {
  if (left.length === 0) return '';
  return `**${plural(left.length, 'part')} not accepted:**\n\n${diagnosticsMarkdown(left, room, linkOf)}`;
}
