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
  readonly secretsUpdatedAt: Date | null;
  readonly managedBy: string;
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** An object as a write leaves it. */
export type WrittenObject = Omit<StoredObject, 'secrets'> & {
  readonly secrets: Secrets;
  /** Whether its agent is online; false when it has no agent. */
  readonly online: boolean;
};

type CommonMembers = {
  readonly managed_by: string;
  readonly revision: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly secrets_updated_at?: string | null;
};

/** Opens an object as the database returned it. */
export function openObject(cipher: Cipher, collection: Collection, row: ObjectRow): StoredObject {
  const members = JSON.parse(`{${row.members}}`);
  const common: CommonMembers = members;
  const ends: StoredObject['edges'] = members;
  const edges = collection.fields.filter(({ edge }) => edge !== undefined).map(({ name }) => [name, ends[name] ?? []] as const);
  const secretsUpdatedAt = common.secrets_updated_at ?? null;
  return {
    id: row.id,
    name: row.name,
    spec: row.spec,
    secrets: openRowSecrets(cipher, collection, row),
    edges: Object.fromEntries(edges),
    secretsUpdatedAt: secretsUpdatedAt === null ? null : new Date(secretsUpdatedAt),
    managedBy: common.managed_by,
    revision: common.revision,
    createdAt: new Date(common.created_at),
    updatedAt: new Date(common.updated_at),
  };
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

/** Returns the same text of an object that was written. */
export function writtenText(collection: Collection, object: WrittenObject, role: Role): string {
  return objectText({ ...object, members: membersOf(collection, object) }, secretMembers(collection, object.secrets, role));
}

function objectText({ members, spec }: Pick<ObjectRow, 'members' | 'spec'>, secrets: string): string {
  return spec === '{}' ? `{${members}${secrets}}` : `{${members}${secrets},${spec.slice(1)}`;
}

/** Makes the text of an object that `membersText` of the reader selects. */
function membersOf({ kind, fields, readOnly, hasSecrets }: Collection, object: WrittenObject): string {
  const members: Record<string, Json> = { id: object.id };
  if (kind.named) members['name'] = object.name;
  for (const { name, edge } of fields) if (edge !== undefined) members[name] = object.edges[name] ?? [];
  for (const [field, { source }] of Object.entries(readOnly)) {
    if (source === 'name') members[field] = object.name;
    if (source === 'status') members[field] = object.online ? 'online' : 'offline';
  }
  if (hasSecrets) members['secrets_updated_at'] = object.secretsUpdatedAt?.toISOString() ?? null;
  members['managed_by'] = object.managedBy;
  members['revision'] = object.revision;
  members['created_at'] = object.createdAt.toISOString();
  members['updated_at'] = object.updatedAt.toISOString();
  return JSON.stringify(members).slice(1, -1);
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
