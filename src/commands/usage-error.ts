import type { Command, CommanderError } from 'commander';
import { UsageError } from '../model/errors.ts';

const allowedChoices = /^Allowed choices are (.*)\.$/;

/** Says what is wrong with a command line in one line, and what to do in another. */
export function usageError({ code, message }: CommanderError, argv: readonly string[], program: Command): UsageError {
  const named = program.commands.find((one) => one.name() === argv[0]);
  const help = named === undefined ? 'ostiary --help lists the commands' : `ostiary ${named.name()} --help lists the flags`;
  if (code === 'commander.help') return new UsageError(`there is no command "${argv[1] ?? ''}"`, help);
  const text = message.replace(/^error: /, '');
  const [, option, value = '', wanted = ''] = /^option '(?:-\w, )?(--[\w-]+).*?' argument '(.*)' is invalid\. (.*)$/s.exec(text) ?? [];
  if (option !== undefined) return new UsageError(`${option} cannot be "${value}"`, wanted.replace(allowedChoices, 'one of $1'));
  const [, argument = '', name = '', choices] = /^command-argument value '(.*)' is invalid for argument '(.*)'\. (.*)$/s.exec(text) ?? [];
  if (choices !== undefined) return new UsageError(`the ${name} cannot be "${argument}"`, choices.replace(allowedChoices, 'one of $1'));
  const [, what = text, near] = /^(.*)\n\((Did you mean .*\?)\)$/s.exec(text) ?? [];
  return new UsageError(what.replaceAll(/'([^']*)'/g, '"$1"'), near === undefined ? help : near.replace('Did', 'did'));
}
