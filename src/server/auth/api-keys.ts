import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { JsonObject } from '../../model/json.ts';
import { type Principal, roleOf } from './principal.ts';
import { Rejection } from '../http/rejection.ts';
import { type Author, isAllowedVersion, type WriteTarget } from '../http/request-context.ts';
import { type ApiKeyRow, type Tables, uuidPattern } from '../store/tables.ts';
import { inWriteLock, withUniqueName } from '../store/write-lock.ts';

/** What an admin decides of a key. */
export type ApiKeyDraft = { readonly name: string; readonly groups: readonly string[]; readonly manager: string };

/** A key of the database, without the key itself. */
export type ApiKey = Selectable<ApiKeyRow>;

const apiKeyPrefix = 'ostk_';
const apiKeyPattern = /^ostk_[\w-]{43}$/;
// Who uses a key is written down at most once a minute, so that reads stay reads.
const lastUsedPrecisionMs = 60_000;

/** Whose key it is; undefined where no active key of the database is the same. */
export async function findKeyHolder(db: Kysely<Tables>, key: string, now: Date): Promise<Principal | undefined> {
  if (!apiKeyPattern.test(key)) return undefined;
  const hash = hashApiKey(key);
  const found = await db.selectFrom('api_keys').selectAll().where('hash', '=', hash).where('status', '=', 'active').executeTakeFirst();
  if (found === undefined || !timingSafeEqual(Buffer.from(found.hash), Buffer.from(hash))) return undefined;
  if (found.last_used_at === null || now.getTime() - found.last_used_at.getTime() > lastUsedPrecisionMs) {
    await db.updateTable('api_keys').set({ last_used_at: now }).where('id', '=', found.id).execute();
  }
  const { id, name, groups, manager } = found;
  return { id, name, email: name, groups, role: roleOf(groups), manager };
}

/** Makes a key; this answer alone has it, the database has its hash. */
export function createApiKey(
  db: Kysely<Tables>,
  draft: ApiKeyDraft,
  author: Author,
): Promise<{ readonly key: string; readonly created: ApiKey }> {
  return inWriteLock(db, (trx) => insertApiKey(trx, draft, author));
}

/** Whether anybody could come in as an admin with a key of the database. */
export async function hasAdminKey(db: Kysely<Tables>): Promise<boolean> {
  const isAdmin = sql<boolean>`groups @> '["admin"]'`;
  const found = await db.selectFrom('api_keys').select('id').where('status', '=', 'active').where(isAdmin).limit(1).execute();
  return found.length > 0;
}

/** All keys by name, those that were revoked too. */
export async function listApiKeys(db: Kysely<Tables>): Promise<readonly ApiKey[]> {
  return db.selectFrom('api_keys').selectAll().orderBy('name').orderBy('created_at').orderBy('id').execute();
}

/** Finds a key by its id, or an active one by its name. */
export async function findApiKey(db: Kysely<Tables>, text: string): Promise<ApiKey> {
  const all = db.selectFrom('api_keys').selectAll();
  const query = uuidPattern.test(text) ? all.where('id', '=', text) : all.where('name', '=', text).where('status', '=', 'active');
  const found = text.includes('\0') ? undefined : await query.executeTakeFirst();
  if (found === undefined) throw new Rejection(404, `there is no API key ${text}`);
  return found;
}

/** Replaces what an admin decides of a key; the key itself stays. */
export function replaceApiKey(
  db: Kysely<Tables>,
  { target, draft, author }: { readonly target: WriteTarget; readonly draft: ApiKeyDraft; readonly author: Author },
): Promise<ApiKey> {
  return inWriteLock(db, async (trx) => {
    const stored = await findUnchangedKey(trx, target);
    if (stored.status !== 'active') throw new Rejection(409, `the API key ${stored.name} is revoked, and stays as it is`);
    const row = { ...draft, groups: JSON.stringify(draft.groups), revision: stored.revision + 1 };
    await withUniqueName(`API key ${draft.name}`, trx.updateTable('api_keys').set(row).where('id', '=', stored.id).execute());
    const changed = (['name', 'groups', 'manager'] as const).filter((field) => String(draft[field]) !== String(stored[field]));
    await author.record(trx, { id: stored.id, name: draft.name, payload: { ...draft, groups: [...draft.groups] }, changed });
    return { ...stored, ...draft, revision: row.revision };
  });
}

/** Revokes a key for good, on every server of the database; one that was revoked stays as it is. */
export function revokeApiKey(
  db: Kysely<Tables>,
  { target, author }: { readonly target: WriteTarget; readonly author: Author },
): Promise<void> {
  return inWriteLock(db, async (trx) => {
    const { id, name, status, revision } = await findUnchangedKey(trx, target);
    const row = { status: 'revoked' as const, deactivated_by: author.name, deactivated_at: author.now, revision: revision + 1 };
    if (status === 'active') await trx.updateTable('api_keys').set(row).where('id', '=', id).execute();
    await author.record(trx, { id, name, payload: {}, action: 'revoke' });
  });
}

/** The groups that any active key is in; undefined where there is no such key. */
export async function listGroups(db: Kysely<Tables>): Promise<readonly string[] | undefined> {
  const rows = await db.selectFrom('api_keys').select('groups').where('status', '=', 'active').execute();
  return rows.length === 0 ? undefined : rows.flatMap(({ groups }) => groups);
}

/** Spells a key as it travels. */
export function apiKeyJson(key: ApiKey): JsonObject {
  return {
    id: key.id,
    name: key.name,
    masked_key: key.masked_key,
    groups: [...key.groups],
    role: roleOf(key.groups),
    manager: key.manager,
    status: key.status,
    created_by: key.created_by,
    deactivated_by: key.deactivated_by,
    created_at: key.created_at.toISOString(),
    deactivated_at: key.deactivated_at?.toISOString() ?? null,
    last_used_at: key.last_used_at?.toISOString() ?? null,
  };
}

export async function insertApiKey(
  trx: Transaction<Tables>,
  draft: ApiKeyDraft,
  author: Author,
): Promise<{ readonly key: string; readonly created: ApiKey }> {
  const key = `${apiKeyPrefix}${randomBytes(32).toString('base64url')}`;
  const row = {
    id: randomUUID(),
    ...draft,
    hash: hashApiKey(key),
    masked_key: `${key.slice(0, apiKeyPrefix.length + 4)}****`,
    status: 'active' as const,
    revision: 1,
    created_by: author.name,
    created_at: author.now,
    deactivated_by: null,
    deactivated_at: null,
    last_used_at: null,
  };
  const inserted = trx.insertInto('api_keys').values({ ...row, groups: JSON.stringify(draft.groups) });
  await withUniqueName(`API key ${draft.name}`, inserted.execute());
  await author.record(trx, { id: row.id, name: draft.name, payload: { ...draft, groups: [...draft.groups] } });
  return { key, created: row };
}

async function findUnchangedKey(trx: Transaction<Tables>, { text, ifMatch }: WriteTarget): Promise<ApiKey> {
  const stored = await findApiKey(trx, text);
  if (!isAllowedVersion(stored, ifMatch)) throw new Rejection(412, `the API key ${stored.name} has changed since it was read`);
  return stored;
}

/** A fast hash will do: a key has 256 random bits, which nobody finds by trying, however fast. */
function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
