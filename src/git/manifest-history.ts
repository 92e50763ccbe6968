import type { AnswerOrigin } from '../model/result/answer-origin.ts';
import { parentsOf, type Repository } from './repository.ts';
import { readGitLines, runGit } from './run-git.ts';

const readable = ['--no-literal-pathspecs', '-c', 'core.quotePath=false'];

/** Lists the commits that changed YAML files or something at the paths, each with those before it, the children before their parents. */
export async function listHistory(
  repository: Repository,
  head: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const specs = ['--', '*.yaml', '*.yml', ...paths.map((path) => `:(top,literal)${path}`)];
  const lines = await readGitLines(repository, [...readable, 'rev-list', '--topo-order', '--parents', head, ...specs]);
  return new Map(
    lines.map((line) => {
      const [commit = '', ...parents] = line.split(' ');
      return [commit, parents];
    }),
  );
}

/** Reads who made commits, and when. Commits before which a shallow clone has no history may not have changed what they have. */
export async function describeCommits(repository: Repository, commits: ReadonlySet<string>): Promise<ReadonlyMap<string, AnswerOrigin>> {
  const described = new Map<string, AnswerOrigin>();
  if (commits.size === 0) return described;
  const args = ['log', '--no-walk=unsorted', '--stdin', '--no-color', '--encoding=UTF-8', '--format=%H %ct %aN%x00%P'];
  const { stdout } = await runGit(repository, args, { input: `${[...commits].join('\n')}\n` });
  for (const line of stdout.toString().split('\n')) {
    if (line === '') continue;
    const [known = '', parents] = line.split('\0');
    const [commit = '', seconds, ...author] = known.split(' ');
    // A shallow clone takes the parents of its oldest commits away, also if it has them.
    const isCut = repository.shallow && parents === '' && (await parentsOf(repository, commit)).length > 0;
    const time = new Date(Number(seconds) * 1000).toISOString();
    described.set(commit, { state: isCut ? 'before' : 'committed', commit, author: author.join(' '), time });
  }
  return described;
}
