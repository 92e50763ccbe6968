import type { Context, Hono } from 'hono';
import type { Json } from '../../model/json.ts';
import type { Role } from '../auth/principal.ts';
import type { Collection } from '../collections.ts';
import { limitConcurrency } from '../../model/concurrency.ts';
import { Rejection, readBody } from '../http/request-body.ts';
import { type AppEnv, authorOf, entityTag, isAllowedVersion, writeTargetOf } from '../http/request-context.ts';
import { objectValidator, readObjectDraft, createObject, removeObject, replaceObject } from './object-writer.ts';
import { findObject, listObjects, pageObjects, type StoredObject } from './object-reader.ts';
import { readPageRequest, type Store } from '../store/store.ts';
import type { GivenSecrets, Secrets } from '../store/secrets.ts';

type CollectionOptions = { readonly store: Store; readonly now: () => Date };

// Between two slices of one list, a slice of every other list would run.
const maxConcurrentLists = 2;

const json = { 'Content-Type': 'application/json' };

/** Serves create, list, read, replace and delete of one kind. */
export function serveCollection(app: Hono<AppEnv>, collection: Collection, { store, now }: CollectionOptions): void {
  const validate = objectValidator(collection);
  const limited = limitConcurrency(maxConcurrentLists);
  const respond = (c: Context<AppEnv>, object: StoredObject, status: 200 | 201): Response =>
    c.body(objectText(collection, object, c.get('principal').role), status, { ...json, ETag: entityTag(object) });

  app.get(collection.path, async (c) => {
    const page = readPageRequest(c.req);
    if (page === undefined) {
      const { role } = c.get('principal');
      const texts = await limited(() => listObjects(store, collection, (object) => objectText(collection, object, role)));
      return c.body(`[${texts.join(',')}]`, 200, json);
    }
    const { rows, total } = await pageObjects(store, collection, page);
    const texts = rows.map((object) => objectText(collection, object, c.get('principal').role));
    return c.body(`{"data":[${texts.join(',')}],"pages":${JSON.stringify({ ...page, total })}}`, 200, json);
  });
  app.post(collection.path, async (c) => {
    const draft = readObjectDraft(collection, validate, await readBody(c.env.incoming));
    const created = await createObject(store, collection, { draft, author: authorOf(c, now()) });
    c.header('Location', `${collection.path}/${created.id}`);
    return respond(c, created, 201);
  });
  app.get(`${collection.path}/:id`, async (c) => {
    const { text, ifMatch } = writeTargetOf(c);
    const found = await findObject(store, collection, text);
    if (found === undefined) throw new Rejection(404, `unknown ${collection.kind.name} ${text}`);
    if (!isAllowedVersion(found, ifMatch)) throw new Rejection(412, `${collection.kind.name} ${found.name} has another version`);
    return respond(c, found, 200);
  });
  app.put(`${collection.path}/:id`, async (c) => {
    const draft = readObjectDraft(collection, validate, await readBody(c.env.incoming));
    return respond(c, await replaceObject(store, collection, { target: writeTargetOf(c), draft, author: authorOf(c, now()) }), 200);
  });
  app.delete(`${collection.path}/:id`, async (c) => {
    await removeObject(store, collection, { target: writeTargetOf(c), author: authorOf(c, now()) });
    return c.body(null, 204);
  });
}

/** Returns the JSON text of an object in responses: all fields of its kind, then the read-only fields. Only admins see secret values. */
function objectText(collection: Collection, stored: StoredObject, role: Role): string {
  const object = role === 'admin' ? stored : { ...stored, secrets: hideSecrets(stored.secrets) };
  const answer: Record<string, Json> = { id: object.id };
  if (collection.kind.named) answer['name'] = object.name;
  for (const { name, secret, edge } of collection.fields) {
    if (edge !== undefined) answer[name] = object.edges[name] ?? [];
    else if (secret !== undefined) answer[name] = name in object.secrets ? (object.secrets[name] ?? null) : secret === 'plain' ? '' : {};
  }
  const source = role === 'admin' ? stored : { ...stored, secrets: {} };
  for (const [field, { valueOf }] of Object.entries(collection.readOnly)) answer[field] = valueOf(source);
  if (collection.hasSecrets) answer['secrets_updated_at'] = object.secretsUpdatedAt?.toISOString() ?? null;
  answer['managed_by'] = object.managedBy;
  answer['revision'] = object.revision;
  answer['created_at'] = object.createdAt.toISOString();
  answer['updated_at'] = object.updatedAt.toISOString();
  const rest = JSON.stringify(answer);
  return stored.spec === '{}' ? rest : `${stored.spec.slice(0, -1)},${rest.slice(1)}`;
}

/** Replaces secret values by null and keeps the names. */
function hideSecrets(secrets: Secrets): GivenSecrets {
  const entries = Object.entries(secrets).map(([field, value]) => {
    return [field, typeof value === 'string' ? null : Object.fromEntries(Object.keys(value).map((key) => [key, null]))] as const;
  });
  return Object.fromEntries(entries);
}
