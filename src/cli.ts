import { openProcessOutput, type ProcessOutput } from './commands/context/process-output.ts';
import { version } from './commands/context/version.ts';

/** Prints the version without loading anything else; otherwise runs the command line. */
async function main(argv: readonly string[], output: ProcessOutput): Promise<number> {
  const [first, ...rest] = argv;
  if ((first === '--version' || first === '-V') && rest.length === 0) {
    output.stdout.write(`${version}\n`);
    return 0;
  }
  const { runProcess } = await import('./program.ts');
  return runProcess(argv, output);
}

const output = openProcessOutput();
const exitCode = await output.finish(await main(process.argv.slice(2), output));
// Only memory is left, and freeing it piece by piece takes as long as reading a thousand files.
process.exit(exitCode);
