import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formsOf } from '../../support/canary-forms.ts';
import { ostiary, startOstiary, type Ended, type Run } from '../../support/cli.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { makeFolder } from '../../support/servers.ts';
import { agentId, base64, callerOf, connectionBody, rowsOf } from '../../server/client.ts';
import { config, connection, guardrail, manifest, useProjects } from '../project.ts';

const makeProject = useProjects();

/** Values that nothing may ever print, each of its own kind. */
const canaries = {
  inline: 'canary-inline-Kq7w"9<x>Zp\\2',
  database: 'canary_database_Lm3n8Vt',
  env: 'canary-env-Rt5y!Uj8mNb',
  file: '-----BEGIN KEY-----\ncanary-file-Hg4fDs2aPo\ncanary-line-Xc6vBn1mQw\n-----END KEY-----\n',
  base64: 'canary-base64-Wd9kLe3sTy',
  token: 'canary-token-Jb2xMz7cGr',
  manager: 'canary-manager-Fv8pNk4tDs',
  encryption: Buffer.from('canary-encryption-Sx5dRf6gTh7jYk').toString('base64'),
  live: 'canary-live-Qa1zWs2xEd3c',
  liveDatabase: 'canary_live_database_Ui8o',
  password: 'canary-password-Ol9iKu7jMn',
  key: 'canary-key-Bh6gVf5cXd',
  misplaced: 'canary misplaced Ey4rTu6i!',
};

const env = {
  OSTIARY_TOKEN: canaries.token,
  OSTIARY_SECRET_DB: canaries.env,
  OSTIARY_SECRET_GIT: canaries.password,
  OSTIARY_SECRET_KEY: canaries.key,
};

/** All that was written anywhere, by where it came from. */
const outputs: (readonly [where: string, text: string])[] = [];

async function run(line: string, cwd: string, runs: Run = ostiary): Promise<Ended> {
  const ended = await runs(line.split(' '), { cwd, env });
  outputs.push([`${line}: stdout`, ended.stdout], [`${line}: stderr`, ended.stderr]);
  return ended;
}

/** Runs commands that only read, three at a time; all succeed. */
async function runAll(lines: readonly string[], cwd: string): Promise<void> {
  for (let first = 0; first < lines.length; first += 3) {
    const ended = await Promise.all(
      lines.slice(first, first + 3).map(async (line) => ({ line, code: (await run(line, cwd, ostiaryInProcess)).code })),
    );
    expect(ended).toEqual(ended.map(({ line }) => ({ line, code: 0 })));
  }
}

/** Collects the files that commands wrote into a project. */
function collectFiles(cwd: string): void {
  for (const name of readdirSync(cwd)) if (/^(?:report|journal)/.test(name)) outputs.push([name, readFileSync(join(cwd, name), 'utf8')]);
}

/** Lists the outputs that contain a canary. */
function leaks(): readonly string[] {
  return Object.entries(canaries).flatMap(([name, value]) =>
    formsOf(value).flatMap((form) => outputs.filter(([, text]) => text.includes(form)).map(([where]) => `${name} in ${where}`)),
  );
}

const reports = '--report text=report.txt --report json=report.json --report markdown=report.md';

function project(url: string): string {
  return makeProject({
    'ostiary.yaml': config(url),
    'certs/key.pem': canaries.file,
    'access/db.yaml': connection('canary-db', {
      guardrail_rules: ['canary-rule'],
      secret: {
        'envvar:PASS': { value: canaries.inline },
        'envvar:DB': { value: canaries.database },
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
  });
}

const everything = [
  'validate',
  'validate --format json',
  'plan',
  'plan --format json',
  `plan --format markdown ${reports}`,
  'explain Connection/canary-db',
  'explain Connection/canary-db secret',
  'explain RunbookConfiguration/canary-books',
  'get connections',
  'get connections --format json',
  'get rules --format json',
  'get runbooks',
  'get runbooks --format json',
  'get agents --format json',
];

test('own gateway: no output, report, journal or log contains a secret', async () => {
  const home = makeProject({});
  const folder = await makeFolder(join(home, 'db'));
  const server = await startOstiary(['serve', '--port', '0', '--database', folder], {
    cwd: home,
    patience: 300_000,
    env: {
      OSTIARY_SERVE_KEY: canaries.token,
      OSTIARY_SERVE_MANAGER_KEY: canaries.manager,
      OSTIARY_SERVE_ENCRYPTION_KEY: canaries.encryption,
    },
  });
  while (!server.printed().stderr.includes('http://')) {
    const early = await Promise.race([server.ended, new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 10))]);
    if (early !== undefined) throw new Error(early.stderr);
  }
  const [url = ''] = /http:\/\/\S+/.exec(server.printed().stderr) ?? [];
  const cwd = project(url);
  expect([0, 3]).toContain((await run('plan', cwd)).code);
  expect((await run(`apply --yes --journal journal ${reports}`, cwd)).code).toBe(0);
  collectFiles(cwd);
  await runAll(everything, cwd);

  const call = callerOf({ url, key: canaries.token });
  const { body: live } = await call('GET', '/connections/canary-db');
  const secret = { 'envvar:PASS': base64(canaries.live), 'envvar:DB': base64(canaries.liveDatabase), 'envvar:MORE': base64(canaries.live) };
  expect((await call('PUT', '/connections/canary-db', { body: { ...live, secret } })).status).toBe(200);
  const unmanaged = connectionBody('canary-unmanaged', await agentId(call), { secret });
  expect((await call('POST', '/connections', { body: unmanaged })).status).toBe(201);
  expect((await call('POST', '/connections', { body: { ...unmanaged, type: 7 } })).status).toBe(422);
  await runAll([...everything, 'explain Connection/canary-unmanaged'], cwd);
  expect((await run(`apply --yes --format json --journal journal ${reports}`, cwd, ostiaryInProcess)).code).toBe(0);
  collectFiles(cwd);
  await callerOf({ url, key: canaries.manager })('GET', '/connections');
  const audit = await call('GET', '/audit/logs?page_size=100');
  expect(rowsOf(audit).length).toBeGreaterThan(5);
  outputs.push(['serve: the audit log', JSON.stringify(audit.body)]);
  await callerOf({ url, key: canaries.live })('GET', `/connections?key=${canaries.live}`);
  server.child.kill('SIGTERM');
  const { stdout, stderr } = await server.ended;
  outputs.push(['serve: stdout', stdout], ['serve: stderr', stderr]);
});

test('no collected text contains a secret', () => {
  expect(outputs.length).toBeGreaterThan(60);
  expect([...new Set(leaks())]).toEqual([]);
});
