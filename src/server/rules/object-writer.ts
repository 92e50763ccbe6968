import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql, type Transaction } from 'kysely';
import { asText, equal, type Json, type JsonObject, textsIn } from '../../model/json.ts';
import { pointer } from '../../model/pointer.ts';
import { changedFields, redactedPayload } from '../store/audit-log.ts';
import type { Collection, EdgeSide } from '../collections.ts';
import { type FieldProblem, InvalidBody, Rejection, requireNoProblems } from '../rejection.ts';
import { type Author, entityTag, requireAllowedTag, type WriteTarget } from './versions.ts';
import { moveMembers, requireNoMembers } from './members.ts';
import { findObject, type ObjectRow, parseSpec } from './object-reader.ts';
import { openObject, secretsPath, type StoredObject } from './stored-object.ts';
import { changesSecrets, type GivenSecrets, readSecrets, resolveSecrets, sealSecrets } from '../secrets.ts';
import { inWriteLock, type Store, withUniqueName } from '../store/store.ts';
import type { Tables } from '../store/schema.ts';
import { identityProblem, resourceNameProblem } from '../../model/served-rules.ts';

/** The desired state of an object, with a value for every field. */
type ObjectDraft = {
  /** The identity of the object among its kind. */
  readonly name: string;
  readonly spec: JsonObject;
  readonly secrets: GivenSecrets;
  /** The ids at the other ends of its edges, by field. */
  readonly edges: Readonly<Record<string, readonly string[]>>;
  /** The field that a replacement keeps: a caller that does not know access groups does not change them. */
  readonly keptField?: string;
};

/** Reads the valid body of a create or replace request. Throws `InvalidBody` with all problems that no schema says. */
export function readObjectDraft(collection: Collection, body: JsonObject): ObjectDraft {
  const { kind, fields } = collection;
  const given = asText(body['name']);
  const spec = fillSpec(collection, { ...kind.createDefaults(given), ...withoutNulls(body) });
  const name = kind.identity(given, spec);
  const secrets = readSecrets(fields, body);
  requireNoProblems([...checkName(collection, name), ...checkResourceName(collection, spec), ...checkSpec(collection, spec)]);
  const edges = fields.filter((field) => field.edge !== undefined).map((field) => [field.name, idsOf(body[field.name])] as const);
  const { accessField } = collection;
  const kept = accessField !== undefined && body[accessField] === undefined ? { keptField: accessField } : {};
  return { name, spec, secrets, edges: Object.fromEntries(edges), ...kept };
}

function fillSpec({ kind, fields, computed }: Collection, body: JsonObject): JsonObject {
  const stored = fields.filter((field) => field.edge === undefined && field.secret === undefined);
  const spec: Record<string, Json> = {};
  for (const { name, empty, refers } of stored) {
    const value = body[name] ?? empty;
    spec[name] = refers !== undefined && typeof value === 'string' ? value.toLowerCase() : value;
  }
  const derived = kind.derived(spec);
  for (const { name, empty, omitted } of stored) {
    if (omitted === 'derived' && (computed.includes(name) || equal(spec[name], empty))) spec[name] = derived[name] ?? empty;
  }
  return spec;
}

function checkName(collection: Collection, name: string): readonly FieldProblem[] {
  const reason = identityProblem(collection, name);
  return reason === undefined ? [] : [{ field: pointer(collection.identityField), reason }];
}

/** Checks the name of the resource, which is the name of the object by default: resources have shorter names. */
function checkResourceName({ resourceField }: Collection, spec: JsonObject): readonly FieldProblem[] {
  const resource = resourceField === undefined ? undefined : spec[resourceField];
  const reason = typeof resource === 'string' ? resourceNameProblem(resource) : undefined;
  return resourceField === undefined || reason === undefined ? [] : [{ field: pointer(resourceField), reason }];
}

function checkSpec({ kind }: Collection, spec: JsonObject): readonly FieldProblem[] {
  const errors = kind.check(spec).filter(({ severity }) => severity === 'error');
  return errors.map(({ pointer: at, message }) => ({ field: at, reason: message }));
}

function idsOf(value: Json | undefined): readonly string[] {
  return [...new Set(textsIn(value).map((id) => id.toLowerCase()))];
}

function withoutNulls(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

/** Creates an object with its edges, and returns its row. */
export async function createObject(
  store: Store,
  collection: Collection,
  write: { draft: ObjectDraft; author: Author },
): Promise<ObjectRow> {
  const { draft, author } = write;
  const secrets = resolveSecrets(draft.secrets, {});
  const id = randomUUID();
  const sealed = sealSecrets(store.cipher, secrets, secretsPath(collection, id));
  return inWriteLock(store.db, async (trx) => {
    await ensureAgentAndResource(trx, collection, { spec: draft.spec, now: author.now });
    const row = {
      id,
      name: draft.name,
      spec: JSON.stringify(draft.spec),
      secrets: sealed,
      secrets_updated_at: sealed === null ? null : author.now,
      managed_by: author.manager,
      revision: 1,
      created_at: author.now,
      updated_at: author.now,
    };
    await withUniqueName(`${collection.kind.name} ${draft.name}`, trx.insertInto(collection.table).values(row).execute());
    await replaceEdges(trx, collection, { id, before: {}, after: draft.edges, author });
    await author.record(trx, { id, name: draft.name, payload: redactedPayload(collection.fields, draft) });
    return readWritten({ ...store, db: trx }, collection, id);
  });
}

/** Replaces an object as a whole, with its edges, and returns its row; secrets that the draft sends as null stay. */
export async function replaceObject(
  store: Store,
  collection: Collection,
  { target, draft: given, author }: { readonly target: WriteTarget; readonly draft: ObjectDraft; readonly author: Author },
): Promise<ObjectRow> {
  return inWriteLock(store.db, async (trx) => {
    const stored = await findWritable({ ...store, db: trx }, collection, { target, author });
    const before = parseSpec(stored);
    const draft = fillKeptField(given, before);
    if (stored.name !== draft.name && !collection.kind.renamable) {
      throw new InvalidBody([{ field: pointer(collection.identityField), reason: `cannot change: it is ${stored.name}` }]);
    }
    const secrets = resolveSecrets(draft.secrets, stored.secrets);
    await ensureAgentAndResource(trx, collection, { spec: draft.spec, now: author.now });
    const row = {
      name: draft.name,
      spec: JSON.stringify(draft.spec),
      secrets: sealSecrets(store.cipher, secrets, secretsPath(collection, stored.id)),
      ...(changesSecrets(stored.secrets, secrets) ? { secrets_updated_at: author.now } : {}),
      revision: stored.revision + 1,
      updated_at: author.now,
    };
    await withUniqueName(
      `${collection.kind.name} ${draft.name}`,
      trx.updateTable(collection.table).set(row).where('id', '=', stored.id).execute(),
    );
    await moveMembers(trx, collection, { before: { name: stored.name, spec: before }, after: draft, author });
    await replaceEdges(trx, collection, { id: stored.id, before: stored.edges, after: draft.edges, author });
    const changed = changedFields({ ...stored, spec: before }, draft, secrets);
    await author.record(trx, { id: stored.id, name: draft.name, payload: redactedPayload(collection.fields, draft), changed });
    return readWritten({ ...store, db: trx }, collection, stored.id);
  });
}

function fillKeptField({ keptField, ...draft }: ObjectDraft, before: JsonObject): Omit<ObjectDraft, 'keptField'> {
  return keptField === undefined ? draft : { ...draft, spec: { ...draft.spec, [keptField]: before[keptField] ?? null } };
}

/** Removes an object and all its edges. */
export async function removeObject(
  store: Store,
  collection: Collection,
  { target, author }: { readonly target: WriteTarget; readonly author: Author },
): Promise<void> {
  await inWriteLock(store.db, async (trx) => {
    const stored = await findWritable({ ...store, db: trx }, collection, { target, author });
    await requireNoMembers(trx, collection, stored.name, 'delete');
    await releaseEdges(trx, collection, stored.id, author);
    await trx.deleteFrom(collection.table).where('id', '=', stored.id).execute();
    await author.record(trx, { id: stored.id, name: stored.name, payload: {} });
  });
}

async function findWritable(
  store: Store,
  collection: Collection,
  { target, author }: { readonly target: WriteTarget; readonly author: Author },
): Promise<StoredObject> {
  const { kind } = collection;
  const found = await findObject(store, collection, { text: target.text, visibleTo: null });
  if (found === undefined) throw new Rejection(404, `unknown ${kind.name} ${target.text}`);
  const stored = openObject(store.cipher, collection, found);
  if (stored.managedBy !== '' && stored.managedBy !== author.manager) {
    throw new Rejection(409, `${kind.name} ${stored.name} is managed by ${stored.managedBy}`);
  }
  requireAllowedTag(`${kind.name} ${stored.name}`, entityTag(stored), target);
  return stored;
}

async function readWritten(store: Store, collection: Collection, id: string): Promise<ObjectRow> {
  const row = await findObject(store, collection, { text: id, visibleTo: null });
  if (row === undefined) throw new Error(`${collection.kind.name} ${id} was written, and is not there`);
  return row;
}

/**
 * Ensures that the agent and the resource of a spec exist. Creates a missing resource with the type of the spec; an existing resource
 * stays unchanged. Throws `InvalidBody` when the agent does not exist.
 */
async function ensureAgentAndResource(
  trx: Transaction<Tables>,
  { agentField, resourceField }: Collection,
  { spec, now }: { readonly spec: JsonObject; readonly now: Date },
): Promise<void> {
  const agent = agentField === undefined ? '' : asText(spec[agentField]);
  if (agentField === undefined || agent === '') return;
  const resource = { type: asText(spec['type']), subtype: asText(spec['subtype']), agent_id: agent };
  const insert = sql`, made as (
      insert into resources (id, name, spec, managed_by, revision, created_at, updated_at)
      select ${randomUUID()}::uuid, ${asText(spec[resourceField ?? ''])}, ${JSON.stringify(resource)}::jsonb, '', 1,
        ${now}::timestamptz, ${now}::timestamptz from served
      on conflict (name) do nothing
    )`;
  // One statement: it is part of every write of a connection.
  const { rows } = await sql`
    with served as (select from agents where id = ${agent})${resourceField === undefined ? sql`` : insert}
    select from served`.execute(trx);
  if (rows.length === 0) throw new InvalidBody([{ field: pointer(agentField), reason: `is not an agent of this gateway: ${agent}` }]);
}

type EdgeIds = Readonly<Record<string, readonly string[]>>;
type EdgeWrite = { readonly id: string; readonly before: EdgeIds; readonly after: EdgeIds; readonly author: Author };
type OtherEnd = { readonly id: string; readonly name: string; readonly managed_by: string };

/** Replaces the edges that an object lists. The objects at the other end of a changed edge get a new revision if they list it. */
async function replaceEdges(trx: Transaction<Tables>, { sides }: Collection, { id, before, after, author }: EdgeWrite): Promise<void> {
  for (const side of sides) {
    const { table, own, other, field, otherKind } = side;
    if (field === undefined) continue;
    const [earlier, given] = [new Set(before[field]), new Set(after[field])];
    const added = [...given].filter((one) => !earlier.has(one));
    const removed = [...earlier].filter((one) => !given.has(one));
    if (added.length + removed.length === 0) continue;
    const ends = await bumpOtherEnds(trx, side, [...added, ...removed], author);
    const known = new Set(ends.map((end) => end.id));
    const unknown = added.filter((one) => !known.has(one));
    requireNoProblems(
      unknown.map((one) => ({
        field: pointer(field, String([...given].indexOf(one))),
        reason: `is not a ${otherKind} of this gateway: ${one}`,
      })),
    );
    checkManager(side, ends, author);
    if (removed.length > 0) await trx.deleteFrom(table).where(own, '=', id).where(other, '=', anyId(removed)).execute();
    if (added.length === 0) continue;
    const columns = sql.join([sql.ref(own), sql.ref(other)]);
    await sql`insert into ${sql.table(table)} (${columns}) select ${id}, unnest(${added}::uuid[])`.execute(trx);
  }
}

/** Gives the objects at the other ends a new revision before an object is removed; the database removes the edges. */
async function releaseEdges(trx: Transaction<Tables>, { sides }: Collection, id: string, author: Author): Promise<void> {
  for (const side of sides) {
    const rows = await trx.selectFrom(side.table).select(side.other).where(side.own, '=', id).execute();
    const ids = rows.map((row) => row[side.other]);
    if (ids.length > 0) checkManager(side, await bumpOtherEnds(trx, side, ids, author), author);
  }
}

/** Gives the objects at the other ends a new revision if they list the edges; returns those that exist. */
async function bumpOtherEnds(
  trx: Transaction<Tables>,
  { otherTable, listedThere }: EdgeSide,
  ids: readonly string[],
  author: Author,
): Promise<readonly OtherEnd[]> {
  const columns = ['id', 'name', 'managed_by'] as const;
  if (!listedThere) return trx.selectFrom(otherTable).select(columns).where('id', '=', anyId(ids)).execute();
  const bumped = trx.updateTable(otherTable).set({ revision: sql`revision + 1`, updated_at: author.now });
  return bumped.where('id', '=', anyId(ids)).returning(columns).execute();
}

/** Rejects a rule that would change what a connection of another manager lists. A connection may choose its own rules. */
function checkManager({ own, otherKind }: EdgeSide, others: readonly OtherEnd[], author: Author): void {
  const managed = own === 'rule_id' ? others.find(({ managed_by: manager }) => manager !== '' && manager !== author.manager) : undefined;
  if (managed !== undefined) throw new Rejection(409, `${otherKind} ${managed.name} is managed by ${managed.managed_by}`);
}

/** Passes all ids as one parameter, so that the text of the statement stays the same. */
function anyId(ids: readonly string[]): RawBuilder<string> {
  return sql<string>`any(${ids}::uuid[])`;
}
