import type { IncomingHttpHeaders } from 'node:http';

/** A request that arrived. */
export type Heard = { readonly method: string; readonly path: string; readonly query: URLSearchParams; readonly body: string };

/** A response; a body of another type than JSON is sent unchanged. */
export type Reply = {
  readonly status: number;
  readonly body: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** An entry of the cache of GitHub Actions, which later runs of its branch and runs for that branch can read. */
export type ActionsCacheEntry = { readonly key: string; readonly version: string; readonly ref: string; text: string; isComplete: boolean };

/** The cache service of GitHub Actions with its blob storage, below one address. */
export type ActionsCache = {
  readonly entries: ActionsCacheEntry[];
  /** Answers a request for the cache; undefined for any other one. */
  readonly reply: (heard: Heard, headers: IncomingHttpHeaders, address: string) => Reply | undefined;
};

const service = '/twirp/github.actions.results.api.v1.CacheService/';
const mainRef = 'refs/heads/main';

/** Returns the token of a job's runtime, which names the branch whose entries the job may read and write. */
export function runtimeToken(ref: string): string {
  return `runtime-of:${ref}`;
}

/** Makes an empty cache. An entry belongs to the ref of its job; a job also reads those of the default branch. */
export function createActionsCache(): ActionsCache {
  const entries: ActionsCacheEntry[] = [];

  function answer(method: string, message: Readonly<Record<string, unknown>>, ref: string, address: string): Reply {
    const { key, version } = message;
    if (typeof key !== 'string' || typeof version !== 'string' || key.length > 512 || key.includes(','))
      return { status: 400, body: { code: 'invalid_argument', msg: 'key' } };
    const own = entries.find((entry) => entry.key === key && entry.version === version && entry.ref === ref);
    if (method === 'CreateCacheEntry') {
      if (own !== undefined) return { status: 200, body: { ok: false, signed_upload_url: '' } };
      entries.push({ key, version, ref, text: '', isComplete: false });
      return { status: 200, body: { ok: true, signed_upload_url: `${address}/blob/${entries.length - 1}?sig=upload` } };
    }
    if (method === 'FinalizeCacheEntryUpload') {
      const isWhole = own !== undefined && String(message['size_bytes']) === String(Buffer.byteLength(own.text));
      if (isWhole) own.isComplete = true;
      return { status: 200, body: { ok: isWhole, entry_id: '1' } };
    }
    if (method !== 'GetCacheEntryDownloadURL') return { status: 404, body: { code: 'bad_route' } };
    const prefixes = Array.isArray(message['restore_keys']) ? message['restore_keys'].map(String) : [];
    const complete = entries.filter((entry) => entry.isComplete && entry.version === version);
    for (const scope of [ref, mainRef]) {
      const readable = complete.filter((entry) => entry.ref === scope);
      const found =
        readable.find((entry) => entry.key === key) ??
        readable.findLast((entry) => prefixes.some((prefix) => entry.key.startsWith(prefix)));
      if (found === undefined) continue;
      const url = `${address}/blob/${entries.indexOf(found)}?sig=download`;
      return { status: 200, body: { ok: true, signed_download_url: url, matched_key: found.key } };
    }
    return { status: 200, body: { ok: false, signed_download_url: '', matched_key: '' } };
  }

  return {
    entries,
    reply({ method, path, query, body }, { authorization = '', ...headers }, address) {
      if (path.startsWith(service)) {
        const [, ref] = /^Bearer runtime-of:(.+)$/.exec(authorization) ?? [];
        return ref === undefined ? { status: 401, body: {} } : answer(path.slice(service.length), JSON.parse(body), ref, address);
      }
      const entry = path.startsWith('/blob/') ? entries[Number(path.slice('/blob/'.length))] : undefined;
      if (entry === undefined) return undefined;
      // A signed address is the permission; the storage refuses a request with a token of its own.
      if (authorization !== '') return { status: 403, body: '', type: 'text/plain' };
      if (method === 'GET')
        return query.get('sig') === 'download'
          ? { status: 200, body: entry.text, type: 'application/octet-stream' }
          : { status: 403, body: '', type: 'text/plain' };
      if (headers['x-ms-blob-type'] !== 'BlockBlob') return { status: 400, body: '', type: 'text/plain' };
      entry.text = body;
      return { status: 201, body: '', type: 'text/plain' };
    },
  };
}
