import { mayRerouteInherited } from '../../src/gateway/dialects/rest.ts';
import { carryUnknown } from '../../src/gateway/write/write.ts';
import { AppError } from '../../src/model/errors.ts';
import type { DialectFields, Gateway, GatewayIdentity, WriteRequest } from '../../src/model/gateway.ts';
import { compareText, isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { Kind, Registry } from '../../src/model/kind.ts';
import type { InheritedKeys, LiveResource } from '../../src/model/live.ts';
import type { OutsideReference } from '../../src/model/plan/plan.ts';
import type { Pointer } from '../../src/model/pointer.ts';
import { kindOf, nameOf, resourceId, type ResourceId } from '../../src/model/resource.ts';
import { seal, type LiveSecret } from '../../src/model/secret.ts';
import { comparedFields, idOf, memoryStore, refusal, type MemoryRequest, type MemoryResource, type MemoryRow } from './memory-store.ts';

export type { MemoryRequest, MemoryResource } from './memory-store.ts';

/** `before`: the request is refused without effect; `after`: the request takes effect, but its response is lost. */
export type MemoryFault = 'before' | 'after';

export type MemoryOptions = {
  readonly registry: Registry;
  /** Agents by name; absent for a gateway that cannot list agents. */
  readonly agents?: readonly string[];
  readonly groups?: readonly string[];
  readonly resources?: readonly MemoryResource[];
  /** Whether reads show secret values; `hidden` refuses an update that would lose one, `hidden-kept` keeps it. */
  readonly secrets?: 'shown' | 'hidden' | 'hidden-kept';
  readonly identity?: Partial<GatewayIdentity>;
  /** The kinds that an update can rename. */
  readonly renameable?: readonly string[];
  /** Whether reads report that an object was not written since its creation. */
  readonly reportsUntouched?: boolean;
  /** Whether lists contain the versions of objects; reads of single objects always do. */
  readonly listsVersions?: boolean;
  /** Whether the condition of a write arrives; by default it does. */
  readonly checksVersions?: boolean;
  /** The dialect and the borrowed fields that decide which fields the gateway has; by default those of the interface. */
  readonly dialect?: DialectFields;
  /** Decides whether a request fails. */
  readonly fault?: (request: MemoryRequest) => MemoryFault | undefined;
  /** The gateway objects that refer to a replaced resource, as the preflight finds them. */
  readonly references?: readonly OutsideReference[];
  /** The secrets of resources, which the preflight reads where a change may send them elsewhere; by default it reads none. */
  readonly inherited?: InheritedKeys;
  /** Runs before a write is committed, for delays and interleaved edits. */
  readonly onWrite?: (request: MemoryRequest) => Promise<void> | void;
};

/** A gateway in memory that tests can inspect and change. */
export interface MemoryGateway extends Gateway {
  /** The writes in the order of their commits. */
  readonly writes: readonly { readonly method: MemoryRequest['method']; readonly id: ResourceId }[];
  /** All requests in their order. */
  readonly requests: readonly MemoryRequest[];
  /** Returns everything that is stored, by id, without uids and versions; equal states give equal values. */
  state(): Readonly<Record<ResourceId, MemoryResource>>;
  /** Changes the faults of later requests. */
  setFault(fault: MemoryOptions['fault']): void;
  /** Changes what later reads show of secrets. */
  setSecrets(secrets: NonNullable<MemoryOptions['secrets']>): void;
  /** Remembers everything that is stored; calling the result brings it back. */
  save(): () => void;
  /** Creates or replaces a resource without a request; omitted edge fields stay. */
  put(resource: MemoryResource): void;
  /** Deletes a resource without a request. */
  drop(id: ResourceId): void;
}

type Begun = MemoryRequest & { readonly fails?: MemoryFault };

/** Creates a gateway in memory: an update replaces the whole object, each rule kind has one edge table, and writes to managed objects are refused. */
export function memoryGateway(options: MemoryOptions): MemoryGateway {
  const { registry, agents, renameable = ['GuardrailRule'], dialect = { dialect: 'interface' } } = options;
  const store = memoryStore(registry, agents, dialect);
  const writes: { readonly method: MemoryRequest['method']; readonly id: ResourceId }[] = [];
  const requests: MemoryRequest[] = [];
  const untouched = new Set<string>();
  let { fault, secrets: visibility = 'shown' } = options;

  function begin(method: MemoryRequest['method'], id?: ResourceId): Begun {
    const request = { index: requests.length, method, ...(id === undefined ? {} : { id }) };
    requests.push(request);
    const fails = fault?.(request);
    if (fails === 'before') throw refusal(request, { status: 503, code: 'api/server-error', message: 'the fault of a test' });
    return { ...request, ...(fails === undefined ? {} : { fails }) };
  }

  async function beginWrite(method: MemoryRequest['method'], id: ResourceId): Promise<Begun> {
    const begun = begin(method, id);
    await options.onWrite?.(begun);
    return begun;
  }

  function end({ method, id, fails }: Begun): void {
    if (method !== 'LIST' && method !== 'GET' && id !== undefined) writes.push({ method, id });
    if (fails === undefined) return;
    const url = id === undefined ? {} : { id };
    throw refusal({ method, ...url }, { code: 'api/unreachable', message: 'the answer was lost', ambiguous: true });
  }

  function live(row: MemoryRow, detail: boolean): LiveResource {
    const pointers = Object.keys(row.secrets).toSorted(compareText);
    const hidden = visibility !== 'shown';
    const sealed = pointers.map((path): readonly [Pointer, LiveSecret] => [
      path,
      hidden ? { state: 'hidden', source: 'live' } : seal('live', row.secrets[path] ?? ''),
    ]);
    return {
      id: idOf(row),
      uid: row.uid,
      spec: comparedFields(row.kind, row.spec, dialect),
      secrets: Object.fromEntries(sealed),
      edges: store.edgesOf(row),
      raw: { spec: row.spec },
      unknown: hidden ? pointers : [],
      ...(row.managedBy === '' ? {} : { managedBy: row.managedBy }),
      ...(detail || options.listsVersions === true ? { version: `"${row.version}"` } : {}),
      ...(options.reportsUntouched === true && untouched.has(row.uid) ? { untouched: true } : {}),
    };
  }

  function put(resource: MemoryResource): void {
    const kind = store.kind(kindOf(resource.id));
    const name = kind.identity(nameOf(resource.id), resource.spec ?? {});
    const spec = store.completed(kind, name, resource.spec ?? {});
    const uid = store.find(resourceId(kind.name, name))?.uid ?? store.nextUid();
    const { secrets = {}, managedBy = '' } = resource;
    store.store({ uid, kind, name, spec, secrets, managedBy, version: store.nextVersion() }, resource.edges ?? {}, 'test');
  }

  /** Returns the stored row if it is unmanaged and unchanged since the read. */
  function writable(request: MemoryRequest, fresh: LiveResource): MemoryRow {
    const row = store.rows.get(fresh.uid);
    if (row === undefined) throw refusal(request, { status: 404, code: 'api/not-found', message: 'there is no such object' });
    if (row.managedBy !== '') throw refusal(request, { status: 409, code: 'api/conflict', message: `it is managed by ${row.managedBy}` });
    if (fresh.version !== undefined && fresh.version !== `"${row.version}"`) {
      throw refusal(request, { status: 412, code: 'api/moved', message: 'it changed since it was read' });
    }
    return row;
  }

  function secretsAfter(fresh: LiveResource, row: MemoryRow, request: WriteRequest): Readonly<Record<Pointer, string>> {
    const result: Record<Pointer, string> = {};
    for (const [path, secret] of Object.entries(fresh.secrets)) {
      if (request.dropped.includes(path) || path in request.secrets) continue;
      if (secret.state === 'value') result[path] = secret.reveal();
      else if (visibility === 'hidden-kept') result[path] = row.secrets[path] ?? '';
      else
        throw new AppError(
          'plan/would-lose-secret',
          6,
          `${fresh.id}: the write would lose the secret ${path}, which the gateway does not show`,
        );
    }
    for (const [path, secret] of Object.entries(request.secrets)) result[path] = secret.reveal();
    return result;
  }

  const seeds = options.resources ?? [];
  for (const seed of seeds) put({ ...seed, edges: {} });
  for (const { id, spec = {}, edges = {} } of seeds) {
    const kind = store.kind(kindOf(id));
    const row = store.find(resourceId(kind.name, kind.identity(nameOf(id), spec)));
    if (row === undefined) continue;
    const present = store.edgesOf(row);
    const union = Object.entries(edges).map(([field, ends]) => [field, [...(present[field] ?? []), ...ends]] as const);
    store.store(row, Object.fromEntries(union), 'test');
  }

  return {
    readsParts: false,
    checksVersions: () => Promise.resolve(options.checksVersions ?? true),
    confirm: (ids) => Promise.resolve(ids.filter((id) => store.rows.has(nameOf(id)))),
    preflight: (request) => {
      const { inherited, references = [] } = options;
      const found = { diagnostics: [], refusals: [], indivisible: new Map(), references };
      return Promise.resolve(inherited !== undefined && mayRerouteInherited(request) ? { ...found, inherited } : found);
    },
    writes,
    requests,
    put,
    drop(id) {
      const row = store.find(id);
      if (row !== undefined) store.drop(row.uid, 'test');
    },
    setFault(changed) {
      fault = changed;
    },
    setSecrets(changed) {
      visibility = changed;
    },
    save() {
      const [restore, before] = [store.save(), [...untouched]];
      return () => {
        restore();
        untouched.clear();
        for (const uid of before) untouched.add(uid);
      };
    },
    state() {
      const entries = [...store.rows.values()].map((row): readonly [ResourceId, MemoryResource] => {
        const { spec, secrets, managedBy } = row;
        return [idOf(row), { id: idOf(row), spec, secrets, edges: store.edgesOf(row), managedBy }];
      });
      return Object.fromEntries(entries.toSorted(([left], [right]) => compareText(left, right)));
    },
    async identify() {
      return { url: 'http://memory.test', dialect: 'interface', version: 'memory', role: 'admin', ...options.identity };
    },
    async readAll(kinds) {
      end(begin('LIST'));
      const resources = [...store.rows.values()].filter((row) => kinds.includes(row.kind.name)).map((row) => live(row, false));
      const lookups = store.agents === undefined ? {} : { Agent: store.agents };
      return { value: { resources, lookups, ...(options.groups === undefined ? {} : { groups: options.groups }) }, diagnostics: [] };
    },
    switchRowsOn: () => Promise.reject(new Error('this gateway has no rows')),
    async readOne({ id, uid }) {
      end(begin('GET', id));
      const row = store.rows.get(uid);
      return row === undefined ? undefined : live(row, true);
    },
    async create(request) {
      const kind = store.kind(kindOf(request.id));
      const name = kind.identity(nameOf(request.id), request.spec);
      const begun = await beginWrite('POST', resourceId(kind.name, name));
      if (store.find(resourceId(kind.name, name)) !== undefined) {
        throw refusal(begun, { status: 409, code: 'api/conflict', message: 'it exists already' });
      }
      const spec = store.completed(kind, name, request.spec);
      const secrets = Object.fromEntries(Object.entries(request.secrets).map(([path, secret]) => [path, secret.reveal()]));
      const row = { uid: store.nextUid(), kind, name, spec, secrets, managedBy: '', version: store.nextVersion() };
      store.store(row, request.edges, 'caller');
      untouched.add(row.uid);
      end(begun);
      return live(row, true);
    },
    async update(fresh, request) {
      const kind = store.kind(kindOf(fresh.id));
      const begun = await beginWrite('PUT', fresh.id);
      const row = writable(begun, fresh);
      const name = kind.identity(nameOf(request.id), { ...fresh.spec, ...request.spec });
      if (name !== row.name && !renameable.includes(kind.name)) throw refusal(begun, { status: 422, message: 'the name cannot change' });
      const secrets = secretsAfter(fresh, row, request);
      const spec = store.completed(kind, name, overlaid(kind, carried(fresh), request.spec));
      const after = { ...row, name, spec, secrets, version: store.nextVersion() };
      untouched.delete(row.uid);
      const written = store.store(after, { ...fresh.edges, ...request.edges }, 'caller');
      end(begun);
      return live(written, true);
    },
    auditMark: () => Promise.resolve(undefined),
    snapshot: () => Promise.reject(new Error('no snapshot is taken of a gateway in memory')),
    clockAheadMs: () => 0,
    async remove(fresh) {
      const begun = await beginWrite('DELETE', fresh.id);
      if (store.rows.has(fresh.uid)) store.drop(writable(begun, fresh).uid, 'caller');
      end(begun);
    },
    async close() {},
  };
}

function overlaid(kind: Kind, stored: JsonObject, written: JsonObject): JsonObject {
  const result: Record<string, Json> = { ...stored, ...written };
  for (const rule of kind.fields) {
    const value = written[rule.name];
    if (value !== undefined) result[rule.name] = carryUnknown(rule, value, stored[rule.name]);
  }
  return result;
}

/** Returns the fields of a fresh read, including unknown ones. */
function carried(fresh: LiveResource): JsonObject {
  const { raw } = fresh;
  return isObject(raw) && isObject(raw['spec']) ? raw['spec'] : {};
}
