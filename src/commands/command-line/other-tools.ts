import type { Command } from 'commander';

/**
 * What people type who know other tools, and what to type here. A command that only reads has their name as an alias (`program.ts`); one that
 * writes has not, because the same word means reading in one tool and writing in another (`import`, `sync`).
 */
const commandAnswers: Readonly<Record<string, string>> = {
  import: 'ostiary pull imports a gateway as manifests; ostiary apply writes manifests to the gateway',
  sync: 'ostiary plan shows the changes, and ostiary apply makes them',
  status: 'ostiary drift lists changes made outside Ostiary, and ostiary list the state of each object',
  describe: 'ostiary get connection NAME --format yaml prints an object, and ostiary explain KIND/NAME why it changes',
};

type OptionAnswer = {
  /** The spellings; a single hyphen before a word counts as two. */
  readonly names: readonly string[];
  /** The commands for which this is the answer; without it all. */
  readonly commands?: readonly string[];
  /** What to type; COMMAND and VALUE are those of the command line. */
  readonly answer: string;
  /** The value in the answer where the command line has none. */
  readonly value?: string;
};

const selectionAnswer = '--target names a gateway of the config; to select a resource, pass --only VALUE';

const optionAnswers: readonly OptionAnswer[] = [
  {
    names: ['--adopt'],
    commands: ['plan', 'apply'],
    answer: '--import KIND/NAME agrees to import an existing object; ostiary drift --adopt accepts drift into the manifests',
  },
  { names: ['-o', '--output', '--json'], commands: ['pull', 'init'], answer: 'name the folder as an argument: ostiary pull access' },
  { names: ['-o', '--output', '--json', '--yaml'], answer: '--format json prints JSON; --help lists the other formats' },
  { names: ['--dry-run', '--check', '--preview'], commands: ['apply'], answer: 'ostiary plan shows what apply would do' },
  {
    names: ['--dry-run', '--preview'],
    answer: 'only apply, and drift with --revert, write to the gateway; ostiary plan shows what apply would do',
  },
  { names: ['--auto-approve', '--approve', '--force'], commands: ['apply', 'drift'], answer: '--yes writes without asking' },
  {
    names: ['-f', '--file', '--filename', '-s', '--state', '-k', '--kustomize'],
    answer: 'files and folders are arguments: ostiary COMMAND VALUE',
    value: 'access/orders.yaml',
  },
  { names: ['--color', '--colors'], answer: 'set FORCE_COLOR=1: it prints colors without a terminal' },
  {
    names: ['--url'],
    commands: ['init'],
    answer: 'ostiary pull --url VALUE imports the objects of a gateway as manifests, and creates ostiary.yaml',
    value: 'https://gateway.example.com',
  },
];

/** Returns what to type here instead of a command of another tool, or undefined for a word that is none. */
export function answerToCommand(word: string): string | undefined {
  return Object.hasOwn(commandAnswers, word) ? commandAnswers[word] : undefined;
}

/** Returns what to type here instead of an option of another tool, or undefined for an option that is none. */
export function answerToOption(option: string, command: Command, argv: readonly string[]): string | undefined {
  const name = option.replace(/=.*$/s, '').replace(/^-(?=\w{2})/, '--');
  const next = argv[argv.indexOf(option) + 1];
  const given = option.includes('=') ? option.slice(option.indexOf('=') + 1) : next?.startsWith('-') === true ? undefined : next;
  if (name === '--target') return selectionAnswer.replace('VALUE', given ?? 'KIND/NAME');
  if (command.options.some(({ long }) => long === name)) return `did you mean ${name}?`;
  const known = optionAnswers.find(({ names, commands }) => names.includes(name) && commands?.includes(command.name()) !== false);
  return known?.answer.replace('COMMAND', command.name()).replace('VALUE', given ?? known.value ?? '');
}
