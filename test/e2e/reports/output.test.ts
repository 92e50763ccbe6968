import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { builtPackage, start, type Ended } from '../../support/cli.ts';
import { expectValid } from '../../support/documents.ts';
import { hasTerminal, startOnTerminal } from '../../support/terminal.ts';
import { config, connection, guardrail, manifest, useProjects } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const makeProject = useProjects();
let folder: string;

/** A project with a warning, a notice and every sort of field. */
function project(prefix: string): string {
  return makeProject({
    'ostiary.yaml': config(gateway.url()),
    'access/db.yaml': connection(`${prefix}-db`, {
      reviewers: ['dba'],
      connection_tags: { env: 'prod' },
      guardrail_rules: [`${prefix}-rule`],
      secret: { 'envvar:PASS': { value: 'in plain sight' } },
    }),
    'access/rule.yaml': guardrail(`${prefix}-rule`),
    'access/mask.yaml': manifest('DataMaskingRule', `${prefix}-mask`, {
      connection_ids: [`${prefix}-db`],
      supported_entity_types: [{ name: 'PII', entity_types: ['EMAIL_ADDRESS'] }],
    }),
    'access/runbooks.yaml': manifest('RunbookConfiguration', `${prefix}-books`, { git_url: `https://git.example.com/${prefix}.git` }),
    'access/other.yaml': 'apiVersion: v1\nkind: ConfigMap\n',
  });
}

beforeAll(() => {
  folder = project('out');
});

/** Runs a shell command in which CLI is the built program. */
async function inShell(command: string): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const cli = join(await builtPackage(), 'dist', 'cli.js');
  const script = `CLI() { '${process.execPath}' '${cli}' "$@"; }; ${command}`;
  return start('bash', ['--norc', '-c', script], { cwd: folder, env: gateway.env() }).ended;
}

describe('stdout is the result, stderr is the rest', () => {
  test('plan --format json prints the same plan twice, byte for byte; warnings are on stderr', async () => {
    const first = await gateway.process('plan --format json', folder);
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining('warning secret/inline') });
    expectValid('plan', first.stdout);
    expect((await gateway.run('plan --format json', folder)).stdout).toBe(first.stdout);
  });

  test('apply --format json prints only the result of the apply', async () => {
    const cwd = project('json');
    const applied = await gateway.run('apply --yes --format json', cwd);
    expect(applied.code).toBe(0);
    expectValid('apply', applied.stdout);
    expect(JSON.parse(applied.stdout)).toMatchObject({ targets: [{ counts: { created: 4, failed: 0 }, interrupted: false }] });
    const again = await gateway.run('apply --yes --format json --quiet', cwd);
    expectValid('apply', again.stdout);
    expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: '' });
    expect((await gateway.run('plan --detailed-exitcode', cwd)).stdout).toContain(
      'No changes. The gateway matches the manifests: 4 resources in sync.',
    );
  });

  test('--quiet leaves warnings out, never errors', async () => {
    const loud = await gateway.run('plan', folder);
    const quiet = await gateway.run('plan --quiet', folder);
    expect(loud.stdout).toMatch(/^ {6}access\/\S+ warning secret\/inline/m);
    // A long plan repeats its counts at the end.
    const withoutWarnings = loud.stdout.replaceAll(/^ {6}\S+ warning .*\n {8}.*\n/gm, '').replace(/\nPlan: .*\n$/, '');
    expect({ stdout: quiet.stdout, stderr: quiet.stderr }).toEqual({ stdout: withoutWarnings, stderr: '' });
    const wrong = await gateway.run('plan --quiet --target none', folder);
    expect(wrong).toMatchObject({ code: 3, stderr: expect.stringContaining('error cli/usage') });
  });

  test.each([
    ['plan --format json --nonsense', 'plan', 3],
    ['diff --format=json --target none', 'plan', 3],
    ['plan --format json --url http://127.0.0.1:9', 'plan', 4],
    ['plan --format json --max-risk strengthens', 'plan', 6],
    ['plan --format json --config missing.yaml', 'plan', 3],
    ['apply --format json', 'apply', 3],
    ['apply --format json --yes --max-risk strengthens', 'apply', 6],
    ['drift --format json --adopt --revert', 'drift', 3],
    ['drift --format json --all-targets --target none', 'drift', 3],
    ['test --format json --config missing.yaml', 'test', 3],
    ['validate --format json --config missing.yaml', 'diagnostics', 3],
    ['validate --format json missing', 'diagnostics', 3],
    ['list --format json --url http://127.0.0.1:9', 'diagnostics', 4],
    ['explain Nothing/x --format json', 'diagnostics', 3],
    ['get nothing --format json', 'diagnostics', 3],
    ['get agents --format json --url http://127.0.0.1:9', 'diagnostics', 4],
    ['search x --format json --url http://127.0.0.1:9', 'diagnostics', 4],
    ['pull --format json --target none', 'diagnostics', 3],
  ] as const)('%s prints one valid document also when it fails', async (line, name, code) => {
    const ended = await gateway.run(line, folder);
    expect(ended.code).toBe(code);
    expectValid(name, ended.stdout);
    const document: {
      readonly plans?: readonly object[];
      readonly diagnostics?: readonly object[];
      readonly failures?: readonly object[];
    } = JSON.parse(ended.stdout);
    const { plans = [], diagnostics = [], failures = [] } = document;
    expect(JSON.stringify([plans, diagnostics, failures])).toMatch(/"severity":"error"|"refusals":\[{/);
    for (const failure of failures) expect(failure).toMatchObject({ exitCode: code, diagnostics: [{ message: expect.any(String) }] });
    expect(ended.stderr === '').toBe(name === 'diagnostics' && failures.length === 0);
  });

  const printing = [
    '--version',
    '--help',
    'plan',
    'plan --format json',
    'validate --format junit',
    'get connections --format json',
    'who x',
  ];

  test.runIf(existsSync('/proc/self/fdinfo')).each(printing)('%s fails if stdout is closed, or its disk full', async (line) => {
    const [closed, full] = [await inShell(`CLI ${line} --quiet >&-`), await inShell(`CLI ${line} --quiet > /dev/full`)];
    const wanted = (await inShell(`CLI ${line} --quiet > /dev/null`)).code;
    expect([closed.code, full.code]).toEqual(wanted === 0 ? [1, 1] : [wanted, wanted]);
    if (wanted !== 0) return;
    expect(closed.stderr).toMatch(
      /^error cli\/output {2}the result cannot be written: it is closed, or .*\n {2}hint: .*> \/dev\/null; .*\n$/,
    );
    expect(full.stderr).toMatch(/^error cli\/output {2}the result cannot be written: no space left on the disk\n {2}hint: .*\n$/);
  });

  test('a file that a disk takes only in part is a failure', async () => {
    // A limit of the size of files takes as much as fits, as a disk that becomes full does.
    const { code, stderr } = await inShell('ulimit -f 1; CLI --help > part.txt');
    expect({ code, size: readFileSync(join(folder, 'part.txt')).length }).toEqual({ code: 1, size: 1024 });
    expect(stderr).toContain('error cli/output  the result cannot be written: EFBIG');
  });

  test('a reader that closes the pipe is a failure without a message', async () => {
    const { code, stdout, stderr } = await inShell('{ sleep 1; CLI plan --format json; } | true; exit "${PIPESTATUS[0]}"');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).not.toMatch(/EPIPE|cli\/output/);
  });
});

describe('reports', () => {
  test('have the text that the command would print', async () => {
    const cwd = project('report');
    const reports = '--report json=p.json --report markdown=p.md --report text=p.txt';
    const planned = await gateway.run(`plan ${reports}`, cwd);
    const read = (name: string): string => readFileSync(join(cwd, name), 'utf8');
    expect(planned.code).toBe(0);
    expect(read('p.txt')).toBe((await gateway.run('plan --full', cwd)).stdout);
    expectValid('plan', read('p.json'));
    expect(read('p.json')).toBe((await gateway.run('plan --format json', cwd)).stdout);
    expect(read('p.md')).toBe((await gateway.run('plan --format markdown', cwd)).stdout);
    const applied = await gateway.run(`apply --yes ${reports}`, cwd);
    expect(applied.code).toBe(0);
    expectValid('apply', read('p.json'));
    expect(read('p.md')).toContain(': 4 created.');
    const [heading = '', ...outcomes] = read('p.txt').split('\n\n');
    expect(heading).toMatch(/^Apply to production: 4 created\.\n {2}\S+ {2}Digest /);
    expect(applied.stdout.endsWith(`\n\n${heading.split('\n')[0]}\n\n${outcomes.join('\n\n')}`)).toBe(true);
    expect(applied.stdout.match(/^ {2}http\S+ {2}.*Digest /gm)).toHaveLength(1);
  });

  test('that cannot be written stop an apply before it begins', async () => {
    const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': guardrail('never-made') });
    const { code, stdout, stderr } = await gateway.run('apply --yes --report json=none/report.json', cwd);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain('the report "none/report.json" cannot be written');
    const journal = await gateway.run('apply --yes --journal none/journal', cwd);
    expect(journal).toMatchObject({ code: 3, stderr: expect.stringContaining('error journal/cannot-write') });
    expect(await gateway.names('/guardrails')).not.toContain('never-made');
  });

  test.each([
    'plan --report markdown=LINK',
    'plan --report html=LINK',
    'plan --out LINK',
    'plan --cache LINK',
    'validate --report sarif=LINK',
    'test --report junit=LINK',
    'drift --report json=LINK',
    'apply --yes --journal LINK',
    'apply --yes --report text=LINK',
    'fmt --check --report junit=LINK',
    'record key --out LINK',
    'init LINK',
  ])('%s writes through no link that a repository contains, and does nothing', async (line) => {
    const cwd = project('linked');
    mkdirSync(join(cwd, 'real'));
    symlinkSync('access/db.yaml', join(cwd, 'to-file'));
    symlinkSync('nothing', join(cwd, 'to-nothing'));
    symlinkSync('real', join(cwd, 'to-folder'));
    const before = readFileSync(join(cwd, 'access/db.yaml'), 'utf8');
    for (const link of ['to-file', 'to-nothing', 'to-folder/report']) {
      const ended = await gateway.run(line.replace('LINK', link), cwd);
      expect({ link, code: ended.code, stdout: ended.stdout }).toEqual({ link, code: 3, stdout: '' });
      expect(ended.stderr).toMatch(/error (?:report\/link|cli\/usage) .*symbolic link|unknown option/);
    }
    expect(readFileSync(join(cwd, 'access/db.yaml'), 'utf8')).toBe(before);
    expect([existsSync(join(cwd, 'nothing')), existsSync(join(cwd, 'real/report'))]).toEqual([false, false]);
    expect((await gateway.call('GET', '/connections/linked-db')).status).toBe(404);
  });
});

const escape = '\u001b[';

/** Runs a command on a terminal of 80 columns. */
async function onTerminal(args: string, env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return (await startOnTerminal(args, { cwd: folder, env: { ...gateway.env(), ...env } })).ended;
}

describe('color', () => {
  test('--verbose prints each request with its result and time, and never a secret', async () => {
    const { code, stderr } = await gateway.run('plan --verbose', folder);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^GET \/serverinfo {2}200 {2}\d+ ms$/m);
    expect(stderr).toMatch(/^GET \/connections {2}200 {2}\d+ ms$/m);
    expect((await gateway.run('plan', folder)).stderr).not.toContain('GET /');
  });

  test.runIf(hasTerminal)('is on a terminal, within its width', async () => {
    const { code, stdout } = await onTerminal('plan');
    expect(code).toBe(0);
    expect(stdout).toContain(`${escape}32m`);
    // On a busy machine, progress is written over itself.
    const lines = stripVTControlCharacters(stdout).split(/\r?\n|\r/);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect((await onTerminal('plan --bogus')).stdout).toContain(`${escape}31merror${escape}39m`);
  });
});
