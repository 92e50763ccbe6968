import { type Kysely, sql, type Transaction } from 'kysely';
import { Rejection } from '../http/rejection.ts';
import type { Tables } from './tables.ts';

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
      ? new Rejection(503, 'the encryption key of this server is retired: it has to be started with the new one')
      : error;
  });
}

/** Tells whether the database rejected a text because it does not know the key. */
function violatesKeyReference(error: unknown): boolean {
  return error instanceof Error && 'constraint' in error && String(error.constraint).endsWith('_key_fkey');
}

/** Runs a statement that gives `what` its name. Throws a 409 when the name is taken. */
export async function withUniqueName(what: string, statement: Promise<unknown>): Promise<void> {
  try {
    await statement;
  } catch (error) {
    const duplicate = error instanceof Error && 'code' in error && error.code === '23505';
    throw duplicate ? new Rejection(409, `${/^[AEIOU]/.test(what) ? 'an' : 'a'} ${what} exists already`) : error;
  }
}
