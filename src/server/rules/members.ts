import { sql, type Transaction } from 'kysely';
import { equal, type JsonObject } from '../../model/json.ts';
import type { Collection } from '../collections.ts';
import { Rejection } from '../rejection.ts';
import type { Tables } from '../store/schema.ts';
import type { Author } from './versions.ts';

type Named = { readonly name: string; readonly spec: JsonObject };
type Member = { readonly name: string; readonly managed_by: string };

/**
 * Follows the replacement of an object that connections name: its new name is written to them. Throws a 409 when another manager manages
 * one of them, and when anything but the name and the agent changes.
 */
export async function moveMembers(
  trx: Transaction<Tables>,
  collection: Collection,
  { before, after, author }: { readonly before: Named; readonly after: Named; readonly author: Author },
): Promise<void> {
  const { memberField, agentField } = collection;
  if (memberField === undefined) return;
  const isSame = Object.keys(after.spec).every((field) => field === agentField || equal(before.spec[field], after.spec[field]));
  if (!isSame) await requireNoMembers(trx, collection, before.name, 'change the type or subtype of');
  if (before.name === after.name) return;
  const { rows } = await sql<Member>`
    update connections set spec = jsonb_set(spec, array[${sql.lit(memberField)}], to_jsonb(${after.name}::text)),
      revision = revision + 1, updated_at = ${author.now}
    where spec ->> ${sql.lit(memberField)} = ${before.name} returning name, managed_by`.execute(trx);
  const managed = rows.find(({ managed_by: manager }) => manager !== '' && manager !== author.manager);
  if (managed !== undefined) throw new Rejection(409, `its connection ${managed.name} is managed by ${managed.managed_by}`);
}

/** Throws a 409 when connections name an object. */
export async function requireNoMembers(
  trx: Transaction<Tables>,
  { memberField, texts }: Collection,
  name: string,
  act: string,
): Promise<void> {
  if (memberField === undefined) return;
  const { rows } = await sql<Member>`
    select name, managed_by from connections where spec ->> ${sql.lit(memberField)} = ${name} order by name limit 4`.execute(trx);
  if (rows.length === 0) return;
  const names = rows.slice(0, 3).map((row) => row.name);
  throw new Rejection(
    409,
    `cannot ${act} the ${texts.one} ${name}: connections belong to it (${names.join(', ')}${rows.length > 3 ? ', …' : ''})`,
  );
}
