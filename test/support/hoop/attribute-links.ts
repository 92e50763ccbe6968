import type { Call, ModelContext } from './call.ts';
import { ModelError, tooLong } from './errors.ts';
import type { LinkTable } from './link-table.ts';

/** Returns the attributes of a connection, by their owner. */
export type ConnectionAttributes = { readonly user: readonly string[]; readonly managed: readonly string[] };

/** Creates the missing attributes. */
export function ensureAttributes({ store, random, clock }: ModelContext, names: readonly string[]): void {
  for (const name of names) {
    if (store.attributes.has(name)) continue;
    store.attributes.set(name, { id: random.uuid(), name, description: null, managedBy: null, hidden: false, createdAt: clock.now() });
  }
}

/**
 * Sets the attributes of an object, in the second transaction of a write.
 * It can fail after the main row is saved; attributes of rulepacks stay if `keepHidden` is true.
 */
export function writeAttributes(
  call: Call,
  wanted: { readonly links: LinkTable; readonly owner: string; readonly names: readonly string[] | null; readonly prefix: string },
  keepHidden = false,
): void {
  const { store, context } = call;
  if (call.attributesFail) throw new ModelError(500, `${wanted.prefix}ERROR: canceling statement due to user request (SQLSTATE 57014)`);
  const names = wanted.names ?? [];
  if (names.some((name) => name.length > 255)) throw new ModelError(500, `${wanted.prefix}${tooLong(255)}`);
  ensureAttributes(context, names);
  const kept = keepHidden ? wanted.links.leftsOf(wanted.owner).filter((name) => store.attributes.get(name)?.hidden === true) : [];
  wanted.links.setLefts(wanted.owner, [...kept, ...names]);
}

/** The attributes of a connection that reads show; rulepack-owned ones are hidden. */
export function attributesOf({ store, random }: ModelContext, connection: string): ConnectionAttributes {
  const rows = store.connectionAttributes.leftsOf(connection).flatMap((name) => store.attributes.get(name) ?? []);
  const shown = rows.filter((row) => !row.hidden);
  return {
    user: random.shuffle(shown.filter((row) => row.managedBy === null).map((row) => row.name)),
    managed: random.shuffle(shown.filter((row) => row.managedBy !== null).map((row) => row.name)),
  };
}
