import type { IncomingHttpHeaders } from 'node:http';
import { logWrite } from './audit.ts';
import { authenticate, authorise, noCaller } from './auth.ts';
import type { Call, Reply, ModelContext } from './call.ts';
import { ModelError } from './errors.ts';
import { BindError } from './go-json.ts';
import { isObject, type Json } from './json.ts';
import type { RequestLog } from './log.ts';
import type { InjectedFault, SeenRequest } from './options.ts';
import { matchRoute, type MatchedRoute } from './routes.ts';

export type ModelRequest = {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly basePath: string;
};

export type ModelResponse = {
  readonly status: number;
  readonly body?: Json;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the connection breaks instead of an answer. */
  readonly lost: boolean;
  readonly delay: number;
};

type Done = Pick<ModelResponse, 'status' | 'body' | 'text' | 'headers'> & { readonly caller: string };

const notFound: Done = { status: 404, text: '404 page not found', caller: '' };

/** Answers one request, faults included, and writes it into the log. */
export function respond(
  context: ModelContext,
  log: RequestLog,
  received: ModelRequest,
  faultOf: (seen: SeenRequest) => InjectedFault | undefined,
): ModelResponse {
  const [path = '/', search = ''] = received.target.split('?', 2);
  const inside = decode(path).startsWith(`${received.basePath}/`) ? decode(path).slice(received.basePath.length) : undefined;
  const matched = inside === undefined ? undefined : matchRoute(received.method, inside);
  const route = matched === undefined ? `${received.method} ${path}` : `${matched.route.method} ${matched.route.path}`;
  const seen: SeenRequest = {
    method: received.method,
    path: received.target,
    route,
    body: received.body,
    headers: received.headers,
    ...log.number(route),
  };
  const fault = faultOf(seen);
  const before = fault !== undefined && 'when' in fault && fault.when === 'before';
  if (fault?.kind === 'twice') run(context, received, { matched, inside, path, search }, false);
  const done = before ? undefined : run(context, received, { matched, inside, path, search }, fault?.kind === 'attributes');
  const shown = fault?.kind === 'answer' ? { ...failure(fault), caller: done?.caller ?? '' } : (done ?? notFound);
  log.add({ ...seen, status: shown.status, caller: shown.caller });
  const { caller: _, ...rest } = shown;
  return { ...rest, lost: fault?.kind === 'lost', delay: fault?.kind === 'slow' ? fault.milliseconds : 0 };
}

function failure(fault: Extract<InjectedFault, { readonly kind: 'answer' }>): Omit<Done, 'caller'> {
  const body = fault.message === undefined ? {} : { body: { message: fault.message } };
  return { status: fault.status, ...body, ...(fault.headers === undefined ? {} : { headers: fault.headers }) };
}

type Target = {
  readonly matched: MatchedRoute | undefined;
  readonly inside: string | undefined;
  readonly path: string;
  readonly search: string;
};

function run(context: ModelContext, received: ModelRequest, target: Target, attributesFail: boolean): Done {
  const { matched } = target;
  if (received.method === 'OPTIONS') return { status: 204, caller: '' };
  if (matched === undefined) return redirect(received.method, target);
  try {
    const caller = matched.route.access === 'public' ? noCaller(context) : authenticate(context, received.headers);
    authorise(caller, matched.route.access);
    const call: Call = {
      context,
      store: context.store,
      caller,
      method: matched.route.method,
      params: matched.params,
      query: new URLSearchParams(target.search),
      text: received.body,
      attributesFail,
    };
    const reply = attempt(() => matched.route.answer(call));
    const error = reply.status >= 400 ? messageOf(reply) : '';
    if (matched.route.audit !== undefined) logWrite(call, { type: matched.route.audit, path: target.path, status: reply.status, error });
    return { ...reply, caller: caller.name };
  } catch (error) {
    if (error instanceof ModelError) return { ...refused(error), caller: '' };
    throw error;
  }
}

function attempt(work: () => Reply): Reply {
  try {
    return work();
  } catch (error) {
    if (error instanceof ModelError) return refused(error);
    if (error instanceof BindError) return { status: 400, body: { message: error.message } };
    throw error;
  }
}

function refused({ status, message }: ModelError): Reply {
  return message === '' ? { status } : { status, body: { message } };
}

function messageOf({ body }: Reply): string {
  const message = isObject(body) ? body['message'] : undefined;
  return typeof message === 'string' ? message : '';
}

/** A path with a slash too many is sent to the one without; everything else is not there. */
function redirect(method: string, { inside, path, search }: Target): Done {
  const shorter = inside?.replace(/\/$/, '');
  if (shorter === undefined || shorter === inside || matchRoute(method, shorter) === undefined) return notFound;
  const location = `${path.slice(0, -1)}${search === '' ? '' : `?${search}`}`;
  return { status: method === 'GET' ? 301 : 307, headers: { location }, caller: '' };
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (error instanceof URIError) return path;
    throw error;
  }
}
