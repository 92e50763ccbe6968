import { addToGroup } from '../../model/collections.ts';
import { compareText, equal, type JsonObject, textsIn } from '../../model/json.ts';
import { entriesOf } from './access-index.ts';
import {
  type AccessObjects,
  type AccessState,
  type DecidingList,
  decidingLists,
  isAttribute,
  type NamedObject,
  readRequestRule,
  readRunbookRule,
} from '../../model/protection/access-objects.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';

/** An object of a manifest or of the gateway that decides access: its spec, the connections that it names, and what the gateway lists of it. */
type DecidingObject<Listed> = NamedObject & { readonly spec: JsonObject; readonly listed: Listed | undefined };

/** Reads the objects of each list from manifests; the gateway gives them their ids. */
const readers: { readonly [List in DecidingList]: (object: DecidingObject<AccessObjects[List]>) => AccessObjects[List] } = {
  'access-request-rules': ({ spec, id, name, connections }) => readRequestRule(spec, { id, name, connections }),
  attributes: ({ name, spec, listed }) => ({ ...unlinked, ...listed, name, groups: textsIn(spec['access_groups']) }),
  'runbook-rules': ({ spec, id, name, connections }) => readRunbookRule(spec, { id, name, connections }),
};

/** An attribute that the gateway does not list yet: its links follow from the objects that name it. */
const unlinked = { id: '', connections: [], access_request_rules: [], guardrail_rules: [], masking_rules: [], managed_by: '' };

/** Returns the attributes that attach an object to connections: those that it has, and an attribute itself. */
export function attachingAttributes(id: ResourceId, spec: JsonObject = {}): readonly string[] {
  return isAttribute(id) ? [nameOf(id)] : textsIn(spec['attributes']);
}

/** Returns whether the objects of a kind decide access together: what one does to a connection depends on the others. */
export function decidesAccess(kind: string): boolean {
  return decidingLists[kind] !== undefined;
}

/** Returns whether the existence of an object alone decides about connections that it does not name: the first runbook rule closes all other runbooks. */
export function decidesEverywhere(kind: string): boolean {
  return decidingLists[kind] === 'runbook-rules';
}

const noRules: ReadonlySet<never> = new Set();

/** Returns whether a rule includes every connection, because it names none. */
export function includesEvery(rule: ResourceId, { resources, edges }: DecidingState): boolean {
  if (!decidesEverywhere(kindOf(rule)) || !resources.has(rule)) return false;
  return [...edges.values()].every((rules) => !rules.has(rule));
}

/** Returns the rules that include every connection, because they name none. */
export function rulesEverywhere({ resources, edges }: DecidingState): ReadonlySet<ResourceId> {
  const found = new Set([...resources.keys()].filter((id) => decidesEverywhere(kindOf(id))));
  if (found.size === 0) return noRules;
  for (const rules of edges.values()) for (const rule of rules) found.delete(rule);
  return found;
}

/**
 * Returns whether a change of an object may affect every connection between two states: it includes them all, or its list is empty while only some
 * changes are written, because no other object of it stays.
 */
export function affectsEvery(id: ResourceId, before: AccessState | undefined, after: AccessState | undefined): boolean {
  const list = decidingLists[kindOf(id)];
  if (list === undefined) return false;
  const [had, has] = [entriesOf(before ?? {}, list), entriesOf(after ?? {}, list)];
  const isOwn = ({ name }: NamedObject): boolean => name === nameOf(id);
  const names = new Set(has.map(({ name }) => name));
  const isKept = had.some((one) => names.has(one.name) && !isOwn(one));
  return !isKept || [...had, ...has].some((one) => isOwn(one) && one.connections.length === 0);
}

/** Resources, and the rules that edges attach, by connection. */
type DecidingState = {
  readonly resources: ReadonlyMap<ResourceId, { readonly spec: JsonObject }>;
  readonly edges: ReadonlyMap<ResourceId, ReadonlySet<ResourceId>>;
};

/** Returns what decides access after the objects of `from`, which `state` lists, became those of `to`; `state` itself if they are the same. */
export function accessAfter(state: AccessState | undefined, from: DecidingState, to: DecidingState): AccessState | undefined {
  if (from.resources === to.resources && from.edges === to.edges) return state;
  const ids = [...new Set([...from.resources.keys(), ...to.resources.keys()])].filter((id) => decidesAccess(kindOf(id)));
  if (ids.length === 0) return state;
  const [had, has] = [namedConnections(from.edges), namedConnections(to.edges)];
  const changed = ids.filter(
    (id) => from.resources.get(id)?.spec !== to.resources.get(id)?.spec || !equal(had.get(id) ?? [], has.get(id) ?? []),
  );
  const lists = new Set(changed.flatMap((id) => decidingLists[kindOf(id)] ?? []));
  if (lists.size === 0) return state;
  const objects = changed.map((id) => ({ id, resource: to.resources.get(id), connections: has.get(id) ?? [] }));
  return { ...state, ...Object.fromEntries([...lists].map((list) => [list, listAfter(state, list, objects)])) };
}

type ChangedObject = {
  readonly id: ResourceId;
  /** Undefined: it is gone. */
  readonly resource: { readonly spec: JsonObject } | undefined;
  readonly connections: readonly string[];
};

/** Returns a list with the changed objects of its kind as they are now. */
function listAfter<List extends DecidingList>(
  state: AccessState | undefined,
  list: List,
  objects: readonly ChangedObject[],
): readonly AccessObjects[List][] {
  const before = entriesOf(state ?? {}, list);
  const known = new Map<string, AccessObjects[List]>(before.map((one) => [one.name, one] as const));
  const after = new Map(
    objects
      .filter(({ id }) => decidingLists[kindOf(id)] === list)
      .map(({ id, resource, connections }) => {
        const name = nameOf(id);
        const listed = known.get(name);
        return [name, resource && readers[list]({ id: listed?.id ?? '', name, spec: resource.spec, connections, listed })] as const;
      }),
  );
  // Several objects may have a name that no manifest declares.
  const kept = before.flatMap((one) => (after.has(one.name) ? (after.get(one.name) ?? []) : [one]));
  return [...kept, ...[...after].flatMap(([name, one]) => (known.has(name) ? [] : (one ?? [])))];
}

/** Returns the names of the connections that each object which decides access names. */
function namedConnections(edges: DecidingState['edges']): ReadonlyMap<ResourceId, readonly string[]> {
  const found = new Map<ResourceId, string[]>();
  for (const [connection, rules] of edges)
    for (const rule of rules) if (decidesAccess(kindOf(rule))) addToGroup(found, rule, nameOf(connection));
  for (const names of found.values()) names.sort(compareText);
  return found;
}
