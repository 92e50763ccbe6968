import { createHash } from 'node:crypto';
import { AppError } from '../model/errors.ts';
import { missingObject } from './objects.ts';
import { listRefs } from './refs.ts';
import { runGit } from './run-git.ts';
import { fetchDepths, fetchOrigin, hasOrigin, listOrigin, pushOrigin } from './origin.ts';
import { mergeBaseOf, readCommit, type Repository } from './repository.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commonFolderOf } from './git-environment.ts';
import type { Diagnostic } from '../model/diagnostic.ts';

/** The records of applies by ref name: as this clone has them, and as origin had them when it was last read. */
type AppliedRefs = { readonly local: ReadonlyMap<string, RecordCommit>; readonly origin: ReadonlyMap<string, RecordCommit> };

const localPrefix = 'refs/ostiary/applied/';
const originPrefix = 'refs/ostiary/origin/';

/**
 * Returns the name of the ref that records the last complete apply to a target. It contains the folder of the config file,
 * because two configs of a repository may have targets with the same name; with a URL, also a hash of that, beside the ref of another gateway.
 */
export function appliedRefName(folder: string, target: string, url?: string): string {
  const name = [...(folder === '' ? [] : [folder]), target].map(percentEncode).join('%2F');
  return url === undefined ? name : `${name}.${createHash('sha256').update(url).digest('hex').slice(0, 12)}`;
}

/** Parses the name of a ref into the target and the folder of its config file; undefined for other names. */
export function parseAppliedRefName(
  name: string,
): { readonly folder: string; readonly target: string; readonly isBeside?: true } | undefined {
  const [, plain, hash] = /^((?:[\w-]|%[0-9A-F]{2})+)(\.[0-9a-f]{12})?$/.exec(name) ?? [];
  if (plain === undefined) return undefined;
  const slash = plain.lastIndexOf('%2F');
  const [folder, target] = slash < 0 ? ['', plain] : [plain.slice(0, slash), plain.slice(slash + 3)];
  try {
    const names = { folder: decodeURIComponent(folder), target: decodeURIComponent(target) };
    return hash === undefined ? names : { ...names, isBeside: true };
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
  const commits = await readRecordRefs(repository, [localPrefix, originPrefix]);
  const below = (prefix: string): ReadonlyMap<string, RecordCommit> =>
    new Map(commits.flatMap(({ ref, commit }) => (ref.startsWith(prefix) ? [[ref.slice(prefix.length), commit] as const] : [])));
  return { local: below(localPrefix), origin: below(originPrefix) };
}

/** Lists the ids of the records of origin, by ref name; returns the error if origin is not reachable. */
export async function listOriginAppliedRefs(repository: Repository): Promise<ReadonlyMap<string, string> | AppError> {
  return catchOriginError(async () => {
    const refs = await listOrigin(repository, [`${localPrefix}*`]);
    return new Map([...refs].flatMap(([ref, id]) => (ref.startsWith(localPrefix) ? [[ref.slice(localPrefix.length), id] as const] : [])));
  });
}

/** Fetches records from origin into this clone; returns the error if that fails. A shallow clone also fetches the commits that the records name. */
async function fetchAppliedRefs(
  repository: Repository,
  names: readonly string[],
  { depth = 2, commits = [] }: { readonly depth?: number; readonly commits?: readonly string[] } = {},
): Promise<AppError | undefined> {
  return catchOriginError(async () => {
    await fetchOrigin(repository, [...names.map((name) => `+${localPrefix}${name}:${originPrefix}${name}`), ...commits], depth);
    return undefined;
  });
}

/**
 * Returns the last common ancestor of HEAD and a recorded commit. A shallow clone that does not show it fetches more history of both; undefined
 * if there is none, or origin does not give it.
 */
export async function findAppliedFork(
  repository: Repository,
  { head, commit, name }: { readonly head: string; readonly commit: string; readonly name: string | undefined },
): Promise<string | undefined> {
  let fork = await mergeBaseOf(repository, head, commit);
  if (!repository.shallow || name === undefined || !hasOrigin(repository)) return fork;
  for (const depth of fetchDepths) {
    if (fork !== undefined) return fork;
    // HEAD may be a commit that origin does not have.
    const failure = await fetchAppliedRefs(repository, [name], { depth, commits: [head] });
    if (failure !== undefined) await fetchAppliedRefs(repository, [name], { depth });
    fork = await mergeBaseOf(repository, head, commit);
  }
  return fork;
}

/**
 * Records an apply in this clone; with `expected`, only if the ref has that id, or does not exist for an empty text. An empty id deletes the
 * ref. Throws AppError with the code git/locked if another apply moved the ref, and git/ref-damaged if git cannot move it.
 */
export async function setAppliedRef(repository: Repository, name: string, id: string, expected?: string): Promise<void> {
  const last = expected === undefined ? [] : [expected === '' ? '0'.repeat(id.length) : expected];
  const move = id === '' ? ['-d', appliedRef(name)] : [appliedRef(name), id];
  try {
    await runGit(repository, ['update-ref', '-m', 'ostiary apply', ...move, ...last]);
  } catch (error) {
    const current = (await readAppliedRefs(repository)).local.get(name)?.id ?? '';
    // The push before it moves the ref too in a clone that fetches all refs of origin.
    if (current === id && id !== '') return;
    const isUnmoved = expected === undefined || current === expected;
    throw (isUnmoved || current === '' ? findDamage(repository, name, error) : undefined) ?? (isUnmoved ? error : movedRef(name, error));
  }
}

/** Returns the error for a ref that git cannot move, or cannot read although its file exists: a git that was killed left it so; undefined if it is in order. */
function findDamage(repository: Repository, name: string, cause?: unknown): AppError | undefined {
  // The worktrees of a clone share its refs.
  const file = join(commonFolderOf(repository.gitFolder ?? join(repository.folder, '.git')), appliedRef(name));
  const lock = `${file}.lock`;
  if (cause !== undefined && existsSync(lock)) {
    return new AppError('git/ref-damaged', 4, `git cannot move ${appliedRef(name)} of this clone: ${lock} exists`, {
      hint: 'a git that was killed left it; if no git runs in this clone, remove that file, then try again',
      cause,
    });
  }
  if (!existsSync(file)) return undefined;
  return new AppError('git/ref-damaged', 4, `git cannot read ${appliedRef(name)} of this clone: ${file} is damaged`, {
    hint: 'remove that file, then plan again; if origin has no record, name the last applied commit with --base REF',
    cause,
  });
}

/**
 * Pushes a record if the ref of origin still has the expected id (empty: does not exist). Returns the error if that fails, with the code
 * git/locked if the id shows that another apply moved the ref.
 */
export async function pushAppliedRef(
  repository: Repository,
  name: string,
  { id, expected }: { readonly id: string; readonly expected: string },
): Promise<AppError | undefined> {
  const failure = await catchOriginError(async () => {
    await pushOrigin(repository, id, `${localPrefix}${name}`, expected);
    await runGit(repository, ['update-ref', `${originPrefix}${name}`, id]);
    return undefined;
  });
  if (failure === undefined) return undefined;
  const refs = await listOriginAppliedRefs(repository);
  const current = refs instanceof AppError ? expected : (refs.get(name) ?? '');
  // The answer of a push may be lost after origin carried it out.
  if (current === id) return undefined;
  return current === expected ? failure : movedRef(name, failure);
}

function movedRef(name: string, cause: unknown): AppError {
  return new AppError('git/locked', 6, `another apply moved ${appliedRef(name)}`, { hint: 'plan again', cause });
}

/** Returns the result of an action, or the error if git failed or timed out. */
export async function catchOriginError<T>(action: () => Promise<T>): Promise<T | AppError> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof AppError && (error.code === 'git/failed' || error.code === 'git/timeout')) return error;
    throw error;
  }
}

/** The ref that the next apply moves, and the ids that it has here and on origin; empty where it does not exist. */
export type AppliedIds = { readonly ownName: string; readonly localId: string; readonly originId: string };

/** The record of a target: the name of its ref, and the commit behind it; undefined if no apply was ever recorded. */
export type LastApplied = AppliedIds & {
  readonly name: string;
  readonly commit: RecordCommit | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** Without a record of its own: the refs of gateways that no target has now, one of which may be its own at another URL. */
  readonly left: readonly string[];
};

type FoundRecord = Omit<LastApplied, 'ownName' | 'left'>;

type LastAppliedQuery = {
  readonly target: string;
  /** Names of config files, to detect whether one has moved. */
  readonly configs: readonly string[];
  readonly origin: boolean;
  readonly renames: RenamedTargets;
};

/** Whose a record is: of this target, of another one, of a gateway that no target has now, or of one that its commits do not tell. */
export type RecordOwner = 'this' | 'another' | 'none' | 'unknown';

/** Recognizes the records of a target under other names. */
export type RenamedTargets = {
  readonly url: string;
  /** Returns whether a target has the name now. */
  readonly isCurrent: (target: string) => boolean;
  /** Returns whose gateway the target of that name in a record is. */
  readonly ownerOf: (target: string, record: RecordCommit) => Promise<RecordOwner>;
  /** Returns when a record was written, as far as its signature proves it. */
  readonly writtenAt: (record: RecordCommit) => number;
};

/**
 * Finds the record of a target: that of origin, unless this clone applied since origin was last read. Of the records that a renamed target has
 * under several names, the last one counts. If origin is not reachable, returns that of this clone with a warning. Throws AppError when this
 * clone has none either, or a damaged one: a plan without a base could undo what is stricter on the gateway.
 */
export async function findLastApplied(repository: Repository, query: LastAppliedQuery): Promise<LastApplied> {
  const refs = await readAppliedRefs(repository);
  const originRefs = query.origin && hasOrigin(repository) ? await listOriginAppliedRefs(repository) : new Map<string, string>();
  const originNames = originRefs instanceof AppError ? [] : originRefs.keys();
  const names = new Set([...refs.local.keys(), ...originNames]);
  const expected = findRecordedName(repository, query, names);
  const folders = [repository.prefix, parseAppliedRefName(expected)?.folder];
  const listed = { refs, originRefs };
  const { target, renames } = query;
  const found = names.has(expected) ? await readLastApplied(repository, expected, listed) : undefined;
  const owner = found?.commit === undefined ? 'unknown' : await renames.ownerOf(target, found.commit);
  // An apply leaves the record of another target where it is.
  const ownName = appliedRefName(repository.prefix, target, owner === 'another' ? renames.url : undefined);
  const isOurs = owner === 'this' || owner === 'unknown';
  const others = [...names].filter((name) => {
    const { folder, target: other = '', isBeside } = parseAppliedRefName(name) ?? {};
    // Only targets that exchanged their names have a record under the name of another one.
    const isPossible = found?.commit === undefined || !isOurs || isBeside === true || !renames.isCurrent(other);
    return name !== expected && folders.includes(folder) && isPossible;
  });
  const read = await readEach(repository, others, listed);
  const renamed = await findRenamed(renames, isOurs ? found : undefined, read.values());
  const last = renamed ?? (owner === 'another' ? undefined : found) ?? (await readLastApplied(repository, ownName, listed));
  const own = ownName === expected ? found : read.get(ownName);
  const left = last.commit === undefined ? await findLeft(renames, read.values()) : [];
  return { ...last, ownName, localId: own?.localId ?? '', originId: own?.originId ?? '', left };
}

type ListedRefs = { readonly refs: AppliedRefs; readonly originRefs: ReadonlyMap<string, string> | AppError };

/** Reads some records by name; fetches in one request what reading each would fetch. If that fails, each is fetched by itself. */
async function readEach(repository: Repository, names: readonly string[], listed: ListedRefs): Promise<ReadonlyMap<string, FoundRecord>> {
  const fetched = await fetchAll(repository, names, listed);
  const read = new Map<string, FoundRecord>();
  for (const name of names) read.set(name, await readLastApplied(repository, name, fetched));
  return read;
}

async function fetchAll(repository: Repository, names: readonly string[], listed: ListedRefs): Promise<ListedRefs> {
  const { refs, originRefs } = listed;
  const missing =
    originRefs instanceof AppError
      ? []
      : names.filter((name) => (originRefs.get(name) ?? refs.origin.get(name)?.id) !== refs.origin.get(name)?.id);
  if (missing.length < 2 || (await fetchAppliedRefs(repository, missing)) !== undefined) return listed;
  const { origin } = await readAppliedRefs(repository);
  for (const name of missing) {
    const id = origin.get(name)?.id;
    if (id !== undefined) await setAppliedRef(repository, name, id);
  }
  return { refs: await readAppliedRefs(repository), originRefs };
}

/** Reads the record behind a ref, and fetches it if origin has another one than when it was last read. */
async function readLastApplied(repository: Repository, name: string, { refs, originRefs }: ListedRefs): Promise<FoundRecord> {
  const local = refs.local.get(name);
  const damage = local === undefined ? findDamage(repository, name) : undefined;
  if (damage !== undefined) throw damage;
  const localId = local?.id ?? '';
  const seen = refs.origin.get(name);
  if (originRefs instanceof AppError) return fallBackToLocal(originRefs, { name, local, originId: seen?.id ?? '' });
  const listed = originRefs.get(name);
  if (listed === undefined || listed === seen?.id)
    return { name, commit: local ?? (listed === undefined ? undefined : seen), localId, originId: listed ?? '', diagnostics: [] };
  const failure = await fetchAppliedRefs(repository, [name]);
  if (failure !== undefined) {
    // The clone may be read-only, for example on a read-only volume; the record of origin is still the last one.
    const commit = await readCommit(repository, listed);
    return commit === undefined
      ? fallBackToLocal(failure, { name, local, originId: listed })
      : { name, commit, localId, originId: listed, diagnostics: [] };
  }
  // Another apply may have recorded a later one since the refs were listed.
  const commit = (await readAppliedRefs(repository)).origin.get(name);
  if (commit === undefined) throw missingObject(repository, listed);
  await setAppliedRef(repository, name, commit.id);
  return { name, commit, localId: commit.id, originId: commit.id, diagnostics: [] };
}

/** Returns the name under which the target is recorded: that of its folder, or that of the folder from which its config file moved. */
function findRecordedName(repository: Repository, { target, configs }: LastAppliedQuery, names: ReadonlySet<string>): string {
  const name = appliedRefName(repository.prefix, target);
  if (names.has(name)) return name;
  const moved = [...names].filter((other) => {
    const recorded = parseAppliedRefName(other);
    if (recorded?.target !== target || recorded.isBeside === true) return false;
    return !configs.some((file) => existsSync(join(repository.folder, recorded.folder, file)));
  });
  return moved.length === 1 ? (moved[0] ?? name) : name;
}

/** Returns the last record of a target among those under its name, if that is its own, and under other names; undefined if there is none. */
async function findRenamed(
  { ownerOf, writtenAt }: RenamedTargets,
  own: FoundRecord | undefined,
  others: Iterable<FoundRecord>,
): Promise<FoundRecord | undefined> {
  let last = own;
  for (const one of others) {
    const { name, commit } = one;
    const isLater = commit !== undefined && (last?.commit === undefined || writtenAt(commit) > writtenAt(last.commit));
    if (isLater && (await ownerOf(parseAppliedRefName(name)?.target ?? '', commit)) === 'this') last = one;
  }
  return last;
}

/** Lists the refs of records of gateways that no target has now. */
async function findLeft({ ownerOf }: RenamedTargets, records: Iterable<FoundRecord>): Promise<readonly string[]> {
  const left: string[] = [];
  for (const { name, commit } of records)
    if (commit !== undefined && (await ownerOf(parseAppliedRefName(name)?.target ?? '', commit)) === 'none') left.push(name);
  return left;
}

type KnownRecord = { readonly name: string; readonly originId: string; readonly local: RecordCommit | undefined };

function fallBackToLocal(failure: AppError, { name, local, originId }: KnownRecord): FoundRecord {
  const message = `the last applied commit cannot be read from origin: ${failure.message}`;
  if (local === undefined) {
    throw new AppError('git/origin-unreachable', 4, message, {
      hint: 'give this clone access to origin, pass --no-origin to use the record of this clone, or pass --base REF',
      cause: failure,
    });
  }
  const hint = `${local.id.slice(0, 10)} is the record of this clone; another apply may have run since then`;
  return {
    name,
    commit: local,
    localId: local.id,
    originId,
    diagnostics: [{ code: 'git/origin-unreachable', severity: 'warning', message, hint }],
  };
}

/** A commit behind a ref of applies: its tree is empty, and its parents are the commits that it names. */
export type RecordCommit = {
  readonly id: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly at: Date;
  readonly message: string;
};

/** Reads the commits of all refs with the prefixes. */
async function readRecordRefs(
  repository: Repository,
  prefixes: readonly string[],
): Promise<readonly { readonly ref: string; readonly commit: RecordCommit }[]> {
  return Promise.all(
    (await listRefs(repository, prefixes)).map(async ({ ref, id }) => {
      const commit = await readCommit(repository, id);
      if (commit === undefined)
        throw new AppError('git/ref-damaged', 4, `${ref} of this clone is ${id}, a commit that this clone does not have`, {
          hint: `run git update-ref -d ${ref}, then plan again; if origin has no record, name the last applied commit with --base REF`,
        });
      return { ref, commit };
    }),
  );
}

const emptyTrees: ReadonlySet<string> = new Set([
  '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
]);

/** Returns whether a commit is a record. No commit of a proposal can pass for one: it has files. */
export function isRecordCommit({ tree }: RecordCommit): boolean {
  return emptyTrees.has(tree);
}

/** The empty trees that this run wrote. */
const trees = new WeakMap<Repository, string>();

async function writeObject(repository: Repository, type: string, input: string): Promise<string> {
  const { stdout } = await runGit(repository, ['hash-object', '-t', type, '-w', '--stdin'], { input });
  return stdout.toString().trim();
}

/** Writes a record as a commit without files; its parents keep the commits that it names reachable. Moves no ref. */
export async function writeRecordCommit(
  repository: Repository,
  { message, parents, at }: { readonly message: string; readonly parents: readonly string[]; readonly at: Date },
): Promise<RecordCommit> {
  const tree = await (trees.get(repository) ?? writeObject(repository, 'tree', ''));
  trees.set(repository, tree);
  const person = `Ostiary <ostiary@localhost> ${Math.floor(at.getTime() / 1000)} +0000`;
  const head = [`tree ${tree}`, ...parents.map((id) => `parent ${id}`), `author ${person}`, `committer ${person}`];
  return { id: await writeObject(repository, 'commit', `${head.join('\n')}\n\n${message}`), tree, parents, at, message };
}
