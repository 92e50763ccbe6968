import type { Command } from 'commander';
import { UsageError } from '../../model/errors.ts';
import { isStdin } from '../context/stdin.ts';

type Refusal = readonly [message: string, hint: string];

const noFolder: Refusal = ['"-" is not a folder', 'pass the path of a folder, such as .'];

/**
 * What "-" means as the value of each option and argument that takes a path: stdin, which the command reads, or an error, because stdout
 * has the result already. A test compares the names with those of the commands.
 */
export const dashMeanings: Readonly<Record<string, 'stdin' | Refusal>> = {
  '--from-state': 'stdin',
  '--plan': 'stdin',
  '--report': ['a report cannot be written to stdout, where the result is printed', 'pass a path, or print it with --format'],
  '--verify': ['"-" is not a report', 'pass the path of the page or the JSON file'],
  '--sarif': ['a report cannot be written to stdout, where the result is printed', 'pass the path of a file'],
  '--out': ['a plan cannot be saved to stdout, where it is printed', 'pass the path of a file, such as --out plan.json'],
  'record --out': ['the private half is printed to stdout without --out', 'remove --out'],
  '--snapshot': ['"-" is not a snapshot', 'pass the path of a file'],
  '--journal': ['the journal cannot be written to stdout, where the result is printed', 'pass the path of a file'],
  '--config': ['"-" is not a config file', 'pass the path of the config file, such as ostiary.yaml'],
  '--cache': noFolder,
  '[directory]': noFolder,
  '[folder]': noFolder,
  'validate [paths...]': 'stdin',
  'test [paths...]': 'stdin',
  'fmt [paths...]': 'stdin',
  '[paths...]': ['the manifests cannot be read from stdin', 'pass files and folders; only validate, test and fmt read stdin'],
};

/** Makes it an error to give "-" as a path where it is not stdin: without it, a file or folder with this name would be used. */
export function refuseDash(on: Command): void {
  on.hook('preAction', (_, command) => {
    for (const option of command.options) {
      const value: unknown = command.getOptionValue(option.attributeName());
      const name = option.long ?? '';
      if (pathsIn(value).includes('-')) throwRefusal(dashMeanings[`${command.name()} ${name}`] ?? dashMeanings[name]);
    }
    command.registeredArguments.forEach((argument, index) => {
      const name = `[${argument.name()}${argument.variadic ? '...' : ''}]`;
      const paths = pathsIn(command.processedArgs[index]);
      if (argument.variadic ? paths.some(isStdin) : paths.includes('-'))
        throwRefusal(dashMeanings[`${command.name()} ${name}`] ?? dashMeanings[name]);
    });
  });
}

function throwRefusal(meaning: 'stdin' | Refusal | undefined): void {
  if (meaning !== undefined && meaning !== 'stdin') throw new UsageError(meaning[0], meaning[1]);
}

/** Returns the paths in the value of an option or argument: a text, texts, or reports with their paths. */
function pathsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(pathsIn);
  return typeof value === 'object' && value !== null && 'path' in value ? pathsIn(value.path) : [];
}
