import { resolve } from 'node:path';
import type { Target } from '../model/config.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { SourceFile } from '../model/source.ts';
import { shortList } from '../report/wording/counts.ts';
import { loadSources, readSources, replaceTexts } from '../project/manifests.ts';
import type { Planned } from './planning.ts';
import { isWithin, loadingOf } from './pull-project.ts';
import { wordsOf } from './pull-update.ts';
import type { CliContext } from './cli-context.ts';

const shownObjects = 5;

/** Tells of each other target whose manifests say something else once the files are as given, and of what. New manifests name their target. */
export function wantedElsewhere({ config, target }: Planned, files: readonly SourceFile[], context: CliContext): readonly Diagnostic[] {
  return config.targets.flatMap((other): readonly Diagnostic[] => {
    const objects = other.name === target.name ? [] : objectsFor(other, { config, files, context });
    if (objects.length === 0) return [];
    const message = `the target ${other.name} reads the same files: its manifests change, too, for ${shortList(objects, shownObjects).join(', ')}`;
    const hint = `plan with --target ${other.name}; what is not meant for it goes to an overlay of one of them`;
    return [{ code: 'adopt/shared', severity: 'notice', message, hint }];
  });
}

type Site = Pick<Planned, 'config'> & { readonly files: readonly SourceFile[]; readonly context: CliContext };

/** The objects of which the target's manifests say something else; none where they cannot be loaded. */
function objectsFor(target: Target, { config, files, context }: Site): readonly string[] {
  const folders = [...target.manifests, ...target.overlays];
  if (!files.some(({ path }) => folders.some((folder) => isWithin(resolve(context.cwd, path), folder)))) return [];
  const sources = readSources(config, target, context);
  const site = loadingOf(config, target, context);
  const [before, after] = [sources, replaceTexts(sources, files)].map((one) => loadSources(one, site).value);
  if (before === undefined || after === undefined) return [];
  const [words, next] = [wordsOf(before), wordsOf(after)];
  return [...next.keys()].filter((id) => words.get(id) !== next.get(id));
}
