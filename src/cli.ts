import { version } from './commands/version.ts';

/** Prints the version without loading anything else, else hands over to the commands. */
async function main(argv: readonly string[]): Promise<number> {
  const [first, ...rest] = argv;
  if ((first === '--version' || first === '-V') && rest.length === 0) {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  const [{ run }, { processWorld }] = await Promise.all([import('./commands/run.ts'), import('./commands/process-world.ts')]);
  return run(argv, processWorld());
}

process.exitCode = await main(process.argv.slice(2));
