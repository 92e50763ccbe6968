import { version } from './console/context/version.ts';

/** Prints the version without loading anything else; otherwise runs the command line. */
async function main(argv: readonly string[]): Promise<number> {
  const [first, ...rest] = argv;
  if ((first === '--version' || first === '-V') && rest.length === 0) {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  process.stderr.on('error', onOutputError);
  const { runProcess } = await import('./program.ts');
  return runProcess(argv);
}

/** Waits until the stream has passed on everything that was printed. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}

let broken = false;

/** Ignores a reader that closed the pipe (`| head`); reports a full disk once, while the command runs to its end. */
function onOutputError(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE' || broken) return;
  broken = true;
  process.exitCode = 1;
  const reason = error.code === 'ENOSPC' ? 'no space left on the disk' : error.message;
  process.stderr.write(
    `error cli/output  the result cannot be written: ${reason}\n  hint: write it elsewhere; the command ran to its end\n`,
  );
}

process.stdout.on('error', onOutputError);
const exitCode = await main(process.argv.slice(2));
await Promise.all([process.stdout, process.stderr].map(written));
// Only memory is left, and freeing it piece by piece takes as long as reading a thousand files.
process.exit(broken ? 1 : exitCode);
