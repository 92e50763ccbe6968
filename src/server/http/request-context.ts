import type { Context } from 'hono';
import type { AppEnv } from '../app-env.ts';
import type { RecordWrite } from '../audit/audit-log.ts';

/** Who writes, when, and how the write gets into the audit log. */
export type Author = { readonly name: string; readonly manager: string; readonly now: Date; readonly record: RecordWrite };

/** The author of a request that writes. */
export function authorOf(c: Context<AppEnv>, now: Date): Author {
  const { name, manager } = c.get('principal');
  return { name, manager, now, record: c.get('record') };
}
