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

/** Returns why secrets were not compared: `this token may not read them`, `not resolved`, or several reasons with their counts. */
function reasonText(secrets: readonly Uncompared[]): string {
  const count = (reason: UncomparedReason): number => secrets.filter((one) => one.reason === reason).length;
  const [hidden, unresolved, missing] = [count('hidden'), count('unresolved'), count('missing')];
  if (hidden === secrets.length) return `this token may not read ${hidden === 1 ? 'it' : 'them'}`;
  const rest = [[unresolved, 'not resolved'] as const, [missing, 'missing on the gateway'] as const].flatMap(([number, text]) =>
    number === 0 ? [] : [number === secrets.length ? text : `${number} ${text}`],
  );
  return [...(hidden === 0 ? [] : [`this token may not read ${hidden}`]), ...rest].join(', ');
}
