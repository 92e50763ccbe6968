import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { PGlite } from '@electric-sql/pglite';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import { Pool } from 'pg';
import { isObject } from '../../src/model/json.ts';
import { registry } from '../../src/kinds/index.ts';
import { createLitePool } from '../../src/server/store/embedded-database.ts';
import type { Tables } from '../../src/server/store/schema.ts';
import { readingsOf } from './server-readings.ts';

type Statement = { readonly text: string; readonly values: readonly unknown[] };

const [database = ''] = process.argv.slice(2);
const pool = await openPool();
const json = { 'Content-Type': 'application/json' };
const known = new Map<string, readonly Statement[]>();

/** A program for the bench: the queries of the gateway's reads in its framework, and nothing else; prints its address. */
const app = new Hono();
app.post('/connections', async (c) => {
  const { name, ...spec }: { readonly name: string } = await c.req.json();
  const now = new Date();
  const row = [randomUUID(), name, JSON.stringify(spec), '', 1, now, now];
  const text = `insert into connections (id, name, spec, managed_by, revision, created_at, updated_at)
    values ($1, $2, $3, $4, $5, $6, $7) returning *`;
  return c.json(await query({ text, values: row }), 201);
});
app.get('*', async (c) => {
  const path = c.req.url.slice(c.req.url.indexOf('/', 'http://'.length));
  const statements = known.get(path) ?? (await statementsOf(path));
  known.set(path, statements);
  const results = await Promise.all(statements.map((statement) => query(statement)));
  return c.body(`[${results.map((rows) => `[${rows.map((row) => responseText(row)).join(',')}]`).join(',')}]`, 200, json);
});
const server = createServer(getRequestListener(app.fetch));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}\n`);
});

/** The bytes of a response: the texts of an object as the database made them, with its secrets as they are sealed. */
function responseText(row: unknown): string {
  if (!isObject(row) || typeof row['members'] !== 'string' || typeof row['spec'] !== 'string') return JSON.stringify(row);
  return `{${row['members']},"secret":${JSON.stringify(row['sealed'])},${row['spec'].slice(1)}`;
}

/** The same pool as the gateway's. */
async function openPool(): Promise<PostgresPool> {
  if (database.startsWith('postgres:')) return new Pool({ connectionString: database, max: 10 });
  return createLitePool(await PGlite.create({ dataDir: database }));
}

async function query({ text, values }: Statement): Promise<readonly unknown[]> {
  const client = await pool.connect();
  try {
    return (await client.query<unknown>(text, values)).rows;
  } finally {
    client.release();
  }
}

/** Reads the path as the gateway does once, and keeps what it asks the database. */
async function statementsOf(path: string): Promise<readonly Statement[]> {
  const statements: Statement[] = [];
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query: { sql: text, parameters: values } }) => {
      // A whole list is read through a cursor.
      const read = text.replace(/^\s*declare .+? cursor for\s+/is, '');
      if (/^\s*select/i.test(read)) statements.push({ text: read, values });
    },
  });
  await readingsOf(db, registry)(path);
  if (statements.length === 0) throw new Error(`no query was seen for ${path}`);
  return statements;
}
