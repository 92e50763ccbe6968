import { describeCommits, listHistory } from '../../git/manifest-history.ts';
import type { Permission } from '../../model/protection/permission.ts';
import type { AnswerOrigin } from '../../model/result/answer-origin.ts';
import type { CliContext } from '../context/cli-context.ts';
import { grantedSnapshot } from '../planning/access-view.ts';
import { timeOf } from '../planning/target-policies.ts';
import { readCommittedState } from '../../project/committed-manifests.ts';
import { type CommittedProject, pathsInRepository, readableRepository } from '../../project/project.ts';
import { permissionTerms } from '../../protection/permission/permission.ts';
import type { ProtectionSnapshot } from '../../protection/posture/protection-snapshot.ts';
import type { Asked } from '../can.ts';

/** What some people can do on one connection, by verb. */
type People = readonly Permission[];

/** Returns the origin of what people can do; undefined outside of a repository, and where no manifest decides. */
export type OriginOf = (people: People) => AnswerOrigin | undefined;

/** The most commits whose manifests are read. */
const mostCommits = 300;

/** People on their way through the history; before `since`, the manifests of each commit so far cannot be read. */
type Walker = { readonly people: People; readonly since?: string };

/**
 * Finds for people on a connection the commit that changed what they can do, as git blame finds that of a line: an answer passes from a
 * commit to the first one before it whose manifests give the same answer.
 */
export async function readAnswerOrigins({ project, view }: Asked, all: readonly People[], context: CliContext): Promise<OriginOf> {
  const repository = readableRepository(project);
  const { declared } = view;
  if (repository === undefined || declared === undefined) return () => undefined;
  const site: CommittedProject = { ...project, repository };
  const now = timeOf({}, context);
  const [here, read] = [answersAt(grantedSnapshot(declared, now, project)), new Map<string, ((people: People) => string) | undefined>()];
  /** Returns the answers that the manifests of a commit give; undefined if these cannot be read. */
  const readAnswers = async (commit: string): Promise<((people: People) => string) | undefined> => {
    if (read.has(commit)) return read.get(commit);
    const { value: desired } = await readCommittedState(site, commit);
    const answers = desired === undefined ? undefined : answersAt(grantedSnapshot(desired, now, project));
    read.set(commit, answers);
    return answers;
  };
  const { head } = repository;
  const history = head === undefined ? new Map<string, readonly string[]>() : await listHistory(repository, head, foldersOf(site));
  const [tip] = history.keys();
  const newest = tip === undefined ? undefined : await readAnswers(tip);
  const committed = newest === undefined ? [] : all.filter((people) => newest(people) === here(people));
  const waiting = new Map<string, readonly Walker[]>(tip === undefined ? [] : [[tip, committed.map((people) => ({ people }))]]);
  const found = new Map<People, { readonly commit: string; readonly isOldest: boolean }>();
  let count = 0;
  for (const [commit, parents] of history) {
    let left = waiting.get(commit) ?? [];
    waiting.delete(commit);
    read.delete(commit);
    if (left.length === 0) continue;
    const isOldest = count >= mostCommits && parents.length > 0;
    for (const parent of isOldest ? [] : parents) {
      if (!read.has(parent)) count += 1;
      const then = await readAnswers(parent);
      const passed = left.flatMap(({ people, since = commit }) =>
        then === undefined ? [{ people, since }] : then(people) === here(people) ? [{ people }] : [],
      );
      const gone = new Set(passed.map(({ people }) => people));
      left = left.filter(({ people }) => !gone.has(people));
      waiting.set(parent, [...(waiting.get(parent) ?? []), ...passed]);
    }
    for (const { people, since = commit } of left) found.set(people, { commit: since, isOldest });
  }
  const described = await describeCommits(repository, new Set([...found.values()].map(({ commit }) => commit)));
  return (people) => {
    const { commit = '', isOldest = false } = found.get(people) ?? {};
    const origin = described.get(commit) ?? { state: 'uncommitted' };
    return isOldest && origin.state === 'committed' ? { ...origin, state: 'older' } : origin;
  };
}

/** Lists the folders of the manifests from the top of the repository: one may be a submodule. */
function foldersOf({ config, target, repository }: CommittedProject): readonly string[] {
  const paths = pathsInRepository([...target.manifests, ...target.overlays], config.root, repository.prefix);
  return paths.filter((path) => path !== '');
}

/** Returns a function that gives what people can do in a state as a text, which is the same for the same. */
function answersAt(snapshot: ProtectionSnapshot): (people: People) => string {
  return (people) =>
    people
      .map((one) => (snapshot.resources.has(one.connection) ? termsText(permissionTerms({ id: one.connection, snapshot }, one)) : ''))
      .join('\n');
}

/** Returns what people need, in a form that is the same for the same; people without access need nothing. */
export function termsText({ answer, approval, longest }: Pick<Permission, 'answer' | 'approval' | 'longest'>): string {
  return JSON.stringify(answer === 'no' ? { answer } : { answer, approval, longest });
}
