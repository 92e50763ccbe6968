import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeFolder } from '../../../src/disk/write.ts';
import { migrateDatabase, verifyAuditLog, type MigrateOptions } from '../../../src/server/process/database-tasks.ts';
import { createDatabase, startTestServer } from '../../support/servers.ts';
import { agentId, callerOf, connectionBody, rowsOf } from '../client.ts';

const id = randomUUID().replaceAll('-', '');
const [owner, serving] = [`owner_${id}`, `serving_${id}`];
let superuser = '';
let drop: () => Promise<void>;

/** Returns the URL of the database for another role. */
function as(role: string): string {
  const url = new URL(superuser);
  [url.username, url.password] = [role, 'secret'];
  return url.href;
}

async function run(url: string, statement: string): Promise<unknown> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client.query(statement).finally(() => client.end());
}

function migrate(options: Partial<MigrateOptions> = {}): Promise<void> {
  return migrateDatabase({ database: { url: as(owner) }, makeFolder, now: () => new Date(), log: () => {}, ...options });
}

beforeAll(async () => {
  ({ url: superuser, drop } = await createDatabase());
  const name = new URL(superuser).pathname.slice(1);
  for (const role of [owner, serving]) await run(superuser, `create role ${role} login password 'secret'`);
  await run(superuser, `alter database ${name} owner to ${owner}`);
  await run(superuser, `grant temporary on database ${name} to ${serving}`);
});
afterAll(async () => {
  const maintenance = new URL(superuser);
  maintenance.pathname = '/postgres';
  await drop();
  for (const role of [owner, serving]) await run(maintenance.href, `drop role ${role}`);
});

const inTenDays = (): Date => new Date(Date.now() + 10 * 86_400_000);

describe('a database with one role that owns the tables and one that serves', () => {
  test('is not served before the owner has migrated it', async () => {
    await expect(startTestServer({ database: { url: as(serving) } })).rejects.toMatchObject({
      code: 'serve/migration',
      exitCode: 3,
      hint: expect.stringContaining('ostiary serve --migrate --grant'),
    });
  });

  test.each([
    ['a role that does not exist', 'none', 'has no role "none"'],
    ['the owner', owner, 'has the rights of the owner'],
    ['a superuser', 'postgres', 'has the rights of the owner'],
  ])('is not granted to %s', async (_what, servingRole, message) => {
    await expect(migrate({ servingRole })).rejects.toMatchObject({ code: 'serve/role', message: expect.stringContaining(message) });
  });

  test('serves every kind of write', async () => {
    await migrate({ servingRole: serving });
    const server = await startTestServer({ database: { url: as(serving) } });
    const call = callerOf(server);
    const agent = await agentId(call);
    const rule = { name: 'r' };
    expect((await call('POST', '/guardrails', { body: rule })).status).toBe(201);
    expect((await call('POST', '/connections', { body: connectionBody('c', agent, { secret: { 'envvar:A': 'YQ==' } }) })).status).toBe(201);
    expect((await call('PUT', '/connections/c', { body: connectionBody('c', agent, { reviewers: ['dba'] }) })).status).toBe(200);
    expect((await call('POST', '/reviews', { body: { connection: 'c' } })).status).toBeLessThan(500);
    expect((await call('POST', '/api-keys', { body: { name: 'k', groups: [] } })).status).toBe(201);
    expect((await call('DELETE', '/connections/c')).status).toBe(204);
    expect((await call('GET', '/readyz')).status).toBe(200);
    expect(rowsOf(await call('GET', '/audit/logs')).length).toBeGreaterThanOrEqual(6);
    await server.close();
    expect(server.log.filter((line) => line.includes('permission denied'))).toEqual([]);
  });

  test.each([
    ["update audit_logs set actor_name = 'innocent'"],
    ['delete from audit_logs'],
    ["set ostiary.prunes_audit_log = 'with checkpoint'; delete from audit_logs"],
    ['truncate audit_logs'],
    ['drop table audit_logs'],
    ['alter table audit_logs disable trigger all'],
    ['drop trigger chained on audit_logs'],
    ['set session_replication_role = replica'],
    ['create table t ()'],
    ["create or replace function refuse_change() returns trigger language plpgsql as 'begin return null; end'"],
    ["create function sha256(text) returns bytea language sql as 'select null::bytea'"],
    ["insert into kysely_migration values ('x', 'x')"],
  ])('refuses the serving role: %s', async (statement) => {
    await expect(run(as(serving), statement)).rejects.toThrow(/permission denied|must be owner/);
  });

  test('ignores the hash, the number and a temporary table of the serving role', async () => {
    const columns =
      'id, created_at, actor_id, actor_name, actor_email, client_ip, http_method, http_path, http_status, resource_type, resource_name, action, payload, changed, outcome, error_message';
    await run(
      as(serving),
      `create temporary table audit_logs (like public.audit_logs);
       insert into public.audit_logs (seq, hash, ${columns}) overriding system value select 5, 'forged', ${columns} from public.audit_logs limit 1`,
    );
    const chain = await verifyAuditLog({ database: { url: as(serving) }, makeFolder, log: () => {} });
    expect(chain.last?.seq).toBe(chain.entries);
  });

  test('is pruned by the owner only, and the rest verifies', async () => {
    const auditKeepDays = 1;
    await expect(startTestServer({ database: { url: as(serving) }, auditKeepDays })).rejects.toMatchObject({ code: 'serve/audit-keep' });
    await migrate({ auditKeepDays, now: inTenDays });
    const server = await startTestServer({ database: { url: as(serving) } });
    await callerOf(server)('POST', '/guardrails', { body: { name: 'next' } });
    await server.close();
    const verified = await verifyAuditLog({ database: { url: as(serving) }, makeFolder, log: () => {} });
    expect(verified).toMatchObject({ entries: 2 });
    expect(verified.last?.seq).toBeGreaterThan(6);
  });
});
