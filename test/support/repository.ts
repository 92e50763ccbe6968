import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { openRepository, type Repository } from '../../src/git/repository.ts';
import { writeFiles, type Files } from '../e2e/project.ts';
import { readRef } from './read-ref.ts';

/** A git repository in a temporary folder. */
export type TestRepository = {
  readonly folder: string;
  /** Runs git in it and returns what it prints. */
  readonly git: (...args: readonly string[]) => string;
  readonly write: (files: Files) => void;
  readonly remove: (...paths: readonly string[]) => void;
  readonly link: (path: string, target: string) => void;
  /** Makes a file executable. */
  readonly makeExecutable: (path: string) => void;
  /** Commits everything and returns the commit. */
  readonly commit: (message?: string) => string;
  /** Writes, commits everything and returns the commit. */
  readonly save: (files: Files, message?: string) => string;
  readonly open: (folder?: string) => Promise<Repository>;
};

/** The environment of git: an author, and no settings of the user who runs the tests. */
export const gitEnv: Readonly<Record<string, string>> = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
};

/** Settings in git's environment; maintenance is off because these repositories stay small. */
const gitSettings = {
  GIT_CONFIG_COUNT: '3',
  GIT_CONFIG_KEY_0: 'protocol.file.allow',
  GIT_CONFIG_VALUE_0: 'always',
  GIT_CONFIG_KEY_1: 'maintenance.auto',
  GIT_CONFIG_VALUE_1: 'false',
  GIT_CONFIG_KEY_2: 'gc.auto',
  GIT_CONFIG_VALUE_2: '0',
};

/** Creates repositories for the tests of one file, and removes them after the last test. */
export function useRepositories(): {
  readonly make: (files?: Files) => TestRepository;
  /** Creates a bare repository with the same branches, and makes it the origin. */
  readonly makeOrigin: (of: TestRepository) => TestRepository;
  readonly clone: (of: TestRepository, ...args: readonly string[]) => TestRepository;
  readonly at: (folder: string, isNew?: boolean) => TestRepository;
  readonly place: () => string;
} {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ostiary-git-')));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  let count = 0;
  const place = (): string => {
    count += 1;
    return join(root, `repository-${count}`);
  };
  let empty: string | undefined;
  return {
    place,
    at: repositoryAt,
    make(files) {
      const repository = repositoryAt(place(), true);
      if (empty === undefined) {
        empty = repositoryAt(place(), true).folder;
        runIn(empty, 'git', ['init', '--quiet', '--template=', '--initial-branch=main']);
      }
      cpSync(empty, repository.folder, { recursive: true });
      repository.write(files ?? {});
      if (files !== undefined) repository.commit();
      return repository;
    },
    makeOrigin(of) {
      const origin = repositoryAt(place(), true);
      runIn(of.folder, 'sh', ['-ec', originScript, 'sh', origin.folder]);
      return origin;
    },
    clone(of, ...args) {
      const folder = place();
      runIn(of.folder, 'sh', ['-ec', args.length === 0 ? cloneScript : partScript, 'sh', of.folder, folder, ...args]);
      return repositoryAt(folder);
    },
  };
}

// Starting a process from a process of this size takes longer than git itself, so one shell runs several commands.
const commitScript = 'git add --all --force; git commit --quiet --allow-empty --message "$1"';
const originScript = `git init --quiet --template= --bare --initial-branch=main "$1"
  git remote add origin "$1"
  git push --quiet origin --all`;
// Copies the files instead of sending the objects; for a part of them, git needs the address of a remote.
const cloneScript = `git clone --quiet --template= --no-hardlinks "$1" "$2"
  git -C "$2" remote set-url origin "file://$1"`;
const partScript = 'from="file://$1"; to="$2"; shift 2; git clone --quiet --template= "$@" "$from" "$to"';

/** Runs git, except for the commit of a ref, and returns what it prints. */
function runGit(folder: string, args: readonly string[]): string {
  const [command, name = ''] = args;
  return (command === 'rev-parse' && args.length === 2 ? readRef(folder, name) : undefined) ?? runIn(folder, 'git', args);
}

/** Commits everything, runs a script after it, and returns the commit. */
function commitIn(folder: string, message: string, script = ''): string {
  runIn(folder, 'sh', ['-ec', `${commitScript}; ${script}`, 'sh', message]);
  return runGit(folder, ['rev-parse', 'HEAD']);
}

/** Runs git, or a script with git, and returns what it prints. */
function runIn(folder: string, program: 'git' | 'sh', args: readonly string[]): string {
  const env = { ...gitEnv, ...gitSettings };
  return execFileSync(program, args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

function repositoryAt(folder: string, isNew = false): TestRepository {
  if (isNew) mkdirSync(folder);
  const git = (...args: readonly string[]): string => runGit(folder, args);
  const commit = (message = 'change'): string => commitIn(folder, message);
  return {
    folder,
    git,
    commit,
    write: (files) => writeFiles(folder, files),
    remove(...paths) {
      for (const path of paths) rmSync(join(folder, path), { recursive: true });
    },
    makeExecutable: (path) => chmodSync(join(folder, path), 0o755),
    link(path, target) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      symlinkSync(target, join(folder, path));
    },
    save(files, message) {
      writeFiles(folder, files);
      return commit(message);
    },
    async open(below = '') {
      const opened = await openRepository({ folder: join(folder, below), env: gitEnv });
      if (opened === undefined) throw new Error(`${folder} is not a repository`);
      return opened;
    },
  };
}

/** Returns the repository with a `save` that pushes: apply refuses commits that origin does not have. */
export function withPush(repository: TestRepository): TestRepository {
  return {
    ...repository,
    save(files, message = 'change') {
      writeFiles(repository.folder, files);
      return commitIn(repository.folder, message, 'git push --quiet origin HEAD');
    },
  };
}
