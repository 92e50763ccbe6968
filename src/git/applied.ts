import { AppError } from '../model/errors.ts';
import { askGit } from './ask-git.ts';
import { fetchOrigin, listOrigin, pushOrigin } from './reach.ts';
import { type Repository, hasCommit } from './repository.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Diagnostic } from '../model/diagnostic.ts';

/** What was wholly applied, by the name of its ref: here, and as origin last told of it. */
export type Recorded = { readonly here: ReadonlyMap<string, string>; readonly seen: ReadonlyMap<string, string> };

const appliedRefs = 'refs/ostiary/applied/';
const seen = 'refs/ostiary/origin/';

/**
 * The name of the ref that keeps what was wholly applied to a target, by its config file's folder in the repository:
 * two configs of one repository may have targets of one name.
 */
export function appliedName(folder: string, target: string): string {
  return [...(folder === '' ? [] : [folder]), target].map(encoded).join('%2F');
}

/** The target that a name is of, and the folder of its config file. */
export function readName(name: string): { readonly folder: string; readonly target: string } | undefined {
  if (!/^(?:[\w-]|%[0-9A-F]{2})+$/.test(name)) return undefined;
  const at = name.lastIndexOf('%2F');
  const [folder, target] = at < 0 ? ['', name] : [name.slice(0, at), name.slice(at + 3)];
  try {
    return { folder: decodeURIComponent(folder), target: decodeURIComponent(target) };
  } catch {
    return undefined;
  }
}

/** Spells a text with the characters alone that every ref may have. */
function encoded(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) =>
      /[\w-]/.test(String.fromCodePoint(byte)) ? String.fromCodePoint(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('');
}

/** The whole name of the ref. */
export function appliedRef(name: string): string {
  return `${appliedRefs}${name}`;
}

/** Reads what this clone knows. */
export async function readRecorded(repository: Repository): Promise<Recorded> {
  const { stdout } = await askGit(repository, ['for-each-ref', '--format=%(objectname) %(refname)', appliedRefs, seen]);
  return { here: refsBelow(appliedRefs, stdout.toString()), seen: refsBelow(seen, stdout.toString()) };
}

/** Returns whether the repository has an origin. */
export function hasOrigin({ settings }: Repository): boolean {
  return (settings.valueOf('remote.origin.url') ?? '') !== '';
}

/** Asks origin what was wholly applied; where it does not answer, why. */
export async function askOrigin(repository: Repository): Promise<ReadonlyMap<string, string> | AppError> {
  return orWhy(async () => {
    const lines = await listOrigin(repository, `${appliedRefs}*`);
    return refsBelow(appliedRefs, lines.join('\n').replaceAll('\t', ' '));
  });
}

/** Brings a commit that origin keeps, and what was applied with it, into this clone; why, where that cannot be. */
export async function fetchApplied(repository: Repository, name: string): Promise<AppError | undefined> {
  return orWhy(async () => {
    await fetchOrigin(repository, `+${appliedRefs}${name}:${seen}${name}`, 1);
    return undefined;
  });
}

/** Keeps in this clone what was wholly applied. */
export async function keepApplied(repository: Repository, name: string, commit: string): Promise<void> {
  await askGit(repository, ['update-ref', '-m', 'ostiary apply', `${appliedRefs}${name}`, commit]);
}

/** Tells origin what was wholly applied, unless it was told otherwise since it was last asked; why, where that cannot be. */
export async function pushApplied(repository: Repository, name: string, commit: string): Promise<AppError | undefined> {
  const { seen: known } = await readRecorded(repository);
  return orWhy(async () => {
    await pushOrigin(repository, commit, `${appliedRefs}${name}`, known.get(name) ?? '');
    await askGit(repository, ['update-ref', `${seen}${name}`, commit]);
    return undefined;
  });
}

/** What came of it, or what went wrong with origin. */
async function orWhy<T>(action: () => Promise<T>): Promise<T | AppError> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof AppError && (error.code === 'git/failed' || error.code === 'git/timeout')) return error;
    throw error;
  }
}

function refsBelow(top: string, text: string): ReadonlyMap<string, string> {
  const lines = text.split('\n').map((line) => line.split(' '));
  return new Map(lines.flatMap(([id = '', ref = '']) => (ref.startsWith(top) ? [[ref.slice(top.length), id] as const] : [])));
}

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
