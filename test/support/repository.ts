import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { openRepository, type Repository } from '../../src/git/repository.ts';
import { writeFiles, type Files } from '../e2e/project.ts';

/** A git repository in a temporary folder. */
export type TestRepository = {
  readonly folder: string;
  /** Runs git in it and returns what it prints. */
  readonly git: (...args: readonly string[]) => string;
  readonly write: (files: Files) => void;
  readonly remove: (...paths: readonly string[]) => void;
  readonly link: (path: string, target: string) => void;
  /** Lets a file be run. */
  readonly allow: (path: string) => void;
  /** Commits everything and returns the commit. */
  readonly commit: (message?: string) => string;
  /** Writes, commits everything and returns the commit. */
  readonly save: (files: Files, message?: string) => string;
  readonly open: (folder?: string) => Promise<Repository>;
};

/** Who commits, without a word of whoever runs the tests. */
export const gitEnv: Readonly<Record<string, string>> = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
};

/** Makes repositories for the tests of one file, and removes them after the last of them. */
export function repositories(): {
  readonly make: (files?: Files) => TestRepository;
  /** A bare one, for others to push to; holds what the other has. */
  readonly makeOrigin: (of: TestRepository) => TestRepository;
  readonly clone: (of: TestRepository, ...args: readonly string[]) => TestRepository;
  readonly at: (folder: string, isNew?: boolean) => TestRepository;
  readonly place: () => string;
} {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ostiary-git-')));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  let made = 0;
  const place = (): string => {
    made += 1;
    return join(root, `repository-${made}`);
  };
  return {
    place,
    at: repositoryAt,
    make(files) {
      const repository = repositoryAt(place(), true);
      repository.git('init', '--quiet', '--template=', '--initial-branch=main');
      if (files !== undefined) repository.save(files);
      return repository;
    },
    makeOrigin(of) {
      const origin = repositoryAt(place(), true);
      origin.git('init', '--quiet', '--template=', '--bare', '--initial-branch=main');
      of.git('remote', 'add', 'origin', origin.folder);
      of.git('push', '--quiet', 'origin', '--all');
      return origin;
    },
    clone(of, ...args) {
      const folder = place();
      of.git('clone', '--quiet', '--template=', ...args, `file://${of.folder}`, folder);
      return repositoryAt(folder);
    },
  };
}

function repositoryAt(folder: string, isNew = false): TestRepository {
  if (isNew) mkdirSync(folder);
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], {
      cwd: folder,
      env: gitEnv,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  const commit = (message = 'change'): string => {
    git('add', '--all', '--force');
    git('commit', '--quiet', '--allow-empty', '--message', message);
    return git('rev-parse', 'HEAD');
  };
  return {
    folder,
    git,
    commit,
    write: (files) => writeFiles(folder, files),
    remove(...paths) {
      for (const path of paths) rmSync(join(folder, path), { recursive: true });
    },
    allow: (path) => chmodSync(join(folder, path), 0o755),
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
      if (opened === undefined) throw new Error(`${folder} is no repository`);
      return opened;
    },
  };
}
