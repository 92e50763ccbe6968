import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { runJob } from '../../../src/ci/run-job.ts';
import { githubSystem } from '../../../src/forge/github/github-system.ts';
import { builtPackage, start } from '../../support/cli.ts';
import { startGitHub, type TestGitHub } from '../../support/github.ts';
import { openRunner, type Start, type StepEnded, type StepOptions } from '../../support/workflow.ts';
import { createTestContext } from '../../support/cli-context.ts';
import type { Files } from '../project.ts';

/** The action as a runner checks it out, and a GitHub. */
export type ActionBench = {
  readonly github: () => TestGitHub;
  /** Runs the action's source in this process: quick. */
  readonly step: (options: StepOptions) => Promise<StepEnded>;
  /** Runs the bundle in a process of its own, as a runner does. */
  readonly bundled: (options: StepOptions) => Promise<StepEnded>;
};

type BenchOptions = { readonly other?: () => string; readonly account?: string };

/**
 * Sets up GitHub, with the account of the job's token, and the bundled action for the tests of one file: the bundle alone, without any package
 * beside it. `other` returns the path of another build of it.
 */
export function useAction(makeFolder: (files: Files) => string, { other, account }: BenchOptions = {}): ActionBench {
  let github: TestGitHub | undefined;
  let home = '';
  const running = (): TestGitHub => {
    if (github === undefined) throw new Error('GitHub is not started yet');
    return github;
  };
  let runner: ReturnType<typeof openRunner> | undefined;
  let bundle: Promise<string> | undefined;
  /** Returns the path of the bundle, of which only some files have a test. */
  const bundled = async (): Promise<string> => {
    if (other !== undefined) return other();
    const built = await builtPackage();
    for (const name of ['dist', 'package.json']) cpSync(join(built, name), join(home, name), { recursive: true });
    return join(home, 'dist', 'action.js');
  };
  beforeAll(async () => {
    home = makeFolder({});
    github = await startGitHub(account);
    runner = openRunner(home);
  });
  beforeEach(() => running().intercept(undefined));
  afterAll(() => github?.close());
  const run = (options: StepOptions, began: Start): Promise<StepEnded> => {
    if (runner === undefined) throw new Error('the runner is not there yet');
    return runner(options, running(), began);
  };
  return {
    github: running,
    step: (options) => run(options, (cwd, env) => runHere(cwd, env, options.onWait)),
    bundled: (options) =>
      run(options, async (cwd, env) => {
        const child = start(process.execPath, [await (bundle ??= bundled())], { cwd, env });
        options.onStart?.(child);
        return child.ended;
      }),
  };
}

async function runHere(cwd: string, env: Readonly<Record<string, string>>, onWait: StepOptions['onWait']): ReturnType<Start> {
  const { context, printed } = createTestContext({ cwd, env: { PATH: process.env['PATH'], ...env } });
  const code = await runJob(githubSystem, context, (milliseconds) => Promise.resolve(onWait?.(milliseconds)));
  return { code, stdout: printed().both, stderr: '' };
}
