import { AppError } from '../../model/errors.ts';
import { insertFirstAdminKey } from './api-keys.ts';
import { recordWrite, type WriteAttempt, type RecordWrite } from '../audit/audit-log.ts';
import { environmentPrincipal } from './principal.ts';
import { openStore, type StoreOptions } from '../store/store.ts';

/** Makes the key of the first admin; refused where the database has a key of an admin. */
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
