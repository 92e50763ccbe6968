import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Json } from '../../../src/model/json.ts';
import { ostiary } from '../../support/cli.ts';
import { json, startFlakyServer, type FlakyServer } from '../../support/flaky-server.ts';
import { makeFolder } from '../../support/servers.ts';
import type { ChaosEffect } from '../../support/chaos.ts';
import { config, connection, guardrail, manyConnections, useProjects, writeFiles, type Files } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

let chaos: (request: { readonly method: string; readonly path: string }) => ChaosEffect | undefined = () => undefined;
const gateway = useGateway({ chaos: (request) => chaos(request) });
const makeProject = useProjects();
afterEach(() => {
  chaos = () => undefined;
});

function project(files: Files, url: string = gateway.url()): string {
  return makeProject({ 'ostiary.yaml': config(url), ...files });
}

const asked = '--detailed-exitcode';

function journalOf(cwd: string, name: string): readonly { readonly event: string; readonly method?: string }[] {
  const lines = readFileSync(join(cwd, name), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}

test('0 without changes, 0 with changes unless asked, then 2', async () => {
  const cwd = project({ 'access/rule.yaml': guardrail('zero') });
  expect((await gateway.run('plan', cwd)).code).toBe(0);
  expect((await gateway.process(`plan ${asked}`, cwd)).code).toBe(2);
  expect((await gateway.process('apply --yes', cwd)).code).toBe(0);
  expect((await gateway.run(`plan ${asked}`, cwd)).code).toBe(0);
  const again = await gateway.run('apply --yes --journal j', cwd);
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining(': nothing to do.') });
  expect(journalOf(cwd, 'j').filter(({ event }) => event !== 'request')).toMatchObject([{ event: 'begin', writes: 0 }, { event: 'end' }]);
});

describe('5: a part failed', () => {
  test('applies the other objects, and the next apply finishes', async () => {
    chaos = ({ method, path }) => (method === 'POST' && path === '/guardrails' ? { status: 500 } : undefined);
    const files = {
      'access/rule.yaml': guardrail('five-rule'),
      'access/needs.yaml': connection('five-needs', { guardrail_rules: ['five-rule'] }),
      'access/free.yaml': connection('five-free'),
    };
    const cwd = project(files);
    const failed = await gateway.process('apply --yes --report json=r.json --report markdown=r.md', cwd);
    expect(failed.code).toBe(5);
    expect(failed.stdout).toMatch(/\n {2}failed +GuardrailRule\/five-rule\n +api\/server-error .*POST \S+\/guardrails/);
    expect(failed.stdout).toMatch(/\n {2}skipped +Connection\/five-needs\n +apply\/need-failed .*GuardrailRule\/five-rule/);
    expect(failed.stdout).toMatch(/\n {2}created +Connection\/five-free\n/);
    expect(failed.stdout).toMatch(/\nApply to production not finished: 1 failed, 1 skipped, 1 created\.\n\n/);
    expect(JSON.parse(readFileSync(join(cwd, 'r.json'), 'utf8'))).toMatchObject({
      targets: [{ counts: { created: 1, failed: 1, skipped: 1 } }],
    });
    expect(readFileSync(join(cwd, 'r.md'), 'utf8')).toMatch(
      /- failed `GuardrailRule\/five-rule`: `api\/server-error`; POST `\S+\/guardrails`: the gateway failed/,
    );
    chaos = () => undefined;
    const finished = await gateway.run('apply --yes', cwd);
    expect(finished).toMatchObject({ code: 0, stdout: expect.stringContaining(': 2 created.') });
    expect((await gateway.run(`plan ${asked}`, cwd)).code).toBe(0);
  });
});

describe('6: refused', () => {
  test('a limit refuses, is reported, and is overridden with a reason', async () => {
    const cwd = project(manyConnections('breaker', 10));
    expect((await gateway.run('apply --yes', cwd)).code).toBe(0);
    writeFiles(cwd, manyConnections('breaker', 4, { reviewers: ['dba'] }));
    const refused = await gateway.process('apply --yes --report json=r.json --journal j', cwd);
    expect(refused).toMatchObject({ code: 6, stdout: expect.stringContaining('plan/too-many-updates') });
    expect(refused.stderr).toContain('error plan/refused  nothing was applied');
    expect(JSON.parse(readFileSync(join(cwd, 'r.json'), 'utf8'))).toMatchObject({
      plans: [{ refusals: [{ code: 'plan/too-many-updates' }] }],
    });
    expect(new Set(journalOf(cwd, 'j').map(({ event, method }) => `${event} ${method}`))).toEqual(new Set(['request GET']));
    const other = await gateway.run('apply --yes --allow plan/window=it-is-well', cwd);
    expect(other).toMatchObject({ code: 6, stderr: expect.stringMatching(/plan\/allow-unused .*plan\/window has no effect/) });
    const allowed = await gateway.run('apply --yes --allow plan/too-many-updates=the-team-moved --report json=r.json --journal k', cwd);
    expect(allowed).toMatchObject({ code: 0, stdout: expect.stringContaining('Overridden: plan/too-many-updates: the-team-moved') });
    const allowances = [{ code: 'plan/too-many-updates', reason: 'the-team-moved' }];
    const applied = JSON.parse(readFileSync(join(cwd, 'r.json'), 'utf8'));
    expect(applied).toMatchObject({ targets: [{ allowed: allowances }] });
    const target = { name: 'production', url: gateway.url() };
    const ends = journalOf(cwd, 'k').filter(({ event }) => event === 'begin' || event === 'end');
    expect(ends).toMatchObject([
      { event: 'begin', target, digest: applied.targets[0].digest, writes: 4, allowed: allowances },
      { event: 'end', counts: { done: 4, failed: 0 } },
    ]);
    expect(readFileSync(join(cwd, 'k'), 'utf8')).not.toContain(gateway.server().key);
  });
});

describe('the most important exit code wins', () => {
  const agent = { id: '11111111-1111-4111-8111-111111111111', name: 'default', status: 'online' };

  /** A gateway that lets us read alone. */
  function reader(connections: Json): Promise<FlakyServer> {
    const answers: Readonly<Record<string, Json>> = { '/serverinfo': { role: 'auditor' }, '/agents': [agent], '/connections': connections };
    return startFlakyServer((response, seen) => json(200, answers[seen.path] ?? [])(response, seen));
  }

  test('3 before 4: errors in the manifests are reported before any request', async () => {
    const cwd = project({ 'access/rule.yaml': 'kind: [' }, 'http://127.0.0.1:9');
    expect((await gateway.process('apply --yes', cwd)).code).toBe(3);
  });

  test('4: a read-only key can plan; apply writes nothing, and reports', async () => {
    const server = await reader([]);
    const cwd = project({ 'access/rule.yaml': guardrail('four') }, server.url);
    expect((await gateway.run(`plan ${asked}`, cwd)).code).toBe(2);
    const { code, stdout, stderr } = await gateway.process('apply --yes --report json=r.json', cwd);
    expect(code).toBe(4);
    expect(stdout).toContain(': 1 to create');
    expect(stderr).toContain(
      `error api/read-only-role  the token has the role auditor on ${server.url}, which cannot write; nothing was changed`,
    );
    expect(JSON.parse(readFileSync(join(cwd, 'r.json'), 'utf8'))).toMatchObject({ plans: [{ changes: [{ id: 'GuardrailRule/four' }] }] });
    expect(server.seen.filter((one) => one.method !== 'GET')).toEqual([]);
    await server.close();
  });
});

test('serve that cannot start ends with one line', async () => {
  const cwd = makeProject({ file: '' });
  const folder = await makeFolder(join(cwd, 'db'));
  const wrong = [
    [
      `--port ${new URL(gateway.url()).port} --database ${folder}`,
      { OSTIARY_SERVE_KEY: 'key' },
      /^error serve\/port .*the address is in use/m,
    ],
    ...(process.platform === 'linux'
      ? ([
          ['--port 0 --database /proc/none/db', { OSTIARY_SERVE_KEY: 'key' }, /^error serve\/database .*'\/proc\/none'\n {2}hint: .*\n$/],
        ] as const)
      : []),
    [
      `--port 0 --database ${folder}`,
      {},
      /^error serve\/no-key {2}this gateway has no keys\n {2}hint: create the first key with: ostiary serve --init/m,
    ],
    [`--port 0 --database ${folder} --agent a/b`, { OSTIARY_SERVE_KEY: 'key' }, /^error serve\/agent {2}/m],
  ] as const;
  for (const [args, env, says] of wrong) {
    const { code, stdout, stderr } = await ostiary(['serve', ...args.split(' ')], { cwd, env });
    expect({ args, code, stdout }).toEqual({ args, code: 3, stdout: '' });
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(/^ +at /m);
  }
});
