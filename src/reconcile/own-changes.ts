import { type DeclaredEdge, desiredById, type DesiredResource, type DesiredState } from '../model/desired.ts';
import { compareText } from '../model/json.ts';
import type { Kind, Registry } from '../model/kind.ts';
import { type AcceptedDrift, type AssessedChange, liveKeyOf, type Plan } from '../model/plan/plan.ts';
import { overlaps, pointer, type Pointer } from '../model/pointer.ts';
import { type ResourceId, edgeKey, kindOf, nameOf } from '../model/resource.ts';
import { isSameSecretSource } from './compare/compare-secrets.ts';
import { compareSpecs } from './compare/compare-specs.ts';

/** The changes of a pull request itself: the sorted paths of each resource (the empty path is the whole resource), and edges. */
type OwnChanges = {
  readonly places: ReadonlyMap<ResourceId, readonly Pointer[]>;
  /** Edges that the pull request declares or removes. */
  readonly edges: ReadonlySet<string>;
};

/** Compares the manifests with those from which the pull request started. */
export function ownChanges(desired: DesiredState, start: DesiredState, registry: Registry): OwnChanges {
  const places = new Map<ResourceId, Set<Pointer>>();
  const add = (id: ResourceId, place: Pointer): void => void places.set(id, (places.get(id) ?? new Set()).add(place));
  const before = new Map(desiredById(start.resources));
  for (const resource of desired.resources) {
    const other = before.get(resource.id);
    const kind = registry.get(kindOf(resource.id));
    const found = other === undefined || kind === undefined ? [''] : placesOf(kind, resource, other);
    for (const place of found) add(resource.id, place);
    before.delete(resource.id);
  }
  for (const { id } of desired.unselected) before.delete(id);
  for (const id of before.keys()) add(id, '');
  const edges = edgesOfOne(desired.edges, start.edges);
  for (const edge of edges) for (const [id, place] of placesOfEdge(edge, registry)) add(id, place);
  return {
    places: new Map([...places].map(([id, found]) => [id, [...found].toSorted(compareText)])),
    edges: new Set(edges.map(edgeKey)),
  };
}

/** Returns whether the pull request itself changes the path, something below it, or something that contains it. */
export function isOwn({ places }: OwnChanges, id: ResourceId, path: Pointer = ''): boolean {
  return places.get(id)?.some((place) => overlaps(place, path)) ?? false;
}

/** Labels each change, field and edge of the plan with whether it is the pull request's own; one own field makes the change its own. */
export function labelOwn(plan: Plan, own: OwnChanges): Plan {
  const edges = plan.edges.map((edge) => ({ ...edge, own: own.edges.has(edgeKey(edge)) }));
  const writers = new Set(edges.flatMap(({ own: isItsOwn, by }) => (isItsOwn && by !== undefined ? [by] : [])));
  const changes = plan.changes.map((change): AssessedChange => {
    const fields = change.fields.map((field) => ({ ...field, own: isOwn(own, change.id, field.path) }));
    const isWhole = own.places.get(change.id)?.includes('') === true;
    return { ...change, own: isWhole || writers.has(liveKeyOf(change)) || fields.some((field) => field.own), fields };
  });
  const accepted = plan.accepted.map((drift): AcceptedDrift => {
    const isEdgeOwn = drift.edges.some((edge) => own.edges.has(edgeKey(edge)));
    const fields = drift.fields.map((field) => ({ ...field, own: isOwn(own, drift.id, field.path) }));
    const isWhole = own.places.get(drift.id)?.includes('') === true;
    return { ...drift, own: isWhole || isEdgeOwn || fields.some((field) => field.own), fields };
  });
  return { ...plan, changes, edges, accepted };
}

function placesOf({ fields }: Kind, one: DesiredResource, other: DesiredResource): readonly Pointer[] {
  const statedOnce = fields.filter(({ name }) => (one.spec[name] === undefined) !== (other.spec[name] === undefined));
  return [
    ...(sameTerms(one, other) ? [] : ['']),
    ...statedOnce.map(({ name }) => pointer(name)),
    ...compareSpecs(
      fields,
      one.spec,
      other.spec,
      statedOnce.map(({ name }) => pointer(name)),
    ).map(({ path }) => path),
    ...secretPlaces(one, other),
    ...inOne(one.wholeSecrets, other.wholeSecrets),
    ...inOne(one.ignore, other.ignore),
  ];
}

/** Returns whether name and metadata of both are the same. */
function sameTerms(one: DesiredResource, other: DesiredResource): boolean {
  return (
    one.key === other.key &&
    one.protect === other.protect &&
    one.adopt === other.adopt &&
    one.replaces === other.replaces &&
    one.renamedFrom === other.renamedFrom
  );
}

function secretPlaces(one: DesiredResource, other: DesiredResource): readonly Pointer[] {
  const paths = new Set([...Object.keys(one.secrets), ...Object.keys(other.secrets)]);
  return [...paths].filter((path) => !isSameSecretSource(one.secrets[path], other.secrets[path]));
}

function inOne(one: readonly Pointer[], other: readonly Pointer[]): readonly Pointer[] {
  return [...one.filter((path) => !other.includes(path)), ...other.filter((path) => !one.includes(path))];
}

/** The edges that one side alone declares. */
function edgesOfOne(one: readonly DeclaredEdge[], other: readonly DeclaredEdge[]): readonly DeclaredEdge[] {
  return [...edgesBut(one, other), ...edgesBut(other, one)];
}

function edgesBut(edges: readonly DeclaredEdge[], others: readonly DeclaredEdge[]): readonly DeclaredEdge[] {
  const known = new Set(others.map(edgeKey));
  return edges.filter((edge) => !known.has(edgeKey(edge)));
}

/** Returns the path under which each end lists the edge, if it has a field for it. */
function placesOfEdge({ rule, connection }: DeclaredEdge, registry: Registry): readonly (readonly [ResourceId, Pointer])[] {
  const place = (end: ResourceId, side: 'rule' | 'connection', other: ResourceId): readonly (readonly [ResourceId, Pointer])[] => {
    const field = registry.get(kindOf(end))?.fields.find(({ edge, refers }) => edge === side && refers === kindOf(other));
    return field === undefined ? [] : [[end, pointer(field.name, nameOf(other))]];
  };
  return [...place(rule, 'rule', connection), ...place(connection, 'connection', rule)];
}
