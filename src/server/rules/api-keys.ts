import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { environmentPrincipal, type Principal, roleOf } from '../principal.ts';
import { InvalidBody, Rejection } from '../rejection.ts';
import { type Author, entityTag, requireAllowedTag, type WriteTarget } from './versions.ts';
import { type ApiKeyRow, type Tables, uuidPattern } from '../store/schema.ts';
import { inWriteLock, openStore, type Store, type StoreOptions, withUniqueName } from '../store/store.ts';
import { AppError } from '../../model/errors.ts';
import { type RecordWrite, recordWrite, type WriteAttempt } from '../store/audit-log.ts';

/** The properties of a key that an admin chooses. */
export type ApiKeyDraft = { readonly name: string; readonly groups: readonly string[]; readonly manager: string };

/** A key in the database, without the key text. */
export type ApiKey = Selectable<ApiKeyRow>;

const apiKeyPrefix = 'ostk_';
const apiKeyPattern = /^ostk_[\w-]{43}$/;
// `last_used_at` is written at most once a minute, so that reads do not become writes.
const lastUsedPrecisionMs = 60_000;

/** Returns the caller of a key; undefined when no active key of the database matches. */
export async function findKeyHolder(store: Store, key: string): Promise<Principal | undefined> {
  if (!apiKeyPattern.test(key)) return undefined;
  const { db } = store;
  const now = store.now();
  const found = await db
    .selectFrom('api_keys')
    .selectAll()
    .where('hash', '=', hashApiKey(key))
    .where('status', '=', 'active')
    .executeTakeFirst();
  if (found === undefined) return undefined;
  if (found.last_used_at === null || now.getTime() - found.last_used_at.getTime() > lastUsedPrecisionMs) {
    await db.updateTable('api_keys').set({ last_used_at: now }).where('id', '=', found.id).execute();
  }
  const { id, name, groups, manager } = found;
  return { id, name, email: name, groups, role: roleOf(groups), manager };
}

/** Creates a key. Only this result contains the key text; the database stores its hash. */
export function createApiKey(
  db: Kysely<Tables>,
  draft: ApiKeyDraft,
  author: Author,
): Promise<{ readonly key: string; readonly created: ApiKey }> {
  requireOwnName(draft.name);
  return inWriteLock(db, (trx) => insertApiKey(trx, draft, author));
}

/** Returns whether the database has an active admin key. */
export async function hasAdminKey(db: Kysely<Tables>): Promise<boolean> {
  const isAdmin = sql<boolean>`groups @> '["admin"]'`;
  const found = await db.selectFrom('api_keys').select('id').where('status', '=', 'active').where(isAdmin).limit(1).execute();
  return found.length > 0;
}

/** Lists all keys by name, including revoked ones. */
export async function listApiKeys(db: Kysely<Tables>): Promise<readonly ApiKey[]> {
  return db.selectFrom('api_keys').selectAll().orderBy('name').orderBy('created_at').orderBy('id').execute();
}

/** Returns a key by its id, or an active key by its name. Throws a 404. */
export async function findApiKey(db: Kysely<Tables>, text: string): Promise<ApiKey> {
  const all = db.selectFrom('api_keys').selectAll();
  const query = uuidPattern.test(text) ? all.where('id', '=', text) : all.where('name', '=', text).where('status', '=', 'active');
  const found = text.includes('\0') ? undefined : await query.executeTakeFirst();
  if (found === undefined) throw new Rejection(404, `unknown API key ${text}`);
  return found;
}

// The log and the audit log show these actors by such names: the keys of the environment, agents, and the server itself.
const builtInNames = /^(admin|manager|agent|ostiary)( .*)?$/i;

/** Throws `InvalidBody` for the name of an actor without a key in the database. */
function requireOwnName(name: string): void {
  if (!builtInNames.test(name.trim())) return;
  throw new InvalidBody([
    { field: '/name', reason: 'must not begin with the word admin, manager, agent or ostiary: the audit log uses these names' },
  ]);
}

/** Replaces the properties of a key; the key text stays. */
export function replaceApiKey(
  db: Kysely<Tables>,
  { target, draft, author }: { readonly target: WriteTarget; readonly draft: ApiKeyDraft; readonly author: Author },
): Promise<ApiKey> {
  return inWriteLock(db, async (trx) => {
    const stored = await findUnchangedKey(trx, target);
    if (stored.status !== 'active') throw new Rejection(409, `the API key ${stored.name} is revoked and cannot change`);
    if (draft.name !== stored.name) requireOwnName(draft.name);
    const row = { ...draft, groups: JSON.stringify(draft.groups), revision: stored.revision + 1 };
    await withUniqueName(`API key ${draft.name}`, trx.updateTable('api_keys').set(row).where('id', '=', stored.id).execute());
    const changed = (['name', 'groups', 'manager'] as const).filter((field) => String(draft[field]) !== String(stored[field]));
    await author.record(trx, { id: stored.id, name: draft.name, payload: draft, changed });
    return { ...stored, ...draft, revision: row.revision };
  });
}

/** Revokes a key permanently; a revoked key stays unchanged. */
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

/** Lists the groups of all active keys, with duplicates; undefined when no key is active. */
export async function listGroups(db: Kysely<Tables>): Promise<readonly string[] | undefined> {
  const rows = await db.selectFrom('api_keys').select('groups').where('status', '=', 'active').execute();
  return rows.length === 0 ? undefined : rows.flatMap(({ groups }) => groups);
}

/** Returns a key as responses have it. */
export function apiKeyJson({ hash: _hash, revision: _revision, ...key }: ApiKey): object {
  return { ...key, role: roleOf(key.groups) };
}

/** Inserts a key in a transaction; returns the key itself, which is stored as a hash alone. */
async function insertApiKey(
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
  await author.record(trx, { id: row.id, name: draft.name, payload: draft });
  return { key, created: row };
}

async function findUnchangedKey(trx: Transaction<Tables>, { text, ...conditions }: WriteTarget): Promise<ApiKey> {
  const stored = await findApiKey(trx, text);
  requireAllowedTag(`the API key ${stored.name}`, entityTag(stored), conditions);
  return stored;
}

/** Hashes a key. A fast hash is enough: a key has 256 random bits. */
function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** Creates the first admin key and returns it. Throws `AppError` when the database has an active admin key. */
export async function createFirstAdminKey(options: StoreOptions): Promise<string> {
  const { store, close } = await openStore(options);
  try {
    const actor = environmentPrincipal('ostiary serve --init', '');
    const at = options.now();
    const attempt: WriteAttempt = { actor, address: '', method: 'POST', path: '/api-keys', resourceType: 'api_keys', at };
    const record: RecordWrite = (trx, written) => recordWrite(trx, attempt, written);
    const author = { name: actor.name, manager: '', now: at, record };
    const draft = { name: 'admin', groups: ['admin'], manager: '' };
    const made = await inWriteLock(store.db, async (trx) => ((await hasAdminKey(trx)) ? undefined : insertApiKey(trx, draft, author)));
    if (made !== undefined) return made.key;
    throw new AppError('serve/initialized', 3, 'the gateway already has an admin key', {
      hint: 'create more keys with POST /api-keys',
    });
  } finally {
    await close();
  }
}
