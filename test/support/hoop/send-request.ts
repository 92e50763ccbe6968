import { parseGoJson } from './go-json.ts';
import type { Json } from './json.ts';

export type RecordedResponse = {
  readonly status: number;
  readonly contentType: string | null;
  readonly headers: Headers;
  /** The JSON of the answer, the text of a plain one, null for nothing. */
  readonly body: Json;
};

export type RecordedRequest = {
  readonly method?: string;
  /** Without the base path. */
  readonly path: string;
  readonly body?: Json;
  /** A body that is sent unchanged. */
  readonly sent?: string | undefined;
  /** The key or the token of a user; undefined for none. */
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Asks a gateway for something, as no client of ours would: without retries, without opinions. */
export async function sendRequest(url: string, question: RecordedRequest): Promise<RecordedResponse> {
  const sent = question.sent ?? (question.body === undefined ? undefined : JSON.stringify(question.body));
  const response = await fetch(`${url}/api${question.path}`, {
    method: question.method ?? 'GET',
    redirect: 'manual',
    headers: { ...(question.token === undefined ? {} : { authorization: `Bearer ${question.token}` }), ...question.headers },
    ...(sent === undefined ? {} : { body: sent }),
  });
  const text = await response.text();
  const contentType = response.headers.get('content-type');
  const json = contentType?.startsWith('application/json') === true && text !== '';
  return { status: response.status, contentType, headers: response.headers, body: json ? parseGoJson(text) : text === '' ? null : text };
}
