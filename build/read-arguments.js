// Reads the command line of a program of this repository: `--help` prints how to run it, and an unknown option or word ends it, before it changes anything.
import { parseArgs } from 'node:util';

/**
 * Returns the values of options and the words beside them, at most `words`. An option is named with its default: false for a switch, a
 * text for one with a value. Ends the process with 0 after `--help`, and with 3 and a sentence for others, or where `problemOf` finds one.
 */
export function readArguments(defaults, { words = 0, usage, problemOf = () => undefined }) {
  const fail = (reason) => {
    process.stderr.write(`error: ${reason}: ${usage}\n`);
    return process.exit(3);
  };
  try {
    const options = Object.fromEntries(
      Object.entries({ ...defaults, help: false }).map(([name, value]) => [
        name,
        { type: value === false ? 'boolean' : 'string', default: value },
      ]),
    );
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (values.help) {
      process.stdout.write(`${usage}\n`);
      return process.exit(0);
    }
    if (positionals.length > words) return fail(`Unexpected argument '${positionals[words]}'`);
    const problem = problemOf(values, positionals);
    return problem === undefined ? { values, positionals } : fail(problem);
  } catch (error) {
    return fail(error.message.split('. ')[0]);
  }
}
