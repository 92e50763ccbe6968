import { AppError } from '../model/errors.ts';
import { createFirstKey } from './api-keys.ts';
import { recordWrite, type Attempt, type RecordWrite } from './audit.ts';
import { environmentPrincipal } from './auth.ts';
import { openStore, type StoreOptions } from './open-store.ts';

/** Makes the key of the first admin; refused where the database has a key of an admin. */
export async function makeFirstKey(options: StoreOptions): Promise<string> {
  const { store, close } = await openStore(options);
  try {
    const actor = environmentPrincipal('ostiary serve --init', '');
    const at = options.now();
    const attempt: Attempt = { actor, address: '', method: 'POST', path: '/api-keys', resourceType: 'api_keys', at };
    const record: RecordWrite = (trx, written) => recordWrite(trx, attempt, written);
    const author = { name: actor.name, manager: '', now: at, record };
    const key = await createFirstKey(store.db, { name: 'admin', groups: ['admin'], manager: '' }, author);
    if (key !== undefined) return key;
    throw new AppError('serve/initialised', 3, 'the gateway has a key of an admin already', {
      hint: 'make further keys with POST /api-keys',
    });
  } finally {
    await close();
  }
}
