import type { Kysely } from 'kysely';
import { AppError } from '../../model/errors.ts';
import { recordWrite, type RecordWrite, type WriteAttempt } from '../audit/audit-log.ts';
import { type ApiKeyDraft, hasAdminKey, insertApiKey } from './api-keys.ts';
import { environmentPrincipal } from './principal.ts';
import type { Author } from '../http/request-context.ts';
import { openStore, type StoreOptions } from '../store/store.ts';
import type { Tables } from '../store/tables.ts';
import { inWriteLock } from '../store/write-lock.ts';

/** Creates the first admin key and returns it. Throws `AppError` when the database has an active admin key. */
export async function createFirstAdminKey(options: StoreOptions): Promise<string> {
  const { store, close } = await openStore(options);
  try {
    const actor = environmentPrincipal('ostiary serve --init', '');
    const at = options.now();
    const attempt: WriteAttempt = { actor, address: '', method: 'POST', path: '/api-keys', resourceType: 'api_keys', at };
    const record: RecordWrite = (trx, written) => recordWrite(trx, attempt, written);
    const author = { name: actor.name, manager: '', now: at, record };
    const key = await insertFirstAdminKey(store.db, { name: 'admin', groups: ['admin'], manager: '' }, author);
    if (key !== undefined) return key;
    throw new AppError('serve/initialised', 3, 'the gateway has a key of an admin already', {
      hint: 'make further keys with POST /api-keys',
    });
  } finally {
    await close();
  }
}

/** Creates the first admin key; undefined when the database has an active one. */
function insertFirstAdminKey(db: Kysely<Tables>, draft: ApiKeyDraft, author: Author): Promise<string | undefined> {
  return inWriteLock(db, async (trx) => ((await hasAdminKey(trx)) ? undefined : (await insertApiKey(trx, draft, author)).key));
}
