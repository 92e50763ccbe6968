import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { registry } from '../../kinds/index.ts';
import { UsageError } from '../../model/errors.ts';
import { absolutePath, type ProjectContext } from '../../project/resolved-config.ts';

/**
 * Lets `KIND/NAME` among the paths of a command select that resource, as `--only` does, unless a file or folder has the name; and refuses a
 * saved plan among them, which is no manifest.
 */
export function readPaths(on: Command, context: ProjectContext): void {
  if (!on.options.some(({ long }) => long === '--only') || on.registeredArguments[0]?.variadic !== true) return;
  on.hook('preAction', (_, command) => {
    const [paths]: readonly unknown[] = command.processedArgs;
    if (!Array.isArray(paths)) return;
    const saved = paths.find((path) => typeof path === 'string' && path.endsWith('.json'));
    if (saved !== undefined)
      throw new UsageError(`"${saved}" is not a manifest`, `to apply a saved plan, run ostiary apply --plan ${saved}`);
    const named = paths.filter(
      (path) => typeof path === 'string' && /^[A-Z]\w+\/[^/]+$/.test(path) && !existsSync(absolutePath(path, context)),
    );
    const ids = named.filter((path) => registry.has(path.replace(/\/.*$/, '')));
    command.processedArgs[0] = paths.filter((path) => !ids.includes(path));
    command.setOptionValue('only', [command.getOptionValue('only'), ids].flat());
  });
}
