import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { AppError } from '../../model/errors.ts';
import { Rejection } from '../rejection.ts';
import { type Author, requireAllowedTag, type WriteTarget } from './versions.ts';
import { type Tables, uuidPattern } from '../store/schema.ts';
import type { Store } from '../store/store.ts';

/** What an agent reports in a heartbeat; empty before the first. */
type Heartbeat = { readonly hostname: string; readonly version: string; readonly platform: string };

/** An agent as responses have it; `last_seen` is the time of the last heartbeat, and null before the first. */
type RegisteredAgent = Heartbeat & {
  readonly id: string;
  readonly name: string;
  readonly status: 'online' | 'offline';
  readonly last_seen: Date | null;
  readonly created_at: Date;
};

const tokenPrefix = 'osa_';
const agentColumns = ['id', 'name', 'last_seen', 'hostname', 'version', 'platform', 'created_at'] as const;
const agentNamePattern = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}/]{1,254}$/u;

/** Returns the problem of an agent name; undefined when it is valid. */
export function agentNameProblem(name: string): string | undefined {
  if (!agentNamePattern.test(name)) return 'must have 1 to 254 characters, no / and no control or invisible characters';
  return uuidPattern.test(name) ? 'must not have the form of an ID' : undefined;
}

/** Registers the agents that do not exist yet. Throws `AppError` for an invalid name. */
export async function registerAgents(db: Kysely<Tables>, names: readonly string[], now: Date): Promise<void> {
  for (const name of names) {
    const problem = agentNameProblem(name);
    if (problem !== undefined) throw new AppError('serve/agent', 3, `the agent name ${JSON.stringify(name)} ${problem}`);
  }
  if (names.length === 0) return;
  const rows = names.map((name) => ({ id: randomUUID(), name, created_at: now }));
  await db
    .insertInto('agents')
    .values(rows)
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
}

/** Lists all agents by name. */
export async function listAgents({ db, now }: Store): Promise<readonly RegisteredAgent[]> {
  const rows = await db.selectFrom('agents').select(agentColumns).orderBy('name').execute();
  return rows.map((row) => agentJson(row, now()));
}

/** An agent with its `ETag`, which changes with its token but not with a heartbeat. */
type TaggedAgent = { readonly json: RegisteredAgent & { readonly token?: string }; readonly tag: string; readonly id: string };

/** Finds an agent by its id or its name. Throws a 404. */
export async function findAgent({ db, now }: Store, text: string): Promise<TaggedAgent> {
  const row = await db
    .selectFrom('agents')
    .select([...agentColumns, 'token_hash'])
    .where(byIdOrName(text))
    .executeTakeFirst();
  if (row === undefined) throw unknownAgent(text);
  const { token_hash: hash, ...agent } = row;
  return { json: agentJson(agent, now()), tag: agentTag(row.id, hash), id: row.id };
}

/** Locks an agent until the transaction ends. Throws a 412 when its version is not one of the expected ones. */
async function lockUnchangedAgent(
  trx: Transaction<Tables>,
  { text, ...conditions }: WriteTarget,
): Promise<{ readonly id: string; readonly name: string }> {
  const agent = await trx.selectFrom('agents').select(['id', 'name', 'token_hash']).where(byIdOrName(text)).forUpdate().executeTakeFirst();
  if (agent === undefined) throw unknownAgent(text);
  requireAllowedTag(`the agent ${agent.name}`, agentTag(agent.id, agent.token_hash), conditions);
  return agent;
}

function agentTag(id: string, tokenHash: string | null): string {
  return `"${createHash('sha256')
    .update(`${id} ${tokenHash ?? ''}`)
    .digest('hex')
    .slice(0, 32)}"`;
}

/** Registers an agent and returns its token; no other response contains the token. */
export async function createAgent(trx: Transaction<Tables>, name: string, author: Author): Promise<TaggedAgent> {
  const { token, hash } = generateToken();
  const row = await trx
    .insertInto('agents')
    .values({ id: randomUUID(), name, created_at: author.now, token_hash: hash })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning(agentColumns)
    .executeTakeFirst();
  if (row === undefined) throw new Rejection(409, `the agent ${name} already exists`);
  await author.record(trx, { id: row.id, name, payload: { name } });
  return { json: { ...agentJson(row, author.now), token }, tag: agentTag(row.id, hash), id: row.id };
}

/** Replaces the token of an agent; the earlier token becomes invalid. */
export async function renewAgentToken(trx: Transaction<Tables>, target: WriteTarget, author: Author): Promise<TaggedAgent> {
  const { token, hash } = generateToken();
  const { id } = await lockUnchangedAgent(trx, target);
  const row = await trx
    .updateTable('agents')
    .set({ token_hash: hash })
    .where('id', '=', id)
    .returning(agentColumns)
    .executeTakeFirstOrThrow();
  await author.record(trx, { id, name: row.name, payload: {}, action: 'update', changed: ['token'] });
  return { json: { ...agentJson(row, author.now), token }, tag: agentTag(id, hash), id };
}

/** Removes an agent. Throws a 409 when a connection uses it; resources lose the reference. */
export async function removeAgent(trx: Transaction<Tables>, target: WriteTarget, author: Author): Promise<object> {
  const agent = await lockUnchangedAgent(trx, target);
  const { rows } = await sql<{ readonly name: string; readonly total: number }>`
    select name, count(*) over ()::integer as total from connections where spec ->> 'agent_id' = ${agent.id} order by name limit 3`.execute(
    trx,
  );
  const [first] = rows;
  if (first !== undefined) {
    const more = first.total > rows.length ? ` and ${first.total - rows.length} more` : '';
    throw new Rejection(
      409,
      `the agent ${agent.name} serves ${rows.map(({ name }) => name).join(', ')}${more}: assign another agent to them first`,
    );
  }
  await sql`
    update resources set spec = jsonb_set(spec, '{agent_id}', '""'), revision = revision + 1, updated_at = ${author.now}
    where spec ->> 'agent_id' = ${agent.id}`.execute(trx);
  await trx.deleteFrom('agents').where('id', '=', agent.id).execute();
  await author.record(trx, { id: agent.id, name: agent.name, payload: {} });
  return {};
}

/** An agent that has sent its token. */
export type TokenHolder = { readonly name: string; readonly tokenHash: string };

/** Finds the agent with this token. */
export async function findAgentByToken(db: Kysely<Tables>, token: string): Promise<TokenHolder | undefined> {
  if (!token.startsWith(tokenPrefix)) return undefined;
  const tokenHash = hashToken(token);
  const row = await db.selectFrom('agents').select('name').where('token_hash', '=', tokenHash).executeTakeFirst();
  return row === undefined ? undefined : { name: row.name, tokenHash };
}

/** Records a heartbeat; undefined when the token was replaced meanwhile. */
export async function recordHeartbeat(
  store: Store,
  { tokenHash }: TokenHolder,
  heartbeat: Heartbeat,
): Promise<RegisteredAgent | undefined> {
  const now = store.now();
  const row = await store.db
    .updateTable('agents')
    .set({ ...heartbeat, last_seen: now })
    .where('token_hash', '=', tokenHash)
    .returning(agentColumns)
    .executeTakeFirst();
  return row === undefined ? undefined : agentJson(row, now);
}

function agentJson(row: Omit<RegisteredAgent, 'status'>, now: Date): RegisteredAgent {
  return { ...row, status: agentStatusAt(now, row.last_seen) };
}

function byIdOrName(text: string): RawBuilder<boolean> {
  if (uuidPattern.test(text)) return sql`id = ${text}`;
  return text.includes('\0') ? sql`false` : sql`name = ${text}`;
}

function unknownAgent(text: string): Rejection {
  return new Rejection(404, `unknown agent ${text}`);
}

function generateToken(): { readonly token: string; readonly hash: string } {
  const token = `${tokenPrefix}${randomBytes(32).toString('base64url')}`;
  return { token, hash: hashToken(token) };
}

function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** An agent without a heartbeat for this many seconds is offline; all servers of a database use the same value. */
export const agentTimeoutSeconds = 60;

/** Returns the status of an agent with this last heartbeat. */
function agentStatusAt(now: Date, lastSeen: Date | null): 'online' | 'offline' {
  return lastSeen !== null && lastSeen > aliveSince(now) ? 'online' : 'offline';
}

/** Returns SQL for the ids of agents with a heartbeat after `since`, as text, for use after `in`. */
export function agentIdsSince(since: unknown): RawBuilder<unknown> {
  return sql`(select id::text from agents where last_seen > ${since})`;
}

/** Returns the time after which an agent must have sent a heartbeat to be online. */
export function aliveSince(now: Date): Date {
  return new Date(now.getTime() - agentTimeoutSeconds * 1000);
}
