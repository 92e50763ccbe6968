import { AppError } from '../model/errors.ts';
import { runPlumbing } from './run-git.ts';
import { fetchOrigin, hasOrigin, listOrigin, pushOrigin } from './origin.ts';
import { type Repository, hasCommit } from './repository.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Diagnostic } from '../model/diagnostic.ts';

/** What was wholly applied, by the name of its ref: here, and as origin last told of it. */
export type AppliedRefs = { readonly local: ReadonlyMap<string, string>; readonly origin: ReadonlyMap<string, string> };

const localPrefix = 'refs/ostiary/applied/';
const originPrefix = 'refs/ostiary/origin/';

/**
 * The name of the ref that keeps what was wholly applied to a target, by its config file's folder in the repository:
 * two configs of one repository may have targets of one name.
 */
export function appliedRefName(folder: string, target: string): string {
  return [...(folder === '' ? [] : [folder]), target].map(percentEncode).join('%2F');
}

/** The target that a name is of, and the folder of its config file. */
export function parseAppliedRefName(name: string): { readonly folder: string; readonly target: string } | undefined {
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
function percentEncode(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) =>
      /[\w-]/.test(String.fromCodePoint(byte)) ? String.fromCodePoint(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('');
}

/** The whole name of the ref. */
export function appliedRef(name: string): string {
  return `${localPrefix}${name}`;
}

/** Reads what this clone knows. */
export async function readAppliedRefs(repository: Repository): Promise<AppliedRefs> {
  const { stdout } = await runPlumbing(repository, ['for-each-ref', '--format=%(objectname) %(refname)', localPrefix, originPrefix]);
  return { local: parseRefs(localPrefix, stdout.toString()), origin: parseRefs(originPrefix, stdout.toString()) };
}

/** Asks origin what was wholly applied; where it does not answer, why. */
export async function listOriginAppliedRefs(repository: Repository): Promise<ReadonlyMap<string, string> | AppError> {
  return catchOriginError(async () => {
    const lines = await listOrigin(repository, `${localPrefix}*`);
    return parseRefs(localPrefix, lines.join('\n').replaceAll('\t', ' '));
  });
}

/** Brings a commit that origin keeps, and what was applied with it, into this clone; why, where that cannot be. */
export async function fetchAppliedRef(repository: Repository, name: string): Promise<AppError | undefined> {
  return catchOriginError(async () => {
    await fetchOrigin(repository, `+${localPrefix}${name}:${originPrefix}${name}`, 1);
    return undefined;
  });
}

/** Keeps in this clone what was wholly applied. */
export async function setAppliedRef(repository: Repository, name: string, commit: string): Promise<void> {
  await runPlumbing(repository, ['update-ref', '-m', 'ostiary apply', `${localPrefix}${name}`, commit]);
}

/** Tells origin what was wholly applied, unless it was told otherwise since it was last asked; why, where that cannot be. */
export async function pushAppliedRef(repository: Repository, name: string, commit: string): Promise<AppError | undefined> {
  const { origin: known } = await readAppliedRefs(repository);
  return catchOriginError(async () => {
    await pushOrigin(repository, commit, `${localPrefix}${name}`, known.get(name) ?? '');
    await runPlumbing(repository, ['update-ref', `${originPrefix}${name}`, commit]);
    return undefined;
  });
}

/** What came of it, or what went wrong with origin. */
async function catchOriginError<T>(action: () => Promise<T>): Promise<T | AppError> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof AppError && (error.code === 'git/failed' || error.code === 'git/timeout')) return error;
    throw error;
  }
}

function parseRefs(top: string, text: string): ReadonlyMap<string, string> {
  const lines = text.split('\n').map((line) => line.split(' '));
  return new Map(lines.flatMap(([id = '', ref = '']) => (ref.startsWith(top) ? [[ref.slice(top.length), id] as const] : [])));
}

export type LastApplied = {
  /** Undefined where nothing was ever recorded. */
  readonly commit: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
};

export type LastAppliedQuery = {
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
export async function findLastApplied(repository: Repository, wanted: LastAppliedQuery): Promise<LastApplied> {
  const recorded = await readAppliedRefs(repository);
  const asked = wanted.origin && hasOrigin(repository);
  const told = asked ? await listOriginAppliedRefs(repository) : new Map<string, string>();
  const remote = told instanceof AppError ? new Map<string, string>() : told;
  const name = findRecordedName(repository, wanted, new Set([...recorded.local.keys(), ...remote.keys()]));
  const here = recorded.local.get(name);
  if (told instanceof AppError) return fallBackToLocal(told, here);
  const there = remote.get(name);
  if (there === undefined || there === recorded.origin.get(name)) return { commit: here ?? there, diagnostics: [] };
  const failure = await fetchAppliedRef(repository, name);
  // Nothing can be kept where nothing may be written, as on a volume that is only read; what origin told counts all the same.
  if (failure !== undefined)
    return (await hasCommit(repository, there)) ? { commit: there, diagnostics: [] } : fallBackToLocal(failure, here);
  await setAppliedRef(repository, name, there);
  return { commit: there, diagnostics: [] };
}

/** The name that the target is recorded by: that of its folder, or of the folder that its config file has moved from. */
function findRecordedName(repository: Repository, { target, configs }: LastAppliedQuery, names: ReadonlySet<string>): string {
  const name = appliedRefName(repository.prefix, target);
  if (names.has(name)) return name;
  const moved = [...names].filter((one) => {
    const known = parseAppliedRefName(one);
    return known?.target === target && !configs.some((file) => existsSync(join(repository.folder, known.folder, file)));
  });
  return moved.length === 1 ? (moved[0] ?? name) : name;
}

function fallBackToLocal(failure: AppError, here: string | undefined): LastApplied {
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
