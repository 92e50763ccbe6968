// What a step of a workflow gives to the action.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Makes the folder a clone of a repository whose default branch has all its files; returns the commit. */
export function commitFolder(folder) {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' };
  const git = (...args) => {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: folder, env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  };
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('-c', 'user.name=bench', '-c', 'user.email=bench@example.com', '-c', 'gc.auto=0', 'commit', '--quiet', '--message', 'bench');
  git('update-ref', 'refs/remotes/origin/main', 'HEAD');
  return git('rev-parse', 'HEAD');
}

/** The environment of a run on the default branch of a repository in the folder, which it commits; without a comment. */
export function actionEnvironment(folder, inputs) {
  const commit = commitFolder(folder);
  const file = (name, text) => {
    const path = join(folder, '.git', name);
    writeFileSync(path, text);
    return path;
  };
  return {
    GITHUB_API_URL: 'http://127.0.0.1:9',
    GITHUB_EVENT_NAME: 'push',
    GITHUB_EVENT_PATH: file('event.json', '{"repository":{"full_name":"octo/access","default_branch":"main"}}'),
    GITHUB_GRAPHQL_URL: 'http://127.0.0.1:9/graphql',
    GITHUB_OUTPUT: file('output', ''),
    GITHUB_REF: 'refs/heads/main',
    GITHUB_REPOSITORY: 'octo/access',
    GITHUB_RUN_ID: '1',
    GITHUB_SERVER_URL: 'https://github.test',
    GITHUB_SHA: commit,
    GITHUB_STEP_SUMMARY: file('summary', ''),
    GITHUB_WORKSPACE: folder,
    RUNNER_TEMP: folder,
    INPUT_COMMENT: 'false',
    ...inputs,
  };
}
