import type { Argument, Command, Option } from 'commander';
import { registry } from '../../kinds/index.ts';
import { loadTarget } from '../../project/manifests.ts';
import { chooseTarget, resolveConfig, type ProjectSelection } from '../../project/resolved-config.ts';
import type { CliContext } from '../context/cli-context.ts';
import { filesMark } from './scripts.ts';

type Suggestion = { readonly word: string; readonly help: string };

/** The typed words, as the parser would read them. */
type TypedLine = {
  readonly command: Command;
  /** The words that are neither the command nor an option. */
  readonly positional: readonly string[];
  /** The last value of each option, by its name. */
  readonly values: ReadonlyMap<string, string>;
  /** The word at the cursor, after `option=` if it has that. */
  readonly prefix: string;
  /** The option whose value is being typed; `glued` is what its word has before the value: `--target=`. */
  readonly option?: { readonly option: Option; readonly glued: string };
};

/**
 * Returns what can follow the typed words, the last of which is being typed: one line each, the word and its help separated by a tab, and
 * `:files` if file names can follow. Names of targets and objects come from the config and the manifests; throws what reading them throws.
 */
export function suggestWords(program: Command, words: readonly string[], context: CliContext): string {
  const line = readWords(program, joinEquals(words));
  const { found, files } = suggestionsFor(line, program, context);
  const fitting = found.filter(({ word }) => word.startsWith(line.prefix));
  const lines = fitting.map(({ word, help }) => `${printable(`${line.option?.glued ?? ''}${word}`)}\t${printable(help)}`);
  return [...lines, ...(files ? [filesMark] : [])].map((text) => `${text}\n`).join('');
}

type Suggestions = { readonly found: readonly Suggestion[]; readonly files: boolean };

const nothing: Suggestions = { found: [], files: false };

function suggestionsFor(line: TypedLine, program: Command, context: CliContext): Suggestions {
  const { command, option, positional, prefix } = line;
  if (option !== undefined) return valuesOf(option.option, line, context);
  if (prefix.startsWith('-')) return { found: flagsOf(command), files: false };
  const isHelp = command === program && positional[0] === 'help';
  if (command === program) return positional.length === (isHelp ? 1 : 0) ? { found: commandsOf(program), files: false } : nothing;
  const { registeredArguments } = command;
  const argument = registeredArguments[positional.length] ?? registeredArguments.filter(({ variadic }) => variadic).at(-1);
  return argument === undefined ? nothing : wordsOf(argument, line, context);
}

function commandsOf(program: Command): readonly Suggestion[] {
  const listed = program.commands.flatMap((one) =>
    [one.name(), ...one.aliases().slice(0, 1)].map((word) => ({ word, help: one.description() })),
  );
  return [...listed, { word: 'help', help: 'print help for a command' }];
}

function flagsOf(command: Command): readonly Suggestion[] {
  const { options } = command;
  const own = options
    .filter(({ hidden }) => !hidden)
    .map(({ long, short, description }) => ({ word: long ?? short ?? '', help: description }));
  return [...own, { word: '--help', help: 'print help' }];
}

/** What the values of an option or an argument are, as its usage names them. */
const placeholder = /[<[]([^>\]]+?)(?:\.\.\.)?[>\]]/;

function valuesOf(option: Option, line: TypedLine, context: CliContext): Suggestions {
  const name = placeholder.exec(option.flags)?.[1] ?? '';
  if (option.name() === 'target') return { found: targetsOf(line, context), files: false };
  if (/<kind\/name>/.test(option.flags)) return { found: objectsOf(line, context), files: false };
  if (name === 'format=path') {
    const files = line.prefix.includes('=');
    return { found: files ? [] : (option.argChoices ?? []).map((choice) => ({ word: `${choice}=`, help: 'FORMAT=PATH' })), files };
  }
  if (option.argChoices !== undefined) return { found: option.argChoices.map((word) => ({ word, help: '' })), files: false };
  return { found: [], files: ['file', 'folder'].includes(name) };
}

function wordsOf(argument: Argument, line: TypedLine, context: CliContext): Suggestions {
  if (argument.argChoices !== undefined) return { found: argument.argChoices.map((word) => ({ word, help: '' })), files: false };
  if (argument.name() === 'resource') return { found: objectsOf(line, context), files: false };
  if (argument.name() === 'field') {
    const fields = registry.get(line.positional[0]?.split('/')[0] ?? '')?.fields ?? [];
    return { found: fields.map(({ name }) => ({ word: name, help: '' })), files: false };
  }
  return { found: [], files: ['paths', 'folder', 'directory'].includes(argument.name()) };
}

function selectionOf({ values }: TypedLine): ProjectSelection {
  return { config: values.get('config'), target: values.get('target')?.split(',')[0] };
}

/** The targets of the config; after `a,` those that can follow. */
function targetsOf(line: TypedLine, context: CliContext): readonly Suggestion[] {
  const typed = line.prefix.slice(0, line.prefix.lastIndexOf(',') + 1);
  const { targets } = resolveConfig({ ...selectionOf(line), url: '' }, context);
  const rest = targets.filter(({ name }) => !typed.split(',').includes(name));
  return rest.map(({ name, url }) => ({ word: `${typed}${name}`, help: url }));
}

/** The objects of the selected target that the manifests declare, each with the first line of its manifest. */
function objectsOf(line: TypedLine, context: CliContext): readonly Suggestion[] {
  const selection = selectionOf(line);
  const config = resolveConfig(selection, context);
  const target = chooseTarget(config, { ...selection, target: selection.target ?? config.targets[0]?.name ?? '' });
  const { value } = loadTarget({ config, target, selection, context }, { secrets: 'leave' });
  return (value?.resources ?? []).map(({ id, locate }) => ({ word: id, help: `${locate('').file}:${locate('').line}` }));
}

/** Joins what bash separates: `--target`, `=`, `prod`. The value stays a word of its own because bash completes only that. */
function joinEquals(words: readonly string[]): readonly string[] {
  return words.flatMap((word, index) => {
    if (word === '=') return index === words.length - 1 ? [''] : [];
    return [word];
  });
}

function readWords(program: Command, words: readonly string[]): TypedLine {
  const [positional, values]: [string[], Map<string, string>] = [[], new Map()];
  let command = program;
  let awaiting: Option | undefined;
  const last = words.at(-1) ?? '';
  for (const word of words.slice(0, -1)) {
    if (awaiting !== undefined) {
      values.set(awaiting.name(), word);
      awaiting = undefined;
    } else if (word.startsWith('-')) {
      const [flag = '', ...rest] = word.split('=');
      const option = optionNamed(command, flag);
      if (option !== undefined && takesValue(option)) {
        if (word.includes('=')) values.set(option.name(), rest.join('='));
        else awaiting = option;
      }
    } else {
      const named = command === program ? program.commands.find((one) => [one.name(), ...one.aliases()].includes(word)) : undefined;
      if (named === undefined) positional.push(word);
      else command = named;
    }
  }
  const base = { command, positional, values };
  if (awaiting !== undefined) return { ...base, prefix: last, option: { option: awaiting, glued: '' } };
  const glued = /^--[\w-]+=/.exec(last)?.[0];
  const option = glued === undefined ? undefined : optionNamed(command, glued.slice(0, -1));
  if (glued === undefined || option === undefined || !takesValue(option)) return { ...base, prefix: last };
  return { ...base, prefix: last.slice(glued.length), option: { option, glued } };
}

function optionNamed(command: Command, flag: string): Option | undefined {
  return command.options.find(({ long, short }) => flag === long || flag === short);
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

/** Removes what would break the lines of the answer, or move the cursor of a terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}
