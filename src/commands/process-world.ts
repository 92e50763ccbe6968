import type { Output, World } from './world.ts';

/** The world of this process. */
export function processWorld(): World {
  return {
    env: process.env,
    cwd: process.cwd(),
    interactive: process.stdin.isTTY === true && process.stderr.isTTY === true,
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    now: () => new Date(),
    interrupts,
  };
}

function outputOf(stream: NodeJS.WriteStream): Output {
  // A reader that went away (`| head`) is no error of ours.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  return { write: (text) => stream.write(text), isTTY: stream.isTTY === true, columns: stream.isTTY === true ? stream.columns : undefined };
}

function interrupts(): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => {
    process.removeListener('SIGINT', abort);
    process.removeListener('SIGTERM', abort);
    controller.abort();
  };
  process.on('SIGINT', abort);
  process.on('SIGTERM', abort);
  return controller.signal;
}
