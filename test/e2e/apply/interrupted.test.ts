import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type ChaosEffect, createGate, type Gate } from '../../support/chaos.ts';
import { addressOf, startOstiary, type Running } from '../../support/cli.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { useRepositories, type TestRepository } from '../../support/repository.ts';
import { makeFolder } from '../../support/servers.ts';
import { callerOf } from '../../server/client.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection, guardrail, manifest, manyConnections, useProjects } from '../project.ts';

let chaos: (method: string) => ChaosEffect | undefined = () => undefined;
const gateway = useGateway({ chaos: ({ method }) => (method === 'GET' ? undefined : chaos(method)) });
const { make } = useRepositories();
const makeProject = useProjects();
afterEach(() => {
  chaos = () => undefined;
});

/** Lets so many writes pass, and holds those that follow until the gate opens. */
function holdAfter(count: number): Gate {
  const gate = createGate();
  let passed = 0;
  chaos = () => {
    passed += 1;
    return passed <= count ? undefined : { until: gate.passed };
  };
  return gate;
}

/** The journal's lines so far; one that is not whole yet is left out. */
function journalOf(cwd: string): readonly { readonly event: string; readonly id?: string }[] {
  const path = join(cwd, 'journal');
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** Waits until so many objects are written. */
async function written(cwd: string, count: number): Promise<void> {
  await expect.poll(() => journalOf(cwd).filter(({ event }) => event === 'written').length, { interval: 3 }).toBeGreaterThanOrEqual(count);
}

function applying(cwd: string, more: readonly string[] = [], concurrency = 2): Promise<Running> {
  const args = ['apply', '--yes', '--concurrency', String(concurrency), '--journal', 'journal', '--report', 'json=report.json', ...more];
  return startOstiary(args, { cwd, env: gateway.env() });
}

async function namesOf(prefix: string): Promise<readonly string[]> {
  return (await gateway.names('/connections')).filter((name) => name.startsWith(prefix));
}

const stopping = 'stopping after the current requests; press Ctrl-C again to stop at once\n';

describe('apply, stopped in the middle', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    'by %s: finishes the writes in flight, reports, exits with 5, and the next apply continues',
    async (signal) => {
      const gate = holdAfter(3);
      const prefix = signal.toLowerCase();
      const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), ...manyConnections(prefix, 16) });
      const running = await applying(cwd);
      await written(cwd, 3);
      running.child.kill(signal);
      await expect.poll(() => running.printed().stderr).toBe(stopping);
      gate.open();
      const { code, stdout, stderr } = await running.ended;
      expect({ code, stderr }).toEqual({ code: 5, stderr: stopping });
      const [, interrupted = '', created = ''] =
        /\nApply to \S+ not finished: (\d+) not started, (\d+) created\. Interrupted: plan and apply again to finish\.\n/.exec(stdout) ??
        [];
      expect(Number(created)).toBeLessThanOrEqual(5);
      expect(Number(created) + Number(interrupted)).toBe(16);
      expect(await namesOf(prefix)).toHaveLength(Number(created));
      expect(JSON.parse(readFileSync(join(cwd, 'report.json'), 'utf8'))).toMatchObject({
        targets: [{ interrupted: true, counts: { created: Number(created) } }],
      });
      await converges(cwd, prefix, 16);
    },
  );

  test('by a second SIGINT: names the writes in flight, and ends at once', async () => {
    const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/rule.yaml': guardrail('cut-off') });
    const gate = holdAfter(0);
    const running = await applying(cwd);
    await expect.poll(() => journalOf(cwd).some(({ event }) => event === 'write')).toBe(true);
    running.child.kill('SIGINT');
    await expect.poll(() => running.printed().stderr).toBe(stopping);
    running.child.kill('SIGINT');
    const unknown = 'stopped: it is unknown whether the gateway wrote GuardrailRule/cut-off; plan and apply again to finish\n';
    expect(await running.ended).toMatchObject({ signal: 'SIGINT', stderr: `${stopping}${unknown}` });
    gate.open();
  });

  test('before a new connection is opened: reports that it exists, closed', async () => {
    const gate = holdAfter(1);
    const mask = manifest('DataMaskingRule', 'half-mask', {
      connection_ids: ['half-db'],
      supported_entity_types: [{ name: 'PII', entity_types: ['EMAIL_ADDRESS'] }],
    });
    const files = { 'access/db.yaml': connection('half-db'), 'access/mask.yaml': mask };
    const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), ...files });
    const running = await applying(cwd);
    await written(cwd, 1);
    running.child.kill('SIGINT');
    await expect.poll(() => running.printed().stderr).toBe(stopping);
    gate.open();
    const { code, stdout } = await running.ended;
    expect(code).toBe(5);
    expect(stdout).toMatch(
      /\n {2}interrupted +Connection\/half-db\n +apply\/interrupted {2}created, still closed: interrupted before\s+opening\n/,
    );
    const report = JSON.parse(readFileSync(join(cwd, 'report.json'), 'utf8'));
    const half = { id: 'Connection/half-db', status: 'interrupted', begun: true };
    expect(report).toMatchObject({ targets: [{ outcomes: expect.arrayContaining([expect.objectContaining(half)]) }] });
    expect(await namesOf('half')).toEqual(['half-db']);
    await converges(cwd, 'half', 2, 1);
  });

  test('by kill -9 of the command: the next apply finishes, without duplicates', async () => {
    const gate = holdAfter(4);
    const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), ...manyConnections('killed', 16) });
    const running = await applying(cwd);
    await written(cwd, 4);
    running.child.kill('SIGKILL');
    expect(await running.ended).toMatchObject({ code: null, signal: 'SIGKILL' });
    // Only the writes of the killed command stay held.
    chaos = () => undefined;
    await converges(cwd, 'killed', 16);
    expect(journalOf(cwd).filter(({ event }) => event === 'begin')).toHaveLength(2);
    gate.open();
  });

  test('by kill -9 of the gateway: exit 5 with an outcome each; started again, the next apply finishes', async () => {
    const cwd = makeProject({ 'ostiary.yaml': config('http://127.0.0.1:9'), ...manyConnections('lost', 20) });
    const folder = await makeFolder(join(cwd, 'db'));
    const serve = async (port: string): Promise<{ readonly running: Running; readonly url: string }> => {
      const running = await startOstiary(['serve', '--port', port, '--database', folder], {
        cwd,
        env: { OSTIARY_SERVE_KEY: gateway.server().key },
      });
      const url = await addressOf(running);
      return { running, url };
    };
    const first = await serve('0');
    const running = await applying(cwd, ['--url', first.url]);
    await written(cwd, 5);
    first.running.child.kill('SIGKILL');
    const { code, stdout, stderr } = await running.ended;
    expect({ code, stderr }).toEqual({ code: 5, stderr: '' });
    const [, failed = '', skipped = '', created = ''] =
      /\nApply to \S+ not finished: (\d+) failed, (\d+) skipped(?:, (\d+) created)?\.\n/.exec(stdout) ?? [];
    expect(Number(created) + Number(failed) + Number(skipped)).toBe(20);
    expect(stdout).toMatch(/\n {2}failed +Connection\/lost-\d\d\n {15}\S+\/\S+ .*http:\/\/127\.0\.0\.1:\d+/);
    const second = await serve(new URL(first.url).port);
    expect(second.url).toBe(first.url);
    const again = await ostiaryInProcess(['apply', '--yes', '--url', second.url], { cwd, env: gateway.env() });
    expect(again.code).toBe(0);
    const clean = await ostiaryInProcess(['plan', '--detailed-exitcode', '--url', second.url], { cwd, env: gateway.env() });
    expect(clean).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('No changes. The gateway matches the manifests: 20 resources in sync.'),
    });
    const { list } = await callerOf({ url: second.url, key: gateway.server().key })('GET', '/connections');
    expect(new Set(list.map(({ name }) => name)).size).toBe(20);
    expect(list).toHaveLength(20);
    second.running.child.kill('SIGTERM');
    expect(await second.running.ended).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('stopping') });
  });
});

/** Commits nine connections, then changes of eight and five new ones; the gateway has the nine. */
async function commitMostlyChanged(prefix: string): Promise<TestRepository> {
  const repository = make({
    'ostiary.yaml': config(gateway.url()),
    '.gitignore': 'journal\nreport.json\n',
    ...manyConnections(prefix, 9),
  });
  expect(await gateway.run('apply --yes', repository.folder)).toMatchObject({ code: 0 });
  repository.save({ ...manyConnections(prefix, 14), ...manyConnections(prefix, 8, { reviewers: ['dba'] }) });
  return repository;
}

async function endsInSync({ folder }: TestRepository): Promise<void> {
  chaos = () => undefined;
  expect(await gateway.run('apply --yes', folder)).toMatchObject({ code: 0 });
  expect(await gateway.run('plan --detailed-exitcode', folder)).toMatchObject({ code: 0 });
}

describe('apply of most objects of a small project, with new objects', () => {
  test('no limit stops the next apply after a failure: what the first one created does not count', async () => {
    const repository = await commitMostlyChanged('failed');
    chaos = (method) => (method === 'PUT' ? { status: 500 } : undefined);
    expect(await gateway.run('apply --yes', repository.folder)).toMatchObject({ code: 5 });
    expect(await namesOf('failed')).toHaveLength(14);
    await endsInSync(repository);
  });

  test('a limit stops the next apply if the manifests of what was created change', async () => {
    const repository = await commitMostlyChanged('moved');
    chaos = (method) => (method === 'PUT' ? { status: 500 } : undefined);
    expect(await gateway.run('apply --yes', repository.folder)).toMatchObject({ code: 5 });
    chaos = () => undefined;
    repository.save(manyConnections('moved', 14, { reviewers: ['ops'] }));
    expect(await gateway.run('apply --yes', repository.folder)).toMatchObject({
      code: 6,
      stdout: expect.stringContaining('plan/too-many-updates'),
    });
  });
});

async function converges(cwd: string, prefix: string, count: number, connections: number = count): Promise<void> {
  expect((await (await applying(cwd)).ended).code).toBe(0);
  const clean = await gateway.run('plan --detailed-exitcode', cwd);
  expect(clean).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`No changes. The gateway matches the manifests: ${count} resources in sync.`),
  });
  const names = await namesOf(prefix);
  expect(names).toEqual([...new Set(names)]);
  expect(names).toHaveLength(connections);
}
