import type { HttpBindings } from '@hono/node-server';
import type { RecordWrite } from './audit/audit-log.ts';
import type { Principal } from './auth/principal.ts';

/** What a request carries on its way through the server: `who` is the caller's name for the log; only one that writes has `record`. */
export type AppEnv = {
  readonly Bindings: HttpBindings;
  readonly Variables: { requestId: string; principal: Principal; who?: string; record: RecordWrite };
};
