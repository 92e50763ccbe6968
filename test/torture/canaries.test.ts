import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client } from 'pg';
import { config, connection, guardrail, manifest, useProjects } from '../e2e/project.ts';
import { agentId, base64, callerOf, connectionBody, type CallServer } from '../server/client.ts';
import { formsOf } from '../support/canary-forms.ts';
import { addressOf, startOstiary, type Running } from '../support/cli.ts';
import { runCount } from '../support/property-runs.ts';
import { gitEnv, useRepositories, type TestRepository } from '../support/repository.ts';
import { ostiaryInProcess } from '../support/run-in-process.ts';
import { createDatabase, makeFolder } from '../support/servers.ts';
import { spellings } from '../support/spellings.ts';
import { startFaultProxy, type Exchange, type FaultProxy } from './fault-proxy.ts';
import { addToTally } from './tally.ts';

/** Secret texts that no output contains, each from its own source. */
const canaries = {
  inline: 'kanarie-inline-Kq7w"9<x>Zp\\2',
  env: 'kanarie-env-Rt5y!Uj8mNb',
  file: '-----BEGIN KEY-----\nkanarie-file-Hg4fDs2aPo\n-----END KEY-----\n',
  base64: 'kanarie-base64-Wd9kLe3sTy',
  token: 'kanarie-token-Jb2xMz7cGr',
  manager: 'kanarie-manager-Fv8pNk4tDs',
  encryption: Buffer.from('kanarie-encryption-Sx5dRf6gTh7jY').toString('base64'),
  database: 'kanarie-database-Lm3n8VtQw',
  live: 'kanarie-live-Qa1zWs2xEd3c',
  password: 'kanarie-password-Ol9iKu7jMn',
  key: 'kanarie-key-Bh6gVf5cXd',
};
const env = {
  ...gitEnv,
  OSTIARY_TOKEN: canaries.token,
  OSTIARY_SECRET_DB: canaries.env,
  OSTIARY_SECRET_GIT: canaries.password,
  OSTIARY_SECRET_KEY: canaries.key,
};
const forms = Object.entries(canaries).flatMap(([name, value]) => formsOf(value).map((form) => ({ name, form })));

const files = {
  'certs/key.pem': canaries.file,
  'access/db.yaml': connection('canary-db', {
    guardrail_rules: ['canary-rule'],
    secret: {
      'envvar:PASS': { value: canaries.inline },
      'envvar:USER': { valueFrom: { env: 'OSTIARY_SECRET_DB' } },
      'envvar:TOKEN': base64(canaries.base64),
      'filesystem:KEY': { valueFrom: { file: 'certs/key.pem' } },
    },
  }),
  'access/rule.yaml': guardrail('canary-rule'),
  'access/runbooks.yaml': manifest('RunbookConfiguration', 'canary-books', {
    git_url: 'https://git.example.com/canary.git',
    git_password: { valueFrom: { env: 'OSTIARY_SECRET_GIT' } },
    ssh_key: { valueFrom: { env: 'OSTIARY_SECRET_KEY' } },
  }),
};

const reports = '--report text=out/r.txt --report json=out/r.json --report markdown=out/r.md';

/** Commands in all their formats; those that write come in the middle, so that others see both states. */
const lines = [
  ...['text', 'json', 'sarif'].map((format) => `validate --format ${format}`),
  ...['text', 'json', 'junit'].map((format) => `test --format ${format}`),
  ...['text', 'json', 'markdown'].map(
    (format) => `plan --verbose --format ${format} --out out/plan.json ${reports} --report html=out/r.html`,
  ),
  ...['text', 'json', 'markdown'].map((format) => `apply --yes --verbose --journal out/journal --format ${format} ${reports}`),
  ...['text', 'json', 'markdown'].map((format) => `drift --format ${format}`),
  ...['text', 'json', 'yaml'].map((format) => `list --format ${format}`),
  ...['connections', 'rules', 'runbooks', 'agents'].flatMap((what) =>
    ['text', 'json', 'yaml'].map((format) => `get ${what} --format ${format}`),
  ),
  ...['Connection/canary-db', 'Connection/canary-db secret', 'RunbookConfiguration/canary-books', 'Connection/unmanaged'].map(
    (id) => `explain ${id}`,
  ),
  'search canary',
  'pull out/pulled',
  'apply --yes --plan out/plan.json',
  'review approve 00000000-0000-4000-8000-000000000000',
  'version --json',
];

/** All of them, or in a small run a part and one that writes. */
const tried = lines.filter((line, index) => runCount(1) > 1 || line.startsWith('apply --yes --verbose') || index % 5 === 0);

/** Failures of the gateway that repeat what was sent. */
const echoes: readonly number[] = [400, 401, 403, 409, 422, 500];

const makeProject = useProjects();
const { make } = useRepositories();
let searched = 0;
const leaks: string[] = [];

function search(where: string, bytes: Buffer): void {
  searched += bytes.length;
  for (const { name, form } of forms) if (bytes.includes(form)) leaks.push(`${name} in ${where}: ${form.slice(0, 6)}…`);
}

function searchFolder(folder: string, left: readonly string[]): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (left.some((one) => name.startsWith(one)) || !statSync(path).isFile()) continue;
    search(path, readFileSync(path));
  }
}

type Served = { readonly running: Running; readonly url: string; readonly call: CallServer; readonly search: () => Promise<void> };

/** The databases: their place as a flag or a variable, and a search through all that they store. */
const databases: Readonly<Record<string, () => Promise<{ readonly place: string; readonly search: () => Promise<void> }>>> = {
  'serve on PGlite': async () => {
    const folder = await makeFolder(join(makeProject({}), 'db'));
    return { place: folder, search: () => Promise.resolve(searchFolder(folder, [])) };
  },
  'serve on PostgreSQL': async () => {
    const { url } = await createDatabase();
    const client = new Client({ connectionString: url });
    await client.connect();
    const role = `canary_${Date.now()}`;
    await client.query(`create role ${role} login superuser password '${canaries.database}'`);
    await client.end();
    const place = new URL(url);
    place.username = role;
    place.password = canaries.database;
    return { place: place.href, search: () => searchTables(url) };
  },
};

async function searchTables(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ readonly name: string }>("select tablename as name from pg_tables where schemaname = 'public'");
  for (const { name } of rows) {
    const { rows: all } = await client.query<{ readonly text: string }>(`select t::text as text from "${name}" t`);
    for (const { text } of all) {
      search(`table ${name}`, Buffer.from(text));
      // Binary columns are printed in hexadecimal.
      for (const [, hex = ''] of text.matchAll(/\\x([0-9a-f]+)/g)) search(`table ${name}`, Buffer.from(hex, 'hex'));
    }
  }
  await client.end();
}

async function serve(open: (typeof databases)[string]): Promise<Served> {
  const { place, search: searchDatabase } = await open();
  const running = await startOstiary(['serve', '--port', '0', '--log', 'json'], {
    cwd: makeProject({}),
    patience: 86_400_000,
    env: {
      OSTIARY_SERVE_DATABASE: place,
      OSTIARY_SERVE_KEY: canaries.token,
      OSTIARY_SERVE_MANAGER_KEY: canaries.manager,
      OSTIARY_SERVE_MANAGER: 'platform',
      OSTIARY_SERVE_ENCRYPTION_KEY: canaries.encryption,
    },
  });
  // The log is JSON: the address ends before the quote.
  const url = new URL((await addressOf(running)).replace(/".*/, '')).origin;
  return { running, url, call: callerOf({ url, key: canaries.token }), search: searchDatabase };
}

describe.each(Object.entries(databases))('%s', (_name, database) => {
  let served: Served;
  let proxy: FaultProxy;
  let project: TestRepository;
  beforeAll(async () => {
    served = await serve(database);
    proxy = await startFaultProxy(served.url, () => Promise.resolve());
    project = make({ 'ostiary.yaml': config(proxy.url), ...files, 'out/keep': '' });
  });
  afterAll(async () => {
    await proxy.close();
    served.running.child.kill('SIGTERM');
    await served.running.ended;
  });

  async function run(line: string, about = ''): Promise<void> {
    const { stdout, stderr } = await ostiaryInProcess(line.split(' '), { cwd: project.folder, env });
    search(`${line} ${about}`, Buffer.from(`${stdout}${stderr}`));
    addToTally('d canaries', { inputs: 1 });
  }

  test('no command prints or writes a secret', { timeout: 0 }, async () => {
    for (const line of tried) await run(line);
    const secret = { 'envvar:PASS': base64(canaries.live), 'envvar:DB': base64(canaries.live), 'envvar:MORE': base64(canaries.live) };
    const body = connectionBody('unmanaged', await agentId(served.call), { secret });
    expect((await served.call('POST', '/connections', { body })).status).toBe(201);
    expect((await served.call('POST', '/connections', { body: { ...body, type: 7 } })).status).toBe(422);
    const { body: live } = await served.call('GET', '/connections/canary-db');
    expect((await served.call('PUT', '/connections/canary-db', { body: { ...live, secret } })).status).toBe(200);
    for (const line of tried) await run(line, 'after a change outside');
    await fetch(`${served.url}/connections?key=${canaries.live}`, { headers: { authorization: `Bearer ${canaries.live}` } });
  });

  test('no failure makes a command print a secret that the gateway repeats', { timeout: 0 }, async () => {
    const encodings = Object.entries(spellings);
    const failing = lines.filter((line) => /^(?:plan|apply|drift|get connections|pull)/.test(line));
    // Drift of the secrets, so that each apply sends them.
    for (let turn = 0; turn < runCount(4); turn += 1) {
      const [spelling, encode] = encodings[turn % encodings.length] ?? encodings[0] ?? ['', String];
      const status = echoes[turn % echoes.length] ?? 500;
      const line = failing[(turn * 5) % failing.length] ?? 'apply --yes';
      await served.call('PUT', '/connections/canary-db', {
        body: { ...(await served.call('GET', '/connections/canary-db')).body, secret: {} },
      });
      proxy.disturb(async (exchange) => {
        const isTurn = line.startsWith('apply') ? exchange.method !== 'GET' : exchange.index === 1 + (turn % 7);
        if (!isTurn) return exchange.send(await exchange.forward());
        exchange.send({ status, headers: { 'content-type': 'application/json' }, body: echoOf(exchange, encode) });
      });
      await run(line, `with ${status} in ${spelling}`);
      addToTally('d canaries', { faults: 1 });
    }
    proxy.disturb(undefined);
    expect([...new Set(leaks)]).toEqual([]);
  });

  test('all bytes that were written are free of secrets', { timeout: 0 }, async () => {
    // The manifests and the key file of the project are the sources; git keeps them, and records beside them.
    searchFolder(project.folder, ['access', 'certs', '.git']);
    const records = project.git('rev-list', '--objects', '--glob=refs/ostiary', '--not', 'main').split('\n');
    expect(records.length).toBeGreaterThan(0);
    for (const line of records) search('the records in git', Buffer.from(project.git('cat-file', '-p', line.slice(0, 40))));
    await served.search();
    const { stdout, stderr } = served.running.printed();
    search('the log of serve', Buffer.from(`${stdout}${stderr}`));
    const commandLine = readFileSync(`/proc/${served.running.child.pid}/cmdline`);
    search('the process list', commandLine);
    addToTally('d canaries', { bytes: searched });
    expect([...new Set(leaks)]).toEqual([]);
    expect(searched).toBeGreaterThan(100_000);
    searched = 0;
  });
});

/** Repeats what a request carried, in the spelling. */
function echoOf({ method, path, body }: Exchange, encode: (text: string) => string): Buffer {
  const text = body.toString();
  const carried = Object.values(canaries).filter((value) => text.includes(base64(value)) || text.includes(JSON.stringify(value)));
  const values = [canaries.token, ...carried, ...carried.map(base64), text];
  const message = `cannot ${method} ${path}: ${values.map((value) => encode(value)).join(' ')}`;
  return Buffer.from(JSON.stringify({ message, error: message, errors: [message] }));
}
