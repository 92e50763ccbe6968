import type { Context } from 'hono';
import type { Collection } from '../collections.ts';
import { decidingGroups } from '../rules/connection-access.ts';
import { limitConcurrency } from '../../model/concurrency.ts';
import type { Log } from '../log.ts';
import { Rejection } from '../rejection.ts';
import { Undecryptable } from '../secrets.ts';
import { reportUndecryptable } from './report-undecryptable.ts';
import type { ServedAnswer, ApiOperation } from './api-section.ts';
import { type AppEnv, authorOf, writeTargetOf } from './request-context.ts';
import { entityTag } from '../rules/versions.ts';
import { createObject, readObjectDraft, removeObject, replaceObject } from '../rules/object-writer.ts';
import { findObject, listObjects, type ObjectRow, pageObjects } from '../rules/object-reader.ts';
import { rowText, unreadableText, versionOf } from '../rules/stored-object.ts';
import { defaultPage, pageOf } from './paging.ts';
import { type Store } from '../store/store.ts';

export type CollectionOptions = { readonly store: Store; readonly log: Log };

type Handlers = Readonly<Record<'list' | 'create' | 'read' | 'replace' | 'remove', ApiOperation['serve']>>;

// Between two slices of one list, a slice of every other list would run.
const maxConcurrentLists = 2;

/** Returns what serves the list, create, read, replace and delete of one kind. */
export function collectionHandlers(collection: Collection, { store, log }: CollectionOptions): Handlers {
  const limited = limitConcurrency(maxConcurrentLists);
  const answer = (c: Context<AppEnv>, row: ObjectRow): ServedAnswer => {
    const json = rowText(store.cipher, collection, row, c.get('principal').role);
    if (json instanceof Undecryptable) throw json;
    return { json, tag: entityTag(versionOf(row)), id: row.id };
  };
  return {
    async list(c, _body, query) {
      const { role } = c.get('principal');
      const visibleTo = decidingGroups(c.get('principal'));
      const unreadable: Undecryptable[] = [];
      const textOf = (row: ObjectRow): string => {
        const text = rowText(store.cipher, collection, row, role);
        if (typeof text === 'string') return text;
        unreadable.push(text);
        return unreadableText(row, text);
      };
      const page = pageOf(query) ?? (collection.filters === undefined ? undefined : defaultPage);
      if (page === undefined) {
        const make = (rows: readonly ObjectRow[]): Buffer => Buffer.from(rows.map(textOf).join(','));
        const slices = await limited(() => listObjects(store, collection, { visibleTo, make }));
        reportUndecryptable(c, log, unreadable);
        const parts = arrayParts(slices);
        const length = parts.reduce((sum, part) => sum + part.length, 0);
        return c.body(ReadableStream.from(parts), 200, { 'Content-Type': 'application/json', 'Content-Length': String(length) });
      }
      const { rows, total } = await pageObjects(store, collection, { visibleTo, page, filter: query });
      const texts = rows.map(textOf).join(',');
      reportUndecryptable(c, log, unreadable);
      return { json: `{"data":[${texts}],"pages":${JSON.stringify({ ...page, total })}}` };
    },
    async create(c, body) {
      const created = { draft: readObjectDraft(collection, body), author: authorOf(c, store.now()) };
      return answer(c, await createObject(store, collection, created));
    },
    async read(c) {
      const { text } = writeTargetOf(c);
      const found = await findObject(store, collection, { text, visibleTo: decidingGroups(c.get('principal')) });
      if (found === undefined) throw new Rejection(404, `unknown ${collection.kind.name} ${text}`);
      return answer(c, found);
    },
    async replace(c, body) {
      const change = { target: writeTargetOf(c), draft: readObjectDraft(collection, body), author: authorOf(c, store.now()) };
      return answer(c, await replaceObject(store, collection, change));
    },
    async remove(c) {
      await removeObject(store, collection, { target: writeTargetOf(c), author: authorOf(c, store.now()) });
      return {};
    },
  };
}

/** Returns the text of an array of the slices of a list, in parts: one text would need the memory twice. */
function arrayParts(slices: readonly Buffer[]): readonly Buffer[] {
  const parts = slices.flatMap((slice, index) => [Buffer.from(index === 0 ? '[' : ','), slice]);
  return [...parts, Buffer.from(slices.length === 0 ? '[]' : ']')];
}
