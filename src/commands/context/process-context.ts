import { isatty } from 'node:tty';
import { AppError } from '../../model/errors.ts';
import type { Output, CliContext } from './cli-context.ts';

/** Makes the context of this process: its environment, streams, clock and signals. */
export function processContext(interrupt: CliContext['interruptSignal'] = interruptSignal): CliContext {
  return {
    env: process.env,
    get cwd() {
      return workingFolder();
    },
    interactive: isatty(process.stdin.fd) && isatty(process.stderr.fd),
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    now: () => new Date(),
    interruptSignal: interrupt,
    confirm: askToConfirm,
  };
}

/** Returns the working folder. Throws AppError when it does not exist any more. */
function workingFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new AppError('cli/working-folder', 3, 'the working directory no longer exists', {
      cause: error,
      hint: 'change to another directory and run the command again',
    });
  }
}

function outputOf(stream: NodeJS.WriteStream & { readonly fd: number }): Output {
  const isTTY = isatty(stream.fd);
  // A terminal of unknown width reports 0.
  const columns = isTTY && stream.columns > 0 && process.env['COLUMNS'] !== '0' ? stream.columns : undefined;
  return { write: (text) => stream.write(text), isTTY, columns, ansi: columns !== undefined && process.env['TERM'] !== 'dumb' };
}

/**
 * Makes the context of a workflow step: a signal at any time counts for all that follows, and none ends the process, because a
 * runner that cancels a job sends a second one, and the step still has to report.
 */
export function stepContext(): CliContext {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => controller.abort());
  return processContext(() => controller.signal);
}

function interruptSignal(beforeEnd: () => void = () => undefined): AbortSignal {
  const controller = new AbortController();
  const stop = (signal: NodeJS.Signals): void => {
    if (!controller.signal.aborted) {
      controller.abort();
      return;
    }
    process.removeListener('SIGINT', stop);
    process.removeListener('SIGTERM', stop);
    beforeEnd();
    process.kill(process.pid, signal);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return controller.signal;
}

/** Asks on stderr, because stdout is for results and may be redirected. */
async function askToConfirm(message: string): Promise<boolean> {
  if (!outputOf(process.stderr).ansi) return askInPlainText(message);
  const { confirm, isCancel } = await import('@clack/prompts');
  const answer = await confirm({ message, initialValue: false, output: process.stderr });
  return !isCancel(answer) && answer;
}

/** Asks without moving the cursor. The end of input and Ctrl-C mean no. */
async function askInPlainText(message: string): Promise<boolean> {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: process.stdin, terminal: false });
  const cancel = (): void => lines.close();
  process.once('SIGINT', cancel);
  process.stderr.write(`${message} [y/N] `);
  try {
    const answer = await new Promise<string | undefined>((resolve) => {
      lines.once('line', resolve);
      lines.once('close', () => resolve(undefined));
    });
    if (answer === undefined) process.stderr.write('\n');
    return /^y(?:es)?$/i.test(answer?.trim() ?? '');
  } finally {
    process.removeListener('SIGINT', cancel);
    lines.close();
  }
}
