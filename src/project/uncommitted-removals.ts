import { firstOf } from '../model/collections.ts';
import type { DesiredState } from '../model/desired.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Refusal } from '../model/plan/plan.ts';
import { accessTestKind } from '../model/protection/access-test.ts';
import type { ResourceId } from '../model/resource.ts';
import type { CheckedSources } from './checkout.ts';
import { readCommittedState } from './committed-manifests.ts';
import type { PlanBase } from './plan-base.ts';
import { type OpenProject, readableRepository } from './project.ts';

type RemovalInput = {
  readonly desired: DesiredState;
  readonly planBase: Pick<PlanBase, 'base' | 'remembered'>;
  readonly deleted: CheckedSources['deleted'];
};

/**
 * Refuses to apply removals that are not committed: files that HEAD has and the working tree does not, unless other files declare their
 * objects, and applied objects that HEAD still declares. A working tree may be incomplete for many reasons; a commit was reviewed.
 */
export async function findUncommittedRemovals(project: OpenProject, input: RemovalInput): Promise<readonly Refusal[]> {
  const { resources, unselected, policies = [], accessTests = [] } = input.desired;
  const declared = new Set<string>([...resources, ...unselected].flatMap(({ id, key }) => [id, key]));
  for (const { name } of policies) declared.add(`Policy/${name}`);
  for (const { name } of accessTests) declared.add(`${accessTestKind}/${name}`);
  const files = input.deleted.filter(({ declares }) => declares.length === 0 || !declares.every((id) => declared.has(id)));
  const named = new Set<string>(files.flatMap(({ declares }) => declares));
  const objects = (await objectsOfHead(project, input, declared)).filter((id) => !named.has(id));
  const refusals = [
    ...(files.length === 0
      ? []
      : [
          `in HEAD, but not in the working tree: ${firstOf(
            files.map(({ path }) => path),
            mostNamed,
          )}`,
        ]),
    ...(objects.length === 0 ? [] : [`declared in HEAD, but not in the working tree: ${firstOf(objects, mostNamed)}`]),
  ];
  return refusals.map((message) => ({ code: 'git/uncommitted-removal', message, hint, allowable: true }));
}

const hint = 'to keep them, run git restore; to remove them, commit the deletion';

/** Returns the applied objects that the working tree does not declare and HEAD does. Most working trees have the files of HEAD. */
async function objectsOfHead(
  project: OpenProject,
  { desired, planBase: { base, remembered } }: RemovalInput,
  declared: ReadonlySet<string>,
): Promise<readonly ResourceId[]> {
  if (desired.partial === true || base?.desired === desired) return [];
  const applied = [...(base?.desired.resources ?? []), ...(remembered?.objects ?? [])];
  const removed = new Set<ResourceId>(applied.filter(({ id, key }) => !declared.has(id) && !declared.has(key)).map(({ id }) => id));
  if (removed.size === 0) return [];
  const repository = readableRepository(project);
  const commit = repository?.head;
  if (repository === undefined || commit === undefined) return [];
  const { value: head } = await readCommittedState({ ...project, repository }, commit, desired);
  return (head?.resources ?? []).map(({ id }) => id).filter((id) => removed.has(id));
}

/** Returns the refusals as warnings, for commands that write nothing. */
export function removalWarnings(refusals: readonly Refusal[]): readonly Diagnostic[] {
  return refusals.map(({ code, message, hint: how }) => ({ code, severity: 'warning', message, hint: how }));
}

const mostNamed = 5;
