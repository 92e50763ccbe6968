import type { UncomparedReason } from './plan.ts';

type Uncompared = { readonly reason: UncomparedReason };

/** Returns `2 secrets not compared (this token may not read them)`; empty text if there are none. */
export function notComparedText(secrets: readonly Uncompared[]): string {
  return secrets.length === 0 ? '' : `${notComparedCount(secrets)} (${reasonText(secrets)})`;
}

/** Returns `2 secrets not compared`. */
export function notComparedCount({ length }: readonly Uncompared[]): string {
  return `${length} secret${length === 1 ? '' : 's'} not compared`;
}

/** Returns why secrets were not compared: `this token may not read them`, `not resolved`, or both with their counts. */
function reasonText(secrets: readonly Uncompared[]): string {
  const hidden = secrets.filter(({ reason }) => reason === 'hidden').length;
  if (hidden === 0) return 'not resolved';
  if (hidden < secrets.length) return `this token may not read ${hidden}, ${secrets.length - hidden} not resolved`;
  return `this token may not read ${hidden === 1 ? 'it' : 'them'}`;
}
