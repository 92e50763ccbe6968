import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type ChaosEffect, createGate, type Gate } from '../../support/chaos.ts';
import { clockOf } from '../../support/process-clock.ts';
import { type Ended, startOstiary, type Running } from '../../support/cli.ts';
import { gitEnv, useRepositories, type TestRepository } from '../../support/repository.ts';
import { config, connection, manyConnections, type Files } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

type Request = { readonly method: string; readonly path: string };
let chaos: (request: Request) => ChaosEffect | undefined = () => undefined;
const gateway = useGateway({ chaos: (request) => (request.method === 'GET' ? undefined : chaos(request)) });
const { make, makeOrigin, clone } = useRepositories();
afterEach(() => {
  chaos = () => undefined;
});

const ref = 'refs/ostiary/applied/production';
/** Makes a project that is applied, its bare origin, and a second clone. */
async function clones(
  files: Files,
): Promise<{ readonly ours: TestRepository; readonly other: TestRepository; readonly origin: TestRepository }> {
  const ours = make({ 'ostiary.yaml': config(gateway.url()), ...files });
  const origin = makeOrigin(ours);
  expect(await gateway.run('apply --yes', ours.folder)).toMatchObject({ code: 0 });
  return { ours, origin, other: clone(origin) };
}

/** Commits, pushes, and takes over the commit in the other clone. */
function publish(ours: TestRepository, other: TestRepository, files: Files): void {
  ours.save(files);
  ours.git('push', '--quiet', 'origin', 'main');
  other.git('pull', '--quiet', 'origin', 'main');
}

/** Takes the last commit back, and pushes that. */
function revert({ git }: TestRepository): void {
  git('revert', '--no-edit', 'HEAD');
  git('push', '--quiet', 'origin', 'HEAD');
}

/** Holds every write until the gate opens; `writing` opens at the first one. */
function holdWrites(): { readonly writing: Gate; readonly gate: Gate } {
  const [writing, gate] = [createGate(), createGate()];
  chaos = () => {
    writing.open();
    return { until: gate.passed };
  };
  return { writing, gate };
}

/** Starts an apply in a process of its own. */
function applying({ folder }: TestRepository, ...more: readonly string[]): Promise<Running> {
  return startOstiary(['apply', '--yes', '--concurrency', '1', ...more], { cwd: folder, env: { ...gitEnv, ...gateway.env() } });
}

/** Kills an apply with SIGKILL when it sends a write for the given time; that write has no effect. */
async function killAtWrite(count: number, at: TestRepository): Promise<void> {
  let seen = 0;
  let running: Running | undefined;
  chaos = () => {
    seen += 1;
    if (seen < count) return undefined;
    running?.child.kill('SIGKILL');
    return { dropBefore: true };
  };
  running = await applying(at);
  expect(await running.ended).toMatchObject({ signal: 'SIGKILL' });
  chaos = () => undefined;
}

test('of three processes from two clones one writes, one waits and finds nothing to do, one stops', async () => {
  const { ours, other, origin } = await clones({ 'access/a.yaml': connection('race-a') });
  publish(ours, other, manyConnections('race-many', 12));
  const { writing, gate } = holdWrites();
  const racing = [await applying(ours, '--lock-timeout', '10m'), await applying(other, '--lock-timeout', '10m')];
  await writing.passed;
  const late = await applying(other);
  expect(await late.ended).toMatchObject({ code: 6, stderr: expect.stringContaining('git/locked') });
  gate.open();
  const [one, two] = await Promise.all(racing.map(({ ended }) => ended));
  expect([one?.code, two?.code]).toEqual([0, 0]);
  const names = (await gateway.names('/connections')).filter((name) => name.startsWith('race-many'));
  expect([names.length, new Set(names).size]).toEqual([12, 12]);
  expect(origin.git('rev-parse', `${ref}^1`)).toBe(ours.git('rev-parse', 'HEAD'));
  expect(await gateway.run('plan --detailed-exitcode', other.folder)).toMatchObject({ code: 0 });
});

test('kill -9 between the pushed record and the first write: the other clone converges, going on or back', async () => {
  for (const back of [false, true]) {
    const [a, c] = [`kill-a-${back}`, `kill-c-${back}`];
    const { ours, other, origin } = await clones({ 'access/a.yaml': connection(a) });
    publish(ours, other, { 'access/a.yaml': connection(a, { reviewers: ['dba'] }), 'access/c.yaml': connection(c) });
    await killAtWrite(1, ours);
    expect(origin.git('log', '-1', '--format=%B', ref)).toContain(`Connection/${c}`);
    expect([await gateway.reviewersOf(a), await gateway.isLive(c)]).toEqual([[], false]);
    if (back) revert(other);
    expect(await gateway.run('plan', other.folder)).toMatchObject({ code: 0 });
    expect(await gateway.run('apply --yes --prune', other.folder)).toMatchObject({ code: 0 });
    expect([await gateway.reviewersOf(a), await gateway.isLive(c)]).toEqual([back ? [] : ['dba'], !back]);
    expect(origin.git('rev-parse', `${ref}^1`)).toBe(other.git('rev-parse', 'HEAD'));
    expect(await gateway.run('drift', other.folder)).toMatchObject({ code: 0 });
  }
});

test('an object that something else creates under the name of an interrupted creation is not deleted or changed without a question', async () => {
  const { ours, other } = await clones({ 'access/a.yaml': connection('theirs-a') });
  publish(ours, other, { 'access/c.yaml': connection('theirs-c') });
  await killAtWrite(1, ours);
  const { body } = await gateway.call('GET', '/connections/theirs-a');
  const { id: _, ...fields } = body;
  const theirs = { ...fields, name: 'theirs-c', reviewers: ['sre'] };
  expect((await gateway.call('POST', '/connections', { body: theirs })).status).toBeLessThan(300);
  const forward = await gateway.run('apply --yes', ours.folder);
  expect(forward).toMatchObject({ code: 6, stderr: expect.stringContaining('plan/adoption') });
  revert(other);
  for (let run = 0; run < 2; run += 1) {
    expect(await gateway.run('apply --yes --prune', other.folder)).toMatchObject({ code: 0 });
    const drifted = await gateway.run('drift', other.folder);
    expect([drifted.code, drifted.stdout.replaceAll(/\s+/g, ' ')]).toEqual([2, expect.stringContaining('Connection/theirs-c was removed')]);
    expect(await gateway.reviewersOf('theirs-c')).toEqual(['sre']);
  }
  const kept = await gateway.run('plan --prune', other.folder);
  expect(kept.stdout.replaceAll(/\s+/g, ' ')).toContain('but it differs from that manifest');
  other.save({ 'ostiary.yaml': config(gateway.url()).replace("' }", "', released: [Connection/theirs-c] }") });
  expect(await gateway.run('drift', other.folder)).toMatchObject({ code: 0 });
});

describe('an apply that is stopped past the end of its lease', () => {
  const minutes = 16;

  /** Stops an apply at its write, which lands before or after the other clone takes over, and lets it go on after both. */
  async function stopAtWrite(
    { when, count, landed }: { readonly when: string; readonly count: number; readonly landed: () => Promise<void> },
    { ours, other }: Awaited<ReturnType<typeof clones>>,
  ): Promise<Ended> {
    ours.write({ '.git/clock': '0' });
    const env = { ...gitEnv, ...gateway.env(), ...clockOf(join(ours.folder, '.git/clock')) };
    let seen = 0;
    let running: Running | undefined;
    const [stopped, gate] = [createGate(), createGate()];
    chaos = () => {
      seen += 1;
      if (seen !== count) return undefined;
      running?.child.kill('SIGSTOP');
      stopped.open();
      return when === 'before' ? undefined : { until: gate.passed };
    };
    running = await startOstiary(['apply', '--yes', '--concurrency', '1'], { cwd: ours.folder, env });
    await stopped.passed;
    if (when === 'before') await landed();
    ours.write({ '.git/clock': String(minutes) });
    revert(other);
    const next = await startOstiary(['apply', '--yes', '--no-prune'], { cwd: other.folder, env });
    expect(await next.ended).toMatchObject({ code: 0 });
    gate.open();
    await landed();
    running.child.kill('SIGCONT');
    return running.ended;
  }

  const landings = [
    { when: 'before', count: 3, live: 3 },
    { when: 'after', count: 1, live: 1 },
  ];
  test.each(landings)(
    'writes nothing more, and what it created is ours, if its last write lands $when the other apply',
    async ({ when, count, live }) => {
      const pair = await clones({ 'access/a.yaml': connection(`stop-${when}`) });
      publish(pair.ours, pair.other, manyConnections(`stopped-${when}`, 6));
      const created = async (): Promise<number> =>
        (await gateway.names('/connections')).filter((name) => name.startsWith(`stopped-${when}`)).length;
      const ended = await stopAtWrite({ when, count, landed: () => expect.poll(created).toBe(live) }, pair);
      expect(ended).toMatchObject({ code: 5, stdout: expect.stringContaining('another apply took over the lease of this one') });
      expect(ended.stderr).toContain('git/locked');
      expect(await created()).toBe(live);
      const fresh = clone(pair.origin);
      expect(await gateway.run('plan --prune --detailed-exitcode', fresh.folder)).toMatchObject({ code: 2 });
      expect(await gateway.run('apply --yes --prune', fresh.folder)).toMatchObject({ code: 0 });
      expect(await created()).toBe(0);
      expect(await gateway.run('drift', fresh.folder)).toMatchObject({ code: 0 });
    },
  );
});

test.each([11, -17])('an apply on a machine whose clock is %i minutes ahead holds its lease', async (ahead) => {
  const { ours, other } = await clones({ 'access/a.yaml': connection(`clock-${ahead}`) });
  publish(ours, other, manyConnections(`clocks-${ahead}`, 2));
  ours.write({ '.git/clock': String(ahead) });
  const env = { ...gitEnv, ...gateway.env(), ...clockOf(join(ours.folder, '.git/clock'), { own: true }) };
  const { writing, gate } = holdWrites();
  const first = await startOstiary(['apply', '--yes', '--concurrency', '1'], { cwd: ours.folder, env });
  await writing.passed;
  expect(await gateway.run('apply --yes', other.folder)).toMatchObject({ code: 6, stderr: expect.stringContaining('git/locked') });
  gate.open();
  expect(await first.ended).toMatchObject({ code: 0 });
});
