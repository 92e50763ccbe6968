import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import type { Principal } from '../auth.ts';
import { uuidForm } from '../reader.ts';
import type { Tables } from '../tables.ts';
import type { Review, ReviewType, Status } from './review.ts';
import { selectPage, type Page } from '../select-page.ts';

/** Which reviews a list shows; what is undefined lets all through. */
export type Filter = {
  readonly status: Status | undefined;
  readonly type: ReviewType | undefined;
  readonly session: string | undefined;
  /** The name or id of a connection. */
  readonly connection: string | undefined;
};

/** A row as one JSON text, so that times and whole numbers come as they are. */
type Row = Omit<Review, 'createdAt' | 'revokedAt'> & { readonly createdAt: string; readonly revokedAt: string | null };

/** Reads the reviews that the caller may see, newest first. */
export async function listReviews(db: Kysely<Tables>, principal: Principal, filter: Filter): Promise<readonly Review[]> {
  return select(db, sql`where ${isVisible(principal)} and ${fits(filter)} order by r.created_at desc, r.id`);
}

/** Reads one page of them and how many there are, both as of one moment. */
export async function pageReviews(
  db: Kysely<Tables>,
  principal: Principal,
  { filter, page }: { readonly filter: Filter; readonly page: Page },
): Promise<{ readonly rows: readonly Review[]; readonly total: number }> {
  const shown = sql`where ${isVisible(principal)} and ${fits(filter)}`;
  return selectPage(db, {
    page,
    from: sql`${source} ${shown}`,
    select: (trx, bounds) => select(trx, sql`${shown} order by r.created_at desc, r.id ${bounds}`),
  });
}

/** Finds a review that the caller may see by its id or its session; any text may be asked for. */
export async function findReview(db: Kysely<Tables>, principal: Principal, text: string): Promise<Review | undefined> {
  if (!uuidForm.test(text)) return undefined;
  const [found] = await select(db, sql`where ${isMeant(text)} and ${isVisible(principal)}`);
  return found;
}

/** Finds it as `findReview` does, and keeps everybody else from changing it until the transaction ends. */
export async function lockReview(trx: Transaction<Tables>, principal: Principal, text: string): Promise<Review | undefined> {
  if (!uuidForm.test(text)) return undefined;
  // What is read with the lock may be older than the lock; the second read is not.
  await sql`select from reviews r where ${isMeant(text)} for update`.execute(trx);
  return findReview(trx, principal, text);
}

/** Writes down what a move changed. */
export async function saveReview(trx: Transaction<Tables>, review: Review): Promise<void> {
  const { status, groups, window, revision, revokedAt } = review;
  await sql`
    update reviews set status = ${status}, groups = ${JSON.stringify(groups)}, time_window = ${window && JSON.stringify(window)},
      revision = ${revision}, revoked_at = ${revokedAt} where id = ${review.id}`.execute(trx);
}

const source = sql`from reviews r left join connections c on c.id = r.connection_id`;
const forceGroups = sql`coalesce(c.spec -> 'force_approve_groups', '[]')`;

async function select(db: Kysely<Tables>, rest: RawBuilder<unknown>): Promise<readonly Review[]> {
  const { rows } = await sql<{ readonly row: Row }>`
    select json_build_object('id', r.id, 'session', r.session, 'type', r.type, 'status', r.status, 'accessDuration', r.access_duration,
      'window', r.time_window, 'groups', r.groups, 'needed', r.needed, 'ownerId', r.owner_id, 'connection', c.name, 'forceGroups', ${forceGroups},
      'revision', r.revision, 'createdAt', r.created_at, 'revokedAt', r.revoked_at) as row
    ${source} ${rest}`.execute(db);
  return rows.map(({ row }) => ({
    ...row,
    createdAt: new Date(row.createdAt),
    revokedAt: row.revokedAt === null ? null : new Date(row.revokedAt),
  }));
}

function isMeant(text: string): RawBuilder<unknown> {
  return sql`(r.id = ${text}::uuid or r.session = ${text}::uuid)`;
}

/** Admins and auditors see all; others what they asked for, and what they may approve or force. */
function isVisible({ id, groups, role }: Principal): RawBuilder<unknown> {
  const own = sql`${groups}::text[]`;
  return sql`(${role !== 'standard'}::boolean or r.owner_id = ${id}::uuid
    or jsonb_path_query_array(r.groups, '$[*].group') ?| ${own} or ${forceGroups} ?| ${own})`;
}

/** One text for all filters: each distinct text is a prepared statement. */
function fits({ status, type, session, connection }: Filter): RawBuilder<unknown> {
  const named = sql.join([equals(sql`c.name`, connection), equals(sql`c.id::text`, connection?.toLowerCase())], sql` or `);
  const others = [equals(sql`r.status`, status), equals(sql`r.type`, type), equals(sql`r.session::text`, session)];
  return sql.join([...others, sql`(${named})`], sql` and `);
}

function equals(column: RawBuilder<unknown>, value: string | undefined): RawBuilder<unknown> {
  return sql`(${value ?? null}::text is null or ${column} = ${value ?? null}::text)`;
}
