import { guarded } from './guard.ts';
import { parseArguments } from './program.ts';
import type { World } from './world.ts';

/** Runs one command line and returns its exit code (`ostiary --help` and docs/exit-codes.md list them); never throws. */
export async function run(argv: readonly string[], world: World): Promise<number> {
  return guarded(() => parseArguments(argv, world), { world, color: !argv.includes('--no-color') });
}
