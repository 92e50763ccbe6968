import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeFolder as makeFolders } from '../../../src/disk/write.ts';
import type { VerifiedChain } from '../../../src/server/audit/audit-chain.ts';
import { verifyAuditLog } from '../../../src/server/process/database-tasks.ts';
import type { DatabaseOptions } from '../../../src/server/store/database.ts';
import { createDatabase, makeFolder, startTestServer } from '../../support/servers.ts';
import { callerOf, type CallServer } from '../client.ts';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'ostiary-chain-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

type Place = {
  readonly database: DatabaseOptions;
  /** Runs SQL as the owner of the database. */
  readonly run: (statements: string) => Promise<void>;
  readonly drop: () => Promise<void>;
};

const places: readonly (readonly [name: string, make: () => Promise<Place>])[] = [
  [
    'a folder',
    async () => {
      const folder = await makeFolder(await mkdtemp(join(home, 'db-')));
      const run = async (statements: string): Promise<void> => {
        const { PGlite } = await import('@electric-sql/pglite');
        const lite = await PGlite.create(join(folder, 'postgres'));
        await lite.exec(statements).finally(() => lite.close());
      };
      return { database: { folder }, run, drop: () => rm(folder, { recursive: true }) };
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const { url, drop } = await createDatabase();
      const run = async (statements: string): Promise<void> => {
        const client = new Client({ connectionString: url });
        await client.connect();
        await client.query(statements).finally(() => client.end());
      };
      return { database: { url }, run, drop };
    },
  ],
];

/** Serves the database while `act` runs. */
async function during({ database }: Place, act: (call: CallServer) => Promise<unknown>): Promise<void> {
  const server = await startTestServer({ database });
  await act(callerOf(server)).finally(() => server.close());
}

function verify({ database }: Place, hash?: string): Promise<VerifiedChain> {
  return verifyAuditLog({ database, makeFolder: makeFolders, log: () => {} }, hash);
}

async function writeAtOnce(call: CallServer, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, number) => `é "rule" ${number}`);
  const bodies = names.flatMap((name) => [{ name }, { nonsense: name }]);
  await Promise.all(bodies.map((body) => call('POST', '/guardrails', { body })));
}

describe.each(places)('the audit log in %s', (_name, make) => {
  let place: Place;
  beforeAll(async () => {
    place = await make();
  });
  afterAll(() => place.drop());

  test('is a chain in the order of its entries, however many requests write at once', async () => {
    await during(place, async (call) => {
      await writeAtOnce(call, 20);
      expect((await call('GET', '/audit/logs')).body).toMatchObject({ pages: { total: 40 } });
    });
    const first = await verify(place);
    expect(first).toMatchObject({ entries: 40, last: { seq: 40, hash: expect.stringMatching(/^[0-9a-f]{64}$/) }, found: true });
    await during(place, (call) => writeAtOnce(call, 1));
    expect(await verify(place, first.last?.hash)).toMatchObject({ entries: 42, found: true });
    expect(await verify(place, 'f'.repeat(64))).toMatchObject({ entries: 42, found: false });
  });

  test('of an earlier version gets its chain when the database is migrated', async () => {
    await place.run(`
      drop trigger chained on audit_logs; drop function chain_audit_entry(); alter table audit_logs drop column hash;
      alter table reviews drop column owner_name, drop column input, drop column expires_at;
      delete from kysely_migration where name >= '0006-audit-chain'`);
    await expect(verify(place)).rejects.toMatchObject({ code: 'serve/migration', exitCode: 3 });
    await during(place, (call) => writeAtOnce(call, 1));
    expect(await verify(place)).toMatchObject({ entries: 44 });
  });

  test('that was changed is broken at the changed entry', async () => {
    const { last } = await verify(place);
    await place.run(`
      alter table audit_logs disable trigger all;
      update audit_logs set actor_name = 'innocent' where seq = 7;
      alter table audit_logs enable trigger all`);
    const broken = { code: 'serve/audit-broken', exitCode: 2, message: expect.stringMatching(/ broken at entry 7 \([0-9a-f-]{36}\): /) };
    await expect(verify(place, last?.hash)).rejects.toMatchObject(broken);
  });
});

test('a folder without a database is not created', async () => {
  const place = { database: { folder: join(home, 'none') } };
  expect(() => verifyAuditLog({ ...place, makeFolder: makeFolders, log: () => {} })).toThrow(/no database in/);
});

describe('a change by the owner of the tables', () => {
  let place: Place;
  beforeAll(async () => {
    const make = places[1]?.[1];
    if (make === undefined) throw new Error('no PostgreSQL');
    place = await make();
    await during(place, (call) => writeAtOnce(call, 3));
    await place.run('create table kept as select * from audit_logs');
  });
  afterAll(() => place.drop());

  const replacements: readonly (readonly [column: string, value: string])[] = [
    ['id', 'gen_random_uuid()'],
    ['created_at', "created_at + interval '1 microsecond'"],
    ['actor_id', 'gen_random_uuid()'],
    ['actor_name', "'x'"],
    ['actor_email', "'x'"],
    ['client_ip', "'x'"],
    ['http_method', "'x'"],
    ['http_path', "'x'"],
    ['http_status', '299'],
    ['resource_type', "'x'"],
    ['resource_id', 'gen_random_uuid()'],
    ['resource_name', "'x'"],
    ['action', "'x'"],
    ['payload', '\'{"name": "x"}\''],
    ['changed', '\'["x"]\''],
    ['outcome', 'not outcome'],
    ['error_message', "'x'"],
    ['hash', 'md5(hash) || md5(hash)'],
  ];
  const changes: readonly (readonly [what: string, statement: string, brokenAt: number])[] = [
    ...replacements.map(([column, value]) => [`to ${column}`, `update audit_logs set ${column} = ${value} where seq = 3`, 3] as const),
    ['of the number of an entry', 'update audit_logs set seq = 99 where seq = 6', 99],
    ['that removes an entry', 'delete from audit_logs where seq = 3', 4],
    ['that removes the first entry', 'delete from audit_logs where seq = 1', 2],
    [
      'that swaps two entries',
      'update audit_logs a set seq = -b.seq from audit_logs b where a.seq + b.seq = 5 and a.seq in (2, 3); update audit_logs set seq = -seq where seq < 0',
      2,
    ],
    [
      'that adds an entry',
      `insert into audit_logs overriding system value select 7, gen_random_uuid(), created_at, actor_id, actor_name, actor_email, client_ip,
        http_method, http_path, http_status, resource_type, resource_id, resource_name, action, payload, changed, outcome, error_message, hash
        from audit_logs where seq = 6`,
      7,
    ],
  ];

  test.each(changes)('%s is found', async (_what, statement, brokenAt) => {
    await place.run(`alter table audit_logs disable trigger all; alter table audit_logs alter seq set generated by default; ${statement}`);
    await expect(verify(place)).rejects.toMatchObject({
      code: 'serve/audit-broken',
      message: expect.stringContaining(`at entry ${brokenAt} (`),
    });
    await place.run(`truncate audit_logs; insert into audit_logs select * from kept; alter table audit_logs enable trigger all`);
    expect(await verify(place)).toMatchObject({ entries: 6 });
  });

  test('that removes the last entries is found by a hash that was noted before', async () => {
    const { last } = await verify(place);
    await place.run(`alter table audit_logs disable trigger all; delete from audit_logs where seq > 4`);
    expect(await verify(place, last?.hash)).toMatchObject({ entries: 4, found: false });
  });
});
