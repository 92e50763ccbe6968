import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { JsonObject } from '../../model/json.ts';
import { toStorableText } from '../audit-payload.ts';
import type { Principal } from '../auth/principal.ts';
import type { Tables } from '../store/tables.ts';

/** A request that writes: who sent it, from where, and what it is about. */
export type WriteAttempt = {
  readonly actor: Principal;
  readonly address: string;
  readonly method: string;
  /** As it was sent, without its query. */
  readonly path: string;
  /** What lies at the path: `connections`, `api_keys`. */
  readonly resourceType: string;
  readonly at: Date;
};

/** What a write did. */
export type WriteRecord = {
  readonly id: string;
  readonly name: string;
  /** What was asked for, without any secret value. */
  readonly payload: JsonObject;
  /** The fields that an update changed. */
  readonly changed?: readonly string[];
  /** What the method says unless given: `create`, `update` or `delete`. */
  readonly action?: string;
  /** What the method says unless given: 201, 200 or 204. */
  readonly status?: number;
};

/** Puts a write into the audit log, in the transaction of the write: both are kept, or neither. */
export type RecordWrite = (trx: Kysely<Tables>, written: WriteRecord) => Promise<void>;

/** How an attempt ended that recorded nothing itself. */
export type AttemptResult = { readonly status: number; readonly error: string; readonly payload: JsonObject };

const methodDefaults: Readonly<Record<string, { readonly action: string; readonly status: number }>> = {
  POST: { action: 'create', status: 201 },
  PUT: { action: 'update', status: 200 },
  PATCH: { action: 'update', status: 200 },
  DELETE: { action: 'delete', status: 204 },
};

const maxErrorLength = 500;

/** Records what an attempt wrote. */
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

/** Records how an attempt ended, in most cases as a failure. */
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
