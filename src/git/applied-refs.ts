import { AppError } from '../model/errors.ts';
import { runPlumbing } from './run-git.ts';
import { fetchOrigin, hasOrigin, listOrigin, pushOrigin } from './origin.ts';
import { type Repository, hasCommit } from './repository.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Diagnostic } from '../model/diagnostic.ts';

/** The commits that were completely applied, by ref name: as this clone recorded them, and as origin had them when it was last read. */
export type AppliedRefs = { readonly local: ReadonlyMap<string, string>; readonly origin: ReadonlyMap<string, string> };

const localPrefix = 'refs/ostiary/applied/';
const originPrefix = 'refs/ostiary/origin/';

/**
 * Returns the name of the ref that records the last complete apply to a target. It contains the folder of the config file,
 * because two configs of a repository may have targets with the same name.
 */
export function appliedRefName(folder: string, target: string): string {
  return [...(folder === '' ? [] : [folder]), target].map(percentEncode).join('%2F');
}

/** Parses the name of a ref into the target and the folder of its config file; undefined for other names. */
export function parseAppliedRefName(name: string): { readonly folder: string; readonly target: string } | undefined {
  if (!/^(?:[\w-]|%[0-9A-F]{2})+$/.test(name)) return undefined;
  const slash = name.lastIndexOf('%2F');
  const [folder, target] = slash < 0 ? ['', name] : [name.slice(0, slash), name.slice(slash + 3)];
  try {
    return { folder: decodeURIComponent(folder), target: decodeURIComponent(target) };
  } catch {
    return undefined;
  }
}

/** Encodes a text with the characters that every ref may contain. */
function percentEncode(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) =>
      /[\w-]/.test(String.fromCodePoint(byte)) ? String.fromCodePoint(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('');
}

/** Returns the full name of the ref, which starts with `refs/`. */
export function appliedRef(name: string): string {
  return `${localPrefix}${name}`;
}

/** Reads the refs of this clone, without contacting origin. */
export async function readAppliedRefs(repository: Repository): Promise<AppliedRefs> {
  const { stdout } = await runPlumbing(repository, ['for-each-ref', '--format=%(objectname) %(refname)', localPrefix, originPrefix]);
  return { local: parseRefs(localPrefix, stdout.toString()), origin: parseRefs(originPrefix, stdout.toString()) };
}

/** Lists the commits that origin has as completely applied, by ref name; returns the error if origin is not reachable. */
export async function listOriginAppliedRefs(repository: Repository): Promise<ReadonlyMap<string, string> | AppError> {
  return catchOriginError(async () => {
    const lines = await listOrigin(repository, `${localPrefix}*`);
    return parseRefs(localPrefix, lines.join('\n').replaceAll('\t', ' '));
  });
}

/** Fetches an applied commit from origin into this clone; returns the error if that fails. */
export async function fetchAppliedRef(repository: Repository, name: string): Promise<AppError | undefined> {
  return catchOriginError(async () => {
    await fetchOrigin(repository, `+${localPrefix}${name}:${originPrefix}${name}`, 1);
    return undefined;
  });
}

/** Records in this clone that the commit was completely applied. */
export async function setAppliedRef(repository: Repository, name: string, commit: string): Promise<void> {
  await runPlumbing(repository, ['update-ref', '-m', 'ostiary apply', `${localPrefix}${name}`, commit]);
}

/** Pushes the record of an applied commit if origin has not changed since it was last read; returns the error if that fails. */
export async function pushAppliedRef(repository: Repository, name: string, commit: string): Promise<AppError | undefined> {
  const { origin } = await readAppliedRefs(repository);
  return catchOriginError(async () => {
    await pushOrigin(repository, commit, `${localPrefix}${name}`, origin.get(name) ?? '');
    await runPlumbing(repository, ['update-ref', `${originPrefix}${name}`, commit]);
    return undefined;
  });
}

/** Returns the result of an action, or the error if git failed or timed out. */
async function catchOriginError<T>(action: () => Promise<T>): Promise<T | AppError> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof AppError && (error.code === 'git/failed' || error.code === 'git/timeout')) return error;
    throw error;
  }
}

function parseRefs(prefix: string, text: string): ReadonlyMap<string, string> {
  const lines = text.split('\n').map((line) => line.split(' '));
  return new Map(lines.flatMap(([id = '', ref = '']) => (ref.startsWith(prefix) ? [[ref.slice(prefix.length), id] as const] : [])));
}

export type LastApplied = {
  /** Undefined if no apply was ever recorded. */
  readonly commit: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
};

export type LastAppliedQuery = {
  readonly target: string;
  /** Names of config files, to detect whether one has moved. */
  readonly configs: readonly string[];
  /** Whether to read origin. */
  readonly origin: boolean;
};

/**
 * Finds the commit that was last completely applied to a target: that of origin, unless this clone applied since origin was last
 * read. If origin is not reachable, returns the commit of this clone with a warning. Throws AppError when this clone has no commit
 * either: a plan without a base could undo what is stricter on the gateway.
 */
export async function findLastApplied(repository: Repository, query: LastAppliedQuery): Promise<LastApplied> {
  const refs = await readAppliedRefs(repository);
  const originRefs = query.origin && hasOrigin(repository) ? await listOriginAppliedRefs(repository) : new Map<string, string>();
  const originNames = originRefs instanceof AppError ? [] : originRefs.keys();
  const name = findRecordedName(repository, query, new Set([...refs.local.keys(), ...originNames]));
  const local = refs.local.get(name);
  if (originRefs instanceof AppError) return fallBackToLocal(originRefs, local);
  const latest = originRefs.get(name);
  if (latest === undefined || latest === refs.origin.get(name)) return { commit: local ?? latest, diagnostics: [] };
  const failure = await fetchAppliedRef(repository, name);
  // The clone may be read-only, for example on a read-only volume; the commit of origin is still the last applied one.
  if (failure !== undefined)
    return (await hasCommit(repository, latest)) ? { commit: latest, diagnostics: [] } : fallBackToLocal(failure, local);
  await setAppliedRef(repository, name, latest);
  return { commit: latest, diagnostics: [] };
}

/** Returns the name under which the target is recorded: that of its folder, or that of the folder from which its config file moved. */
function findRecordedName(repository: Repository, { target, configs }: LastAppliedQuery, names: ReadonlySet<string>): string {
  const name = appliedRefName(repository.prefix, target);
  if (names.has(name)) return name;
  const moved = [...names].filter((other) => {
    const recorded = parseAppliedRefName(other);
    return recorded?.target === target && !configs.some((file) => existsSync(join(repository.folder, recorded.folder, file)));
  });
  return moved.length === 1 ? (moved[0] ?? name) : name;
}

function fallBackToLocal(failure: AppError, local: string | undefined): LastApplied {
  const message = `origin cannot be asked what was last applied: ${failure.message}`;
  if (local === undefined) {
    throw new AppError('git/origin-unreachable', 4, message, {
      hint: 'give this clone access to origin; or --no-origin keeps to what this clone knows, --base REF names the commit',
      cause: failure,
    });
  }
  const hint = `${local.slice(0, 10)} is what this clone knows; somebody else may have applied since`;
  return { commit: local, diagnostics: [{ code: 'git/origin-unreachable', severity: 'warning', message, hint }] };
}
