import type { CiSystem, JobEnvironment } from './ci-system.ts';
import { UsageError } from '../model/errors.ts';

/** Returns the system whose job this is, loaded. Throws UsageError outside a job. */
export async function findCiSystem(env: JobEnvironment): Promise<CiSystem> {
  if (env['GITHUB_ACTIONS'] === 'true') return (await import('./github/github-system.ts')).githubSystem;
  if (env['GITLAB_CI'] === 'true') return (await import('./gitlab/gitlab-system.ts')).gitlabSystem;
  throw new UsageError(
    'ostiary ci does not run in a job of GitHub Actions or GitLab CI/CD (GITHUB_ACTIONS, GITLAB_CI)',
    'elsewhere, run ostiary plan, apply or drift with --report markdown=FILE, and post the file',
  );
}
