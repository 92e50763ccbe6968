import type { Attachment } from '../../model/protection/protection.ts';

/** What attaches a rule, in words: `direct`, `by selector`, `by attribute pci`. */
export function attachmentsText(by: readonly Attachment[]): string {
  return [...new Set(by.map(attachmentText))].join(', ');
}

function attachmentText({ how, attribute = '' }: Attachment): string {
  if (how === 'attribute') return `by attribute ${attribute}`;
  return { direct: 'direct', selector: 'by selector', edge: 'on the gateway' }[how];
}
