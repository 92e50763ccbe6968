import type { Context } from 'hono';
import type { Log } from '../log.ts';
import type { Undecryptable } from '../secrets.ts';
import type { AppEnv } from './request-context.ts';

/** Logs the rows of a response that cannot be decrypted in one entry, with the reason of the first one. */
export function reportUndecryptable(c: Context<AppEnv>, log: Log, rows: readonly Undecryptable[]): void {
  const [first, ...others] = rows;
  if (first === undefined) return;
  const more = others.length === 0 ? '' : ` (and ${others.length} more like it)`;
  log({
    level: 'error',
    message: `${first.message}${more}`,
    requestId: c.get('requestId'),
    details: { stack: `${first.message}: ${String(first.cause)}` },
  });
}
