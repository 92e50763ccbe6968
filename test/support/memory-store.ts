import { ApiError } from '../../src/model/errors.ts';
import { hasField, type DialectFields } from '../../src/model/gateway.ts';
import type { FieldRule, Kind, Registry } from '../../src/model/kind.ts';
import { compareText, equal, type Json, type JsonObject } from '../../src/model/json.ts';
import type { LookupEntry } from '../../src/model/live.ts';
import { normalizeObject } from '../../src/model/spec/normalize.ts';
import type { Pointer } from '../../src/model/pointer.ts';
import { kindOf, nameOf, resourceId, type ResourceId } from '../../src/model/resource.ts';

/** One resource of a test; omitted fields are empty, and unknown fields are kept, as on a gateway. */
export type MemoryResource = {
  readonly id: ResourceId;
  readonly spec?: JsonObject;
  readonly secrets?: Readonly<Record<Pointer, string>>;
  readonly edges?: Readonly<Record<string, readonly ResourceId[]>>;
  readonly managedBy?: string;
};

export type MemoryRequest = {
  /** Counts all requests from 0. */
  readonly index: number;
  readonly method: 'LIST' | 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly id?: ResourceId;
};

type Ends = Readonly<Record<string, readonly ResourceId[]>>;

export type MemoryRow = {
  readonly uid: string;
  readonly kind: Kind;
  readonly name: string;
  readonly spec: JsonObject;
  readonly secrets: Readonly<Record<Pointer, string>>;
  readonly managedBy: string;
  readonly version: number;
};

/** The tables of a gateway in memory: rows by uid, and one edge table per rule kind. */
export type MemoryStore = {
  readonly rows: Map<string, MemoryRow>;
  readonly agents: readonly LookupEntry[] | undefined;
  readonly kind: (name: string) => Kind;
  readonly nextUid: () => string;
  readonly nextVersion: () => number;
  readonly find: (id: ResourceId) => MemoryRow | undefined;
  readonly edgesOf: (row: MemoryRow) => Ends;
  /** Writes the row and its side of every given edge field, or nothing; no caller may change the edges of a managed connection. */
  readonly store: (row: MemoryRow, ends: Ends, by: 'caller' | 'test') => MemoryRow;
  readonly drop: (uid: string, by: 'caller' | 'test') => void;
  /** Remembers rows and edges; calling the result brings them back. */
  readonly save: () => () => void;
  /** Fills in the defaults of a gateway and checks references. */
  readonly completed: (kind: Kind, name: string, spec: JsonObject) => JsonObject;
};

type Edge = { readonly table: string; readonly rule: string; readonly connection: string };

/** Makes empty tables. */
export function memoryStore(registry: Registry, agentNames: readonly string[] | undefined, dialect: DialectFields): MemoryStore {
  const rows = new Map<string, MemoryRow>();
  let edges: readonly Edge[] = [];
  let uids = 0;
  let versions = 0;
  const agents = agentNames?.map((name) => ({ uid: nextUid(), name }));

  function nextUid(): string {
    uids += 1;
    return `00000000-0000-4000-8000-${String(uids).padStart(12, '0')}`;
  }

  function find(id: ResourceId): MemoryRow | undefined {
    const name = nameOf(id);
    return [...rows.values()].find((row) => row.kind.name === kindOf(id) && (row.name === name || row.uid === name));
  }

  function replaceEdges(
    row: MemoryRow,
    { field, ends, by }: { readonly field: FieldRule; readonly ends: readonly ResourceId[]; readonly by: 'caller' | 'test' },
  ): void {
    const table = tableOf(row.kind, field);
    const [side, other] = field.edge === 'rule' ? (['rule', 'connection'] as const) : (['connection', 'rule'] as const);
    const before = new Set(edges.filter((edge) => edge.table === table && edge[side] === row.uid).map((edge) => edge[other]));
    const after = new Set(ends.map((id) => uidOf(row, id)));
    const changed = [...before, ...after].filter((uid) => !before.has(uid) || !after.has(uid));
    if (by === 'caller') checkManagers(row, field, changed);
    touch(table, changed);
    const kept = edges.filter((edge) => edge.table !== table || edge[side] !== row.uid);
    const made = [...after].map((uid) => {
      return side === 'rule' ? { table, rule: row.uid, connection: uid } : { table, rule: uid, connection: row.uid };
    });
    edges = [...kept, ...made];
  }

  function uidOf(row: MemoryRow, id: ResourceId): string {
    const uid = find(id)?.uid;
    if (uid === undefined) throw refusal({ method: 'PUT', id: idOf(row) }, { status: 422, message: `${id} does not exist` });
    return uid;
  }

  /** A write of a rule may not change the edges of a managed connection; a write of the connection itself may choose its rules. */
  function checkManagers(row: MemoryRow, field: FieldRule, changed: readonly string[]): void {
    const others = field.edge === 'rule' ? changed.flatMap((uid) => rows.get(uid) ?? []) : [];
    const managed = others.find(({ managedBy }) => managedBy !== '');
    if (managed === undefined) return;
    const message = `${idOf(managed)} is managed by ${managed.managedBy}`;
    throw refusal({ method: 'PUT', id: idOf(row) }, { status: 409, code: 'api/conflict', message });
  }

  /** Gives new versions to the ends that list the edge themselves. */
  function touch(table: string, ends: readonly string[]): void {
    for (const uid of ends) {
      const row = rows.get(uid);
      const lists = row?.kind.fields.some((field) => field.edge !== undefined && tableOf(row.kind, field) === table);
      if (row !== undefined && lists === true) rows.set(uid, { ...row, version: nextVersion() });
    }
  }

  function nextVersion(): number {
    versions += 1;
    return versions;
  }

  function endsOf(row: MemoryRow, field: FieldRule): readonly ResourceId[] {
    const table = tableOf(row.kind, field);
    const ends = edges.flatMap((edge) => {
      if (edge.table !== table) return [];
      const [own, uid] = field.edge === 'rule' ? [edge.rule, edge.connection] : [edge.connection, edge.rule];
      const other = own === row.uid ? rows.get(uid) : undefined;
      return other === undefined ? [] : [idOf(other)];
    });
    return ends.toSorted(compareText);
  }

  function checkAgents(kind: Kind, name: string, spec: JsonObject): void {
    for (const { refers, name: field } of kind.fields) {
      const value = spec[field];
      if (agents === undefined || refers !== 'Agent' || typeof value !== 'string' || value === '' || isUid(value)) continue;
      if (!agents.some((agent) => agent.name === value)) {
        throw refusal({ method: 'PUT', id: resourceId(kind.name, name) }, { status: 422, message: `unknown agent ${value}` });
      }
    }
  }

  function save(): () => void {
    const [saved, before] = [[...rows], edges];
    return () => {
      edges = before;
      rows.clear();
      for (const [uid, row] of saved) rows.set(uid, row);
    };
  }

  return {
    rows,
    agents,
    save,
    nextUid,
    find,
    kind(name) {
      const kind = registry.get(name);
      if (kind === undefined) throw new Error(`no kind ${name}`);
      return kind;
    },
    nextVersion,
    edgesOf(row) {
      const fields = row.kind.fields.filter((field) => field.edge !== undefined);
      return Object.fromEntries(fields.map((field) => [field.name, endsOf(row, field)]));
    },
    store(row, ends, by) {
      const restore = save();
      rows.set(row.uid, row);
      try {
        for (const field of row.kind.fields) {
          const given = field.edge === undefined ? undefined : ends[field.name];
          if (given !== undefined) replaceEdges(row, { field, ends: given, by });
        }
      } catch (error) {
        restore();
        throw error;
      }
      return row;
    },
    drop(uid, by) {
      const row = rows.get(uid);
      for (const field of row?.kind.fields ?? []) {
        if (row === undefined || field.edge === undefined) continue;
        replaceEdges(row, { field, ends: [], by });
      }
      rows.delete(uid);
      edges = edges.filter((edge) => edge.rule !== uid && edge.connection !== uid);
    },
    completed(kind, name, spec) {
      const filled: Record<string, Json> = { ...spec };
      for (const [field, value] of Object.entries(kind.createDefaults(name))) filled[field] ||= value;
      const whole: Record<string, Json> = { ...filled, ...comparedFields(kind, filled, dialect) };
      const derived = kind.derived(whole);
      for (const field of kind.fields) {
        const value = derived[field.name];
        if (value !== undefined && equal(whole[field.name], field.empty)) whole[field.name] = value;
      }
      checkAgents(kind, name, whole);
      return whole;
    },
  };
}

export function idOf(row: MemoryRow): ResourceId {
  return resourceId(row.kind.name, row.name);
}

/** Returns the compared fields that the gateway has, normalized, without secrets, edges and unknown fields. */
export function comparedFields(kind: Kind, spec: JsonObject, dialect: DialectFields): JsonObject {
  const fields = comparedRules(kind, dialect);
  const known: Record<string, Json> = {};
  for (const { name } of fields) {
    const value = spec[name];
    if (value !== undefined) known[name] = value;
  }
  return normalizeObject(fields, known);
}

const rulesByDialect = new WeakMap<DialectFields, Map<Kind, readonly FieldRule[]>>();

function comparedRules(kind: Kind, dialect: DialectFields): readonly FieldRule[] {
  const byKind = rulesByDialect.get(dialect) ?? new Map<Kind, readonly FieldRule[]>();
  rulesByDialect.set(dialect, byKind);
  const rules = byKind.get(kind) ?? kind.fields.filter((field) => isCompared(kind, field, dialect));
  byKind.set(kind, rules);
  return rules;
}

function isCompared(kind: Kind, field: FieldRule, dialect: DialectFields): boolean {
  return field.edge === undefined && field.secret === undefined && field.manifestOnly !== true && hasField(dialect, kind.name, field);
}

function tableOf(kind: Kind, field: FieldRule): string {
  return field.edge === 'rule' ? kind.name : (field.refers ?? '');
}

function isUid(value: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
}

type Refused = {
  readonly message: string;
  readonly code?: ApiError['failure']['code'];
  readonly status?: number;
  readonly ambiguous?: boolean;
};

/** Creates the error for a request that the gateway refuses. */
export function refusal(request: Pick<MemoryRequest, 'method' | 'id'>, refused: Refused): ApiError {
  const { message, code = 'api/refused', status, ambiguous = false } = refused;
  const { method } = request;
  const url = `http://memory.test/${encodeURI(request.id ?? '')}`;
  return new ApiError(message, { code, method, url, ...(status === undefined ? {} : { status }), retryable: false, ambiguous });
}
