import { runGuarded } from './guard.ts';
import { parseArguments } from './program.ts';
import type { CliContext } from './cli-context.ts';

/** Runs one command line and returns its exit code (`ostiary --help` and docs/exit-codes.md list them); never throws. */
export async function run(argv: readonly string[], context: CliContext): Promise<number> {
  return runGuarded(() => parseArguments(argv, context), { context, color: !argv.includes('--no-color') });
}
