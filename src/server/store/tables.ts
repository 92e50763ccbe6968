import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { JsonObject } from '../../model/json.ts';
import { type EdgeTable, kindTables, type ObjectTable } from '../collections.ts';

/** An object of a kind: `spec` has all fields but secrets and edges, `secrets` is sealed, `name` identifies the object. */
type ObjectRow = {
  readonly id: string;
  readonly name: string;
  readonly spec: ColumnType<JsonObject, string, string>;
  readonly secrets: string | null;
  readonly secrets_updated_at: Date | null;
  readonly managed_by: string;
  readonly revision: number;
  readonly created_at: ColumnType<Date, Date, never>;
  readonly updated_at: Date;
};

type EdgeRow = { readonly connection_id: string; readonly rule_id: string };
/** An agent: `token_hash` is null until a token exists, `last_seen` until the first heartbeat. */
type AgentRow = {
  readonly id: string;
  readonly name: string;
  readonly created_at: Date;
  readonly token_hash: ColumnType<string | null, string | undefined, string>;
  readonly last_seen: ColumnType<Date | null, undefined, Date>;
  readonly hostname: Generated<string>;
  readonly version: Generated<string>;
  readonly platform: Generated<string>;
};

/** A group of connections, which name it in `resource_name`; `env_vars` is sealed. */
type ResourceRow = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly subtype: string;
  readonly agent_id: string | null;
  readonly env_vars: string | null;
  readonly revision: number;
  readonly created_at: ColumnType<Date, Date, never>;
  readonly updated_at: Date;
};

/** An API key; its groups determine the role. */
export type ApiKeyRow = {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly masked_key: string;
  readonly groups: ColumnType<readonly string[], string, string>;
  readonly manager: string;
  readonly status: 'active' | 'revoked';
  readonly revision: number;
  readonly created_by: string;
  readonly created_at: ColumnType<Date, Date, never>;
  readonly deactivated_by: string | null;
  readonly deactivated_at: Date | null;
  readonly last_used_at: Date | null;
};

/** An attempted write. Entries never change. */
type AuditRow = {
  readonly seq: GeneratedAlways<string>;
  readonly id: string;
  readonly created_at: Date;
  readonly actor_id: string;
  readonly actor_name: string;
  readonly actor_email: string;
  readonly client_ip: string;
  readonly http_method: string;
  readonly http_path: string;
  readonly http_status: number;
  readonly resource_type: string;
  readonly resource_id: string | null;
  readonly resource_name: string;
  readonly action: string;
  readonly payload: ColumnType<JsonObject, string, never>;
  readonly changed: ColumnType<readonly string[], string, never>;
  readonly outcome: boolean;
  readonly error_message: string;
};

type EncryptionKeyRow = { readonly id: string; readonly created_at: Date };

/** The database as Kysely sees it; `migrations.ts` creates it. */
export type Tables = Readonly<Record<ObjectTable, ObjectRow>> &
  Readonly<Record<EdgeTable, EdgeRow>> & {
    readonly agents: AgentRow;
    readonly api_keys: ApiKeyRow;
    readonly audit_logs: AuditRow;
    readonly resources: ResourceRow;
    readonly encryption_keys: EncryptionKeyRow;
  };

/** A column of sealed texts; `COLUMN_key` beside it holds the id of the key of each text. */
export type SealedColumn = { readonly table: ObjectTable | 'resources'; readonly column: 'secrets' | 'env_vars' };

/** All columns of sealed texts. */
export const sealedColumns: readonly SealedColumn[] = [
  ...kindTables.map(({ table }) => ({ table, column: 'secrets' as const })),
  { table: 'resources', column: 'env_vars' },
];

/** The text form of an id. */
export const uuidPattern: RegExp = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
