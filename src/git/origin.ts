import { resolve } from 'node:path';
import { AppError } from '../model/errors.ts';
import { type GitContext, isInside, realPath } from './git-environment.ts';
import type { Repository } from './repository.ts';
import { ofOrigin } from './refs.ts';
import { readGitLines, runGit, timeLimits } from './run-git.ts';

// Without prompts, and with its own timeouts: this ssh may outlive a git that Ostiary stops.
const defaultSsh = 'ssh -o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=10 -o ServerAliveCountMax=3';

/** A question to origin. */
const asking = { connects: true, timeoutMs: timeLimits.answer } as const;

/** Returns true if the repository has an origin. */
export function hasOrigin({ settings }: Repository): boolean {
  return (settings.valueOf('remote.origin.url') ?? '') !== '';
}

/** Returns true if origin is the repository with this page, by https or by ssh. */
export function isOriginOf({ settings }: Repository, page: string): boolean {
  const url = settings.valueOf('remote.origin.url') ?? '';
  const [, host, path] = /^(?:[^@/:]+@)?([^/:]+):(?!\/\/)(.+)$/.exec(url) ?? [];
  const address = host === undefined || path === undefined ? url : `ssh://${host}/${path}`;
  return URL.canParse(address) && repositoryOf(address) === repositoryOf(page);
}

/** Returns the host and the path of a repository's address; the port counts for https alone, because ssh has its own. */
function repositoryOf(address: string): string {
  const { protocol, host, hostname, pathname } = new URL(address);
  const path = pathname.replace(/\/$/, '').replace(/\.git$/, '');
  return `${protocol === 'ssh:' ? hostname : host}${path}`.toLowerCase();
}

/**
 * Lists the ids of the refs of origin that match the patterns, by their full names; git matches the end of a name, so that others can match,
 * too. Throws AppError when origin is not reachable.
 */
export async function listOrigin(repository: Repository, patterns: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (patterns.length === 0) return new Map();
  const args = ['ls-remote', '--refs', uploadPack(repository), 'origin', ...patterns];
  const { stdout } = await runGit(allowNetwork(repository), args, asking);
  return new Map([...stdout.toString().matchAll(/^([0-9a-f]+)\t(.+)$/gm)].map(([, id = '', ref = '']) => [ref, id]));
}

/**
 * Reads the default branch of origin and its last commit; without a commit if origin has no branch of the name that its HEAD has. Throws
 * AppError when origin is not reachable.
 */
export async function readOriginHead(
  repository: Repository,
): Promise<{ readonly name: string | undefined; readonly tip: string | undefined }> {
  const context = allowNetwork(repository);
  const args = ['ls-remote', '--symref', uploadPack(repository), 'origin', 'HEAD'];
  const text = (await runGit(context, args, asking)).stdout.toString();
  const [, tip] = /^([0-9a-f]+)\tHEAD$/m.exec(text) ?? [];
  const [, name] = /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(text) ?? [];
  if (tip !== undefined) return { name, tip };
  // Git prints a HEAD without a commit only in its trace.
  const { stderr } = await runGit({ ...context, tracesPackets: true }, args, asking);
  const [, unborn] = / unborn HEAD symref-target:refs\/heads\/(\S+)$/m.exec(stderr) ?? [];
  return { name: unborn, tip };
}

/**
 * Fetches refs of origin into other refs, `+FROM:TO`, or commits. A shallow clone fetches at least `depth` commits of each; it fetches as many
 * as it has of HEAD, because git would shorten the history otherwise.
 */
export async function fetchOrigin(repository: Repository, refs: readonly string[], depth: number): Promise<void> {
  const quiet = [
    '--quiet',
    '--no-tags',
    '--no-filter',
    '--no-write-fetch-head',
    '--no-recurse-submodules',
    '--refmap=',
    uploadPack(repository),
  ];
  await requireNoMissingObjects(repository);
  const cut = repository.shallow ? [`--depth=${Math.max(depth, 1 + (await countCommits(repository)))}`] : [];
  await runGit(allowNetwork(repository), ['fetch', ...quiet, ...cut, 'origin', ...refs], { connects: true });
}

/** A first fetch of what a shallow clone does not have, and one of all history. */
export const fetchDepths = [100, 2_147_483_647] as const;

/** Fetches into a shallow clone all history of HEAD, and of those of the branches that origin has as `refs/remotes/origin/BRANCH`. */
export async function fetchHistory(repository: Repository, branches: readonly string[]): Promise<void> {
  // Git would take a tag for a missing branch, and a branch HEAD would move the branch that `origin/HEAD` is a name of.
  const named = branches.filter((branch) => branch !== 'HEAD').map((branch) => [`refs/heads/${branch}`, `${ofOrigin}${branch}`] as const);
  const found = await listOrigin(
    repository,
    named.map(([ref]) => ref),
  );
  const refs = named.flatMap(([ref, here]) => (found.has(ref) ? [`+${ref}:${here}`] : []));
  await fetchOrigin(repository, [...(repository.head === undefined ? [] : [repository.head]), ...refs], fetchDepths[1]);
}

/** Counts the commits of HEAD that this clone has. */
async function countCommits(repository: Repository): Promise<number> {
  if (repository.head === undefined) return 0;
  const [count = ''] = await readGitLines(repository, ['rev-list', '--count', repository.head, '--'], { allowedExitCodes: [0, 128] });
  return Number.parseInt(count, 10) || 0;
}

/** Pushes a commit to a ref of origin if the ref still has the expected commit; an empty text expects that the ref does not exist. */
export async function pushOrigin(repository: Repository, commit: string, ref: string, expected: string): Promise<void> {
  await requireOriginOutsideCheckout(repository);
  await requireNoMissingObjects(repository, commit);
  const quiet = ['--quiet', '--no-verify', '--no-follow-tags', '--recurse-submodules=no', '--signed=no'];
  const all = [...quiet, receivePack(repository), `--force-with-lease=${ref}:${expected}`];
  await runGit(allowNetwork(repository), ['push', ...all, 'origin', `${commit}:${ref}`], { connects: true });
}

/** Throws AppError when origin is inside the checkout: a push to a local path runs its hooks, and a pull request can add such files. */
async function requireOriginOutsideCheckout(repository: Repository): Promise<void> {
  const { folder } = repository;
  const paths = (await readGitLines(repository, ['remote', 'get-url', '--push', '--all', 'origin'])).flatMap(localPath);
  const resolved = paths.map((path) => resolve(folder, path)).flatMap((path) => [path, realPath(path) ?? path]);
  if (!resolved.some((path) => isInside(path, folder))) return;
  throw new AppError('git/failed', 4, 'the URL of origin is a folder in this repository', { hint: 'change the URL of origin' });
}

/**
 * Throws AppError when objects of the commits are missing, or of any ref, and the repository names a program for origin: in a partial clone,
 * a push and a fetch request missing objects from origin with that program.
 */
async function requireNoMissingObjects(repository: Repository, ...commits: readonly string[]): Promise<void> {
  const { settings } = repository;
  const key = 'remote.origin.uploadpack';
  if (settings.valueOf(key) === undefined || settings.userValueOf(key) !== undefined) return;
  const args = ['rev-list', '--objects', '--quiet', ...commits, '--all', '--'];
  if ((await runGit(repository, args, { allowedExitCodes: [0, 1, 128] })).code === 0) return;
  const message = `objects are missing in this clone, and its configuration names a program to fetch them (${key})`;
  throw new AppError('git/failed', 4, message, { hint: `remove the setting: git config --unset-all ${key}` });
}

/** Returns the path if an address is a local one by git's rules: `file://`, or neither a scheme nor a host before a colon. */
function localPath(url: string): readonly string[] {
  if (/^file:\/\//i.test(url)) return [url.slice('file://'.length)];
  return url === '' || /^[^/]*:/.test(url) ? [] : [url];
}

/** Returns the option for the program on the side of origin; git uses the first value of the key, so only an option overrides the repository. */
function uploadPack({ settings }: Repository): string {
  return `--upload-pack=${settings.userValueOf('remote.origin.uploadpack') ?? 'git-upload-pack'}`;
}

function receivePack({ settings }: Repository): string {
  return `--receive-pack=${settings.userValueOf('remote.origin.receivepack') ?? 'git-receive-pack'}`;
}

/** Returns the context for commands that connect to origin: with allowed protocols, and with the user's own ssh command if there is one. */
export function allowNetwork({ settings, ...context }: Pick<Repository, 'settings'> & GitContext): GitContext {
  const { env } = context;
  return {
    ...context,
    protocols: protocolsOf(env['GIT_ALLOW_PROTOCOL'], settings.valueOf('remote.origin.url') ?? ''),
    env: { ...env, GIT_SSH_COMMAND: env['GIT_SSH_COMMAND'] ?? sshCommand(env['GIT_SSH'], settings.userValueOf('core.sshcommand') ?? '') },
  };
}

/** Returns the ssh command line. `GIT_SSH` names a program, not a command line, and the repository's setting would override it. */
function sshCommand(program: string | undefined, userCommand: string): string {
  if (userCommand !== '') return userCommand;
  return program === undefined ? defaultSsh : `'${program.replaceAll("'", String.raw`'\''`)}'`;
}

// An address `ext::` is a command line, and `fd::` is any open file descriptor.
const programProtocols: ReadonlySet<string> = new Set(['ext', 'fd']);

/** Returns the allowed protocols, which no setting can extend: the user's `GIT_ALLOW_PROTOCOL` without those that run programs, or the default. */
function protocolsOf(userProtocols: string | undefined, url: string): readonly string[] {
  if (userProtocols !== undefined) return userProtocols.split(':').filter((name) => !programProtocols.has(name));
  // Plain HTTP to this machine itself cannot be intercepted.
  const isLocal = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/]/.test(url);
  return ['https', 'ssh', 'file', ...(isLocal ? ['http'] : [])];
}
