import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { processStart } from '../../../../src/disk/processes.ts';
import { isHeldByOther, newLease, runName } from '../../../../src/project/record/record-lease.ts';
import { start } from '../../../support/cli.ts';

const now = new Date('2026-01-01T00:00:00Z');

/** Returns whether another run with this name holds a lease that it took now. */
function isHeld(run: string): boolean {
  return isHeldByOther(newLease(run, now), runName({ env: {} }), now);
}

/** Returns the name of a run of this process, with other values. */
function nameWith({ pid, place, start: began }: { readonly pid?: number; readonly place?: string; readonly start?: string }): string {
  const [host = '', ownPid = '', ownPlace = '', ownStart = '', id = ''] = runName({ env: {} }).split(':');
  return [host, pid ?? ownPid, place ?? ownPlace, began ?? ownStart, id].join(':');
}

async function endedPid(): Promise<number> {
  const { child, ended } = start('true', [], { cwd: '/' });
  await ended;
  return child.pid ?? 0;
}

test('a lease of a dead process of this place is free, and that of a living one is held', async () => {
  expect(isHeld(nameWith({}))).toBe(true);
  expect(isHeld(nameWith({ pid: await endedPid() }))).toBe(false);
});

test.skipIf(process.platform !== 'linux')(
  'a process that was killed, and whose parent does not ask for its status, holds no lease',
  async () => {
    const parent = start('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { cwd: '/' });
    const pid = await new Promise<number>((resolve) => parent.child.stdout?.once('data', (text) => resolve(Number(text))));
    const began = processStart(pid);
    // Where the signal of an ended child is ignored, the kernel forgets the process at once.
    const hasEnded = (): boolean => {
      const path = `/proc/${pid}/stat`;
      return !existsSync(path) || / Z /.test(readFileSync(path, 'utf8'));
    };
    expect(isHeld(nameWith({ pid, start: began }))).toBe(true);
    process.kill(pid, 'SIGKILL');
    await expect.poll(hasEnded).toBe(true);
    expect(isHeld(nameWith({ pid, start: began }))).toBe(false);
    parent.child.kill();
    await parent.ended;
  },
);

test('a later process with the same id holds no lease', () => {
  const { platform } = process;
  expect(isHeld(nameWith({ start: '1' }))).toBe(platform !== 'linux');
});

test('a lease of another place with the same host name is held until its end, whatever its process id', async () => {
  const other = nameWith({ pid: await endedPid(), place: '0123456789ab' });
  expect(isHeld(other)).toBe(true);
  expect(isHeldByOther(newLease(other, now), 'us', new Date(now.getTime() + 15 * 60_000))).toBe(false);
});

test('jobs of a matrix, which GitHub names alike, hold a lease against each other, and not against the next attempt', async () => {
  const env = { GITHUB_REPOSITORY: 'acme/gateway', GITHUB_RUN_ID: '7', GITHUB_JOB: 'apply', GITHUB_RUN_ATTEMPT: '9' };
  const ours = runName({ env });
  const isHeldBy = (name: string): boolean => isHeldByOther(newLease(name, now), ours, now);
  expect(isHeldBy(ours)).toBe(false);
  expect(isHeldBy(runName({ env }))).toBe(true);
  expect(isHeldBy(runName({ env }).replace(`:${process.pid}:`, `:${await endedPid()}:`))).toBe(false);
  expect(isHeldBy(runName({ env: { ...env, GITHUB_RUN_ATTEMPT: '8' } }))).toBe(false);
  expect(isHeldBy(runName({ env: { ...env, GITHUB_RUN_ATTEMPT: '10' } }))).toBe(true);
  expect(isHeldBy(runName({ env: { ...env, GITHUB_RUN_ATTEMPT: '8', GITHUB_JOB: 'other' } }))).toBe(true);
});
