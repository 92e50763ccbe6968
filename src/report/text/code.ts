import type { CatalogEntry } from '../../model/catalog/diagnostic-catalog.ts';
import { pad, type Terminal, words, wrap } from '../wrap.ts';

/** Returns what a code of a diagnostic means, why it occurs and what to do. */
export function codeText(code: string, { level = 'error', meaning, cause, fix, example }: CatalogEntry, terminal: Terminal): string {
  const facts = Object.entries({ Cause: cause, Fix: fix, Example: example });
  const lines = [
    `${terminal.color.bold(code)} (${level})`,
    ...wrap([{ text: '  ' }, ...words(meaning)], terminal, 2),
    '',
    ...facts.flatMap(([name, text]) => wrap([{ text: `  ${pad(name, 9)}` }, ...words(text)], terminal, 11)),
  ];
  return `${lines.join('\n')}\n`;
}
