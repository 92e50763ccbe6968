import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { builtPackage, start, type RunOptions, type Running } from './cli.ts';

const script = '/usr/bin/script';

/** Whether this machine has the program that opens a terminal. */
export const hasTerminal: boolean = existsSync(script);

export type TerminalOptions = Pick<RunOptions, 'cwd' | 'env'> & {
  /** The width; 0 for a terminal that does not report it. */
  readonly columns?: number;
};

/** Starts a command of the built CLI on a terminal; `stdout` is everything that it shows, and stdin is the keyboard. */
export async function startOnTerminal(args: string, { cwd, env = {}, columns = 80 }: TerminalOptions): Promise<Running> {
  const cli = join(await builtPackage(), 'dist', 'cli.js');
  const command = `stty cols ${columns} rows 40; exec '${process.execPath}' '${cli}' ${args}`;
  return start(script, ['-qfec', command, '/dev/null'], { cwd, env: { TERM: 'xterm', ...env }, typing: true });
}

/** Waits until the terminal shows a text. Throws if the command ends first. */
export async function shows(running: Running, text: string): Promise<void> {
  let isRunning = true;
  void running.ended.then(() => (isRunning = false));
  while (!running.printed().stdout.includes(text)) {
    if (!isRunning) throw new Error(`the command ended without "${text}": ${running.printed().stdout}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
