import picocolors from 'picocolors';
import type { JsonObject } from '../../model/json.ts';
import { toJsonText } from '../../report/serialize.ts';
import { type Terminal, plainPalette } from '../../report/text/wrap.ts';
import type { OutputFlags } from '../flags.ts';
import type { Output, CliContext } from '../context/cli-context.ts';

/** Prints the output of a command: `print` writes results to stdout, `note` everything else to stderr. */
export type Printer = {
  readonly print: (text: string) => void;
  /** Prints a JSON document to stdout, or passes it to `onDocument`. */
  readonly printDocument: (document: JsonObject) => void;
  readonly note: (text: string) => void;
  /** Prints a note, unless `--quiet` is set. */
  readonly hint: (text: string) => void;
  readonly results: Terminal;
  readonly errors: Terminal;
};

/** Makes a printer; it uses colors only on a terminal, and never with NO_COLOR, TERM=dumb or --no-color. */
export function printerFor(context: CliContext, flags: OutputFlags): Printer {
  const wanted = flags.color && (context.env['NO_COLOR'] ?? '') === '' && context.env['TERM'] !== 'dumb';
  return {
    print: (text) => context.stdout.write(text),
    printDocument: (document) => {
      if (context.onDocument === undefined) context.stdout.write(toJsonText(document));
      else context.onDocument(document);
    },
    note: (text) => context.stderr.write(text),
    hint: (text) => {
      if (!flags.quiet) context.stderr.write(text);
    },
    results: terminalOf(context.stdout, wanted),
    errors: terminalOf(context.stderr, wanted),
  };
}

function terminalOf(output: Output, wanted: boolean): Terminal {
  const colors = picocolors.createColors(wanted && output.isTTY);
  const { green, yellow, red, cyan, dim, bold } = colors;
  return { color: wanted && output.isTTY ? { green, yellow, red, cyan, dim, bold } : plainPalette, columns: output.columns };
}
