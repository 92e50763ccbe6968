import { textsIn, type JsonObject } from '../../model/json.ts';
import { connectionsOf, type LiveResource } from '../../model/live.ts';
import { decidingLists, isAttribute, isRunbookRule } from '../../model/protection/access-objects.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';

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
};

/** Returns the attributes that attach an object to connections: those that it has, and an attribute itself. */
export function attachingAttributes(id: ResourceId, spec: JsonObject = {}): readonly string[] {
  return isAttribute(id) ? [nameOf(id)] : textsIn(spec['attributes']);
}

/** Returns whether the objects of a kind decide access together: what one does to a connection depends on the others. */
export function decidesAccess(kind: string): boolean {
  return decidingLists[kind] !== undefined;
}

const noRules: ReadonlySet<never> = new Set();

/** Returns whether a rule includes every connection, because it names none. */
export function includesEvery(rule: ResourceId, { resources, edges }: Pick<DecidingState, 'resources' | 'edges'>): boolean {
  if (!isRunbookRule(rule) || !resources.has(rule)) return false;
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
