import { Command, CommanderError, Help, type Option } from 'commander';
import { UsageError } from '../../model/errors.ts';
import type { CliContext } from '../context/cli-context.ts';
import { runGuarded } from './guard.ts';
import { refusePaths } from './refuse-paths.ts';
import { answerToCommand, answerToOption } from './other-tools.ts';
import { version } from '../context/version.ts';
import { suggestCommand } from '../completion/scripts.ts';
import { addCommand, type DefineCommand, groups, type OutputFlags, refuseForgottenValues, refuseRepeated } from '../context/options.ts';
import { optionIn, printerFor, recordPrinted } from '../output/printer.ts';
import { type DocumentList, fleetDocument } from '../../report/serialize.ts';
import { diagnosticCounts } from '../../report/wording/diagnostics.ts';

/** A command as the help of the program lists it; `load` imports the file with its options and its work. */
export type ListedCommand = {
  readonly name: string;
  /** The arguments, as its file declares them. */
  readonly usage: string;
  readonly summary: string;
  /** Other names of the command; the help shows the first. */
  readonly aliases?: readonly string[];
  /** The list of its JSON documents, which a document about invalid flags also has. */
  readonly list?: DocumentList;
  readonly load: () => Promise<DefineCommand>;
};

/** The commands of a program by the headings of the help, and what its completion scripts call. */
export type CommandList = {
  readonly byHeading: Readonly<Record<string, readonly ListedCommand[]>>;
  readonly loadSuggestions?: () => Promise<(program: Command, words: readonly string[], context: CliContext) => string>;
};

const footer = `
Exit codes: 0 done, 1 internal error, 2 changes (--detailed-exitcode) or drift,
3 input invalid, 4 gateway unreachable, access denied or incomplete listing,
5 apply finished with failures, 6 refused for safety.

Start from scratch: ostiary init, then ostiary plan
Import an existing gateway: ostiary pull access-prod --url https://…
Help for a command: ostiary plan --help`;

/** Runs one command line of the given commands and returns its exit code (docs/reference/exit-codes.md lists them); never throws. */
export async function runCommandLine(argv: readonly string[], context: CliContext, commands: CommandList): Promise<number> {
  const flags = { color: !argv.includes('--no-color'), full: argv.includes('--full'), quiet: argv.includes('--quiet') };
  return runGuarded(() => runCounted(argv, { ...context, printed: recordPrinted() }, { flags, commands }), { context, flags });
}

/** Runs one command line; with `--format json`, an error is also a document. The last line that it prints counts the diagnostics. */
async function runCounted(
  argv: readonly string[],
  context: CliContext & Required<Pick<CliContext, 'printed'>>,
  { flags, commands }: { readonly flags: OutputFlags; readonly commands: CommandList },
): Promise<number> {
  const exitCode = await runGuarded(() => parseAndRun(argv, context, commands), {
    context,
    flags,
    onError(diagnostics, code) {
      if (optionIn(argv, '--format') !== 'json') return;
      const list = Object.values(commands.byHeading)
        .flat()
        .find(({ name, aliases = [] }) => [name, ...aliases].includes(argv[0] ?? ''))?.list;
      printerFor(context, flags).printDocument(fleetDocument(list, [], [{ target: undefined, exitCode: code, diagnostics }]));
    },
  });
  const counts = diagnosticCounts(context.printed.all());
  if (counts !== '') context.stderr.write(`${counts}\n`);
  return exitCode;
}

/** Parses the command line, runs its command and returns the exit code. Throws UsageError for unknown options and arguments. */
async function parseAndRun(argv: readonly string[], context: CliContext, commands: CommandList): Promise<number> {
  if (argv[0] === suggestCommand) return printSuggestions(argv.slice(2), context, commands);
  let exitCode = 0;
  const program = await createProgram(argv, context, {
    commands,
    finish: (code) => {
      exitCode = code;
    },
  });
  if (argv.length === 0) program.outputHelp();
  if (argv.length === 0) return 0;
  try {
    // With --help, the parser would print the general help for an unknown command.
    await program.parseAsync(isKnown(argv[0] ?? '', program) ? argv : argv.slice(0, 1), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    throw usageError(error, argv, program);
  }
  return exitCode;
}

/** Returns whether the first word of a command line is a flag or a command. */
function isKnown(first: string, program: Command): boolean {
  return first.startsWith('-') || first === 'help' || commandNamed(first, program) !== undefined;
}

function commandNamed(word: string, program: Command): Command | undefined {
  return program.commands.find((one) => [one.name(), ...one.aliases()].includes(word));
}

/** Prints what can follow the words of an unfinished command line; the completion scripts call it. */
async function printSuggestions(words: readonly string[], context: CliContext, commands: CommandList): Promise<number> {
  const program = await createProgram(words, context, { commands, finish: () => undefined });
  const suggestWords = await commands.loadSuggestions?.();
  context.stdout.write(suggestWords?.(program, words, context) ?? '');
  return 0;
}

type ProgramParts = { readonly commands: CommandList; readonly finish: (exitCode: number) => void };

/** Builds the parser; only commands that the command line names are loaded with their options. */
async function createProgram(argv: readonly string[], context: CliContext, { commands, finish }: ProgramParts): Promise<Command> {
  const program = new Command('ostiary')
    .description('GitOps for access gateways: keep an access gateway in sync with a directory of YAML manifests.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .addHelpText('after', footer)
    .showSuggestionAfterError(true)
    .configureHelp({ optionDescription, minWidthToWrap: 20, groupItems: mostUsedFirst })
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: () => undefined,
      getOutHelpWidth: () => context.stdout.columns ?? 100,
    });
  const named = commandsNamedIn(argv);
  for (const [heading, listed] of Object.entries(commands.byHeading)) {
    program.commandsGroup(heading);
    for (const { name, aliases = [], usage, summary, load } of listed) {
      const command = addCommand(program, name, summary).aliases(aliases);
      if ([name, ...aliases].some((one) => named.includes(one))) {
        const define = await load();
        define(command, async (work) => finish(await work(context)));
        refuseRepeated(command);
        refuseForgottenValues(command);
        refusePaths(command);
      } else if (usage !== '') command.arguments(usage);
    }
  }
  return program.helpCommand('help [command]', 'print help for a command');
}

/** Returns the words of the command line that can name a command. */
function commandsNamedIn(argv: readonly string[]): readonly string[] {
  const [first = '', second = ''] = argv;
  if (first === 'help') return [second];
  return first.startsWith('-') ? argv : [first];
}

/** Returns the items by heading, as the help of Commander does, with the most used before all others. */
function mostUsedFirst<T extends Command | Option>(all: T[], visible: T[], headingOf: (item: T) => string): Map<string, T[]> {
  const isMostUsed = (item: T): number => Number(headingOf(item) === groups.common);
  return new Help().groupItems(
    all.toSorted((left, right) => isMostUsed(right) - isMostUsed(left)),
    visible,
    headingOf,
  );
}

function optionDescription({ description, argChoices, defaultValue }: Option): string {
  const worth = typeof defaultValue === 'string' || typeof defaultValue === 'number';
  const notes = [...(argChoices === undefined ? [] : [argChoices.join(', ')]), ...(worth ? [`default: ${defaultValue}`] : [])];
  return notes.length === 0 ? description : `${description} (${notes.join('; ')})`;
}

const allowedChoices = /^Allowed choices are (.*)\.$/;

/** Converts an error of the parser to a UsageError: one line with the error, one with a hint. */
function usageError({ code, message }: CommanderError, argv: readonly string[], program: Command): UsageError {
  const named = commandNamed(argv[0] ?? '', program);
  const help =
    named === undefined ? 'run ostiary --help for the list of commands' : `run ostiary ${named.name()} --help for the list of flags`;
  if (code === 'commander.help') return new UsageError(`unknown command "${argv[1] ?? ''}"`, help);
  const text = message
    .replace(/^error: /, '')
    .replace(/ argument missing$/, ' has no value')
    .replace(/\. Expected (\d+) arguments? but got (\d+)\.$/, ': expected $1, got $2');
  const [, option, value = '', hint = ''] = /^option '(?:-\w, )?(--[\w-]+).*?' argument '(.*)' is invalid\. (.*)$/s.exec(text) ?? [];
  if (option !== undefined)
    return new UsageError(`invalid value "${value}" for ${option}`, hint.replace(allowedChoices, 'expected one of: $1'));
  const [, argument = '', name = '', choices] = /^command-argument value '(.*)' is invalid for argument '(.*)'\. (.*)$/s.exec(text) ?? [];
  if (choices !== undefined)
    return new UsageError(`invalid value "${argument}" for ${name}`, choices.replace(allowedChoices, 'expected one of: $1'));
  const [, what = text, near] = /^(.*)\n\((Did you mean .*\?)\)$/s.exec(text) ?? [];
  const [, unknown = ''] = /^unknown option '(.*)'$/s.exec(what) ?? [];
  const answer = code === 'commander.unknownCommand' ? answerToCommand(argv[0] ?? '') : named && answerToOption(unknown, named, argv);
  return new UsageError(what.replaceAll(/'([^']*)'/g, '"$1"'), answer ?? (near === undefined ? help : near.replace('Did', 'did')));
}
