import { expect, test } from 'vitest';
import { runGuarded } from '../../../src/commands/command-line/guard.ts';
import { createTestContext } from '../../support/cli-context.ts';

/** Runs work that fails with an error of the system or the database, and returns its exit code and what it printed. */
async function failWith(message: string, details: object): Promise<readonly [number, string]> {
  const { context, printed } = createTestContext();
  const work = (): Promise<number> => Promise.reject(Object.assign(new Error(message), details));
  const code = await runGuarded(work, { context, flags: { color: false, quiet: false } });
  return [code, printed().stderr];
}

test.each([
  ['ENOSPC', 'error cli/disk  "/data/x" cannot be read or written: no space left on the disk'],
  ['EROFS', 'error cli/disk  "/data/x" cannot be read or written: the file system is read-only'],
])('%s of any file is named, and no bug', async (code, text) => {
  const [exitCode, stderr] = await failWith('write', { code, path: '/data/x' });
  expect([exitCode, stderr]).toEqual([3, expect.stringContaining(text)]);
  expect(stderr).not.toContain('bug in Ostiary');
});

test('any other error is a bug', async () => {
  expect(await failWith('undefined is not a function', {})).toEqual([1, expect.stringContaining('bug in Ostiary')]);
  expect(await failWith('bad', { code: '42601' })).toEqual([1, expect.stringContaining('bug in Ostiary')]);
});
