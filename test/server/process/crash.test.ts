import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asText, type JsonObject } from '../../../src/model/json.ts';
import { bundle } from '../../support/bundle.ts';
import { runCount } from '../../support/property-runs.ts';
import { adminKey, createDatabase, encryptionKey, makeFolder } from '../../support/servers.ts';
import { agentId, base64, callerOf, connectionBody, idOf, idsIn, rowsOf, type CallServer } from '../client.ts';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'ostiary-killed-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const places: readonly (readonly [string, () => Promise<{ readonly place: string; readonly drop: () => Promise<void> }>])[] = [
  ['a PGlite folder', async () => ({ place: await makeFolder(join(home, 'db')), drop: async () => {} })],
  ['PostgreSQL', () => createDatabase().then(({ url, drop }) => ({ place: url, drop }))],
];

type Served = { readonly child: ChildProcess; readonly call: CallServer };

async function serve(place: string): Promise<Served> {
  const program = await bundle(new URL('../../support/serve-child.ts', import.meta.url));
  const child = spawn(process.execPath, [program, place, adminKey, encryptionKey.toString('base64')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = child.stdout === null ? [] : await once(child.stdout, 'data');
  return { child, call: callerOf({ url: String(line).trim(), key: adminKey }) };
}

/** The acknowledged writes: the last acknowledged reviewers of each connection, and later ones that may or may not be stored. */
type Acknowledged = Map<string, { readonly sure: readonly string[]; readonly tried: readonly string[] }>;

/** Writes until the server is gone: creates connections attached to both rules, and changes them. */
async function write(
  call: CallServer,
  agent: string,
  { rules, worker, acknowledged }: { readonly rules: readonly string[]; readonly worker: string; readonly acknowledged: Acknowledged },
): Promise<void> {
  for (let n = 0; ; n += 1) {
    const name = `${worker}-${n}`;
    const body = (reviewers: readonly string[]): JsonObject =>
      connectionBody(name, agent, { guardrail_rules: [...rules], reviewers: [...reviewers], secret: { 'envvar:PASS': base64(name) } });
    const created = await call('POST', '/connections', { body: body([]) }).catch(() => undefined);
    if (created === undefined) return;
    expect(created.status).toBe(201);
    acknowledged.set(name, { sure: [], tried: ['dba'] });
    const changed = await call('PUT', `/connections/${name}`, { body: body(['dba']) }).catch(() => undefined);
    if (changed === undefined) return;
    expect(changed.status).toBe(200);
    acknowledged.set(name, { sure: ['dba'], tried: ['dba'] });
  }
}

const limits = { timeout: runCount(120_000) };

test.each(places)('after a kill -9 during writes, %s has every acknowledged write and its audit entry', limits, async (_name, make) => {
  const { place, drop } = await make();
  const acknowledged: Acknowledged = new Map();
  let served = await serve(place);
  const agent = await agentId(served.call);
  const rules = [
    idOf(await served.call('POST', '/guardrails', { body: { name: 'a' } })),
    idOf(await served.call('POST', '/guardrails', { body: { name: 'b' } })),
  ];
  for (let round = 1; round <= runCount(3); round += 1) {
    const before = acknowledged.size;
    const { child, call } = served;
    const workers = Array.from({ length: 6 }, (_, n) => write(call, agent, { rules, worker: `r${round}-w${n}`, acknowledged }));
    while (acknowledged.size < before + 20) await new Promise((resolve) => void setTimeout(resolve, 5));
    child.kill('SIGKILL');
    await Promise.all([...workers, once(child, 'exit')]);
    served = await serve(place);
    await expectWhole(served.call, { rules, acknowledged, recent: `r${round}-` });
  }
  await expectWhole(served.call, { rules, acknowledged, recent: 'r' });
  served.child.kill('SIGTERM');
  await once(served.child, 'exit');
  await drop();
});

/** Checks all connections, and the entries of those whose names begin with `recent`. */
async function expectWhole(
  call: CallServer,
  { rules, acknowledged, recent }: { readonly rules: readonly string[]; readonly acknowledged: Acknowledged; readonly recent: string },
): Promise<void> {
  const { list } = await call('GET', '/connections');
  const names = new Set(list.map(({ name }) => name));
  expect([...acknowledged.keys()].filter((name) => !names.has(name))).toEqual([]);
  for (const body of list) {
    const name = asText(body['name']);
    const { sure = [], tried = ['dba'] } = acknowledged.get(name) ?? {};
    expect(body).toMatchObject({ secret: { 'envvar:PASS': base64(name) } });
    expect([sure, tried]).toContainEqual(body['reviewers']);
    expect(new Set(idsIn({ body }, 'guardrail_rules'))).toEqual(new Set(rules));
  }
  const all = new Set(list.map((body) => idOf({ body })));
  for (const rule of rules) expect(new Set(idsIn(await call('GET', `/guardrails/${rule}`), 'connection_ids'))).toEqual(all);
  for (const body of list.filter(({ name }) => asText(name).startsWith(recent))) {
    const id = idOf({ body });
    // Each revision is a write, and each write has an entry.
    const entries = rowsOf(await call('GET', `/audit/logs?resource_id=${id}`));
    expect(entries.map(({ action }) => action)).toEqual(entries.length === 1 ? ['create'] : ['update', 'create']);
    expect((await call('GET', `/connections/${id}`)).headers.get('ETag')).toBe(`"${id}.${entries.length}"`);
  }
}
