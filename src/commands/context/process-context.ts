import { isatty } from 'node:tty';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { AppError } from '../../model/errors.ts';
import type { CliContext } from './cli-context.ts';
import type { ProcessOutput } from './process-output.ts';

/** Makes the context of this process: its environment, streams, clock and signals. */
export function processContext(
  { stdout, stderr }: ProcessOutput,
  confirm: CliContext['confirm'],
  interrupt: CliContext['interruptSignal'] = interruptSignal,
): CliContext {
  // It makes a package that runs git print every command with its environment, tokens included.
  delete process.env['DEBUG'];
  return {
    env: process.env,
    get cwd() {
      return workingFolder();
    },
    interactive: isatty(process.stdin.fd) && isatty(process.stderr.fd),
    stdout,
    stderr,
    now: () => new Date(),
    interruptSignal: interrupt,
    confirm,
  };
}

/**
 * Makes V8 compile less: each hot function alone, without copies of the functions that it calls, and on Node 20, whose only optimizing
 * compiler is slow, later. A command ends before that code would pay off. A large heap grows in smaller steps. Results are the same; only a process
 * that runs for long is slower.
 */
export function tuneForOneCommand(): void {
  const major = Number.parseInt(process.versions.node, 10);
  // A version without a flag would print an error.
  if (major > 26) return;
  // V8 compiles a module of Node three times as fast while it has the flags of Node's build: those that the HTTP client needs.
  for (const name of modulesOfHttp) process.getBuiltinModule(name);
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=0');
  // The parser of HTTP responses, in WebAssembly.
  setFlagsFromString('--liftoff-only');
  if (major <= 20) setFlagsFromString('--interrupt-budget=1000000');
  growSlowly();
}

/** How much the heap keeps before it grows in smaller steps, in bytes, and how often that is looked at, in milliseconds. */
const largeHeap = 125 * 1024 * 1024;
const heapInterval = 100;

/**
 * Lets a large heap grow in smaller steps. By default it grows to several times of what it keeps, for the plan of 50,000 connections to 950 MB in
 * place of 600. Smaller steps cost time, which a small heap is not worth.
 */
function growSlowly(): void {
  const timer = setInterval(() => {
    if (getHeapStatistics().used_heap_size < largeHeap) return;
    setFlagsFromString('--heap-growing-percent=30');
    clearInterval(timer);
  }, heapInterval);
  timer.unref();
}

const modulesOfHttp = ['node:assert', 'node:http', 'node:perf_hooks', 'node:tls'];

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

/**
 * Makes the context of a workflow step: a signal at any time counts for all that follows, and none ends the process, because a
 * runner that cancels a job sends a second one, and the step still has to report.
 */
export function stepContext(output: ProcessOutput): CliContext {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => controller.abort());
  return processContext(
    output,
    () => Promise.resolve(false),
    () => controller.signal,
  );
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
