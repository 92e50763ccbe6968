import { sql } from 'kysely';
import type { Log } from './process/log.ts';
import type { Store } from './objects/object-reader.ts';
import { sealedColumns } from './sealed-columns.ts';
import { inWriteLock } from './objects/object-writer.ts';

type ResealOptions = { readonly log: Log; readonly stopped: () => boolean };
type SealedRow = { readonly id: string; readonly sealed: string };
type SealedColumn = (typeof sealedColumns)[number];

const resealBatchSize = 100;
const firstId = '00000000-0000-0000-0000-000000000000';

/**
 * Seals everything with the current key that another key sealed, a hundred texts a transaction; objects keep their
 * versions. Tells the log whether the earlier keys are still needed.
 */
export async function resealAll(store: Store, { log, stopped }: ResealOptions): Promise<void> {
  let resealed = 0;
  let left = 0;
  for (const column of sealedColumns) {
    for (let after: string | undefined = firstId; after !== undefined;) {
      if (stopped()) return;
      const done: ResealedBatch = await resealBatch(store, column, after);
      resealed += done.resealed;
      left += done.unreadable.length;
      for (const place of done.unreadable) log({ level: 'warn', message: `cannot be opened, and stays as it is: ${place}` });
      after = done.last;
    }
  }
  const outcome = left === 0 ? 'OSTIARY_SERVE_ENCRYPTION_KEY_PREVIOUS is not needed any more' : `${left} need an earlier key`;
  log({ level: 'info', message: `encrypted ${resealed} secrets anew; ${outcome}` });
}

type ResealedBatch = { readonly resealed: number; readonly unreadable: readonly string[]; readonly last: string | undefined };

function resealBatch({ db, cipher }: Store, { table, column }: SealedColumn, after: string): Promise<ResealedBatch> {
  const [target, sealed, key] = [sql.table(table), sql.ref(column), sql.ref(`${column}_key`)];
  return inWriteLock(db, async (trx) => {
    const { rows } = await sql<SealedRow>`
      select id, ${sealed} as sealed from ${target} where ${key} <> ${cipher.keyId} and id > ${after}::uuid
      order by id limit ${resealBatchSize}`.execute(trx);
    const unreadable: string[] = [];
    for (const row of rows) {
      const place = `${table}/${row.id}/${column}`;
      const text = tryOpen(() => cipher.open(row.sealed, place));
      if (text === undefined) unreadable.push(place);
      else await sql`update ${target} set ${sealed} = ${cipher.seal(text, place)} where id = ${row.id}`.execute(trx);
    }
    return { resealed: rows.length - unreadable.length, unreadable, last: rows.length < resealBatchSize ? undefined : rows.at(-1)?.id };
  });
}

function tryOpen(open: () => string): string | undefined {
  try {
    return open();
  } catch {
    return undefined;
  }
}
