import { resolve } from 'node:path';
import type { CliContext } from '../../src/commands/context/cli-context.ts';
import { run } from '../../src/program.ts';
import type { Ended, RunOptions } from './cli.ts';
import { createTestContext } from './cli-context.ts';

/**
 * Runs one command line from the sources in this process, ten times as fast as in a new process. For tests of output
 * and effects; tests of signals, terminals, pipes and the end of a process use `ostiary`.
 */
export async function ostiaryInProcess(args: readonly string[], { cwd, env = {} }: RunOptions): Promise<Ended> {
  const ended = await runInFolder(resolve(cwd), args, { PATH: process.env['PATH'], ...env });
  return { ...ended, signal: null };
}

/** Runs a command line in a folder, in this process, with only the given environment and so without git. */
export async function runInFolder(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
  { transportTo }: { readonly transportTo?: CliContext['transportTo'] } = {},
): Promise<Pick<Ended, 'stdout' | 'stderr'> & { readonly code: number }> {
  const { context, printed } = createTestContext({ cwd: folder, env, ...(transportTo && { transportTo }) });
  // `serve` makes the umask of its process strict.
  const umask = process.umask();
  const code = await run(args, context);
  process.umask(umask);
  const { stdout, stderr } = printed();
  return { code, stdout, stderr };
}
