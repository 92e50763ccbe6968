import type { Context, MiddlewareHandler } from 'hono';
import { clientAddress } from './address.ts';
import type { AppEnv } from './app-env.ts';
import { namesOf } from './audit-payload.ts';
import { recordEnding, recordWrite, type Attempt } from './audit.ts';
import { bodyRead } from './body.ts';
import type { Log } from './log.ts';
import type { Store } from './reader.ts';
import { InvalidBody, Rejection, type Problem } from './rejection.ts';
import { servedRoute } from './served-route.ts';

export type AuditOptions = {
  readonly store: Store;
  readonly now: () => Date;
  readonly log: Log;
  readonly trustProxy: boolean;
};

const reads: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Gets every request that writes into the audit log: routes record what they did, and what was refused is recorded here. */
export function auditWrites({ store, now, log, trustProxy }: AuditOptions): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const route = servedRoute(c);
    if (route === undefined || reads.has(c.req.method)) return next();
    const attempt = attemptOf(c, { route: route.path, at: now(), trustProxy });
    let recorded = false;
    c.set('record', async (trx, written) => {
      await recordWrite(trx, attempt, written);
      recorded = true;
    });
    await next();
    const { status } = c.res;
    // What a failed write recorded was rolled back with it.
    if (recorded && status < 400) return undefined;
    const ending = { status, error: errorOf(c), payload: namesOf(bodyRead(c.env.incoming) ?? {}) };
    await recordEnding(store.db, attempt, ending).catch((error: unknown) => {
      const message = `audit entry lost: ${error instanceof Error ? error.message : String(error)}`;
      log({ level: 'error', message, requestId: c.get('requestId') });
    });
    return undefined;
  };
}

function attemptOf(
  c: Context<AppEnv>,
  { route, at, trustProxy }: { readonly route: string; readonly at: Date; readonly trustProxy: boolean },
): Attempt {
  const { incoming } = c.env;
  return {
    actor: c.get('principal'),
    address: clientAddress(incoming, trustProxy),
    method: c.req.method,
    path: (incoming.url ?? '').split('?')[0] ?? '',
    resourceType: route
      .split('/')
      .filter((part) => part !== '' && !part.startsWith(':'))
      .join('_')
      .replaceAll('-', '_'),
    at,
  };
}

/** Only a rejection is worded for others. */
function errorOf({ error, res }: Context<AppEnv>): string {
  if (error instanceof InvalidBody && error.problems.length > 0) return error.problems.map((problem) => outlined(problem)).join('; ');
  if (error instanceof Rejection) return error.message;
  return res.status < 400 ? '' : 'internal error';
}

/** A problem with its field alone: what is inside a field, even its names, may be secret. */
function outlined({ field, reason }: Problem): string {
  return `${/^\/?[^/]*/.exec(field)?.[0] ?? ''} ${reason}`.trim();
}
