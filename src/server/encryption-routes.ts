import type { Hono } from 'hono';
import type { AppEnv } from './app-env.ts';
import { listEncryptionKeys } from './store/encryption-keys.ts';
import type { Store } from './objects/object-reader.ts';

/** Serves which encryption keys the database accepts, and what each of them still seals: one that seals nothing can be retired. */
export function serveEncryptionKeys(app: Hono<AppEnv>, { store: { db, cipher } }: { readonly store: Store }): void {
  app.get('/encryption-keys', async (c) => {
    const keys = await listEncryptionKeys(db);
    return c.json(
      keys.map(({ id, created_at: createdAt, sealed }) => {
        return { id, current: id === cipher.keyId, sealed, created_at: createdAt.toISOString() };
      }),
    );
  });
}
