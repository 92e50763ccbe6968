import type { Context, MiddlewareHandler } from 'hono';
import { recordResult, recordWrite, redactedFieldNames, type WriteAttempt } from '../store/audit-log.ts';
import { type FieldProblem, InvalidBody, Rejection } from '../rejection.ts';
import { parsedBody } from '../routes/request-body.ts';
import { type AppEnv, clientAddress, requestPath, servedRoute } from '../routes/request-context.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';

type AuditOptions = {
  readonly store: Store;
  readonly log: Log;
  readonly trustProxy: boolean;
};

const readMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Records every request that writes: routes record successful writes, this middleware records all others. */
export function auditWrites({ store, log, trustProxy }: AuditOptions): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const route = servedRoute(c);
    if (route === undefined || readMethods.has(c.req.method)) return next();
    const attempt = writeAttempt(c, { route: route.path, at: store.now(), trustProxy });
    let recorded = false;
    c.set('record', async (trx, written) => {
      await recordWrite(trx, attempt, written);
      recorded = true;
    });
    await next();
    const { status } = c.res;
    // The transaction rolled back the entry of a failed write.
    if (recorded && status < 400) return undefined;
    const ending = { status, error: errorMessage(c), payload: redactedFieldNames(parsedBody(c.env.incoming) ?? {}) };
    const entry = recordResult(store.db, attempt, ending).catch((error: unknown) => {
      const message = `audit entry lost: ${error instanceof Error ? error.message : String(error)}`;
      log({ level: 'error', message, requestId: c.get('requestId') });
    });
    // The deadline of the request has passed; its entry may wait as long again.
    const isDatabaseUnavailable = status === 503 && !(c.error instanceof Rejection);
    if (!isDatabaseUnavailable) await entry;
    return undefined;
  };
}

function writeAttempt(
  c: Context<AppEnv>,
  { route, at, trustProxy }: { readonly route: string; readonly at: Date; readonly trustProxy: boolean },
): WriteAttempt {
  return {
    actor: c.get('principal'),
    address: clientAddress(c.env.incoming, trustProxy),
    method: c.req.method,
    path: requestPath(c),
    resourceType: route
      .split('/')
      .filter((part) => part !== '' && !part.startsWith(':'))
      .join('_')
      .replaceAll('-', '_'),
    at,
  };
}

/** Returns the message of a rejection; other errors may contain internals. */
function errorMessage({ error, res }: Context<AppEnv>): string {
  if (error instanceof InvalidBody && error.problems.length > 0) return error.problems.map((problem) => outlineProblem(problem)).join('; ');
  if (error instanceof Rejection) return error.message;
  return res.status < 400 ? '' : 'internal error';
}

/** Shortens the pointer of a problem to the field: everything inside a field, even names, may be secret. */
function outlineProblem({ field, reason }: FieldProblem): string {
  return `${/^\/?[^/]*/.exec(field)?.[0] ?? ''} ${reason}`.trim();
}
