import { version } from './commands/context/version.ts';

/** Prints the version without loading anything else, else hands over to the commands. */
async function main(argv: readonly string[]): Promise<number> {
  const [first, ...rest] = argv;
  if ((first === '--version' || first === '-V') && rest.length === 0) {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  process.stderr.on('error', onOutputError);
  const [{ run }, { processContext }] = await Promise.all([
    import('./commands/program.ts'),
    import('./commands/context/process-context.ts'),
  ]);
  return run(argv, processContext());
}

/** Waits until everything that was printed has been handed over. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}

let broken = false;

/** A reader that went away (`| head`) is no error of ours; a full disk is told once, while the command goes on to its end. */
function onOutputError(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE' || broken) return;
  broken = true;
  process.exitCode = 1;
  process.stderr.write(`error cli/output  the result cannot be written: ${error.message}\n`);
}

process.stdout.on('error', onOutputError);
const exitCode = await main(process.argv.slice(2));
await Promise.all([process.stdout, process.stderr].map(written));
// Nothing is left but memory, and giving that back piece by piece takes as long as reading a thousand files.
process.exit(broken ? 1 : exitCode);
