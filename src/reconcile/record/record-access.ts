import { createHash } from 'node:crypto';
import type { RecordedAccess } from '../../model/applied-record.ts';
import { asText, canonical, compareText, type Json, type JsonObject, objectsIn, textsIn } from '../../model/json.ts';
import { type AccessObjects, type AccessState, decidingLists } from '../../model/protection/access-objects.ts';
import type { DesiredState } from '../../model/desired.ts';
import type { LiveState } from '../../model/live.ts';
import { liveKeyOf, type Plan, renamesOf, withNames } from '../../model/plan/plan.ts';
import { isPointerWithin, pointer } from '../../model/pointer.ts';
import { accessRowsOf } from '../../model/plan/access-rows.ts';
import { closableFields, type Registry } from '../../model/kind.ts';
import { kindOf, nameOf, resourceId, type ResourceId } from '../../model/resource.ts';
import type { WatchedList } from '../../model/protection/outside-access.ts';

/** The watched lists, in the order of reports. */
export const watchedLists: readonly WatchedList[] = [
  'access-control',
  'attributes',
  'access-request-rules',
  'runbook-rules',
  'rulepacks',
  'analyzer-rules',
  'machine-identities',
];

/**
 * The fields of each object that decide access. The rules of an attribute follow from other objects, and so do its connections, except those
 * whose manifests leave attributes to the gateway; the name of a row is that of its connection.
 */
const decidingFields: { readonly [List in WatchedList]: readonly (keyof AccessObjects[List] & string)[] } = {
  'access-control': ['groups'],
  attributes: ['name', 'groups', 'connections', 'managed_by'],
  'access-request-rules': [
    'name',
    'access_type',
    'connections',
    'attributes',
    'approval_required_groups',
    'reviewers_groups',
    'approvals',
    'credential_approvals',
    'force_approval_groups',
    'skip_review_groups',
    'access_max_duration',
    'managed_by',
  ],
  'runbook-rules': ['name', 'runbooks', 'connections', 'groups'],
  rulepacks: ['name', 'digest', 'guardrail_rules', 'masking_rules', 'connections', 'managed'],
  'analyzer-rules': ['name', 'connections', 'low_risk', 'medium_risk', 'high_risk', 'prompt', 'managed_by'],
  'machine-identities': ['name', 'connections', 'attributes'],
};

/** The longest list, in characters: 1 MiB. */
export const longestList: number = 1024 * 1024;

/**
 * Returns the objects that decide access as the record of an apply keeps them. A list that this token cannot read stays as it was recorded
 * `before`. A list above the bound has a hash for each object, and above it even so it is omitted.
 */
export function recordAccess(access: AccessState, before: RecordedAccess | undefined, scope: WatchScope): RecordedAccess {
  const counted = watchedPart(access, scope);
  const lists = watchedLists.flatMap((list) => {
    const found = counted[list];
    if (found === undefined) return [];
    const kept = found === 'unreadable' ? (before?.[list] ?? found) : typeof found === 'string' ? found : bounded(list, found);
    return [[list, kept] as const];
  });
  return Object.fromEntries(lists);
}

/** What is watched of connections with manifests. */
export type WatchScope = {
  /** The connections whose manifests leave attributes to the gateway. */
  readonly left: ReadonlySet<string>;
  /** The connections whose access groups Ostiary writes: their manifests state them, or they have those of their predecessor. */
  readonly granted: ReadonlySet<string>;
  /** The objects that manifests declare. */
  readonly declared: ReadonlySet<ResourceId>;
  /** A manifest states access groups, so that an apply may have switched access control on. */
  readonly isAccessStated: boolean;
};

/** Returns what is watched of connections with these manifests: the current ones, and those that were applied last. */
export function watchScope(registry: Registry, ...states: readonly DesiredState[]): WatchScope {
  const all = states.flatMap(({ resources }) => resources.filter(({ key }) => isConnection(key, registry)));
  const stated = all.filter((one) => one.stated.has('access_groups'));
  const granted = new Set([...stated, ...all.filter(({ replaces }) => replaces !== undefined)].map(({ key }) => nameOf(key)));
  const declared = new Set(
    states.flatMap(({ resources, unselected }) => [...resources, ...unselected].flatMap(({ id, key }) => [id, key])),
  );
  return { left: leavingAttributes(registry, states), granted, declared, isAccessStated: stated.length > 0 };
}

/** Leaves out what a plan names as accepted drift of connections. */
export function withoutAccepted(scope: WatchScope, accepted: Plan['accepted']): WatchScope {
  const named = (field: string): ReadonlySet<string> => {
    const found = accepted.filter(({ fields }) => fields.some(({ path }) => isPointerWithin(path, pointer(field))));
    return new Set(found.map((one) => nameOf(liveKeyOf(one))));
  };
  const [groups, attributes] = [named('access_groups'), named('attributes')];
  return {
    ...scope,
    granted: new Set([...scope.granted, ...groups]),
    left: new Set([...scope.left].filter((name) => !attributes.has(name))),
  };
}

/** Returns whether manifests declare an object of a list. */
export function isDeclared(list: WatchedList, name: string, { declared }: Pick<WatchScope, 'declared'>): boolean {
  return Object.entries(decidingLists).some(([kind, own]) => own === list && declared.has(resourceId(kind, name)));
}

/**
 * Returns the names of the connections whose manifests leave attributes to the gateway, and left them when they were applied last. Ostiary writes
 * the attributes of others, and a successor has those of its predecessor.
 */
function leavingAttributes(registry: Registry, states: readonly DesiredState[]): ReadonlySet<string> {
  const [first = new Set<string>(), ...others] = states.map(({ resources }) => {
    const leaving = resources.filter(
      ({ key, stated, replaces }) => !stated.has('attributes') && replaces === undefined && isConnection(key, registry),
    );
    return new Set(leaving.map(({ key }) => nameOf(key)));
  });
  return new Set([...first].filter((name) => others.every((other) => other.has(name))));
}

/** Returns whether a resource is of a kind that can be closed. */
export function isConnection(id: ResourceId, registry: Registry): boolean {
  const kind = registry.get(kindOf(id));
  return kind !== undefined && closableFields(kind).length > 0;
}

/**
 * Returns the objects that no manifest declares, with only those links of attributes to connections that count, and without the rows that Ostiary
 * writes. Of an attribute with a manifest, only these links remain.
 */
export function watchedPart(access: AccessState, { left, granted, declared }: WatchScope): AccessState {
  const { attributes, 'access-control': rows } = access;
  const undeclared = Object.values(decidingLists).flatMap((list) => {
    const { [list]: found } = access;
    return typeof found === 'object' && list !== 'attributes'
      ? [[list, found.filter(({ name }) => !isDeclared(list, name, { declared }))] as const]
      : [];
  });
  return {
    ...access,
    ...Object.fromEntries(undeclared),
    ...(typeof rows === 'object' ? { 'access-control': rows.filter(({ name }) => !granted.has(name)) } : {}),
    ...(typeof attributes === 'object'
      ? {
          attributes: attributes.map((one) => ({
            ...one,
            groups: isDeclared('attributes', one.name, { declared }) ? [] : one.groups,
            connections: one.connections.filter((name) => left.has(name)),
          })),
        }
      : {}),
  };
}

/** Returns what decides access after a complete apply, as far as manifests do not state it: the plan may have switched access control on. */
export function accessAfterPlan(access: AccessState, { changes }: Pick<Plan, 'changes'>, live: LiveState): AccessState {
  const { access: named = access } = withNames({ ...live, access }, renamesOf(changes));
  const deleted = new Set(changes.flatMap(({ id, action }) => (action === 'delete' ? [id] : [])));
  const left = deleted.size === 0 ? named : withoutObjects(named, deleted);
  return accessRowsOf(changes, live) === undefined ? left : { ...left, 'access-control': [] };
}

/** Returns what decides access without deleted objects: the gateway also takes a deleted attribute from all that have it. */
function withoutObjects(access: AccessState, deleted: ReadonlySet<ResourceId>): AccessState {
  const lists = Object.entries(decidingLists).flatMap(([kind, list]) => {
    const { [list]: found } = access;
    return typeof found === 'object' ? [[list, found.filter(({ name }) => !deleted.has(resourceId(kind, name)))] as const] : [];
  });
  const left: AccessState = { ...access, ...Object.fromEntries(lists) };
  const { 'access-request-rules': rules, 'machine-identities': machines } = left;
  const withoutThem = <Object extends { readonly attributes: readonly string[] }>(one: Object): Object => ({
    ...one,
    attributes: one.attributes.filter((name) => !isDeclared('attributes', name, { declared: deleted })),
  });
  return {
    ...left,
    ...(typeof rules === 'object' ? { 'access-request-rules': rules.map(withoutThem) } : {}),
    ...(typeof machines === 'object' ? { 'machine-identities': machines.map(withoutThem) } : {}),
  };
}

function bounded(list: WatchedList, objects: readonly AccessObjects[WatchedList][]): readonly JsonObject[] | 'omitted' {
  const granting = list === 'access-control' || list === 'attributes';
  const entries = objects
    .map((object) => recordedObject(list, object))
    .filter((one) => !granting || one['groups'] !== undefined || one['connections'] !== undefined);
  const forms = [entries, entries.map((one) => hashedObject(list, one))];
  return forms.find((form) => lengthInRecord(form) <= longestList) ?? 'omitted';
}

/** Returns the length of a list in a record, which is ASCII. */
function lengthInRecord(list: readonly JsonObject[]): number {
  return JSON.stringify(list).replaceAll(/[^\x20-\x7e]/g, String.raw`\u0000`).length;
}

/** Returns an object with its id and the fields that decide access; sets are sorted, and empty values are left out. */
export function recordedObject(list: WatchedList, object: AccessObjects[WatchedList]): JsonObject {
  const fields = new Set<string>(decidingFields[list]);
  const kept = Object.entries<Json>(object).flatMap(([field, value]) => {
    const form = Array.isArray(value) ? sorted(value) : value;
    return fields.has(field) && !isUnset(form) ? [[field, form] as const] : [];
  });
  return { id: object.id, ...Object.fromEntries(kept) };
}

function sorted(values: readonly Json[]): readonly Json[] {
  const known = new Map(values.map((value) => [canonical(value), value]));
  return [...known].toSorted(([left], [right]) => compareText(left, right)).map(([, value]) => value);
}

function isUnset(value: Json): boolean {
  return value === null || value === '' || value === false || (Array.isArray(value) && value.length === 0);
}

/** Returns an object with a hash of its fields. The connections of a rulepack or an attribute are not part of it: Ostiary deletes connections, too. */
export function hashedObject(list: WatchedList, { id = '', name, ...fields }: JsonObject): JsonObject {
  const { connections, ...own } = fields;
  const hashed = list === 'rulepacks' || list === 'attributes' || connections === undefined ? own : fields;
  const hash = createHash('sha256').update(canonical(hashed)).digest('base64url').slice(0, 16);
  return { id, ...(name === undefined ? {} : { name }), hash };
}

/** Returns a recorded object in the form in which a gateway lists it, for the comparison of its effect. */
export const restoredObject: { readonly [List in WatchedList]: (object: JsonObject) => AccessObjects[List] } = {
  'access-control': (object) => ({ ...identified(object), groups: textsIn(object['groups']) }),
  attributes: (object) => ({
    ...identified(object),
    groups: textsIn(object['groups']),
    connections: textsIn(object['connections']),
    access_request_rules: [],
    guardrail_rules: [],
    masking_rules: [],
    managed_by: asText(object['managed_by']),
  }),
  'access-request-rules': (object) => ({
    ...identified(object),
    access_type: asText(object['access_type']),
    connections: textsIn(object['connections']),
    attributes: textsIn(object['attributes']),
    approval_required_groups: textsIn(object['approval_required_groups']),
    reviewers_groups: textsIn(object['reviewers_groups']),
    approvals: numberIn(object['approvals']) ?? 0,
    ...(object['credential_approvals'] === undefined ? {} : { credential_approvals: numberIn(object['credential_approvals']) ?? 0 }),
    force_approval_groups: textsIn(object['force_approval_groups']),
    skip_review_groups: textsIn(object['skip_review_groups']),
    access_max_duration: numberIn(object['access_max_duration']),
    managed_by: asText(object['managed_by']),
  }),
  'runbook-rules': (object) => ({
    ...identified(object),
    runbooks: objectsIn(object['runbooks']).map(({ repository, name }) => ({ repository: asText(repository), name: asText(name) })),
    connections: textsIn(object['connections']),
    groups: textsIn(object['groups']),
  }),
  rulepacks: (object) => ({
    ...identified(object),
    digest: asText(object['digest']),
    guardrail_rules: textsIn(object['guardrail_rules']),
    masking_rules: textsIn(object['masking_rules']),
    connections: textsIn(object['connections']),
    managed: object['managed'] === true,
  }),
  'analyzer-rules': (object) => ({
    ...identified(object),
    connections: textsIn(object['connections']),
    low_risk: asText(object['low_risk']),
    medium_risk: asText(object['medium_risk']),
    high_risk: asText(object['high_risk']),
    ...(object['prompt'] === undefined ? {} : { prompt: asText(object['prompt']) }),
    managed_by: asText(object['managed_by']),
  }),
  'machine-identities': (object) => ({
    ...identified(object),
    connections: textsIn(object['connections']),
    attributes: textsIn(object['attributes']),
  }),
};

function identified({ id, name }: JsonObject): { readonly id: string; readonly name: string } {
  return { id: asText(id), name: asText(name) };
}

function numberIn(value: Json | undefined): number | null {
  return typeof value === 'number' ? value : null;
}
