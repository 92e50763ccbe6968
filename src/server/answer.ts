import type { Json, JsonObject } from '../model/json.ts';
import type { Role } from './auth/principal.ts';
import type { Collection } from './collections.ts';
import type { StoredObject } from './objects/object-reader.ts';
import type { GivenSecrets, Secrets } from './store/secrets.ts';

/** Spells an object as it travels: every field of its kind, then what only the gateway knows. Only admins see secrets. */
export function objectJson(collection: Collection, stored: StoredObject, role: Role): JsonObject {
  const object = role === 'admin' ? stored : { ...stored, secrets: hideSecrets(stored.secrets) };
  const answer: Record<string, Json> = { id: object.id };
  if (collection.kind.named) answer['name'] = object.name;
  for (const { name, empty, secret, edge } of collection.fields) {
    if (edge !== undefined) answer[name] = object.edges[name] ?? [];
    else if (secret !== undefined) answer[name] = name in object.secrets ? (object.secrets[name] ?? null) : secret === 'plain' ? '' : {};
    else answer[name] = object.spec[name] ?? empty;
  }
  Object.assign(answer, collection.readOnly({ ...stored, secrets: role === 'admin' ? stored.secrets : {} }));
  if (collection.hasSecrets) answer['secrets_updated_at'] = object.secretsUpdatedAt?.toISOString() ?? null;
  answer['managed_by'] = object.managedBy;
  answer['created_at'] = object.createdAt.toISOString();
  answer['updated_at'] = object.updatedAt.toISOString();
  return answer;
}

/** That there are secrets, and their names. */
function hideSecrets(secrets: Secrets): GivenSecrets {
  const entries = Object.entries(secrets).map(([field, value]) => {
    return [field, typeof value === 'string' ? null : Object.fromEntries(Object.keys(value).map((key) => [key, null]))] as const;
  });
  return Object.fromEntries(entries);
}
