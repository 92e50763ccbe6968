import { startAuditRetention } from '../audit-prune.ts';
import type { Log } from './log.ts';
import type { Store } from '../objects/object-reader.ts';
import { resealAll } from '../reseal.ts';

type BackgroundJobOptions = { readonly log: Log; readonly now: () => Date; readonly auditKeepDays?: number | undefined };

/** Starts what the server does beside answering: it encrypts anew what an earlier key encrypted, and prunes the audit log. */
export function startBackgroundJobs(store: Store, { log, now, auditKeepDays: days }: BackgroundJobOptions): { readonly stop: () => Promise<void> } {
  let stopped = false;
  const resealed = store.cipher.keyIds.length === 1 ? undefined : resealAll(store, { log, stopped: () => stopped });
  const idle = resealed?.catch((error: unknown) =>
    log({ level: 'error', message: `secrets could not be encrypted anew: ${String(error)}` }),
  );
  const retention = days === undefined ? undefined : startAuditRetention(store, { days, now, log });
  return {
    async stop() {
      stopped = true;
      await Promise.all([idle, retention?.stop()]);
    },
  };
}
