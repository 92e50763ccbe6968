import type { Json } from '../../model/json.ts';
import type { Role } from '../principal.ts';
import type { Collection } from '../collections.ts';
import { type Cipher, type GivenSecrets, openSecrets, type Secrets, Undecryptable } from '../secrets.ts';
import type { ObjectRow } from './object-reader.ts';

/** A stored object with its secrets opened. */
export type StoredObject = Pick<ObjectRow, 'id' | 'name' | 'spec'> & {
  readonly secrets: Secrets | Undecryptable;
  /** The ids at the other ends of its edges, by field. */
  readonly edges: Readonly<Record<string, readonly string[]>>;
  readonly managedBy: string;
  readonly revision: number;
};

/** Opens an object as the database returned it. */
export function openObject(cipher: Cipher, collection: Collection, row: ObjectRow): StoredObject {
  const members = JSON.parse(`{${row.members}}`);
  const { managed_by: managedBy, revision }: { readonly managed_by: string; readonly revision: number } = members;
  const ends: StoredObject['edges'] = members;
  const edges = collection.fields.filter(({ edge }) => edge !== undefined).map(({ name }) => [name, ends[name] ?? []] as const);
  const { id, name, spec } = row;
  return { id, name, spec, secrets: openRowSecrets(cipher, collection, row), edges: Object.fromEntries(edges), managedBy, revision };
}

/** Returns the id and the revision of an object as the database returned it. */
export function versionOf({ members }: ObjectRow): { readonly id: string; readonly revision: number } {
  return JSON.parse(`{${members}}`);
}

/** Returns the path (`table/id/column`) that the secrets of an object are sealed for. */
export function secretsPath({ table }: Collection, id: string): string {
  return `${table}/${id}/secrets`;
}

function openRowSecrets(cipher: Cipher, collection: Collection, { id, name, sealed }: ObjectRow): Secrets | Undecryptable {
  return openSecrets(cipher, sealed, { place: secretsPath(collection, id), what: `${collection.kind.name} ${name}` });
}

/** Returns the JSON text of an object in responses: all fields of its kind, and the read-only fields. Only admins see secret values. */
export function rowText(cipher: Cipher, collection: Collection, row: ObjectRow, role: Role): string | Undecryptable {
  if (!collection.hasSecrets) return objectText(row, '');
  const secrets = openRowSecrets(cipher, collection, row);
  return secrets instanceof Undecryptable ? secrets : objectText(row, secretMembers(collection, secrets, role));
}

/** Returns the text of an object in a list that shows `error` in place of its secrets: a list never omits an object. */
export function unreadableText(row: ObjectRow, { message }: Undecryptable): string {
  return objectText(row, member('error', message));
}

function objectText({ members, spec }: Pick<ObjectRow, 'members' | 'spec'>, secrets: string): string {
  return spec === '{}' ? `{${members}${secrets}}` : `{${members}${secrets},${spec.slice(1)}`;
}

/** Returns the text of the members that depend on secrets, with a comma before each. */
function secretMembers({ fields, readOnly }: Collection, secrets: Secrets, role: Role): string {
  const shown = role === 'admin' ? secrets : hideSecrets(secrets);
  let text = '';
  for (const { name, secret } of fields) {
    if (secret !== undefined) text += member(name, name in shown ? (shown[name] ?? null) : secret === 'plain' ? '' : {});
  }
  for (const [field, { source }] of Object.entries(readOnly)) {
    if (typeof source === 'function') text += member(field, source(role === 'admin' ? secrets : {}));
  }
  return text;
}

function member(name: string, value: Json): string {
  return `,"${name}":${JSON.stringify(value)}`;
}

/** Replaces secret values by null and keeps the names. */
function hideSecrets(secrets: Secrets): GivenSecrets {
  const entries = Object.entries(secrets).map(([field, value]) => {
    return [field, typeof value === 'string' ? null : Object.fromEntries(Object.keys(value).map((key) => [key, null]))] as const;
  });
  return Object.fromEntries(entries);
}
