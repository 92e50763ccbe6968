import type { Checked, Diagnostic } from '../../model/diagnostic.ts';
import { ApiError } from '../../model/errors.ts';
import { compareText, isObject, type JsonObject } from '../../model/json.ts';
import type { Decision, Service } from '../../model/service.ts';
import type { HttpRequest } from '../http/client.ts';
import type { WireList } from '../dialect.ts';
import { openSession, type GatewaySession, type SessionOptions } from '../session.ts';
import { fetchList, readWholeList } from '../live/whole-list.ts';
import { readWrites } from './audit-log.ts';
import { parseAgent, parseResource, parseReview, parseSearchResult, parseTemplates } from './parse-rows.ts';

/** Opens what people look up and decide on a gateway; requests the server info where the dialect is `auto`. */
export async function openService(options: SessionOptions): Promise<Service> {
  const session = await openSession(options);
  const wire = session.dialect.service;
  const reviewPath = (id: string): string => `${wire.reviews.path}/${encodeURIComponent(id)}`;
  return {
    identify: session.identify,
    agents: async () => sorted(await readRows(session, wire.agents, (row) => parseAgent(row, wire)), byName),
    resources: async () => sorted(await readRows(session, wire.resources, (row) => parseResource(row, wire)), byName),
    async templates() {
      const fetched = await fetchList(session, wire.templates, wire.templates.path);
      const body = isObject(fetched) ? fetched : {};
      const listings = Array.isArray(body['repositories']) ? body['repositories'].filter((one) => isObject(one)) : [body];
      return {
        value: listings.flatMap(parseTemplates),
        diagnostics: parseSearchResult(body, wire).errors.map((text) => partialResult(text, session.url)),
      };
    },
    async reviews() {
      const read = await readRows(session, wire.reviews, (row) => parseReview(row, wire, { bulk: true }));
      return sorted(read, (left, right) => compareText(right.created_at, left.created_at));
    },
    async search(term) {
      return parseSearchResult(await requestObject(session, { method: 'GET', path: `/search?term=${encodeURIComponent(term)}` }), wire);
    },
    async review(id) {
      const { status, body } = await session.client.send({ method: 'GET', path: reviewPath(id), accept: [404] });
      if (status === 404) return undefined;
      return isObject(body) ? parseReview(body, wire, { bulk: false }) : unexpectedShape(`${session.url}${reviewPath(id)}`, 'GET');
    },
    objection: wire.objection,
    async decide(id, decision) {
      const body = JSON.stringify(decisionBody(decision, wire.windowType));
      return parseReview(await requestObject(session, { method: 'PUT', path: reviewPath(id), body }), wire, { bulk: false });
    },
    writesSince: (since, most) => readWrites(session, since, most),
    close: session.close,
  };
}

function decisionBody({ status, force, window }: Decision, type: string | undefined): JsonObject {
  return {
    status,
    ...(force ? { force_review: true } : {}),
    ...(window === undefined ? {} : { time_window: { ...(type === undefined ? {} : { type }), ...window } }),
  };
}

/** Reads a complete list, whether the gateway pages it or not. */
async function readRows<Row>(session: GatewaySession, list: WireList, rowOf: (row: JsonObject) => Row): Promise<Checked<readonly Row[]>> {
  const fetch = (path: string): Promise<unknown> => fetchList(session, list, path);
  const { value, diagnostics } = await readWholeList({ url: `${session.url}${list.path}`, list, fetch, uidOf: idOf, idOf });
  return value === undefined ? { diagnostics } : { value: value.entries.map(rowOf), diagnostics };
}

function sorted<Row>(read: Checked<readonly Row[]>, compare: (left: Row, right: Row) => number): Checked<readonly Row[]> {
  return read.value === undefined ? read : { ...read, value: read.value.toSorted(compare) };
}

function byName(left: { readonly name: string }, right: { readonly name: string }): number {
  return compareText(left.name, right.name);
}

function idOf({ id }: JsonObject): string | undefined {
  return typeof id === 'string' && id !== '' ? id : undefined;
}

async function requestObject(session: GatewaySession, request: HttpRequest): Promise<JsonObject> {
  const { body } = await session.client.send(request);
  return isObject(body) ? body : unexpectedShape(`${session.url}${request.path}`, request.method);
}

function unexpectedShape(url: string, method: string): never {
  throw new ApiError('the answer is not what the interface describes', {
    code: 'api/unexpected-shape',
    method,
    url,
    retryable: false,
    ambiguous: method !== 'GET',
    hint: 'is the url the root of a gateway’s API, and the dialect right?',
  });
}

function partialResult(text: string, url: string): Diagnostic {
  return { code: 'api/partial', severity: 'warning', message: `${url} could not tell everything: ${text}` };
}
