import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDatabase, makeFolder, startTestServer } from '../../support/servers.ts';
import { callerOf, rowsOf } from '../client.ts';

test.each([['a folder'], ['PostgreSQL']])('%s keeps audit entries forever, or for the configured number of days', async (where) => {
  const home = await mkdtemp(join(tmpdir(), 'ostiary-audit-'));
  const database = await createDatabase();
  const place = where === 'PostgreSQL' ? { url: database.url } : { folder: await makeFolder(home) };
  let today = january(1);
  const forGood = await startTestServer({ database: place, now: () => today });
  await callerOf(forGood)('POST', '/guardrails', { body: { name: 'first' } });
  today = january(2);
  await callerOf(forGood)('POST', '/guardrails', { body: { name: 'second' } });
  await forGood.close();
  const server = await startTestServer({ database: place, now: () => january(9), auditKeepDays: 7 });
  await expect.poll(() => server.log).toContain("removed 1 of the audit log's entries: all from before 2026-01-02T00:00:00.000Z");
  expect(rowsOf(await callerOf(server)('GET', '/audit/logs'))).toMatchObject([
    {
      actor_name: 'ostiary serve --audit-keep',
      resource_type: 'audit_logs',
      action: 'delete',
      request_payload_redacted: {
        removed: 1,
        older_than: '2026-01-02T00:00:00.000Z',
        keep_days: 7,
      },
    },
    { resource_name: 'second' },
  ]);
  await server.close();
  await database.drop();
  await rm(home, { recursive: true });
});

function january(day: number): Date {
  return new Date(Date.UTC(2026, 0, day));
}
