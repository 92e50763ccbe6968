// A program for the bench: adds the connections `from` … `to` - 1, with their resources, to the database of a gateway that was started before.
import { randomUUID } from 'node:crypto';
import { PGlite } from '@electric-sql/pglite';
import { Client } from 'pg';
import { createCipher, sealSecrets } from '../../src/server/secrets.ts';
import { wireOf } from './fixture.js';

const [database, key, from, to] = process.argv.slice(2);
const batch = 1000;
const client = await connect();
const [{ id: agent }] = (await client.query('select id from agents limit 1')).rows;
const cipher = createCipher(Buffer.from(key, 'base64'));
for (let first = Number(from); first < Number(to); first += batch) await insert(first, Math.min(first + batch, Number(to)));
await client.query('analyze');
await client.end();

async function connect() {
  if (database.startsWith('postgres:')) {
    const server = new Client({ connectionString: database });
    await server.connect();
    return server;
  }
  const lite = await PGlite.create({ dataDir: database });
  return { query: (text, values) => lite.query(text, values), end: () => lite.close() };
}

async function insert(first, end) {
  const objects = Array.from({ length: end - first }, (_, index) => {
    const id = randomUUID();
    const { id: _1, name, secret, guardrail_rules: _2, managed_by: _3, status: _4, default_database: _5, ...spec } = wireOf(first + index);
    const secrets = sealSecrets(cipher, { secret }, `connections/${id}/secrets`);
    return { id, name, spec: { ...spec, agent_id: agent, min_review_approvals: null }, secrets };
  });
  await client.query(
    `with given as (select * from jsonb_to_recordset($1) as given (id uuid, name text, spec jsonb, secrets text)),
    made as (insert into resources (id, name, spec, managed_by, revision, created_at, updated_at)
      select gen_random_uuid(), name, jsonb_build_object('type', spec ->> 'type', 'subtype', spec ->> 'subtype', 'agent_id', spec ->> 'agent_id'),
        '', 1, now(), now() from given)
    insert into connections (id, name, spec, secrets, secrets_updated_at, managed_by, revision, created_at, updated_at)
      select id, name, spec, secrets, now(), '', 1, now(), now() from given`,
    [JSON.stringify(objects)],
  );
}
