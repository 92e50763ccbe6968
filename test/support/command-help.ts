import { run } from '../../src/program.ts';
import { createTestContext } from './cli-context.ts';

/** Returns the help of a command as a terminal of a width shows it; the help of the program without one. */
export async function helpOf(argv: readonly string[], columns: number): Promise<string> {
  const { context, printed } = createTestContext({ columns });
  const exitCode = await run([...argv, '--help'], context);
  if (exitCode !== 0) throw new Error(`${argv.join(' ')} --help ends with ${exitCode}`);
  return printed().both;
}

/** Returns the names of all commands, with other names after a `|`, as the help lists them. */
export async function commandNames(): Promise<readonly string[]> {
  const general = await helpOf([], 200);
  const list = general.slice(general.indexOf('print help'), general.indexOf('Exit codes:'));
  return [...list.matchAll(/^ {2}([a-z|]+)/gm)].map((match) => match[1] ?? '').filter((name) => name !== 'help');
}
