import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { AppError, systemCodeOf } from '../../model/errors.ts';
import { type Cipher, createCipher, parseEncryptionKey, parsePreviousKeys } from '../secrets.ts';
import { openDatabase, type OpenOptions, startError } from './database.ts';
import { kindTables } from '../collections.ts';
import { createSchema, type Tables } from './schema.ts';
import { Rejection } from '../rejection.ts';

/** The database (or a transaction), the cipher of its secrets, and the clock. */
export type Store = { readonly db: Kysely<Tables>; readonly cipher: Cipher; readonly now: () => Date };

export type StoreOptions = OpenOptions & {
  /** Earlier encryption keys, separated by commas. */
  readonly previousEncryptionKeys?: string | undefined;
  /** Throws when this start is refused; runs before the database knows the encryption key. */
  readonly check?: (db: Kysely<Tables>) => Promise<void>;
  readonly now: () => Date;
};

export type OpenStore = { readonly store: Store; readonly close: () => Promise<void> };

/** Opens the database; a new one gets its tables. Throws `AppError` when it cannot be used, or the keys cannot open all of its secrets. */
export async function openStore(options: StoreOptions): Promise<OpenStore> {
  const earlier = parsePreviousKeys(options.previousEncryptionKeys ?? '');
  const refuse = (error: unknown): never => {
    throw startError(error, options);
  };
  const { db, encryptionKey, close } = await openDatabase(options).catch(refuse);
  const open = async (): Promise<OpenStore> => {
    const cipher = createCipher(parseEncryptionKey(encryptionKey), earlier);
    await createSchema(db);
    await options.check?.(db);
    await registerEncryptionKey(db, cipher, options.now());
    return { store: { db, cipher, now: options.now }, close };
  };
  return open().catch((error: unknown) => close().then(() => refuse(error)));
}

/**
 * Registers the key of the cipher in the database. The first start binds the database to its key; later starts must pass a known
 * key and every key that still seals a text. The keys that seal nothing and are not passed are removed: the database then rejects
 * texts that they seal. Throws `AppError` when a key is missing.
 */
async function registerEncryptionKey(db: Kysely<Tables>, { keyId, keyIds }: Pick<Cipher, 'keyId' | 'keyIds'>, now: Date): Promise<void> {
  await inWriteLock(db, async (trx) => {
    const known = await listEncryptionKeys(trx);
    const missing = known.filter(({ id, sealed }) => sealed > 0 && !keyIds.includes(id));
    if (missing.length > 0 || (known.length > 0 && !known.some(({ id }) => keyIds.includes(id)))) {
      const ids = (missing.length > 0 ? missing : known).map(({ id }) => id).join(', ');
      throw new AppError('serve/encryption-key', 3, `secrets of this database are encrypted with another key: ${ids}`, {
        hint: 'start with that key, or set it in OSTIARY_SERVE_ENCRYPTION_KEY_PREVIOUS beside the new one',
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

/** An encryption key that the database knows, and the number of texts that it seals. */
type EncryptionKey = { readonly id: string; readonly sealed: number };

/** Lists the keys that the database knows, oldest first. */
async function listEncryptionKeys(db: Kysely<Tables>): Promise<readonly EncryptionKey[]> {
  const counts = kindTables.map(({ table }) => sql`(select count(*) from ${sql.table(table)} where secrets_key = k.id)`);
  const { rows } = await sql<EncryptionKey>`
    select k.id, (${sql.join(counts, sql` + `)})::integer as sealed
    from encryption_keys k order by k.created_at, k.id`.execute(db);
  return rows;
}

/** Returns whether the database accepts texts that this server seals. */
export async function isKeyKnown({ db, cipher }: Store): Promise<boolean> {
  const found = await db.selectFrom('encryption_keys').select('id').where('id', '=', cipher.keyId).executeTakeFirst();
  return found !== undefined;
}

// An arbitrary number. Every version of the server must use the same one.
const writeLock = 5_712_009;

/** Runs one write at a time: its reads stay valid until it commits, and no two writes deadlock. Throws 503 when the encryption key is retired. */
export function inWriteLock<T>(db: Kysely<Tables>, act: (trx: Transaction<Tables>) => Promise<T>): Promise<T> {
  const written = db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(writeLock)})`.execute(trx);
    return act(trx);
  });
  return written.catch((error: unknown) => {
    throw violatesKeyReference(error)
      ? new Rejection(503, 'the encryption key of this server is retired: start the server with the new one')
      : error;
  });
}

/** Returns whether the database rejected a text because it does not know the key. */
function violatesKeyReference(error: unknown): boolean {
  return error instanceof Error && 'constraint' in error && String(error.constraint).endsWith('_key_fkey');
}

/** Runs a statement that gives `what` its name. Throws a 409 when the name is taken. */
export async function withUniqueName(what: string, statement: Promise<unknown>): Promise<void> {
  try {
    await statement;
  } catch (error) {
    throw systemCodeOf(error) === '23505' ? new Rejection(409, `${/^[AEIOU]/.test(what) ? 'an' : 'a'} ${what} already exists`) : error;
  }
}

/** A page of a list: its number, from 1, and its size. */
export type PageRequest = { readonly page: number; readonly size: number };

/** The rows to page through: `from` selects them, `select` reads those within the bounds. */
type PageQuery<T> = {
  readonly page: PageRequest;
  /** SQL: `from TABLE where …`. */
  readonly from: RawBuilder<unknown>;
  readonly select: (db: Kysely<Tables>, bounds: RawBuilder<unknown>) => Promise<readonly T[]>;
};

/** Reads one page and the total number of rows, both from the same snapshot. */
export function selectPage<T>(
  db: Kysely<Tables>,
  { page: { page, size }, from, select }: PageQuery<T>,
): Promise<{ readonly rows: readonly T[]; readonly total: number }> {
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return snapshot.execute(async (trx) => {
    const rows = await select(trx, sql`limit ${size} offset ${(page - 1) * size}`);
    const { rows: counted } = await sql<{ readonly total: number }>`select count(*)::integer as total ${from}`.execute(trx);
    return { rows, total: counted[0]?.total ?? 0 };
  });
}
