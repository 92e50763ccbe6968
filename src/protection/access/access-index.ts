import { addToGroup, memoizeByObject } from '../../model/collections.ts';
import { asText, compareText, type Json, textsIn, type JsonObject, distinctSorted } from '../../model/json.ts';
import { connectionsOf, type LiveResource } from '../../model/live.ts';
import {
  type AccessRequestRule,
  type AnalyzerRule,
  type Federation,
  hiddenRoles,
  isAnalyzerRule,
  isAttribute,
  isFederation,
  isMachineIdentity,
  isRequestRule,
  isRulepack,
  isRunbookRule,
  type ObjectIdentity,
  type MachineIdentity,
  readAnalyzerRule,
  readFederation,
  readMachineIdentity,
  readRequestRule,
  readRulepack,
  readRunbookRule,
  requestRuleId,
  roleNamesIn,
  type RoleNames,
  type Rulepack,
  type RunbookRule,
} from '../../model/protection/access-objects.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import { attributesIn, type DecidingObject, type DecidingState, rulesEverywhere } from './deciding-kinds.ts';

/** A rule with the id of its object. */
export type Keyed<Rule> = Rule & { readonly key: ResourceId };

/** The objects of a gateway that decide access to one connection. */
export type AccessFacts = {
  /** What the gateway calls the groups of admins and auditors. */
  readonly roles: RoleNames;
  /** The attributes that it has, those that the gateway manages included. */
  readonly attributes: readonly ResourceId[];
  /** The groups of its own row, without those that attributes grant; undefined without access control. */
  readonly row: readonly string[] | undefined;
  /** The groups that see it; undefined: everybody. */
  readonly granted: readonly string[] | undefined;
  /** The access control of the gateway is on: rows and attributes grant groups, and no row grants none. */
  readonly isControlled: boolean;
  /** The access-request rules by an attribute of it, the lowest id first. */
  readonly byAttribute: readonly Keyed<AccessRequestRule>[];
  /** Those that name it, the lowest id first. */
  readonly byName: readonly Keyed<AccessRequestRule>[];
  /** The runbook rules that include it; undefined where the gateway has no runbook rule at all. */
  readonly runbookRules: readonly Keyed<RunbookRule>[] | undefined;
  readonly rulepacks: readonly Rulepack[];
  readonly analyzer: AnalyzerRule | undefined;
  /** Finds an access-request rule by its name, as the analyzer does. */
  readonly ruleNamed: (name: string) => Keyed<AccessRequestRule> | undefined;
  readonly machines: readonly MachineIdentity[];
  /** As whom people work in the cloud; undefined: with the shared credential. */
  readonly federation: Federation | undefined;
};

/** Finds what decides access to a connection, by its name and its spec. */
export type AccessLookup = (name: string, spec: JsonObject) => AccessFacts;

/** Returns a lookup of what decides access in a state, which does not change afterwards; what is unread counts as empty. */
export function accessLookup(state: DecidingState): AccessLookup {
  const { resources, edges, isControlled } = state;
  const fixed = indexFixed(state.fixed);
  const ids = [...resources.keys()];
  const requestRules = ids.filter(isRequestRule);
  const runbookIds = ids.filter(isRunbookRule);
  const requestRuleOf = (id: ResourceId): readonly Keyed<AccessRequestRule>[] =>
    viewOf(requestViews, id, resources.get(id), readRequestRule);
  const runbookRuleOf = (id: ResourceId): readonly Keyed<RunbookRule>[] => viewOf(runbookViews, id, resources.get(id), readRunbookRule);
  const rulesByAttribute = groupBy(requestRules.flatMap(requestRuleOf), ({ attributes }) => attributes);
  const everywhere = [
    ...(runbookIds.length === 0 ? [] : [...(state.everywhere ?? rulesEverywhere(state))].flatMap(runbookRuleOf)),
    ...fixed.runbooksEverywhere,
  ];
  const hasRunbookRules = runbookIds.length > 0 || fixed.hasRunbookRules;
  const roles = roleNamesOf(state);
  const hasNamedRules = requestRules.length + runbookIds.length > 0;
  return (name, spec) => {
    const attributes = attributesOn(state, name, spec);
    const names = attributes.map(nameOf);
    // The groups of a row are in the spec; a new connection has none.
    const { access_groups: stated } = spec;
    const row = Array.isArray(stated) ? textsIn(stated) : isControlled ? [] : undefined;
    const granting = attributes.flatMap((id) => textsIn((resources.get(id) ?? fixed.attributes.get(id))?.spec['access_groups']));
    const naming = hasNamedRules ? [...(edges.get(`Connection/${name}`) ?? [])] : [];
    const runbookRules = [
      ...everywhere,
      ...naming.flatMap((id) => (isRunbookRule(id) ? runbookRuleOf(id) : [])),
      ...(fixed.runbookRules.get(name) ?? []),
    ];
    return {
      roles,
      attributes,
      row,
      granted: row && distinctSorted([...row, ...granting]),
      isControlled,
      byAttribute: [...distinct(names, rulesByAttribute), ...distinct(names, fixed.requestRulesByAttribute)].toSorted(byId),
      byName: [...naming.flatMap((id) => (isRequestRule(id) ? requestRuleOf(id) : [])), ...(fixed.requestRules.get(name) ?? [])].toSorted(
        byId,
      ),
      runbookRules: hasRunbookRules ? runbookRules.toSorted(byName) : undefined,
      rulepacks: fixed.rulepacks.get(name) ?? [],
      analyzer: fixed.analyzers.get(name)?.[0],
      ruleNamed: (rule) => requestRuleOf(requestRuleId(rule))[0] ?? fixed.requestRulesNamed.get(rule),
      machines: [...new Set([...(fixed.machines.get(name) ?? []), ...distinct(names, fixed.machinesByAttribute)])],
      federation: fixed.federations.get(name)?.[0],
    };
  };
}

const requestViews = new WeakMap<DecidingObject, Keyed<AccessRequestRule>>();
const runbookViews = new WeakMap<DecidingObject, Keyed<RunbookRule>>();

/** Returns what an object decides, read once: objects that are the same decide the same. */
function viewOf<View>(
  known: WeakMap<DecidingObject, Keyed<View>>,
  id: ResourceId,
  object: DecidingObject | undefined,
  read: (spec: JsonObject, identity: ObjectIdentity) => View,
): readonly Keyed<View>[] {
  if (object === undefined) return [];
  const view = known.get(object) ?? { ...read(object.spec, { id: object.uid ?? '', name: nameOf(id) }), key: id };
  known.set(object, view);
  return [view];
}

/** Reads the objects that no plan writes, once for each list of them. */
const indexFixed = memoizeByObject((fixed: readonly LiveResource[]) => {
  const ofKind = (isKind: (id: ResourceId) => boolean): readonly LiveResource[] => fixed.filter(({ id }) => isKind(id));
  const requestRules = readViews(ofKind(isRequestRule), readRequestRule);
  const runbookRules = readViews(ofKind(isRunbookRule), readRunbookRule);
  const machines = readViews(ofKind(isMachineIdentity), readMachineIdentity);
  const attributes = ofKind(isAttribute);
  return {
    roles: roleNamesIn(fixed),
    requestRules: byConnection(requestRules),
    requestRulesByAttribute: groupBy(
      requestRules.map(([rule]) => rule),
      (rule) => rule.attributes,
    ),
    requestRulesNamed: new Map(requestRules.map(([rule]) => [rule.name, rule])),
    runbookRules: byConnection(runbookRules),
    runbooksEverywhere: runbookRules.flatMap(([rule, connections]) => (connections.length === 0 ? [rule] : [])),
    hasRunbookRules: runbookRules.length > 0,
    attributes: new Map(attributes.map((one) => [one.id, one])),
    managedAttributes: byConnection(
      attributes.flatMap((one) => (one.managedBy === undefined ? [] : [[one.id, connectionsOf(one)] as const])),
    ),
    rulepacks: byConnection(readViews(ofKind(isRulepack), readRulepack)),
    analyzers: byConnection(readViews(ofKind(isAnalyzerRule), readAnalyzerRule)),
    rulesAsked: byConnection(
      ofKind(isAnalyzerRule).flatMap((one) => Object.values(one.spec).map((value) => [askedRule(value), connectionsOf(one)] as const)),
    ),
    machines: byConnection(machines),
    federations: byConnection(readViews(ofKind(isFederation), readFederation)),
    machinesByAttribute: groupBy(
      machines.map(([machine]) => machine),
      (machine) => machine.attributes,
    ),
  };
});

/** Returns what a gateway calls the groups of admins and auditors, by the objects that no plan writes. */
export function roleNamesOf({ fixed, hidesRoles }: Pick<DecidingState, 'fixed' | 'hidesRoles'>): RoleNames {
  return hidesRoles === true ? hiddenRoles : indexFixed(fixed).roles;
}

/** Returns the attributes of a connection: those of its spec, and those that their managers attach. */
export function attributesOn({ fixed }: Pick<DecidingState, 'fixed'>, name: string, spec: JsonObject): readonly ResourceId[] {
  return [...new Set([...attributesIn(spec), ...(indexFixed(fixed).managedAttributes.get(name) ?? [])])];
}

/** Lists the access-request rules that the analyzer of a connection asks for by name, which need not be attached to it. */
export function rulesAsked({ fixed }: Pick<DecidingState, 'fixed'>, connection: ResourceId): readonly ResourceId[] {
  return indexFixed(fixed).rulesAsked.get(nameOf(connection)) ?? [];
}

function askedRule(value: Json): ResourceId {
  return requestRuleId(asText(value).split(':').slice(1).join(':'));
}

/** Reads objects, each with the connections that it names, the lowest id first. */
function readViews<View extends ObjectIdentity>(
  objects: readonly LiveResource[],
  read: (spec: JsonObject, identity: ObjectIdentity) => View,
): readonly (readonly [Keyed<View>, readonly string[]])[] {
  return objects
    .map((one): readonly [Keyed<View>, readonly string[]] => [
      { ...read(one.spec, { id: one.uid, name: nameOf(one.id) }), key: one.id },
      connectionsOf(one),
    ])
    .toSorted(([left], [right]) => byId(left, right));
}

function byId(left: { readonly id: string }, right: { readonly id: string }): number {
  return compareText(left.id, right.id);
}

function byName(left: RunbookRule, right: RunbookRule): number {
  return compareText(left.name, right.name) || byId(left, right);
}

function distinct<T>(keys: readonly string[], groups: ReadonlyMap<string, readonly T[]>): readonly T[] {
  return [...new Set(keys.flatMap((key) => groups.get(key) ?? []))];
}

/** Returns the objects by each connection that they name. */
function byConnection<T>(all: readonly (readonly [T, readonly string[]])[]): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const [one, connections] of all) for (const name of new Set(connections)) addToGroup(groups, name, one);
  return groups;
}

function groupBy<T>(all: readonly T[], keysOf: (one: T) => readonly string[]): ReadonlyMap<string, readonly T[]> {
  return byConnection(all.map((one) => [one, keysOf(one)] as const));
}
