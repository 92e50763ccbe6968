import { type Kysely, sql, type Transaction } from 'kysely';
import { Rejection } from '../http/rejection.ts';
import type { Tables } from './tables.ts';

// Any number will do, as long as every version of the server takes the same one.
const writeLock = 5_712_009;

/** Runs one write at a time: what it reads stays true until it commits, and no two writes wait for each other's rows. */
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

/** The database refuses texts that are sealed with a key it does not know any more. */
function violatesKeyReference(error: unknown): boolean {
  return error instanceof Error && 'constraint' in error && String(error.constraint).endsWith('_key_fkey');
}

/** Runs a statement that gives `what` its name; a name that is taken is a conflict. */
export async function withUniqueName(what: string, statement: Promise<unknown>): Promise<void> {
  try {
    await statement;
  } catch (error) {
    const duplicate = error instanceof Error && 'code' in error && error.code === '23505';
    throw duplicate ? new Rejection(409, `${/^[AEIOU]/.test(what) ? 'an' : 'a'} ${what} exists already`) : error;
  }
}
