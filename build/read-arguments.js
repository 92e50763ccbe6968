// Reads the command line of a program that publishes: an unknown option or word ends it before it changes anything.
import { parseArgs } from 'node:util';

/** Returns the values of flags and the words beside them, at most `words`; ends the process with exit code 3 and a sentence for others. */
export function readArguments(flags, { words = 0, usage }) {
  try {
    const options = Object.fromEntries(flags.map((flag) => [flag, { type: 'boolean', default: false }]));
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (positionals.length > words) throw new Error(`Unexpected argument '${positionals[words]}'`);
    return { values, positionals };
  } catch (error) {
    process.stderr.write(`error: ${error.message}: ${usage}\n`);
    return process.exit(3);
  }
}
