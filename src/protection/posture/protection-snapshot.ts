import { hiddenControls } from '../../model/dialects.ts';
import { specAfter } from '../../model/spec/spec-after.ts';
import type { DesiredState } from '../../model/desired.ts';
import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import { liveEdges } from '../../model/edges.ts';
import type { AccessRule, LiveState } from '../../model/live.ts';
import { normalizeObject } from '../../model/spec/normalize.ts';
import { isWritten, liveKeyOf, type Change, type Plan } from '../../model/plan/plan.ts';
import { pointer, type Pointer } from '../../model/pointer.ts';
import type { ControlType } from '../../model/protection/protection.ts';
import { renamesOf, withNames } from '../../model/plan/renames.ts';
import { kindOf, nameOf, resourceId, type ResourceId } from '../../model/resource.ts';
import { readDeclaredAttachments, type DeclaredAttachments } from './edge-declarations.ts';

/** What one resource says, and what of it cannot be seen. */
export type ResourceSnapshot = { readonly spec: JsonObject; readonly unknown: readonly Pointer[] };

/** All that protection follows from. */
export type ProtectionSnapshot = {
  readonly resources: ReadonlyMap<ResourceId, ResourceSnapshot>;
  /** By connection, the rules that are tied to it by an edge. */
  readonly edges: ReadonlyMap<ResourceId, ReadonlySet<ResourceId>>;
  /** By attribute, the rules that have it. */
  readonly rulesByAttribute: ReadonlyMap<string, ReadonlySet<ResourceId>>;
  /** Rules of the gateway's own that review beside connections; absent where nobody can tell. */
  readonly accessRules: readonly AccessRule[] | undefined;
  /** Aspects to which a gateway of this dialect adds what nobody reads here. */
  readonly incomplete: ReadonlySet<ControlType>;
  /** How the manifests behind it declare its edges; absent where none are known. */
  readonly declaredAttachments?: DeclaredAttachments;
};

/** Controls to which access-request rules of the gateway may add, by dialect. */
const incompleteByDialect: Readonly<Record<string, readonly ControlType[]>> = hiddenControls;

/** The protection that is live. */
export function liveSnapshot(live: LiveState, registry: Registry, dialect: string): ProtectionSnapshot {
  const edges = new Map<ResourceId, Set<ResourceId>>();
  for (const { rule, connection } of liveEdges(live, registry)) attach(edges, connection, rule);
  return createSnapshot(new Map(live.resources.map(({ id, spec, unknown }) => [id, { spec, unknown }])), edges, {
    dialect,
    requests: live.accessRules,
  });
}

/** The protection that manifests ask for; a kept field that they leave out cannot be seen. */
export function desiredSnapshot(desired: DesiredState, registry: Registry, dialect: string): ProtectionSnapshot {
  const edges = new Map<ResourceId, Set<ResourceId>>();
  for (const { rule, connection } of desired.edges)
    attach(edges, resourceId(connection.kind, connection.text), resourceId(rule.kind, rule.text));
  const facts = desired.resources.map(({ key, spec }): readonly [ResourceId, ResourceSnapshot] => {
    const omitted = (registry.get(kindOf(key))?.fields ?? []).filter(
      (field) => field.omitted === 'kept' && spec[field.name] === undefined && (field.dialect ?? dialect) === dialect,
    );
    return [key, { spec, unknown: omitted.map((field) => pointer(field.name)) }];
  });
  return {
    ...createSnapshot(new Map(facts), edges, { dialect, requests: undefined }),
    declaredAttachments: readDeclaredAttachments(desired, { live: { resources: [], lookups: {} }, placed: true }),
  };
}

/** The protection once the plan is carried out: live, with what is written put in; what is held or blocked stays. */
export function plannedSnapshot(plan: Pick<Plan, 'target' | 'changes' | 'edges'>, live: LiveState, registry: Registry): ProtectionSnapshot {
  const { dialect } = plan.target;
  const scene = liveSnapshot(withNames(live, renamesOf(plan.changes)), registry, dialect);
  const facts = new Map(scene.resources);
  const edges = new Map([...scene.edges].map(([connection, rules]) => [connection, new Set(rules)]));
  for (const change of plan.changes.filter(isWritten)) {
    const key = liveKeyOf(change);
    const kind = registry.get(kindOf(key));
    if (kind === undefined) continue;
    if (change.action === 'delete') {
      facts.delete(key);
      edges.delete(key);
      for (const rules of edges.values()) rules.delete(key);
    } else facts.set(key, resourceAfter(change, kind, facts.get(key)));
  }
  for (const { action, rule, connection } of plan.edges) {
    if (action === 'attach') attach(edges, connection, rule);
    if (action === 'detach') edges.get(connection)?.delete(rule);
  }
  return createSnapshot(facts, edges, { dialect, requests: live.accessRules });
}

/** The rules on a connection: those tied to it, and those that share an attribute with it. */
export function rulesOn(scene: ProtectionSnapshot, connection: ResourceId): ReadonlySet<ResourceId> {
  const tied = scene.edges.get(connection) ?? noRules;
  if (scene.rulesByAttribute.size === 0) return tied;
  const attributes = textsIn(scene.resources.get(connection)?.spec['attributes']);
  const shared = attributes.flatMap((attribute) => [...(scene.rulesByAttribute.get(attribute) ?? [])]);
  return shared.length === 0 ? tied : new Set([...tied, ...shared]);
}

/** The gateway's own rules that review or limit access to a connection: by its name, or by an attribute that it has. */
export function accessRulesOn(
  { accessRules: requests = [], resources: facts }: ProtectionSnapshot,
  connection: ResourceId,
): readonly AccessRule[] {
  if (requests.length === 0) return requests;
  const attributes = new Set(textsIn(facts.get(connection)?.spec['attributes']));
  const name = nameOf(connection);
  return requests.filter((rule) => rule.connections.includes(name) || rule.attributes.some((attribute) => attributes.has(attribute)));
}

const noRules: ReadonlySet<never> = new Set();

/** The texts of a list. */
export function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((element: Json) => typeof element === 'string') : [];
}

/** The objects of a list. */
export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

type SnapshotOptions = { readonly dialect: string; readonly requests: ProtectionSnapshot['accessRules'] };

function createSnapshot(
  facts: ProtectionSnapshot['resources'],
  edges: ProtectionSnapshot['edges'],
  { dialect, requests }: SnapshotOptions,
): ProtectionSnapshot {
  const attributed = new Map<string, Set<ResourceId>>();
  for (const [id, { spec }] of facts) {
    if (kindOf(id) === 'Connection') continue;
    for (const attribute of textsIn(spec['attributes'])) attributed.set(attribute, (attributed.get(attribute) ?? new Set()).add(id));
  }
  return {
    resources: facts,
    edges,
    rulesByAttribute: attributed,
    accessRules: requests,
    incomplete: new Set(requests === undefined ? incompleteByDialect[dialect] : []),
  };
}

function attach(edges: Map<ResourceId, Set<ResourceId>>, connection: ResourceId, rule: ResourceId): void {
  const rules = edges.get(connection);
  if (rules === undefined) edges.set(connection, new Set([rule]));
  else rules.add(rule);
}

function resourceAfter(change: Change, kind: Kind, fact: ResourceSnapshot | undefined): ResourceSnapshot {
  const spec = normalizeObject(kind.fields, specAfter(change, kind, fact?.spec ?? {}));
  const written = new Set(change.fields.map(({ path }) => path));
  return { spec, unknown: (fact?.unknown ?? []).filter((path) => !written.has(path)) };
}
