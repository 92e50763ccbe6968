import type { Command } from 'commander';
import { UsageError } from '../../model/errors.ts';

const pathOption = /<(?:file|folder|format=path)>/;
const pathArguments: readonly string[] = ['paths', 'directory', 'folder'];

/**
 * Makes two paths an error: "-", which means stdin or stdout elsewhere and would be the name of a file or folder here; and a saved plan among
 * those of manifests.
 */
export function refusePaths(on: Command): void {
  on.hook('preAction', (_, command) => {
    const options = command.options.filter(({ flags }) => pathOption.test(flags));
    const named = command.registeredArguments.map((argument, index): unknown =>
      pathArguments.includes(argument.name()) ? command.processedArgs[index] : undefined,
    );
    const given = [...options.map((option): unknown => command.getOptionValue(option.attributeName())), ...named];
    if (given.flatMap(pathsIn).includes('-'))
      throw new UsageError(
        '"-" is not a path',
        'pass the path of a file or folder; Ostiary reads no files from stdin, and writes none to stdout',
      );
    const saved = named.flatMap(pathsIn).find((path) => path.endsWith('.json'));
    if (saved !== undefined && command.options.some(({ long }) => long === '--only'))
      throw new UsageError(`"${saved}" is not a manifest`, `to apply a saved plan, run ostiary apply --plan ${saved}`);
  });
}

/** Returns the paths in the value of an option or argument: a text, texts, or reports with their paths. */
function pathsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(pathsIn);
  return typeof value === 'object' && value !== null && 'path' in value ? pathsIn(value.path) : [];
}
