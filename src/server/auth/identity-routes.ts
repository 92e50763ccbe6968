import type { Hono } from 'hono';
import { compareText } from '../../model/json.ts';
import { listGroups } from './api-keys.ts';
import type { AppEnv } from '../app-env.ts';
import type { HashedKey } from './principal.ts';
import type { Collection } from '../collections.ts';
import type { Store } from '../objects/object-reader.ts';

type Parts = {
  readonly store: Store;
  readonly keys: readonly HashedKey[];
  readonly version: string;
  readonly collections: readonly Collection[];
};

/** Serves who the gateway is, who the caller is, and which groups there are. */
export function serveIdentity(app: Hono<AppEnv>, { store, keys, version, collections }: Parts): void {
  const borrowed = collections.flatMap(({ kind, fields }) =>
    fields.flatMap((field) => (field.borrowed === undefined ? [] : [`${kind.name}.${field.name}`])),
  );
  app.get('/serverinfo', (c) =>
    c.json({ name: 'ostiary', version, role: c.get('principal').role, organisation: 'default', borrowed_fields: borrowed }),
  );
  app.get('/userinfo', (c) => {
    const { id, name, email, groups, role, manager } = c.get('principal');
    return c.json({ id, name, email, groups, role, manager, is_admin: role === 'admin', status: 'active', org_name: 'default' });
  });
  app.get('/users/groups', async (c) => {
    const groups = await listGroups(store.db);
    // Nobody but the environment's admins: then nothing follows from a group that is not listed.
    if (groups === undefined) return c.json(null);
    return c.json([...new Set([...keys.flatMap(({ principal }) => principal.groups), ...groups])].toSorted(compareText));
  });
}
