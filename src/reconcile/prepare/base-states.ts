import type { Remembered, RememberedObject } from '../../model/applied-record.ts';
import {
  type BaseState,
  type DeclaredEdge,
  type DesiredResource,
  type DesiredState,
  desiredById,
  desiredByKey,
  edgesByEnds,
  emptyState,
  formerIdOf,
  isSameManifest,
  withLeftFields,
} from '../../model/desired.ts';
import { canonical, compareText, defined, distinctSorted } from '../../model/json.ts';
import { type LiveState, liveById } from '../../model/live.ts';
import { type AccessTest, accessTestKind } from '../../model/protection/access-test.ts';
import { policyKind } from '../../model/protection/policy.ts';
import { type ResourceId, edgeKey, resourceId } from '../../model/resource.ts';

/** The objects that are ours although no complete apply declares them, by key; only live ones. */
export type OwnObjects = ReadonlyMap<ResourceId, RememberedObject>;

/** Returns the remembered objects that are still live: an object with another id of the gateway is another object. */
export function ownObjects(remembered: Remembered | undefined, live: LiveState): OwnObjects {
  if (remembered === undefined) return new Map();
  const found = liveById(live.resources);
  const isOurs = ({ key, uid }: RememberedObject): boolean => {
    const object = found.get(key);
    return object !== undefined && (uid === undefined || uid === object.uid);
  };
  return new Map(remembered.objects.filter(isOurs).map((one) => [one.key, one]));
}

/**
 * Returns the base with the last manifests of objects that are ours beyond it, and of those that incomplete applies have created and something else
 * has deleted. An object whose creation may be incomplete is left out: it has no earlier form.
 */
export function withRemembered(
  base: BaseState | undefined,
  remembered: Remembered | undefined,
  { own, live }: { readonly own: OwnObjects; readonly live: LiveState },
): BaseState | undefined {
  if (base === undefined || remembered === undefined || remembered.objects.length === 0) return base;
  const declared = desiredByKey(base.desired.resources);
  const found = liveById(live.resources);
  const isCreated = (key: ResourceId): boolean => remembered.begun.some(({ done }) => done.has(key));
  const more = remembered.objects.flatMap(({ key, resource, unfinished }) => {
    const isKnown = found.has(key) ? own.has(key) : isCreated(key);
    return resource === undefined || unfinished === true || declared.has(key) || !isKnown ? [] : [resource];
  });
  if (more.length === 0) return base;
  const { desired, removedIn } = base;
  const removals = [...own.values()].flatMap(({ id, removedIn: commit, subject = '' }) =>
    commit === undefined ? [] : [[id, { id: commit, subject }] as const],
  );
  return {
    ...base,
    desired: { ...desired, resources: [...desired.resources, ...more] },
    removedIn: new Map([...removals, ...removedIn]),
  };
}

/** Returns the manifests that incomplete applies may have written, and those of orphans, as a state. */
export function rememberedState({ objects, written }: Remembered): DesiredState {
  const forms = [...objects, ...[...written.values()].flat()];
  return { ...emptyState, resources: forms.flatMap(({ resource }) => resource ?? []) };
}

/** Returns the last manifests of objects that are ours and not part of the base, for finding those that were removed. */
export function manifestsBeyond(base: BaseState | undefined, own: OwnObjects): readonly DesiredResource[] {
  const declared = desiredByKey(base?.desired.resources ?? []);
  return [...own.values()].flatMap(({ id, key, resource }) => (declared.has(key) ? [] : [resource ?? unreadManifest(id, key)]));
}

/** Returns a manifest that declares nothing but the object: its last manifest cannot be read. */
function unreadManifest(id: ResourceId, key: ResourceId): DesiredResource {
  return {
    id,
    key,
    spec: {},
    stated: new Set(),
    secrets: {},
    wholeSecrets: [],
    ignore: [],
    protect: false,
    adopt: false,
    locate: () => ({ file: '', line: 1, column: 1 }),
    locateIgnore: () => ({ file: '', line: 1, column: 1 }),
  };
}

/** Returns the manifests that a proposal started from as if they were applied, with what they do not declare: the first import is no new access. */
export function startAsBase(start: DesiredState, { resources, edges }: DesiredState): BaseState {
  const known = new Set(start.resources.flatMap(({ id, key }) => [id, key]));
  const added = resources.filter(({ id, key }) => !known.has(id) && !known.has(key));
  const more = new Set(added.flatMap(({ id, key }) => [id, key]));
  const ofAdded = edges.filter(({ rule, connection }) => more.has(rule) || more.has(connection));
  const desired = { ...start, resources: [...start.resources, ...added], edges: [...start.edges, ...ofAdded] };
  return { commit: '', desired, removedIn: new Map() };
}

/** The manifests of a branch with what was applied since it started, and the objects that are missing from the branch. */
type MergedBranch = { readonly desired: DesiredState; readonly behind: readonly ResourceId[] };

/**
 * Merges applied changes into a branch as a merge of the commits would: an object, a policy or an access test that the branch left as it
 * was at the fork is as it was applied. What the branch changed stays as it is. What either side renamed or replaced has its new name.
 */
export function mergeBehind(ours: DesiredState, start: DesiredState, theirs: DesiredState): MergedBranch {
  const renames = renamesSince(start, [ours, theirs]);
  const named = (state: DesiredState): DesiredState => (renames.size === 0 ? state : withNewNames(state, renames, start));
  const [branch, fork, applied] = [named(ours), named(start), named(theirs)];
  const [before, after] = [desiredById(fork.resources), desiredById(applied.resources)];
  const hidden = new Set(branch.unselected.map(({ id }) => id));
  const behind = new Set(ours.resources.flatMap(({ id }) => renames.get(id)?.id ?? []));
  const kept = branch.resources.flatMap((resource): readonly DesiredResource[] => {
    const [then, now] = [before.get(resource.id), after.get(resource.id)];
    if (then === undefined || !isSameManifest(then, resource) || (now !== undefined && isSameManifest(now, resource))) return [resource];
    behind.add(resource.id);
    return now === undefined ? [] : [now];
  });
  const declared = new Set(branch.resources.map(({ id }) => id));
  const added = applied.resources.filter(({ id }) => !before.has(id) && !declared.has(id) && !hidden.has(id));
  for (const { id } of added) behind.add(id);
  const edges = mergeEdges(branch, fork, applied, (id) => behind.add(id));
  const resources = [...kept, ...added];
  const policies = mergeDocuments(
    { branch: branch.policies, fork: fork.policies, applied: applied.policies },
    ({ text }) => text,
    (name) => behind.add(resourceId(policyKind, name)),
  );
  const accessTests = mergeDocuments(
    { branch: branch.accessTests, fork: fork.accessTests, applied: applied.accessTests },
    testText,
    (name) => behind.add(resourceId(accessTestKind, name)),
  );
  const diagnose = diagnoseMerged(ours, theirs, { resources, applied, renames });
  const desired = { ...branch, resources, edges, policies, accessTests, diagnose };
  return behind.size === 0 ? { desired: ours, behind: [] } : { desired, behind: [...behind].toSorted(compareText) };
}

function testText({ expectations }: AccessTest): string {
  return canonical(expectations.map(({ text }) => text));
}

type DocumentSides<T> = Readonly<Record<'branch' | 'fork' | 'applied', readonly T[] | undefined>>;

/** Merges policies or access tests; reports those that are missing from the branch. */
function mergeDocuments<T extends { readonly name: string }>(
  { branch = [], fork = [], applied = [] }: DocumentSides<T>,
  textOf: (document: T) => string,
  report: (name: string) => void,
): readonly T[] {
  const names = distinctSorted([...branch, ...applied].map(({ name }) => name));
  return names.flatMap((name) => {
    const [own, then, now] = [branch, fork, applied].map((all) => all.find((one) => one.name === name));
    const [text, before, after] = [own, then, now].map((one) => (one === undefined ? undefined : textOf(one)));
    if (text !== before || text === after) return own ?? [];
    report(name);
    return now ?? [];
  });
}

/** Returns a function that locates the findings about an object in the manifests that its merged manifest is from. */
function diagnoseMerged(
  ours: DesiredState,
  theirs: DesiredState,
  {
    resources,
    applied,
    renames,
  }: { readonly resources: DesiredState['resources']; readonly applied: DesiredState; readonly renames: NewNames },
): NonNullable<DesiredState['diagnose']> {
  const formerIds = new Map([...renames].map(([former, { id }]) => [id, former]));
  return (id, finding) => {
    const isTheirs = desiredById(resources).get(id) === desiredById(applied.resources).get(id);
    const state = isTheirs ? theirs : ours;
    return state.diagnose?.(desiredById(state.resources).has(id) ? id : (formerIds.get(id) ?? id), finding);
  };
}

export type NewNames = ReadonlyMap<ResourceId, DesiredResource>;

/** Returns the objects that later states renamed or replaced, by their former ids. */
function renamesSince({ resources }: DesiredState, later: readonly DesiredState[]): NewNames {
  const before = desiredById(resources);
  const renames = new Map<ResourceId, DesiredResource>();
  for (const state of later) {
    const present = desiredById(state.resources);
    for (const resource of state.resources) {
      const former = formerIdOf(resource);
      if (former === undefined || before.has(resource.id) || present.has(former) || renames.has(former)) continue;
      if (before.has(former)) renames.set(former, resource);
    }
  }
  return renames;
}

/** Returns a state with the new names. A new reference to a former name stays: after the merge, it names nothing. */
export function withNewNames(state: DesiredState, renames: NewNames, fork: DesiredState): DesiredState {
  const newId = (id: ResourceId): ResourceId => renames.get(id)?.id ?? id;
  const resources = state.resources.map((resource) => {
    const now = renames.get(resource.id);
    if (now === undefined) return resource;
    const { renamedFrom: _, replaces: __, ...rest } = resource;
    const { id, renamedFrom, replaces } = now;
    return { ...rest, ...defined({ renamedFrom, replaces }), id, key: resource.key === resource.id ? id : resource.key };
  });
  const edges = state.edges.map((edge) => {
    const declarations = edge.declarations.map((one) => ({ ...one, by: newId(one.by) }));
    if (!edgesByEnds(fork.edges).has(edge) && !edge.declarations.some(({ by }) => renames.has(by))) return edge;
    return { rule: newId(edge.rule), connection: newId(edge.connection), declarations };
  });
  return { ...state, resources, edges };
}

/** Merges the declared edges; reports the objects whose edges are missing from the branch. */
function mergeEdges(
  branch: DesiredState,
  fork: DesiredState,
  applied: DesiredState,
  report: (id: ResourceId) => void,
): readonly DeclaredEdge[] {
  const [own, before, after] = [branch, fork, applied].map(({ edges }) => new Map(edges.map((edge) => [edgeKey(edge), edge])));
  const lost = [...(own ?? [])].filter(([text]) => before?.has(text) === true && after?.has(text) !== true);
  const gained = [...(after ?? [])].filter(([text]) => before?.has(text) !== true && own?.has(text) !== true);
  for (const [, { declarations }] of [...lost, ...gained]) for (const { by } of declarations) report(by);
  const dropped = new Set(lost.map(([text]) => text));
  return [...branch.edges.filter((edge) => !dropped.has(edgeKey(edge))), ...gained.map(([, edge]) => edge)];
}

/**
 * Returns a lookup of the last applied form of a resource, by its key or, for a live resource, by its former name. Fields that the base leaves to the
 * gateway have the values that the last apply recorded.
 */
export function lastAppliedLookup(
  base: BaseState | undefined,
): (resource: DesiredResource, isLive: boolean) => DesiredResource | undefined {
  if (base === undefined) return () => undefined;
  const applied = desiredByKey(base.desired.resources);
  return (resource, isLive) => {
    const formerId = isLive ? formerIdOf(resource) : undefined;
    const found = applied.get(resource.key) ?? (formerId === undefined ? undefined : applied.get(formerId));
    return found && withLeftFields(found, base.left?.get(found.key));
  };
}
