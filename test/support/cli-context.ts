import { setTimeout } from 'node:timers/promises';
import type { Output, CliContext } from '../../src/commands/context/cli-context.ts';

/** A context for tests, and the output written to it. */
export type TestCliContext = {
  readonly context: CliContext;
  /** Each stream's text; `both` in the order of writing. */
  readonly printed: () => { readonly stdout: string; readonly stderr: string; readonly both: string };
};

type TestContextOptions = Partial<Pick<CliContext, 'cwd' | 'env' | 'now' | 'transportTo'>> & {
  /** The width that the streams report; none by default. */
  readonly columns?: number;
};

/** Creates a context without a terminal; it declines every confirmation and never interrupts. */
export function createTestContext({
  cwd = '/',
  env = {},
  now = () => new Date(),
  columns,
  transportTo = () => undefined,
}: TestContextOptions = {}): TestCliContext {
  const text = { stdout: '', stderr: '', both: '' };
  const output = (stream: 'stdout' | 'stderr'): Output => ({
    write(more) {
      text[stream] += more;
      text.both += more;
    },
    isTTY: false,
    columns,
    ansi: false,
  });
  const context: CliContext = {
    env,
    cwd,
    interactive: false,
    stdout: output('stdout'),
    stderr: output('stderr'),
    now,
    transportTo,
    // Nobody waits for a gateway that a test makes fail.
    sleep: (_, signal) => setTimeout(1, undefined, signal && { signal }),
    interruptSignal: () => new AbortController().signal,
    confirm: () => Promise.resolve(false),
  };
  return { context, printed: () => ({ ...text }) };
}
