import picocolors from 'picocolors';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { JsonObject } from '../../model/json.ts';
import { jsonPieces } from '../../report/serialize.ts';
import { diagnosticCounts } from '../../report/wording/diagnostics.ts';
import { diagnosticsText, uncountedLines } from '../../report/text/diagnostics.ts';
import { plainPalette, type Terminal } from '../../report/wrap.ts';
import type { OutputFlags } from '../context/options.ts';
import type { CliContext, Output, PrintedDiagnostics } from '../context/cli-context.ts';

/** Prints the output of a command: `print` writes results to stdout, `note` everything else to stderr. */
export type Printer = {
  readonly print: (text: string) => void;
  /** Prints a JSON document to stdout, or passes it to `onDocument`. */
  readonly printDocument: (document: JsonObject) => void;
  readonly note: (text: string) => void;
  /** Prints a note, unless `--quiet` is set. */
  readonly hint: (text: string) => void;
  /** Prints diagnostics to stderr, each once in a run; with `--quiet` only errors. The end of the run prints their counts. */
  readonly diagnostics: (found: readonly Diagnostic[]) => void;
  readonly results: Terminal;
  readonly errors: Terminal;
};

/** Makes a printer. */
export function printerFor(context: CliContext, flags: OutputFlags): Printer {
  const errors = terminalOf(context.stderr, flags, context.env);
  return {
    print: (text) => context.stdout.write(text),
    printDocument: (document) => {
      if (context.onDocument !== undefined) context.onDocument(document);
      else for (const piece of jsonPieces(document)) context.stdout.write(piece);
    },
    note: (text) => context.stderr.write(text),
    hint: (text) => {
      if (!flags.quiet) context.stderr.write(text);
    },
    diagnostics: (found) => {
      const shown = flags.quiet ? found.filter(({ severity }) => severity === 'error') : found;
      if (context.printed === undefined) {
        context.stderr.write(diagnosticsText(shown, errors));
        return;
      }
      const fresh = context.printed.add(shown);
      const isFresh = new Set(fresh);
      const known = shown.filter((one) => !isFresh.has(one));
      const lines = [...uncountedLines(fresh, errors), ...(known.length === 0 ? [] : [`and ${diagnosticCounts(known)} shown above`])];
      context.stderr.write(lines.map((line) => `${line}\n`).join(''));
    },
    results: terminalOf(context.stdout, flags, context.env),
    errors,
  };
}

/** Makes an empty record of printed diagnostics. */
export function recordPrinted(): PrintedDiagnostics {
  const known = new Map<string, Diagnostic>();
  return {
    all: () => [...known.values()],
    has: (one) => known.has(JSON.stringify(one)),
    add: (found) =>
      found.filter((one) => {
        const key = JSON.stringify(one);
        if (known.has(key)) return false;
        known.set(key, one);
        return true;
      }),
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
function isColored(output: Output, allowed: boolean, env: CliContext['env']): boolean {
  if (!allowed || (env['NO_COLOR'] ?? '') !== '') return false;
  if ((env['FORCE_COLOR'] ?? '') !== '') return env['FORCE_COLOR'] !== '0';
  return output.ansi;
}

/** Returns the last value of an option in a command line, also in one that the parser rejects. */
export function optionIn(argv: readonly string[], name: string): string | undefined {
  const at = argv.findLastIndex((word) => word === name || word.startsWith(`${name}=`));
  return argv[at] === name ? argv[at + 1] : argv[at]?.slice(name.length + 1);
}
