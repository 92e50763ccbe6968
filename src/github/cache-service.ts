import { createHash } from 'node:crypto';
import { isObject, type JsonObject } from '../model/json.ts';
import type { SendRequest } from './github-client.ts';

/** The cache of GitHub Actions, in which runs of one repository leave a text for later runs. A failure throws an error that says why. */
export type CacheService = {
  /** Returns the newest text whose key starts with the prefix; undefined if there is none. */
  readonly restore: (prefix: string) => Promise<string | undefined>;
  /** Keeps a text under a new key. */
  readonly save: (key: string, text: string) => Promise<void>;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Of all entries of a repository, those that Ostiary wrote in this form. */
const version = createHash('sha256').update('ostiary/cache/v1').digest('hex');

const serviceName = 'github.actions.results.api.v1.CacheService';
const timeoutMs = 15_000;
const maxLength = 64 * 1024 * 1024;

/** Opens the cache of the job; undefined where the runner offers none, such as on GitHub Enterprise Server and outside a workflow. */
export function openCacheService(env: Environment, send: SendRequest = fetch): CacheService | undefined {
  const { ACTIONS_RESULTS_URL: address = '', ACTIONS_RUNTIME_TOKEN: token = '' } = env;
  if (!URL.canParse(address) || token === '') return undefined;

  async function call(method: string, message: JsonObject): Promise<JsonObject> {
    const response = await send(new URL(`/twirp/${serviceName}/${method}`, address), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(message),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answer: unknown = response.ok ? await response.json() : undefined;
    if (!isObject(answer)) throw new Error(`${method}: status ${response.status}`);
    return answer;
  }

  return {
    async restore(prefix) {
      const found = await call('GetCacheEntryDownloadURL', { key: prefix, restore_keys: [prefix], version });
      if (found['ok'] !== true) return undefined;
      const response = await send(blobUrl(found['signed_download_url']), { method: 'GET', signal: AbortSignal.timeout(timeoutMs) });
      if (!response.ok) throw new Error(`the download ended with status ${response.status}`);
      if (Number(response.headers.get('content-length') ?? 0) > maxLength) throw new Error('the entry is larger than 64 MiB');
      return response.text();
    },
    async save(key, text) {
      if (text.length > maxLength) throw new Error('the entry is larger than 64 MiB');
      const made = await call('CreateCacheEntry', { key, version });
      if (made['ok'] !== true) throw new Error('another job has this key');
      const response = await send(blobUrl(made['signed_upload_url']), {
        method: 'PUT',
        headers: { 'x-ms-blob-type': 'BlockBlob' },
        body: text,
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (!response.ok) throw new Error(`the upload ended with status ${response.status}`);
      await call('FinalizeCacheEntryUpload', { key, version, size_bytes: String(Buffer.byteLength(text)) });
    },
  };
}

/** Returns the address of an entry's content; it carries its own permission, so no token is sent there. */
function blobUrl(value: unknown): URL {
  if (typeof value !== 'string' || !URL.canParse(value)) throw new Error('the service returned no address');
  return new URL(value);
}
