import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { FieldRule } from '../../model/kind.ts';
import { equal, type Json, type JsonObject } from '../../model/json.ts';
import type { Principal } from '../principal.ts';
import { type GivenSecrets, type Secrets, Undecryptable } from '../secrets.ts';
import type { Tables } from './schema.ts';

/** A request that writes: its caller, address and path. */
export type WriteAttempt = {
  readonly actor: Principal;
  readonly address: string;
  readonly method: string;
  /** The path without its query. */
  readonly path: string;
  /** The type that the path names: `connections`, `api_keys`. */
  readonly resourceType: string;
  readonly at: Date;
};

type WriteRecord = {
  readonly id: string;
  readonly name: string;
  /** The request without any secret value. */
  readonly payload: JsonObject;
  /** The fields that an update changed. */
  readonly changed?: readonly string[];
  /** Follows from the method by default: `create`, `update` or `delete`. */
  readonly action?: string;
  /** Follows from the method by default: 201, 200 or 204. */
  readonly status?: number;
};

/** Records a write in the audit log, in the transaction of the write: both are committed, or neither. */
export type RecordWrite = (trx: Kysely<Tables>, written: WriteRecord) => Promise<void>;

/** The result of an attempt that recorded nothing itself. */
type AttemptResult = { readonly status: number; readonly error: string; readonly payload: JsonObject };

const methodDefaults: Readonly<Record<string, { readonly action: string; readonly status: number }>> = {
  POST: { action: 'create', status: 201 },
  PUT: { action: 'update', status: 200 },
  PATCH: { action: 'update', status: 200 },
  DELETE: { action: 'delete', status: 204 },
};

const maxErrorLength = 500;

/** Records a write. */
export async function recordWrite(db: Kysely<Tables>, attempt: WriteAttempt, written: WriteRecord): Promise<void> {
  const usual = methodDefaults[attempt.method];
  await insertEntry(db, attempt, {
    action: written.action ?? usual?.action ?? '',
    status: written.status ?? usual?.status ?? 200,
    id: written.id,
    name: written.name,
    payload: written.payload,
    changed: written.changed ?? [],
    error: '',
  });
}

/** Records the result of an attempt, usually a failure. */
export async function recordResult(db: Kysely<Tables>, attempt: WriteAttempt, { status, error, payload }: AttemptResult): Promise<void> {
  const action = methodDefaults[attempt.method]?.action ?? '';
  await insertEntry(db, attempt, { action, status, id: null, name: '', payload, changed: [], error });
}

type AuditEntry = Required<Omit<WriteRecord, 'id'>> & { readonly id: string | null; readonly error: string };

async function insertEntry(db: Kysely<Tables>, { actor, ...attempt }: WriteAttempt, entry: AuditEntry): Promise<void> {
  const row = {
    id: randomUUID(),
    created_at: attempt.at,
    actor_id: actor.id,
    actor_name: actor.name,
    actor_email: actor.email,
    client_ip: attempt.address,
    http_method: attempt.method,
    http_path: attempt.path,
    http_status: entry.status,
    resource_type: attempt.resourceType,
    resource_id: entry.id,
    resource_name: entry.name,
    action: entry.action,
    payload: JSON.stringify(entry.payload),
    changed: JSON.stringify(entry.changed),
    outcome: entry.status < 400,
    error_message: toStorableText(entry.error).slice(0, maxErrorLength),
  };
  await db.insertInto('audit_logs').values(row).execute();
}

type AuditedDraft = {
  readonly name: string;
  readonly spec: JsonObject;
  readonly secrets: GivenSecrets;
  readonly edges: Readonly<Record<string, readonly string[]>>;
};

type AuditedObject = Omit<AuditedDraft, 'secrets'> & { readonly secrets: Secrets | Undecryptable };

const redacted = '[REDACTED]';
const maxFieldNames = 100;
const maxFieldNameLength = 100;

/** Returns what a draft asks for, with redacted secrets. */
export function redactedPayload(fields: readonly FieldRule[], { name: identity, spec, secrets, edges }: AuditedDraft): JsonObject {
  const payload: Record<string, Json> = { name: identity, ...spec };
  for (const { name, secret, edge } of fields) {
    if (edge !== undefined) payload[name] = edges[name] ?? [];
    if (secret !== undefined && hasSecret(secrets[name])) payload[name] = redacted;
  }
  return payload;
}

/** Returns only the names of the fields of a body: an invalid body may hold a secret anywhere. */
export function redactedFieldNames(body: JsonObject): JsonObject {
  const names = Object.keys(body).slice(0, maxFieldNames);
  return Object.fromEntries(names.map((name) => [toStorableText(name).slice(0, maxFieldNameLength), redacted]));
}

/** Lists the fields in which a draft differs from the stored object. */
export function changedFields(stored: AuditedObject, draft: AuditedDraft, secrets: Secrets): readonly string[] {
  const fields = Object.keys(draft.spec).filter((field) => !equal(draft.spec[field], stored.spec[field]));
  const before = stored.secrets instanceof Undecryptable ? undefined : stored.secrets;
  const secretFields = Object.keys(draft.secrets).filter((field) => !equal(secrets[field] ?? null, before && (before[field] ?? null)));
  const edgeFields = Object.keys(draft.edges).filter((field) => !isSameEnds(draft.edges[field] ?? [], stored.edges[field] ?? []));
  return [...(draft.name === stored.name ? [] : ['name']), ...fields, ...secretFields, ...edgeFields];
}

/** Replaces NUL and half surrogate pairs, which the database cannot store. */
function toStorableText(text: string): string {
  return text.replaceAll(/\0|\p{Surrogate}/gu, '\u{FFFD}');
}

function hasSecret(secret: GivenSecrets[string] | undefined): boolean {
  if (typeof secret === 'object' && secret !== null) return Object.keys(secret).length > 0;
  return secret !== undefined && secret !== '';
}

function isSameEnds(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((id) => right.includes(id));
}
