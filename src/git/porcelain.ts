import { Readable } from 'node:stream';
import type { SimpleGit, SimpleGitOptions } from 'simple-git';
import { failureOf, lateGit, missingGit } from './ask-git.ts';
import { environmentOf, settings, type Place } from './place.ts';

export type Wish = {
  /** Exit codes that are answers; another one is thrown as what went wrong. */
  readonly answers?: readonly number[];
  /** The longest that git may take, in milliseconds. */
  readonly patience?: number;
};

const defaultPatience = 120_000;

// What simple-git refuses unless told, so that no argument smuggles it in. Here arguments are ours, none begins with what somebody
// wrote, and such settings and programs are the user's own: git finds the same ones in its files.
const ofTheUser: NonNullable<SimpleGitOptions['unsafe']> = Object.fromEntries(
  [
    ['AskPass', 'CredentialHelper', 'SshCommand', 'GitProxy', 'UrlRewrite', 'ProtocolOverride', 'Exec', 'Pack'],
    ['ConfigEnvCount', 'ConfigPaths', 'Include', 'Alias', 'CommandBinaries', 'Editor', 'Pager', 'MergeDriver', 'HooksPath', 'FsMonitor'],
    ['DiffExternal', 'DiffTextConv', 'Filter', 'GpgProgram', 'TemplateDir', 'Submodule'],
  ]
    .flat()
    .map((name) => [`allowUnsafe${name}`, true]),
);

/**
 * Runs one command of git's porcelain without a prompt or a hook, with all that git is kept from in `askGit`. What it cannot do
 * is an AppError in plain words.
 */
export async function withGit<T>(
  place: Place,
  command: (git: SimpleGit) => PromiseLike<T>,
  { answers = [0], patience = defaultPatience }: Wish = {},
): Promise<T> {
  // Loaded with the first question: outside of repositories nobody asks.
  const { simpleGit, GitError } = await import('simple-git');
  const abort = AbortSignal.timeout(patience);
  const env = environmentOf(place);
  let ended: { readonly code: number | null; readonly said: string } | undefined;
  try {
    const git = simpleGit({
      baseDir: place.folder,
      config: [...settings],
      abort,
      // Output is whole when its pipes are closed, not some time after the exit.
      completion: { onClose: true, onExit: false },
      allowEnvironment: Object.keys(env),
      unsafe: ofTheUser,
      errors(error, { exitCode, stdErr, stdOut }) {
        ended = { code: exitCode, said: Buffer.concat([...stdErr, ...stdOut]).toString() };
        if (abort.aborted) return error;
        return answers.includes(exitCode) ? undefined : new Error(`git ended with ${exitCode}`);
      },
    });
    git.env({ ...env }).outputHandler((_, ...outputs) => {
      // What git started may hold these pipes open after git has ended.
      const close = (): void => {
        for (const output of outputs) if (output instanceof Readable) output.destroy();
      };
      abort.addEventListener('abort', close);
    });
    return await command(git);
  } catch (error) {
    const words = error instanceof GitError ? (error.task?.commands ?? []) : [];
    if (abort.aborted) throw lateGit(words, patience);
    if (ended?.code !== undefined && (ended.code ?? 0) < 0) throw missingGit(error);
    throw failureOf(place.folder, words, ended?.said ?? String(error));
  }
}
