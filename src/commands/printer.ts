import picocolors from 'picocolors';
import type { Terminal } from '../report/text/terminal.ts';
import { plainPalette } from '../report/text/terminal.ts';
import type { OutputFlags } from './flags.ts';
import type { Output, CliContext } from './context/cli-context.ts';

/** Where a command's words go: `print` the result to stdout, `note` everything else to stderr. */
export type Printer = {
  readonly print: (text: string) => void;
  readonly note: (text: string) => void;
  /** A note that `--quiet` leaves out. */
  readonly hint: (text: string) => void;
  readonly results: Terminal;
  readonly errors: Terminal;
};

/** Colour only on a terminal, and never with NO_COLOR, TERM=dumb or --no-color. */
export function printerFor(context: CliContext, flags: OutputFlags): Printer {
  const wanted = flags.color && (context.env['NO_COLOR'] ?? '') === '' && context.env['TERM'] !== 'dumb';
  return {
    print: (text) => context.stdout.write(text),
    note: (text) => context.stderr.write(text),
    hint: (text) => {
      if (!flags.quiet) context.stderr.write(text);
    },
    results: terminalOf(context.stdout, wanted),
    errors: terminalOf(context.stderr, wanted),
  };
}

function terminalOf(output: Output, wanted: boolean): Terminal {
  const colours = picocolors.createColors(wanted && output.isTTY);
  const { green, yellow, red, cyan, dim, bold } = colours;
  return { color: wanted && output.isTTY ? { green, yellow, red, cyan, dim, bold } : plainPalette, columns: output.columns };
}
