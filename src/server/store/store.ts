import { type Kysely, sql } from 'kysely';
import { AppError } from '../../model/errors.ts';
import { type Cipher, createCipher, parsePreviousKeys } from './cipher.ts';
import { openDatabase, type OpenOptions } from './database.ts';
import { migrate } from './migrations.ts';
import { sealedColumns, type Tables } from './tables.ts';
import { inWriteLock } from './write-lock.ts';

/** The database (or a transaction), the cipher of its secrets, and the clock. */
export type Store = { readonly db: Kysely<Tables>; readonly cipher: Cipher; readonly now: () => Date };

export type StoreOptions = OpenOptions & {
  /** Earlier encryption keys, separated by commas. */
  readonly previousEncryptionKeys?: string | undefined;
  readonly now: () => Date;
};

export type OpenStore = { readonly store: Store; readonly close: () => Promise<void> };

/** Opens and migrates the database. Throws `AppError` when the keys cannot open all of its secrets. */
export async function openStore(options: StoreOptions): Promise<OpenStore> {
  const earlier = parsePreviousKeys(options.previousEncryptionKeys ?? '');
  const { db, encryptionKey, close } = await openDatabase(options);
  try {
    const cipher = createCipher(encryptionKey, earlier);
    await migrate(db);
    await registerEncryptionKey(db, cipher, options.now());
    return { store: { db, cipher, now: options.now }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** An encryption key that the database knows, and the number of texts that it seals. */
export type EncryptionKey = { readonly id: string; readonly created_at: Date; readonly sealed: number };

/**
 * Registers the key of the cipher in the database. The first start binds the database to its key; later starts must pass a known
 * key and every key that still seals a text. The keys that seal nothing and are not passed are removed: the database then rejects
 * texts that they seal. Throws `AppError` when a key is missing.
 */
export async function registerEncryptionKey(
  db: Kysely<Tables>,
  { keyId, keyIds }: Pick<Cipher, 'keyId' | 'keyIds'>,
  now: Date,
): Promise<void> {
  await inWriteLock(db, async (trx) => {
    const known = await listEncryptionKeys(trx);
    const missing = known.filter(({ id, sealed }) => sealed > 0 && !keyIds.includes(id));
    if (missing.length > 0 || (known.length > 0 && !known.some(({ id }) => keyIds.includes(id)))) {
      const ids = (missing.length > 0 ? missing : known).map(({ id }) => id).join(', ');
      throw new AppError('serve/encryption-key', 3, `secrets of this database are encrypted with another key: ${ids}`, {
        hint: 'start with that key, or give it in OSTIARY_SERVE_ENCRYPTION_KEY_PREVIOUS beside the new one',
      });
    }
    const row = { id: keyId, created_at: now };
    await trx
      .insertInto('encryption_keys')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await trx.deleteFrom('encryption_keys').where('id', 'not in', keyIds).execute();
  });
}

/** Lists the keys that the database knows, oldest first. */
export async function listEncryptionKeys(db: Kysely<Tables>): Promise<readonly EncryptionKey[]> {
  const counts = sealedColumns.map(
    ({ table, column }) => sql`(select count(*) from ${sql.table(table)} where ${sql.ref(`${column}_key`)} = k.id)`,
  );
  const { rows } = await sql<EncryptionKey>`
    select k.id, k.created_at, (${sql.join(counts, sql` + `)})::integer as sealed
    from encryption_keys k order by k.created_at, k.id`.execute(db);
  return rows;
}
