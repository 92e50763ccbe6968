import { randomUUID } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import { equal, type JsonObject } from '../model/json.ts';
import { payloadOf } from './audit-payload.ts';
import type { Author } from './author.ts';
import { matches } from './entity-tag.ts';
import type { Store } from './reader.ts';
import { InvalidBody, Rejection } from './rejection.ts';
import { environment, findResource, placeOfResource, type Resource } from './resources.ts';
import { readSecrets, resolveSecrets, sealSecrets, type GivenSecrets, type Secrets } from './secrets.ts';
import type { Tables } from './tables.ts';
import { alone, distinctly, type Reference } from './writer.ts';

/** A resource as a caller wants it, whole. */
export type ResourceDraft = Pick<Resource, 'name' | 'type' | 'subtype' | 'agentId'> & { readonly secrets: GivenSecrets };

type Columns = Pick<Resource, 'name' | 'type' | 'subtype'> & { readonly agent_id: string | null };
type Member = { readonly name: string; readonly managed_by: string };

/** Reads a body that has the shape of its schema. */
export function readResource(body: JsonObject): ResourceDraft {
  const text = (field: string): string => (typeof body[field] === 'string' ? body[field] : '');
  const secrets = readSecrets([environment], body);
  return { name: text('name'), type: text('type'), subtype: text('subtype'), agentId: text('agent_id').toLowerCase(), secrets };
}

/** Creates a resource that no connection needs yet. */
export async function createResource(store: Store, draft: ResourceDraft, author: Author): Promise<Resource> {
  const { now } = author;
  const id = randomUUID();
  const secrets = resolveSecrets(draft.secrets, {});
  return alone(store.db, async (trx) => {
    await checkAgent(trx, draft);
    const row = { id, ...columnsOf(draft), env_vars: sealSecrets(store.cipher, secrets, placeOfResource(id)), revision: 1 };
    const insert = trx.insertInto('resources').values({ ...row, created_at: now, updated_at: now });
    await distinctly(`resource ${draft.name}`, insert.execute());
    await author.record(trx, { id, name: draft.name, payload: askedFor(draft) });
    return { id, ...draft, secrets, revision: 1, createdAt: now, updatedAt: now };
  });
}

/** Replaces a resource whole; its connections follow a new name, and stand in the way of a new type. */
export async function replaceResource(store: Store, reference: Reference, draft: ResourceDraft, author: Author): Promise<Resource> {
  return alone(store.db, async (trx) => {
    const stored = await writable({ ...store, db: trx }, reference);
    const secrets = resolveSecrets(draft.secrets, stored.secrets);
    await checkAgent(trx, draft);
    if (stored.type !== draft.type || stored.subtype !== draft.subtype) {
      refuseMembers(await membersOf(trx, stored.name), `cannot change the type or subtype of the resource ${stored.name}`);
    }
    const revision = stored.revision + 1;
    const row = { ...columnsOf(draft), env_vars: sealSecrets(store.cipher, secrets, placeOfResource(stored.id)), revision };
    const update = trx.updateTable('resources').set({ ...row, updated_at: author.now });
    await distinctly(`resource ${draft.name}`, update.where('id', '=', stored.id).execute());
    if (stored.name !== draft.name) await moveMembers(trx, { from: stored.name, to: draft.name }, author);
    await author.record(trx, { id: stored.id, name: draft.name, payload: askedFor(draft), changed: changedBy(draft, stored, secrets) });
    return { ...stored, ...draft, secrets, revision, updatedAt: author.now };
  });
}

/** Removes a resource that no connection names. */
export async function removeResource(store: Store, reference: Reference, author: Author): Promise<void> {
  await alone(store.db, async (trx) => {
    const stored = await writable({ ...store, db: trx }, reference);
    refuseMembers(await membersOf(trx, stored.name), `cannot delete the resource ${stored.name}`);
    await trx.deleteFrom('resources').where('id', '=', stored.id).execute();
    await author.record(trx, { id: stored.id, name: stored.name, payload: {} });
  });
}

/** A draft as the audit log keeps it. */
function askedFor({ name, type, subtype, agentId, secrets }: ResourceDraft): JsonObject {
  return payloadOf([environment], { name, spec: { type, subtype, agent_id: agentId }, secrets, edges: {} });
}

function changedBy(draft: ResourceDraft, stored: Resource, secrets: Secrets): readonly string[] {
  const before: JsonObject = columnsOf(stored);
  const changed = Object.entries(columnsOf(draft)).filter(([column, value]) => value !== before[column]);
  return [...changed.map(([column]) => column), ...(equal(secrets, stored.secrets) ? [] : [environment.name])];
}

async function writable(store: Store, { text, ifMatch }: Reference): Promise<Resource> {
  const stored = await findResource(store, text);
  if (stored === undefined) throw new Rejection(404, `there is no resource ${text}`);
  if (!matches(stored, ifMatch)) throw new Rejection(412, `the resource ${text} has changed since it was read`);
  return stored;
}

async function checkAgent(trx: Transaction<Tables>, { agentId }: ResourceDraft): Promise<void> {
  if (agentId === '') return;
  const known = await trx.selectFrom('agents').select('id').where('id', '=', agentId).executeTakeFirst();
  if (known === undefined) throw new InvalidBody([{ field: '/agent_id', reason: `is no agent of this gateway: ${agentId}` }]);
}

function columnsOf({ name, type, subtype, agentId }: ResourceDraft): Columns {
  return { name, type, subtype, agent_id: agentId === '' ? null : agentId };
}

async function membersOf(trx: Transaction<Tables>, name: string): Promise<readonly Member[]> {
  const { rows } = await sql<Member>`
    select name, managed_by from connections where spec ->> 'resource_name' = ${name} order by name limit 4`.execute(trx);
  return rows;
}

function refuseMembers(members: readonly Member[], what: string): void {
  if (members.length === 0) return;
  const names = members.slice(0, 3).map(({ name }) => name);
  throw new Rejection(409, `${what}: connections belong to it (${names.join(', ')}${members.length > 3 ? ', …' : ''})`);
}

async function moveMembers(trx: Transaction<Tables>, name: { readonly from: string; readonly to: string }, author: Author): Promise<void> {
  const { rows } = await sql<Member>`
    update connections set spec = jsonb_set(spec, '{resource_name}', to_jsonb(${name.to}::text)),
      revision = revision + 1, updated_at = ${author.now}
    where spec ->> 'resource_name' = ${name.from} returning name, managed_by`.execute(trx);
  const managed = rows.find(({ managed_by: manager }) => manager !== '' && manager !== author.manager);
  if (managed !== undefined) throw new Rejection(409, `its connection ${managed.name} is managed by ${managed.managed_by}`);
}
