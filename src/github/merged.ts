import type { GitHub } from './client.ts';
import type { PullRequestSummary } from './pull-calls.ts';

/** The merged pull requests that a commit of a branch came from: those it merges, else those it belongs to. */
export async function mergedWith(github: GitHub, commit: string, branch: string): Promise<readonly PullRequestSummary[]> {
  const merged = (await github.pullRequestsOf(commit)).filter((one) => one.merged && one.base === branch);
  const exact = merged.filter(({ mergeCommit }) => mergeCommit === commit);
  return exact.length > 0 ? exact : merged;
}
