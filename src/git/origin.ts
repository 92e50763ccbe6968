import { resolve } from 'node:path';
import { AppError } from '../model/errors.ts';
import type { GitContext } from './git-environment.ts';
import { isInside, realPath } from './locate-repository.ts';
import type { Repository } from './repository.ts';
import { runPlumbing, runPorcelain } from './run-git.ts';

// Asks nobody, and gives up by itself: when git has to be ended, its ssh may live on.
const defaultSsh = 'ssh -o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=10 -o ServerAliveCountMax=3';

const defaultTimeoutMs = 30_000;

/** Returns whether the repository has an origin. */
export function hasOrigin({ settings }: Repository): boolean {
  return (settings.valueOf('remote.origin.url') ?? '') !== '';
}

/** Lists the refs of origin, each line as git prints it. */
export async function listOrigin(repository: Repository, pattern: string): Promise<readonly string[]> {
  const told = await runPorcelain(
    allowNetwork(repository),
    (git) => git.listRemote(['--refs', uploadPack(repository), 'origin', pattern]),
    {
      timeoutMs: defaultTimeoutMs,
    },
  );
  return told.split('\n');
}

/** Fetches a ref of origin into another one; `depth` counts where history is cut off. */
export async function fetchOrigin(repository: Repository, refs: string, depth: number): Promise<void> {
  const quiet = ['--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--refmap=', uploadPack(repository)];
  const cut = repository.shallow ? [`--depth=${depth}`] : [];
  await runPorcelain(allowNetwork(repository), (git) => git.raw('fetch', ...quiet, ...cut, 'origin', refs), {
    timeoutMs: 4 * defaultTimeoutMs,
  });
}

/** Pushes a commit to a ref of origin, unless it is no longer what was expected; empty: it was not there. */
export async function pushOrigin(repository: Repository, commit: string, ref: string, expected: string): Promise<void> {
  await requireOriginOutsideCheckout(repository);
  const quiet = ['--quiet', '--no-verify', '--no-follow-tags', '--recurse-submodules=no', '--signed=no'];
  const all = [...quiet, receivePack(repository), `--force-with-lease=${ref}:${expected}`];
  await runPorcelain(allowNetwork(repository), (git) => git.raw('push', ...all, 'origin', `${commit}:${ref}`), {
    timeoutMs: 4 * defaultTimeoutMs,
  });
}

/** A push runs the hooks of a repository on this machine, and files that are checked out can look like one. */
async function requireOriginOutsideCheckout(repository: Repository): Promise<void> {
  const { folder } = repository;
  const { stdout } = await runPlumbing(repository, ['remote', 'get-url', '--push', '--all', 'origin']);
  const paths = stdout.toString().split('\n').flatMap(localPath);
  const places = paths.map((path) => resolve(folder, path)).flatMap((path) => [path, realPath(path) ?? path]);
  if (!places.some((place) => isInside(place, folder))) return;
  throw new AppError('git/failed', 4, 'the address of origin is a folder in this repository', { hint: 'change the address of origin' });
}

/** The path that an address is, as git decides it: no scheme, and no host before a colon. */
function localPath(url: string): readonly string[] {
  if (/^file:\/\//i.test(url)) return [url.slice('file://'.length)];
  return url === '' || /^[^/]*:/.test(url) ? [] : [url];
}

/** Of several values git takes the first one, so only an option outranks the repository's. */
function uploadPack({ settings }: Repository): string {
  return `--upload-pack=${settings.userValueOf('remote.origin.uploadpack') ?? 'git-upload-pack'}`;
}

function receivePack({ settings }: Repository): string {
  return `--receive-pack=${settings.userValueOf('remote.origin.receivepack') ?? 'git-receive-pack'}`;
}

/** Returns the repository as git shall see it where it asks another machine; users with an ssh command of their own keep it. */
export function allowNetwork({ settings, ...place }: Pick<Repository, 'settings'> & GitContext): GitContext {
  const { env } = place;
  return {
    ...place,
    protocols: protocolsOf(env['GIT_ALLOW_PROTOCOL'], settings.valueOf('remote.origin.url') ?? ''),
    env: { ...env, GIT_SSH_COMMAND: env['GIT_SSH_COMMAND'] ?? sshCommand(env['GIT_SSH'], settings.userValueOf('core.sshcommand') ?? '') },
  };
}

/** The repository's own command would outrank `GIT_SSH`, which names a program, not a command line. */
function sshCommand(program: string | undefined, own: string): string {
  if (own !== '') return own;
  return program === undefined ? defaultSsh : `'${program.replaceAll("'", String.raw`'\''`)}'`;
}

// An address `ext::` is a command line, and `fd::` is whatever has that number.
const programProtocols: ReadonlySet<string> = new Set(['ext', 'fd']);

/** The protocols that no setting can add to; the user's own list counts, except for those that run programs. */
function protocolsOf(own: string | undefined, url: string): readonly string[] {
  if (own !== undefined) return own.split(':').filter((name) => !programProtocols.has(name));
  // What goes to this machine itself cannot be read on the way.
  const isHere = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/]/.test(url);
  return ['https', 'ssh', 'file', ...(isHere ? ['http'] : [])];
}
