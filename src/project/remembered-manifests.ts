import type { AppliedRecord, PendingObject } from '../model/applied-record.ts';
import { desiredByKey, type DesiredResource, type DesiredState } from '../model/desired.ts';
import type { Remembered, RememberedObject } from '../model/applied-record.ts';
import type { ResourceId } from '../model/resource.ts';
import { isSameTree, loadCommittedState, readCommittedTree, type CommittedTarget } from './committed-manifests.ts';
import { commitsOf } from './applied-record.ts';

/**
 * Reads what a record knows beyond the last completely applied commit: orphans, and the writes of incomplete applies, with their
 * manifests. Manifests that cannot be read are left out; the objects remain ours.
 */
export async function readRemembered(site: CommittedTarget, record: AppliedRecord, head: DesiredState): Promise<Remembered> {
  const states = new Map<string, DesiredState>();
  const elsewhere = new Set<string>();
  const { commit: _, ...beyond } = record;
  for (const commit of commitsOf(beyond)) {
    const state = await readState(site, commit, head);
    if (state === 'other gateway') elsewhere.add(commit);
    else if (state !== undefined) states.set(commit, state);
  }
  return recallObjects(record, states, elsewhere);
}

/** Returns what a record knows beyond the last completely applied commit, without the commits that were applied elsewhere. */
export function recallObjects(
  record: AppliedRecord,
  states: ReadonlyMap<string, DesiredState>,
  elsewhere: ReadonlySet<string> = new Set(),
): Remembered {
  const manifestAt = (commit: string | undefined, { id, key = id }: Pick<PendingObject, 'id' | 'key'>): DesiredResource | undefined => {
    const state = commit === undefined ? undefined : states.get(commit);
    return state === undefined ? undefined : desiredByKey(state.resources).get(key);
  };
  const objects = new Map<ResourceId, RememberedObject>();
  const written = new Map<ResourceId, readonly (DesiredResource | undefined)[]>();
  for (const orphan of record.orphans) {
    if (orphan.commit !== undefined && elsewhere.has(orphan.commit)) continue;
    const { id, key = id, uid } = orphan;
    objects.set(key, { ...orphan, key, resource: manifestAt(orphan.commit, orphan), ...(uid === undefined ? { unfinished: true } : {}) });
  }
  for (const { commit, objects: pending } of record.pending) {
    if (commit !== undefined && elsewhere.has(commit)) continue;
    for (const one of pending) {
      const { id, uid, key = id, ours } = one;
      const resource = manifestAt(commit, one);
      if (ours)
        objects.set(key, {
          id,
          key,
          resource,
          ...(commit === undefined ? {} : { commit }),
          ...(uid === undefined ? { unfinished: true } : { uid }),
        });
      else written.set(key, [...(written.get(key) ?? []), resource]);
    }
  }
  const edges = [...states.values()].flatMap((state) => state.edges.filter((edge) => edgeTouches(edge, objects)));
  return { objects: [...objects.values()], edges, written, attached: record.pending.flatMap((one) => one.edges) };
}

async function readState(site: CommittedTarget, commit: string, head: DesiredState): Promise<DesiredState | 'other gateway' | undefined> {
  const { value: tree } = await readCommittedTree(site, commit);
  if (tree === undefined) return undefined;
  if (tree.target.url !== site.target.url) return 'other gateway';
  if (head.partial !== true && (await isSameTree(tree, site, { commit, desired: head }))) return head;
  return (await loadCommittedState(site.repository, commit, tree)).value;
}

function edgeTouches({ rule, connection }: DesiredState['edges'][number], objects: ReadonlyMap<ResourceId, unknown>): boolean {
  return [rule, connection].some(({ kind, text }) => objects.has(`${kind}/${text}`));
}
