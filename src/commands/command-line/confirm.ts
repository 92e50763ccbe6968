import { describeStream } from '../context/process-output.ts';

/** Returns whether the answer to a question is yes. It asks on stderr, because stdout is for results and may be redirected. */
export async function askToConfirm(message: string): Promise<boolean> {
  if (!describeStream(process.stderr).ansi) return askInPlainText(message);
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
