import type { Json, JsonObject } from '../model/json.ts';
import type { Collection } from './collections.ts';
import type { StoredObject } from './reader.ts';

/** Spells an object as it travels to an admin: every field of its kind, then what only the gateway knows. */
export function answerOf(collection: Collection, object: StoredObject): JsonObject {
  const answer: Record<string, Json> = { id: object.id };
  if (collection.kind.named) answer['name'] = object.name;
  for (const { name, empty, secret, edge } of collection.fields) {
    if (edge !== undefined) answer[name] = object.edges[name] ?? [];
    else if (secret !== undefined) answer[name] = object.secrets[name] ?? (secret === 'plain' ? '' : {});
    else answer[name] = object.spec[name] ?? empty;
  }
  Object.assign(answer, collection.readOnly(object));
  if (collection.hasSecrets) answer['secrets_updated_at'] = object.secretsUpdatedAt?.toISOString() ?? null;
  answer['managed_by'] = object.managedBy;
  answer['created_at'] = object.createdAt.toISOString();
  answer['updated_at'] = object.updatedAt.toISOString();
  return answer;
}
