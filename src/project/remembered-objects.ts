import {
  type AppliedRecord,
  type BegunEdges,
  type PendingObject,
  recordedKeyOf,
  type Remembered,
  type RememberedObject,
  type WrittenForm,
} from '../model/applied-record.ts';
import { addToGroup } from '../model/collections.ts';
import { desiredByKey, type DesiredResource, type DesiredState, formerIdOf } from '../model/desired.ts';
import { defined } from '../model/json.ts';
import { edgeKey, type EdgeEnds, type ResourceId } from '../model/resource.ts';
import { commitsOf } from './record/applied-record.ts';
import type { ReviewedBranch } from '../git/reviewed-branch.ts';
import { loadCommittedState, readCommittedTree } from './committed-manifests.ts';
import type { CommittedProject } from './project.ts';

/** What a record knows beyond the last completely applied commit, as far as it is proven; the ids of the other objects are `unproven`. */
export type ProvenRecord = { readonly record: AppliedRecord; readonly remembered?: Remembered; readonly unproven: readonly ResourceId[] };

/**
 * Reads what a record knows beyond the last completely applied commit: orphans, and the writes of incomplete applies, with their
 * manifests. With a reviewed branch, an object counts only if the commit that the record names is on that branch and declares it: whoever
 * can push refs can write a record. Without one, manifests that cannot be read are left out, and the objects remain ours.
 */
export async function readRemembered(
  site: CommittedProject,
  record: AppliedRecord,
  { head, branch }: { readonly head: DesiredState; readonly branch: ReviewedBranch | undefined },
): Promise<ProvenRecord> {
  if (record.orphans.length + record.pending.length === 0) return { record, unproven: [] };
  const states = new Map<string, DesiredState>();
  const elsewhere = new Set<string>();
  const { commit: _, unmerged: __, ...beyond } = record;
  for (const commit of commitsOf(beyond)) {
    if (branch !== undefined && !(await branch.contains(commit))) continue;
    const state = await readState(site, commit, head);
    if (state === 'other gateway') elsewhere.add(commit);
    else if (state !== undefined) states.set(commit, state);
  }
  const { record: proven, unproven } = branch === undefined ? { record, unproven: [] } : onlyDeclared(record, states, elsewhere);
  return { record: proven, remembered: recallObjects(proven, states, elsewhere), unproven };
}

/** Leaves out the objects and attachments that the commits which the record names do not declare. */
export function onlyDeclared(
  record: AppliedRecord,
  states: ReadonlyMap<string, DesiredState>,
  elsewhere: ReadonlySet<string>,
): Omit<ProvenRecord, 'remembered'> {
  const unproven = new Set<ResourceId>();
  const declared = new Map([...states].map(([commit, state]) => [commit, indexDeclared(state)]));
  const isProven = (commit: string | undefined, { id, key = id, ours }: Pick<PendingObject, 'id' | 'key' | 'ours'>): boolean => {
    const state = declared.get(commit ?? '');
    const isElsewhere = elsewhere.has(commit ?? '');
    // A deletion closes objects that its commit does not declare.
    const isDeclared = state !== undefined && (!ours || state.ids.has(id) || state.idsOf.has(key));
    if (!isElsewhere && !isDeclared) unproven.add(id);
    return isElsewhere || isDeclared;
  };
  const orphans = record.orphans.filter((orphan) => isProven(orphan.commit, { ...orphan, ours: true }));
  const pending = record.pending.flatMap((writes) => {
    const { commit, objects, edges } = writes;
    const state = declared.get(commit ?? '');
    const left = objects.filter((object) => isProven(commit, object));
    const attached = edges.filter((edge) => state !== undefined && declaresEdge(state, edge));
    return left.length + attached.length === 0 ? [] : [{ ...writes, objects: left, edges: attached }];
  });
  return { record: { ...record, orphans, pending }, unproven: [...unproven] };
}

/** What manifests declare: the ids of resources, those by live key, and the attachments by the ids of both ends. */
type DeclaredIndex = {
  readonly ids: ReadonlySet<ResourceId>;
  readonly idsOf: ReadonlyMap<ResourceId, readonly ResourceId[]>;
  readonly edges: ReadonlySet<string>;
};

function indexDeclared({ edges, resources }: DesiredState): DeclaredIndex {
  const idsOf = new Map<ResourceId, ResourceId[]>();
  for (const { id, key } of resources) addToGroup(idsOf, key, id);
  return { ids: new Set(resources.map(({ id }) => id)), idsOf, edges: new Set(edges.map(edgeKey)) };
}

/** Returns whether manifests declare an attachment by the names or the live keys of both ends. */
function declaresEdge({ edges, idsOf }: DeclaredIndex, { rule, connection }: EdgeEnds): boolean {
  const idsNamed = (end: ResourceId): readonly ResourceId[] => [end, ...(idsOf.get(end) ?? [])];
  return idsNamed(rule).some((one) => idsNamed(connection).some((other) => edges.has(edgeKey({ rule: one, connection: other }))));
}

/** Returns what a record knows beyond the last completely applied commit, without the commits that were applied elsewhere. */
export function recallObjects(
  record: AppliedRecord,
  states: ReadonlyMap<string, DesiredState>,
  elsewhere: ReadonlySet<string> = new Set(),
): Remembered {
  const manifestAt = (commit: string | undefined, one: Pick<PendingObject, 'id' | 'key'>): DesiredResource | undefined =>
    desiredByKey(states.get(commit ?? '')?.resources ?? []).get(recordedKeyOf(one));
  const objects = new Map<ResourceId, RememberedObject>();
  const written = new Map<ResourceId, readonly WrittenForm[]>();
  for (const orphan of record.orphans) {
    if (elsewhere.has(orphan.commit ?? '')) continue;
    const { uid } = orphan;
    const key = recordedKeyOf(orphan);
    objects.set(key, { ...orphan, key, resource: manifestAt(orphan.commit, orphan), ...(uid === undefined ? { unfinished: true } : {}) });
  }
  const begun: BegunEdges[] = [];
  const isDone = (commit: string | undefined, one: PendingObject): boolean =>
    isComplete(one) && !(one.ours && isMoved(manifestAt(commit, one)));
  const created = new Map(
    record.pending.flatMap(({ commit, objects: all }, index) =>
      all.flatMap((one) => (one.ours && isDone(commit, one) ? [[recordedKeyOf(one), index] as const] : [])),
    ),
  );
  for (const [index, { commit, objects: all }] of record.pending.entries()) {
    if (elsewhere.has(commit ?? '')) continue;
    const state = states.get(commit ?? '');
    // What an apply deleted, and a later one created again, was another object.
    const pending = all.filter(
      (one) => one.ours || manifestAt(commit, one) !== undefined || index >= (created.get(recordedKeyOf(one)) ?? index),
    );
    const done = pending.filter((one) => isDone(commit, one));
    begun.push({
      keys: new Set(pending.map(recordedKeyOf)),
      done: new Map(done.map((one) => [recordedKeyOf(one), one.detached ?? []])),
      edges: state?.edges,
    });
    for (const one of pending) {
      const { id, uid, key = id, ours, onlyReverted: _, detached: __, ...form } = one;
      const resource = manifestAt(commit, one);
      if (ours)
        objects.set(key, {
          id,
          key,
          resource,
          ...defined({ commit, holds: form.holds }),
          ...(uid === undefined ? { unfinished: true } : { uid }),
        });
      else {
        const wrote =
          resource === undefined
            ? { deletes: true as const, ...defined({ uid }) }
            : { resource, ...(isComplete(one) ? { complete: true as const } : {}) };
        written.set(key, [...(written.get(key) ?? []), { ...form, ...wrote }]);
      }
    }
  }
  const edges = [...states.values()].flatMap((state) => state.edges.filter((edge) => edgeTouches(edge, objects)));
  // A successor also gets what was attached to its predecessor outside Ostiary: no manifest declares that.
  const attached = record.pending.flatMap((one) => {
    const state = states.get(one.commit ?? '');
    if (state === undefined) return one.edges;
    const declared = indexDeclared(state);
    return one.edges.filter((edge) => declaresEdge(declared, edge));
  });
  return { objects: [...objects.values()], edges, written, attached, begun };
}

/** Returns whether an object has another name before: a rename knows the id of its object before it is written. */
function isMoved(resource: DesiredResource | undefined): boolean {
  return resource === undefined || formerIdOf(resource) !== undefined;
}

/** Returns whether an apply wrote an object as its manifest states it. */
function isComplete({ uid, onlyReverted }: PendingObject): boolean {
  return uid !== undefined && onlyReverted !== true;
}

async function readState(site: CommittedProject, commit: string, head: DesiredState): Promise<DesiredState | 'other gateway' | undefined> {
  const { value: tree } = await readCommittedTree(site, commit);
  if (tree === undefined) return undefined;
  if (tree.target.url !== site.target.url) return 'other gateway';
  return (await loadCommittedState(tree, head)).value;
}

function edgeTouches({ rule, connection }: DesiredState['edges'][number], objects: ReadonlyMap<ResourceId, unknown>): boolean {
  return [rule, connection].some((end) => objects.has(end));
}
