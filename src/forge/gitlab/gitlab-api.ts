import type { ForgeOptions } from '../ci-system.ts';
import { type FailedAnswer, fetchWithin, refusalOf, shortenMessage, waitToRepeat } from '../requests.ts';
import { throwUnexpected } from '../answers.ts';
import { isObject, type Json, type JsonObject, parseJson } from '../../model/json.ts';

export type GitLabOptions = ForgeOptions & { readonly apiUrl: string; readonly graphqlUrl: string };

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
type Query = Readonly<Record<string, string>>;

/** Requests to the API of one GitLab; every failure is an AppError with a code `forge/…`. */
export type GitLabApi = {
  readonly get: (path: string, query?: Query) => Promise<unknown>;
  /** Returns the items of at most so many pages. */
  readonly list: (path: string, query: Query, mostPages?: number) => Promise<readonly unknown[]>;
  readonly send: (method: 'POST' | 'PUT' | 'DELETE', path: string, body?: JsonObject) => Promise<unknown>;
  readonly graphql: (query: string, variables: JsonObject) => Promise<JsonObject>;
};

/** Opens the API; it waits out short rate limits and repeats requests that GitLab itself failed, and never leaves its server. */
export function openGitLabApi(options: GitLabOptions): GitLabApi {
  const { apiUrl, graphqlUrl, token, version, sleep, waits = { waited: 0 }, timeoutMs = 30_000, send = fetch } = options;
  const fetchThere = fetchWithin([apiUrl, graphqlUrl], timeoutMs, send);

  async function attempt(method: Method, url: string, body?: Json): Promise<Response | FailedAnswer> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'user-agent': `ostiary/${version}` };
    try {
      const response = await fetchThere(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
      if (response.ok) return response;
      const { status } = response;
      return { status, message: shortenMessage(messageIn(await response.text())), headers: Object.fromEntries(response.headers) };
    } catch (error) {
      // No answer counts as one of a server that failed.
      return { status: 500, message: error instanceof Error ? error.message : String(error) };
    }
  }

  async function request(method: Method, url: string, body?: Json): Promise<Response> {
    for (let count = 1; ; count += 1) {
      const answer = await attempt(method, url, body);
      if (answer instanceof Response) return answer;
      if (!(await waitToRepeat(answer, { method, attempt: count, waits, sleep })))
        throw refusalOf(answer, `${method} ${new URL(url).pathname}`, { hints });
    }
  }

  const urlOf = (path: string, query: Query = {}): string => {
    const text = new URLSearchParams(query).toString();
    return `${apiUrl}${path}${text === '' ? '' : `?${text}`}`;
  };

  return {
    get: async (path, query) => jsonOf(await request('GET', urlOf(path, query))),
    async list(path, query, mostPages = 100) {
      const items: unknown[] = [];
      let url: string | undefined = urlOf(path, { per_page: '100', ...query });
      for (let page = 0; url !== undefined && page < mostPages; page += 1) {
        const response: Response = await request('GET', url);
        const found = await jsonOf(response);
        if (!Array.isArray(found)) return throwUnexpected(`a list of ${path}`);
        for (const item of found) items.push(item);
        url = nextPage(response.headers.get('link') ?? '');
      }
      return items;
    },
    async send(method, path, body) {
      const response = await request(method, urlOf(path), body);
      return method === 'DELETE' ? undefined : jsonOf(response);
    },
    async graphql(query, variables) {
      const answer = await jsonOf(await request('POST', graphqlUrl, { query, variables }));
      const data = isObject(answer) ? answer['data'] : undefined;
      return isObject(data) ? data : throwUnexpected('an answer to a query');
    },
  };
}

async function jsonOf(response: Response): Promise<unknown> {
  const value = parseJson(await response.text());
  return value === undefined ? throwUnexpected('JSON') : value;
}

/** Returns the address of the next page in a `link` header. */
function nextPage(link: string): string | undefined {
  const [, url] = /<([^>]*)>;\s*rel="next"/.exec(link) ?? [];
  return url;
}

/** Returns the message of an answer that is not a success: GitLab spells it in three ways. */
function messageIn(text: string): string {
  const answer = parseJson(text);
  if (answer === undefined) return text;
  const message = isObject(answer) ? (answer['message'] ?? answer['error']) : undefined;
  return typeof message === 'string' ? message : JSON.stringify(message ?? answer);
}

const hints = {
  limited: 'the rate limit of GitLab is reached; run the job again later',
  forbidden: 'give the token the role and the scope listed in docs/how-to/gitlab.md',
  unreachable: 'the result of the run is valid; run the job again to post the missing notes',
  refused: 'see the message of GitLab',
} as const;
