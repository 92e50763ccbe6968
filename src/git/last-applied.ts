import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Diagnostic } from '../model/diagnostic.ts';
import { AppError } from '../model/errors.ts';
import { appliedName, askOrigin, fetchApplied, hasOrigin, keepApplied, readName, readRecorded } from './applied.ts';
import { hasCommit, type Repository } from './repository.ts';

export type LastApplied = {
  /** Undefined where nothing was ever recorded. */
  readonly commit: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
};

export type Wanted = {
  readonly target: string;
  /** Names of config files, to tell whether one has moved. */
  readonly configs: readonly string[];
  /** Whether origin is asked. */
  readonly origin: boolean;
};

/**
 * Finds the commit that was last wholly applied to a target: what origin tells, unless this clone applied since. Where
 * origin cannot be asked, this clone's word counts and a warning says so; without one nothing may be concluded.
 */
export async function findLastApplied(repository: Repository, wanted: Wanted): Promise<LastApplied> {
  const recorded = await readRecorded(repository);
  const asked = wanted.origin && hasOrigin(repository);
  const told = asked ? await askOrigin(repository) : new Map<string, string>();
  const remote = told instanceof AppError ? new Map<string, string>() : told;
  const name = nameOf(repository, wanted, new Set([...recorded.here.keys(), ...remote.keys()]));
  const here = recorded.here.get(name);
  if (told instanceof AppError) return orHere(told, here);
  const there = remote.get(name);
  if (there === undefined || there === recorded.seen.get(name)) return { commit: here ?? there, diagnostics: [] };
  const failure = await fetchApplied(repository, name);
  // Nothing can be kept where nothing may be written, as on a volume that is only read; what origin told counts all the same.
  if (failure !== undefined) return (await hasCommit(repository, there)) ? { commit: there, diagnostics: [] } : orHere(failure, here);
  await keepApplied(repository, name, there);
  return { commit: there, diagnostics: [] };
}

/** The name that the target is recorded by: that of its folder, or of the folder that its config file has moved from. */
function nameOf(repository: Repository, { target, configs }: Wanted, names: ReadonlySet<string>): string {
  const name = appliedName(repository.prefix, target);
  if (names.has(name)) return name;
  const moved = [...names].filter((one) => {
    const known = readName(one);
    return known?.target === target && !configs.some((file) => existsSync(join(repository.folder, known.folder, file)));
  });
  return moved.length === 1 ? (moved[0] ?? name) : name;
}

function orHere(failure: AppError, here: string | undefined): LastApplied {
  const message = `origin cannot be asked what was last applied: ${failure.message}`;
  if (here === undefined) {
    throw new AppError('git/origin-unreachable', 4, message, {
      hint: 'give this clone access to origin; or --no-origin keeps to what this clone knows, --base REF names the commit',
      cause: failure,
    });
  }
  const hint = `${here.slice(0, 10)} is what this clone knows; somebody else may have applied since`;
  return { commit: here, diagnostics: [{ code: 'git/origin-unreachable', severity: 'warning', message, hint }] };
}
