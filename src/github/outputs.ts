import { randomUUID } from 'node:crypto';

/** Outputs as the lines that the runner reads from its file; nothing in a value can end it. */
export function outputLines(outputs: Readonly<Record<string, string>>): string {
  const delimiter = `ostiary-${randomUUID()}`;
  return Object.entries(outputs)
    .map(([name, value]) => `${name}<<${delimiter}\n${value}\n${delimiter}\n`)
    .join('');
}
