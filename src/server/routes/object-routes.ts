import type { Context, Hono } from 'hono';
import type { Collection } from '../collections.ts';
import { decidingGroups } from '../rules/connection-access.ts';
import { limitConcurrency } from '../../model/concurrency.ts';
import type { Log } from '../log.ts';
import { Rejection } from '../rejection.ts';
import { Undecryptable } from '../secrets.ts';
import { reportUndecryptable } from './report-undecryptable.ts';
import { bodyValidator } from '../rules/body-validator.ts';
import { objectBodySchema } from './objects.openapi.ts';
import { readBody } from './request-body.ts';
import { type AppEnv, authorOf, writeTargetOf } from './request-context.ts';
import { entityTag } from '../rules/versions.ts';
import { createObject, readObjectDraft, removeObject, replaceObject } from '../rules/object-writer.ts';
import { findObject, listObjects, type ObjectRow, pageObjects } from '../rules/object-reader.ts';
import { rowText, unreadableText, versionOf, type WrittenObject, writtenText } from '../rules/stored-object.ts';
import { readPageRequest } from './paging.ts';
import { type Store } from '../store/store.ts';

type CollectionOptions = { readonly store: Store; readonly now: () => Date; readonly log: Log };

// Between two slices of one list, a slice of every other list would run.
const maxConcurrentLists = 2;

const json = { 'Content-Type': 'application/json' };

/** Serves create, list, read, replace and delete of one kind. */
export function serveCollection(app: Hono<AppEnv>, collection: Collection, { store, now, log }: CollectionOptions): void {
  const validate = bodyValidator(objectBodySchema(collection));
  const limited = limitConcurrency(maxConcurrentLists);
  const respond = (c: Context<AppEnv>, object: WrittenObject, status: 200 | 201): Response =>
    c.body(writtenText(collection, object, c.get('principal').role), status, { ...json, ETag: entityTag(object) });

  app.get(collection.path, async (c) => {
    const { role } = c.get('principal');
    const visibleTo = decidingGroups(c.get('principal'));
    const unreadable: Undecryptable[] = [];
    const textOf = (row: ObjectRow): string => {
      const text = rowText(store.cipher, collection, row, role);
      if (typeof text === 'string') return text;
      unreadable.push(text);
      return unreadableText(row, text);
    };
    const page = readPageRequest(c.req);
    if (page === undefined) {
      const make = (rows: readonly ObjectRow[]): Buffer => Buffer.from(rows.map(textOf).join(','));
      const slices = await limited(() => listObjects(store, collection, { visibleTo, make }));
      reportUndecryptable(c, log, unreadable);
      const parts = arrayParts(slices);
      const length = parts.reduce((sum, part) => sum + part.length, 0);
      return c.body(ReadableStream.from(parts), 200, { ...json, 'Content-Length': String(length) });
    }
    const { rows, total } = await pageObjects(store, collection, { visibleTo, page });
    const data = rows.map(textOf).join(',');
    reportUndecryptable(c, log, unreadable);
    return c.body(`{"data":[${data}],"pages":${JSON.stringify({ ...page, total })}}`, 200, json);
  });
  app.post(collection.path, async (c) => {
    const draft = readObjectDraft(collection, validate, await readBody(c.env.incoming));
    const created = await createObject(store, collection, { draft, author: authorOf(c, now()) });
    c.header('Location', `${collection.path}/${created.id}`);
    return respond(c, created, 201);
  });
  app.get(`${collection.path}/:id`, async (c) => {
    const { text } = writeTargetOf(c);
    const found = await findObject(store, collection, { text, visibleTo: decidingGroups(c.get('principal')) });
    if (found === undefined) throw new Rejection(404, `unknown ${collection.kind.name} ${text}`);
    const answer = rowText(store.cipher, collection, found, c.get('principal').role);
    if (answer instanceof Undecryptable) throw answer;
    return c.body(answer, 200, { ...json, ETag: entityTag(versionOf(found)) });
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

/** Returns the text of an array of the slices of a list, in parts: one text would need the memory twice. */
function arrayParts(slices: readonly Buffer[]): readonly Buffer[] {
  const parts = slices.flatMap((slice, index) => [Buffer.from(index === 0 ? '[' : ','), slice]);
  return [...parts, Buffer.from(slices.length === 0 ? '[]' : ']')];
}
