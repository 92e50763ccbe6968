import { ok, type Call, type Reply, type Route, type ModelContext } from './call.ts';
import { microTime } from './clock.ts';

export const tagRoutes: readonly Route[] = [{ method: 'GET', path: '/connection-tags', access: 'reader', answer: list }];

/** Stores the tags of a written connection; they are never removed. */
export function upsertTags({ store, random, clock }: ModelContext, tags: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(tags)) {
    const index = store.tags.findIndex((row) => row.key === key && row.value === value);
    const before = store.tags[index];
    const now = clock.now();
    if (before === undefined) store.tags.push({ id: random.uuid(), key, value, createdAt: now, updatedAt: now });
    else store.tags[index] = { ...before, updatedAt: now };
  }
}

function list({ store, context }: Call): Reply {
  const items = context.random.shuffle(store.tags).map((row) => ({
    id: row.id,
    key: row.key,
    value: row.value,
    updated_at: microTime(row.updatedAt),
    created_at: microTime(row.createdAt),
  }));
  return ok({ items: items.length === 0 ? null : items });
}
