import type { HttpBindings } from '@hono/node-server';
import type { Principal } from './auth.ts';

/** What a request carries on its way through the server; `who` is the caller's name for the log. */
export type AppEnv = { readonly Bindings: HttpBindings; readonly Variables: { requestId: string; principal: Principal; who?: string } };
