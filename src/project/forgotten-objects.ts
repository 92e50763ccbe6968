import { basename } from 'node:path';
import { maxBytes } from '../disk/text-file.ts';
import { decodeFile } from '../disk/walk.ts';
import { findDeclaringCommits } from '../git/find-removals.ts';
import { registry } from '../kinds/index.ts';
import { reviewedBranchOf } from '../git/reviewed-branch.ts';
import { listDeclared } from '../manifest/read-documents.ts';
import type { DesiredState } from '../model/desired.ts';
import type { LiveState } from '../model/live.ts';
import { nameOf, type ResourceId } from '../model/resource.ts';
import { configNames } from '../disk/find-config.ts';
import { loadCommittedState, readCommittedTree } from './committed-manifests.ts';
import type { PlanBase } from './plan-base.ts';
import { findReviewedBranch } from './reviewed-commits.ts';
import { type OpenProject, readableRepository } from './project.ts';

/** A live object that the manifests no longer declare, and the last reviewed commit that does. */
export type ForgottenObject = { readonly id: ResourceId; readonly commit: string };

type ForgottenQuery = {
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly planBase: Pick<PlanBase, 'remembered'>;
  /** Whether origin may be asked. */
  readonly origin: boolean;
};

// Loading more commits would take too long.
const maxStates = 50;

/**
 * Finds live objects that earlier reviewed commits declare for the target and gateway, and the manifests do not. Where no apply is recorded,
 * each of them shows that a record may be missing: only a record distinguishes an orphan from an unmanaged object. Pushing refs cannot remove
 * this proof, because the reviewed branch has it.
 */
export async function findForgotten(
  project: OpenProject,
  { desired, live, planBase: { remembered }, origin }: ForgottenQuery,
): Promise<readonly ForgottenObject[]> {
  const repository = readableRepository(project);
  if (repository === undefined || desired.partial === true) return [];
  const { target, config } = project;
  const declared = [...desired.resources, ...desired.unselected].flatMap(({ id, key }) => [id, key]);
  const known = new Set<string>([...declared, ...target.released, ...(remembered?.objects ?? []).map(({ key }) => key)]);
  const left = new Set(live.resources.flatMap(({ id, managedBy }) => (managedBy === undefined && !known.has(id) ? [id] : [])));
  if (left.size === 0) return [];
  const site = { ...project, repository };
  const branch = await findReviewedBranch(site, origin);
  // Where every commit counts, a shallow clone fetches the history that HEAD shares with the default branch.
  if (branch === undefined && repository.shallow) await reviewedBranchOf(repository, { branch: undefined, origin }).wholeTip();
  const until = branch === undefined ? repository.head : await branch.wholeTip();
  if (until === undefined) return [];
  const mayDeclare = findsWords([...left].map(nameOf));
  const names = new Set([...configNames, basename(config.file ?? '')]);
  const commits = await findDeclaringCommits(repository, {
    until,
    ids: [...left],
    declaredIds: (bytes) => {
      const { value: file } = decodeFile('', bytes);
      return file === undefined || !mayDeclare(file.text) ? [] : listDeclared(file, registry);
    },
    maxBytes,
    isConfig: (path) => names.has(basename(path)),
  });
  const found: ForgottenObject[] = [];
  for (const commit of commits.slice(0, maxStates)) {
    const { value: tree } = await readCommittedTree(site, commit);
    const then = tree?.target.url === target.url ? (await loadCommittedState(tree)).value : undefined;
    for (const { key: id } of then?.resources ?? []) if (left.delete(id)) found.push({ id, commit });
    if (left.size === 0) break;
  }
  return found;
}

/** Returns a test whether a text may be a manifest of one of the names, a hundred times quicker than parsing it: it has the longest word of one. */
function findsWords(names: readonly string[]): (text: string) => boolean {
  const searched = new Set(names.map((name) => wordsIn(name).reduce((long, word) => (word.length > long.length ? word : long), '')));
  return (text) => text.includes('ostiary/') && (searched.has('') || wordsIn(text).some((word) => searched.has(word)));
}

function wordsIn(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_.-]+/gu) ?? [];
}
