import { textsIn, type JsonObject } from '../../model/json.ts';
import { connectionsOf, fixedObjects, type LiveResource, type LiveState } from '../../model/live.ts';
import { tokensOf } from '../../model/pointer.ts';
import { attributeId, decidingLists, isAttribute, isMachineIdentity, isRunbookRule } from '../../model/protection/access-objects.ts';
import type { Decider } from '../../model/protection/permission.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';

/** An object of manifests or of the gateway; without the gateway's id, the gateway does not have it yet. */
export type DecidingObject = { readonly spec: JsonObject; readonly uid?: string | undefined };

/** What decides access in a state. */
export type DecidingState = {
  readonly resources: ReadonlyMap<ResourceId, DecidingObject>;
  /** The rules that an edge attaches, by connection. */
  readonly edges: ReadonlyMap<ResourceId, ReadonlySet<ResourceId>>;
  /** The rules that include every connection; found in the resources and edges where it is absent. */
  readonly everywhere?: ReadonlySet<ResourceId> | undefined;
  /** Objects that no plan writes: those of watched kinds, those that share their name, and attributes that the gateway manages. */
  readonly fixed: readonly LiveResource[];
  /** The access control of the gateway is on. */
  readonly isControlled: boolean;
  /** The gateway does not show what it calls the groups of admins and auditors. */
  readonly hidesRoles?: boolean;
};

/** Returns the attributes that attach an object to connections: those that it has, and an attribute itself. */
export function attachingAttributes(id: ResourceId, spec: JsonObject = {}): readonly string[] {
  return isAttribute(id) ? [nameOf(id)] : textsIn(spec['attributes']);
}

/** Returns the attributes that a spec names. */
export function attributesIn({ attributes }: JsonObject): readonly ResourceId[] {
  return textsIn(attributes).map((name) => attributeId(name));
}

/** Returns the attribute that an element of a list of attributes names; undefined for other deciders. */
export function attributeOf({ path }: Pick<Decider, 'path'>): ResourceId | undefined {
  const [field, name] = tokensOf(path);
  return field === 'attributes' && name !== undefined ? attributeId(name) : undefined;
}

/** Returns whether an object on a connection may do something: an attribute without groups grants nothing. */
export function isEffectiveRule(id: ResourceId, spec: JsonObject = {}): boolean {
  return !isAttribute(id) || textsIn(spec['access_groups']).length > 0;
}

/** The kind of attributes, which attach what has a field for them. */
export const attachingKind: string = kindOf(attributeId(''));

/** Lists the objects that no plan writes: those of watched kinds, those that share their name, and attributes that the gateway manages, which list what has them. */
export function fixedIn(live: Partial<LiveState>): readonly LiveResource[] {
  const managed = (live.resources ?? []).filter(({ id, managedBy }) => managedBy !== undefined && isAttribute(id));
  return managed.length === 0 ? fixedObjects(live) : [...fixedObjects(live), ...managed];
}

/** Takes a deleted attribute from everything that has it, as the gateway does; machines keep the credentials that they got by it. */
export function withoutAttribute<Object extends DecidingObject>(
  deleted: ResourceId,
  resources: Map<ResourceId, Object>,
  fixed: readonly LiveResource[],
): readonly LiveResource[] {
  if (!isAttribute(deleted)) return fixed;
  const having: string[] = [];
  for (const [id, resource] of resources) {
    const names = textsIn(resource.spec['attributes']);
    if (!names.includes(nameOf(deleted))) continue;
    resources.set(id, { ...resource, spec: { ...resource.spec, attributes: names.filter((name) => name !== nameOf(deleted)) } });
    having.push(nameOf(id));
  }
  return fixed.map((one) =>
    isMachineIdentity(one.id) && textsIn(one.spec['attributes']).includes(nameOf(deleted))
      ? { ...one, links: [...(one.links ?? []), ...having] }
      : one,
  );
}

/** Returns whether the objects of a kind decide access together: what one does to a connection depends on the others. */
export function decidesAccess(kind: string): boolean {
  return decidingLists[kind] !== undefined;
}

const noRules: ReadonlySet<never> = new Set();

/** Returns whether a rule includes every connection while it names none. */
export function mayIncludeEvery(rule: ResourceId): boolean {
  return isRunbookRule(rule);
}

/** Returns whether a rule includes every connection, because it names none. */
export function includesEvery(rule: ResourceId, { resources, edges }: Pick<DecidingState, 'resources' | 'edges'>): boolean {
  if (!mayIncludeEvery(rule) || !resources.has(rule)) return false;
  return [...edges.values()].every((rules) => !rules.has(rule));
}

/** Returns the rules that include every connection, because they name none. */
export function rulesEverywhere({ resources, edges }: Pick<DecidingState, 'resources' | 'edges'>): ReadonlySet<ResourceId> {
  const found = new Set([...resources.keys()].filter(isRunbookRule));
  if (found.size === 0) return noRules;
  for (const rules of edges.values()) for (const rule of rules) found.delete(rule);
  return found;
}

/** Lists the runbook rules of a state, those without a manifest included. */
export function runbookRulesOf({ resources, fixed }: Pick<DecidingState, 'resources' | 'fixed'>): readonly ResourceId[] {
  return [...resources.keys(), ...fixed.map(({ id }) => id)].filter(isRunbookRule);
}

/**
 * Returns why a change of an object may affect every connection between two states: it includes them all, or its list is empty while only some
 * changes are written, because no other object of it stays. Undefined: it affects only those that it names.
 */
export function affectsEvery(id: ResourceId, before: DecidingState, after: DecidingState): 'by-itself' | 'while-empty' | undefined {
  if (!isRunbookRule(id)) return undefined;
  const [had, has] = [runbookRulesOf(before), runbookRulesOf(after)];
  const includesAll = ({ everywhere, fixed, ...state }: DecidingState): boolean =>
    (everywhere ?? rulesEverywhere(state)).has(id) || fixed.some((one) => one.id === id && connectionsOf(one).length === 0);
  if (includesAll(before) || includesAll(after)) return 'by-itself';
  const stays = new Set(has);
  return had.some((one) => one !== id && stays.has(one)) ? undefined : 'while-empty';
}
