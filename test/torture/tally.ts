import { appendFileSync } from 'node:fs';

/** What one section of the torture did. */
export type Tally = { readonly faults?: number; readonly bytes?: number; readonly inputs?: number };

/** Adds to the table that `npm run torture` prints; `npm test` prints none. */
export function addToTally(section: string, tally: Tally): void {
  const file = process.env['OSTIARY_TORTURE_TALLY'];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ section, ...tally })}\n`);
}
