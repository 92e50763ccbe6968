import type { Context, Hono } from 'hono';
import { objectJson } from '../answer.ts';
import type { AppEnv } from '../app-env.ts';
import { authorOf } from '../http/request-context.ts';
import { readBody } from '../http/request-body.ts';
import type { Collection } from '../collections.ts';
import { readObjectDraft } from './object-draft.ts';
import { entityTag } from '../entity-tag.ts';
import { readPageRequest } from '../paging.ts';
import { mapYielding } from '../parts.ts';
import { findObject, listObjects, pageObjects, type Store, type StoredObject } from './object-reader.ts';
import { Rejection } from '../http/rejection.ts';
import { compileObjectValidator } from '../validation.ts';
import { createObject, removeObject, replaceObject, type WriteTarget } from './object-writer.ts';

type Parts = { readonly store: Store; readonly now: () => Date };

/** Serves create, list, read, full replace and delete of one kind. */
export function serveCollection(app: Hono<AppEnv>, collection: Collection, { store, now }: Parts): void {
  const validate = compileObjectValidator(collection);
  const respond = (c: Context<AppEnv>, object: StoredObject, status: 200 | 201): Response =>
    c.json(objectJson(collection, object, c.get('principal').role), status, { ETag: entityTag(object) });

  app.get(collection.path, async (c) => {
    const page = readPageRequest(c.req);
    if (page === undefined) {
      const { role } = c.get('principal');
      const texts = await mapYielding(await listObjects(store, collection), (object) => JSON.stringify(objectJson(collection, object, role)));
      return c.body(`[${texts.join(',')}]`, 200, { 'Content-Type': 'application/json' });
    }
    const { rows, total } = await pageObjects(store, collection, page);
    return c.json({ data: rows.map((object) => objectJson(collection, object, c.get('principal').role)), pages: { ...page, total } });
  });
  app.post(collection.path, async (c) => {
    const draft = readObjectDraft(collection, validate, await readBody(c.env.incoming));
    const created = await createObject(store, collection, { draft, author: authorOf(c, now()) });
    c.header('Location', `${collection.path}/${created.id}`);
    return respond(c, created, 201);
  });
  app.get(`${collection.path}/:id`, async (c) => {
    const { text } = referenceOf(c);
    const found = await findObject(store, collection, text);
    if (found === undefined) throw new Rejection(404, `there is no ${collection.kind.name} ${text}`);
    return respond(c, found, 200);
  });
  app.put(`${collection.path}/:id`, async (c) => {
    const draft = readObjectDraft(collection, validate, await readBody(c.env.incoming));
    return respond(c, await replaceObject(store, collection, { reference: referenceOf(c), draft, author: authorOf(c, now()) }), 200);
  });
  app.delete(`${collection.path}/:id`, async (c) => {
    await removeObject(store, collection, { reference: referenceOf(c), author: authorOf(c, now()) });
    return c.body(null, 204);
  });
}

function referenceOf(c: Context<AppEnv>): WriteTarget {
  return { text: c.req.param('id') ?? '', ifMatch: c.req.header('If-Match') };
}
