import { randomUUID } from 'node:crypto';
import { sql, type Kysely, type Transaction } from 'kysely';
import { compareText, equal } from '../../model/json.ts';
import { pointer } from '../../model/pointer.ts';
import { changedFields, redactedPayload } from '../audit-payload.ts';
import type { Author } from '../http/request-context.ts';
import type { Collection } from '../collections.ts';
import type { ObjectDraft } from './object-draft.ts';
import { releaseEdges, replaceEdges } from './edges.ts';
import { isAllowedVersion } from '../entity-tag.ts';
import { findObject, secretsPath, type Store, type StoredObject } from './object-reader.ts';
import { InvalidBody, Rejection } from '../http/rejection.ts';
import { resolveSecrets, sealSecrets } from '../store/secrets.ts';
import { ensureAgentAndResource } from '../settle.ts';
import type { Tables } from '../store/tables.ts';

/** Which object a caller means, and the versions it may have (`If-Match`). */
export type WriteTarget = { readonly text: string; readonly ifMatch: string | undefined };

// Any number will do, as long as every version of the server takes the same one.
const writeLock = 5_712_009;

/** Creates an object with its edges. */
export async function createObject(store: Store, collection: Collection, write: { draft: ObjectDraft; author: Author }): Promise<StoredObject> {
  const { draft, author } = write;
  const secrets = resolveSecrets(draft.secrets, {});
  const id = randomUUID();
  const sealed = sealSecrets(store.cipher, secrets, secretsPath(collection, id));
  const secretsUpdatedAt = sealed === null ? null : author.now;
  return inWriteLock(store.db, async (trx) => {
    const online = await ensureAgentAndResource(trx, collection, { spec: draft.spec, now: author.now });
    const row = {
      id,
      name: draft.name,
      spec: JSON.stringify(draft.spec),
      secrets: sealed,
      secrets_updated_at: secretsUpdatedAt,
      managed_by: author.manager,
      revision: 1,
      created_at: author.now,
      updated_at: author.now,
    };
    await withUniqueName(`${collection.kind.name} ${draft.name}`, trx.insertInto(collection.table).values(row).execute());
    await replaceEdges(trx, collection, { id, before: {}, after: draft.edges, author });
    await author.record(trx, { id, name: draft.name, payload: redactedPayload(collection.fields, draft) });
    const rest = { managedBy: author.manager, online, revision: 1, createdAt: author.now, updatedAt: author.now };
    return { id, ...draft, secrets, edges: sortEdges(draft.edges), secretsUpdatedAt, ...rest };
  });
}

/** Replaces an object whole, with its edges; a secret that the draft keeps stays. */
export async function replaceObject(
  store: Store,
  collection: Collection,
  { reference, draft, author }: { readonly reference: WriteTarget; readonly draft: ObjectDraft; readonly author: Author },
): Promise<StoredObject> {
  return inWriteLock(store.db, async (trx) => {
    const stored = requireWritable(collection, await findObject({ ...store, db: trx }, collection, reference.text), { reference, author });
    if (stored.name !== draft.name && !collection.kind.renamable) {
      throw new InvalidBody([{ field: pointer(collection.identityField), reason: `cannot change: it is ${stored.name}` }]);
    }
    const secrets = resolveSecrets(draft.secrets, stored.secrets);
    const secretsUpdatedAt = equal(secrets, stored.secrets) ? stored.secretsUpdatedAt : author.now;
    const online = await ensureAgentAndResource(trx, collection, { spec: draft.spec, now: author.now });
    const row = {
      name: draft.name,
      spec: JSON.stringify(draft.spec),
      secrets: sealSecrets(store.cipher, secrets, secretsPath(collection, stored.id)),
      secrets_updated_at: secretsUpdatedAt,
      revision: stored.revision + 1,
      updated_at: author.now,
    };
    await withUniqueName(
      `${collection.kind.name} ${draft.name}`,
      trx.updateTable(collection.table).set(row).where('id', '=', stored.id).execute(),
    );
    await replaceEdges(trx, collection, { id: stored.id, before: stored.edges, after: draft.edges, author });
    const changed = changedFields(stored, draft, secrets);
    await author.record(trx, { id: stored.id, name: draft.name, payload: redactedPayload(collection.fields, draft), changed });
    const rest = { online, revision: row.revision, updatedAt: author.now };
    return { ...stored, ...draft, secrets, edges: sortEdges(draft.edges), secretsUpdatedAt, ...rest };
  });
}

/** Removes an object and all its edges. */
export async function removeObject(
  store: Store,
  collection: Collection,
  { reference, author }: { readonly reference: WriteTarget; readonly author: Author },
): Promise<void> {
  await inWriteLock(store.db, async (trx) => {
    const stored = requireWritable(collection, await findObject({ ...store, db: trx }, collection, reference.text), { reference, author });
    await releaseEdges(trx, collection, stored.id, author);
    await trx.deleteFrom(collection.table).where('id', '=', stored.id).execute();
    await author.record(trx, { id: stored.id, name: stored.name, payload: {} });
  });
}

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

function requireWritable(
  { kind }: Collection,
  stored: StoredObject | undefined,
  { reference, author }: { readonly reference: WriteTarget; readonly author: Author },
): StoredObject {
  if (stored === undefined) throw new Rejection(404, `there is no ${kind.name} ${reference.text}`);
  if (stored.managedBy !== '' && stored.managedBy !== author.manager) {
    throw new Rejection(409, `${kind.name} ${stored.name} is managed by ${stored.managedBy}`);
  }
  if (!isAllowedVersion(stored, reference.ifMatch)) throw new Rejection(412, `${kind.name} ${stored.name} has changed since it was read`);
  return stored;
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

function sortEdges(edges: ObjectDraft['edges']): ObjectDraft['edges'] {
  return Object.fromEntries(Object.entries(edges).map(([field, ids]) => [field, ids.toSorted(compareText)]));
}
