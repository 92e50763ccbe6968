import type { Ended } from '../support/cli.ts';

/** Finds a stack trace, or the message of an internal error. */
export const internalError: RegExp = /internal error|internal\/error|^ +at .+:\d+:\d+/m;

// A command that takes longer hangs: each of them takes less than a second on an idle machine.
const patience = 90_000;

/** Runs a command on bad input: it ends in time, with a documented code, and without a stack trace. */
export async function expectHarmless(work: Promise<Pick<Ended, 'code' | 'stdout' | 'stderr'>>, about: () => unknown): Promise<number> {
  let late: NodeJS.Timeout | undefined;
  const hang = new Promise<undefined>((resolve) => {
    late = setTimeout(() => resolve(undefined), patience);
  });
  const ended = await Promise.race([work, hang]);
  clearTimeout(late);
  if (ended === undefined) throw new Error(`it hangs: ${JSON.stringify(about())}`);
  const { code, stdout, stderr } = ended;
  const found = internalError.exec(`${stdout}${stderr}`)?.[0];
  if (found !== undefined || code === null || ![0, 2, 3, 4, 5, 6].includes(code))
    throw new Error(`exit ${code}: ${stderr.slice(0, 3000)}\n${JSON.stringify(about())}`);
  return code;
}
