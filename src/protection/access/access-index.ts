import { addToGroup } from '../../model/collections.ts';
import { compareText, textsIn, type JsonObject } from '../../model/json.ts';
import type {
  AccessObjects,
  AccessRequestRule,
  AccessState,
  AnalyzerRule,
  MachineIdentity,
  Rulepack,
  RunbookRule,
} from '../../model/protection/access-objects.ts';

/** The objects of a gateway that decide access to one connection. */
export type AccessFacts = {
  /** The attributes that it has, those that the gateway manages included. */
  readonly attributes: readonly string[];
  /** The groups of its own row, without those that attributes grant; undefined without access control. */
  readonly row: readonly string[] | undefined;
  /** The groups that see it; undefined: everybody. */
  readonly granted: readonly string[] | undefined;
  /** The access control of the gateway is on: rows and attributes grant groups, and no row grants none. */
  readonly isControlled: boolean;
  /** The access-request rules by an attribute of it, the lowest id first. */
  readonly byAttribute: readonly AccessRequestRule[];
  /** Those that name it, the lowest id first. */
  readonly byName: readonly AccessRequestRule[];
  /** The runbook rules that include it; undefined where the gateway has no runbook rule at all. */
  readonly runbookRules: readonly RunbookRule[] | undefined;
  readonly rulepacks: readonly Rulepack[];
  readonly analyzer: AnalyzerRule | undefined;
  /** Finds an access-request rule by its name, as the analyzer does. */
  readonly ruleNamed: (name: string) => AccessRequestRule | undefined;
  readonly machines: readonly MachineIdentity[];
};

/** Finds what decides access to a connection, by its name and its spec. */
export type AccessLookup = (name: string, spec: JsonObject) => AccessFacts;

const noFacts: AccessFacts = {
  attributes: [],
  row: undefined,
  granted: undefined,
  isControlled: false,
  byAttribute: [],
  byName: [],
  runbookRules: undefined,
  rulepacks: [],
  analyzer: undefined,
  ruleNamed: () => undefined,
  machines: [],
};

/** The lookup for a gateway that has nothing of the kind beside its connections. */
export const noAccessObjects: AccessLookup = (_, { access_groups: groups }) =>
  Array.isArray(groups) ? { ...noFacts, granted: textsIn(groups) } : noFacts;

const known = new WeakMap<AccessState, AccessLookup>();

/** Returns a lookup of what decides access, one for each state; what is unreadable counts as empty. */
export function accessLookup(state: AccessState): AccessLookup {
  const lookup = known.get(state) ?? indexAccess(state);
  known.set(state, lookup);
  return lookup;
}

function indexAccess(state: AccessState): AccessLookup {
  const grants = indexGrants(state);
  const attributes = new Map(entriesOf(state, 'attributes').map((one) => [one.name, one]));
  const managed = groupByName(entriesOf(state, 'attributes').filter(({ managed_by: by }) => by !== ''));
  const rules = entriesOf(state, 'access-request-rules').toSorted(byId);
  const rulesByName = groupByName(rules);
  const rulesByAttribute = groupByAttribute(rules);
  const named = new Map(rules.map((rule) => [rule.name, rule]));
  const runbookRules = entriesOf(state, 'runbook-rules');
  const runbooksEverywhere = runbookRules.filter(({ connections }) => connections.length === 0);
  const runbooksByName = groupByName(runbookRules);
  const rulepacks = groupByName(entriesOf(state, 'rulepacks'));
  const analyzers = groupByName(entriesOf(state, 'analyzer-rules').toSorted(byId));
  const machines = entriesOf(state, 'machine-identities');
  const machinesByName = groupByName(machines);
  const machinesByAttribute = groupByAttribute(machines);
  return (name, spec) => {
    const own = [...new Set([...textsIn(spec['attributes']), ...(managed.get(name) ?? []).map((one) => one.name)])];
    const granting = own.flatMap((attribute) => attributes.get(attribute)?.groups ?? []);
    // The groups of a row that a manifest states are in the spec.
    const { access_groups: stated } = spec;
    const row = Array.isArray(stated) ? textsIn(stated) : grants && (grants.get(name) ?? []);
    return {
      attributes: own,
      row,
      granted: row && [...new Set([...row, ...granting])].toSorted(compareText),
      isControlled: grants !== undefined,
      byAttribute: distinct(own, rulesByAttribute).toSorted(byId),
      byName: rulesByName.get(name) ?? [],
      runbookRules: runbookRules.length === 0 ? undefined : [...runbooksEverywhere, ...(runbooksByName.get(name) ?? [])],
      rulepacks: rulepacks.get(name) ?? [],
      analyzer: analyzers.get(name)?.[0],
      ruleNamed: (rule) => named.get(rule),
      machines: [...new Set([...(machinesByName.get(name) ?? []), ...distinct(own, machinesByAttribute)])],
    };
  };
}

/** Returns the entries of a list; empty where it is off or unreadable. */
export function entriesOf<List extends keyof AccessState>(state: AccessState, list: List): readonly AccessObjects[List][] {
  const entries: AccessState[List] = state[list];
  return typeof entries === 'object' ? entries : [];
}

/** Returns the groups of each row; undefined where access control is off, or unreadable. */
function indexGrants({ 'access-control': rows }: AccessState): ReadonlyMap<string, readonly string[]> | undefined {
  if (typeof rows !== 'object') return undefined;
  return new Map(rows.map(({ name, groups }) => [name, groups]));
}

function byId(left: { readonly id: string }, right: { readonly id: string }): number {
  return compareText(left.id, right.id);
}

function distinct<T>(keys: readonly string[], groups: ReadonlyMap<string, readonly T[]>): readonly T[] {
  return [...new Set(keys.flatMap((key) => groups.get(key) ?? []))];
}

function groupByName<T extends { readonly connections: readonly string[] }>(all: readonly T[]): ReadonlyMap<string, readonly T[]> {
  return groupBy(all, ({ connections }) => connections);
}

function groupByAttribute<T extends { readonly attributes: readonly string[] }>(all: readonly T[]): ReadonlyMap<string, readonly T[]> {
  return groupBy(all, ({ attributes }) => attributes);
}

function groupBy<T>(all: readonly T[], keysOf: (one: T) => readonly string[]): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) for (const key of new Set(keysOf(one))) addToGroup(groups, key, one);
  return groups;
}
