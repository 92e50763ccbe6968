import picocolors from 'picocolors';
import type { JsonObject } from '../../model/json.ts';
import { toJsonText } from '../../report/serialize.ts';
import { type Terminal, plainPalette } from '../../report/text/wrap.ts';
import { type ColorChoice, colorChoices, type OutputFlags } from '../flags.ts';
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

/** Makes a printer. */
export function printerFor(context: CliContext, flags: OutputFlags): Printer {
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
    results: terminalOf(context.stdout, flags, context.env),
    errors: terminalOf(context.stderr, flags, context.env),
  };
}

function terminalOf(output: Output, { color, full = false }: OutputFlags, env: CliContext['env']): Terminal {
  const colored = isColored(output, color, env);
  const { green, yellow, red, cyan, dim, bold } = picocolors.createColors(colored);
  return { color: colored ? { green, yellow, red, cyan, dim, bold } : plainPalette, columns: output.columns, full };
}

/**
 * Returns whether a stream gets colors. The flag decides first; then NO_COLOR (https://no-color.org) and FORCE_COLOR
 * (https://force-color.org), each if it is not empty; then whether the stream is a terminal that understands escape sequences.
 */
function isColored(output: Output, choice: ColorChoice, env: CliContext['env']): boolean {
  if (choice !== 'auto') return choice === 'always';
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  if ((env['FORCE_COLOR'] ?? '') !== '') return env['FORCE_COLOR'] !== '0';
  return output.ansi;
}

/** Returns when a command line wants colors, also one that the parser rejects. */
export function colorChoiceOf(argv: readonly string[]): ColorChoice {
  const at = argv.findLastIndex((word) => word === '--no-color' || word === '--color' || word.startsWith('--color='));
  const word = argv[at] ?? '';
  if (word === '--no-color') return false;
  const value = word === '--color' ? argv[at + 1] : word.slice('--color='.length);
  return colorChoices.find((one) => one === value) ?? 'auto';
}
