import { appendAll, EdgeMap } from '../../model/collections.ts';
import { type BaseState, type DeclaredEdge, desiredByKey, type DesiredResource, type DesiredState } from '../../model/desired.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { editSpec } from '../../model/spec/edit.ts';
import type { Json } from '../../model/json.ts';
import { comparedFields, isClosed, type Kind, type Registry } from '../../model/kind.ts';
import { isMissingRow, liveById, type LiveResource, type LiveState, rowFieldsOf } from '../../model/live.ts';
import { isPointerWithin, isWithinAny, type Pointer } from '../../model/pointer.ts';
import { otherEnd } from '../../model/plan/plan.ts';
import { type EdgeEnds, type ResourceId, kindOf, resourceId } from '../../model/resource.ts';
import type { DesiredSecret, LiveSecret } from '../../model/secret.ts';
import { withTools } from '../../model/spec/tool-lists.ts';
import { liveSnapshot, samplesOf } from '../../protection/posture/protection-snapshot.ts';
import { createDriftCheck, type DriftCheck, findStricterDrift, isProtectionDrift } from '../../protection/stricter-drift.ts';
import { compareSpecs } from '../cells/compare-specs.ts';
import { declaredEnds, edgeField, indexEdges } from '../cells/edge-cells.ts';
import { cellsOf, withOrigins } from '../cells/object-cells.ts';

/** Returns the live predecessor of each successor, by the id of the successor. */
export function predecessorsOf(desired: DesiredState, live: LiveState): ReadonlyMap<ResourceId, LiveResource> {
  const successors = desired.resources.filter(({ replaces }) => replaces !== undefined);
  if (successors.length === 0) return new Map();
  const found = liveById(live.resources);
  return new Map(
    successors.flatMap(({ id, replaces = '' }) => {
      const predecessor = found.get(resourceId(kindOf(id), replaces));
      return predecessor === undefined ? [] : [[id, predecessor] as const];
    }),
  );
}

type ResolvedReplacements = {
  readonly desired: DesiredState;
  readonly diagnostics: readonly Diagnostic[];
};

/** What decides what a successor inherits: the state of its predecessor when it was applied, and which drift is reverted. */
type ReplacementOptions = {
  /** The gateway under the names that attributes have after the plan, as the manifests and the base have them. */
  readonly named: LiveState;
  readonly registry: Registry;
  readonly dialect: string;
  readonly base: BaseState | undefined;
  readonly onlyReads?: boolean;
  /** The successors and predecessors whose drift is reverted. */
  readonly revert: readonly string[];
};

/**
 * Gives each successor what its predecessor has and its manifest keeps: fields, secrets, and edges that neither manifests nor the
 * base declare. A successor that is live already has them, except rows if its creation was interrupted. With `onlyReads`, secrets that the token may not read are notices,
 * because another token will apply the plan.
 */
export function resolveReplacements(
  desired: DesiredState,
  live: LiveState,
  { named, registry, dialect, base, revert, onlyReads = false }: ReplacementOptions,
): ResolvedReplacements {
  if (desired.resources.every(({ replaces }) => replaces === undefined)) return { desired, diagnostics: [] };
  const predecessors = predecessorsOf(desired, named);
  const present = liveById(live.resources);
  const applied = desiredByKey(base?.desired.resources ?? []);
  const waiting = unopenedSuccessors(predecessors, live, registry);
  // The creation of a closed successor may have been interrupted before all edges were attached.
  const shut = new Set(live.resources.flatMap((resource) => (isClosed(registry.get(kindOf(resource.id)), resource) ? [resource.id] : [])));
  const successors = new Map([...predecessors].filter(([id]) => !present.has(id) || shut.has(id)));
  const diagnostics: Diagnostic[] = [];
  const snapshot = { ...liveSnapshot(named, registry, dialect), samples: base === undefined ? undefined : samplesOf(base.desired) };
  const check = createDriftCheck(snapshot);
  const resources = desired.resources.map((resource) => {
    const predecessor = successors.get(resource.id);
    const kind = registry.get(kindOf(resource.id));
    if (predecessor === undefined || kind === undefined) return resource;
    const context = { predecessor, state: named, base: applied.get(predecessor.id), check };
    const isReverted = [resource.id, predecessor.id].some((id) => revert.includes(id));
    const keepDrift = (successor: DesiredResource): DesiredResource => (isReverted ? successor : keepHeldDrift(kind, successor, context));
    const created = present.get(resource.id);
    if (created !== undefined) {
      const successor = inheritRows(resource, predecessor, { created, live });
      return waiting.has(resource.id) ? keepDrift(successor) : successor;
    }
    const successor = keepDrift(inheritFields(kind, resource, predecessor));
    appendAll(diagnostics, unreadableSecrets(successor, predecessor, onlyReads));
    return successor;
  });
  const edges = edgesToMove(successors, { desired, live: named, registry, base: base?.desired });
  for (const { successor, ends } of edges)
    if (!canMove(ends, successor, desired, registry)) diagnostics.push(edgeCannotMove(successor, ends, desired));
  return { desired: { ...desired, resources, edges: [...desired.edges, ...edges.map(declareEdge)] }, diagnostics };
}

/**
 * Returns the successors that an interrupted apply created closed and did not open. Their predecessor is still open, because it is
 * closed only after that.
 */
export function unopenedSuccessors(
  predecessors: ReadonlyMap<ResourceId, LiveResource>,
  live: LiveState,
  registry: Registry,
): ReadonlySet<ResourceId> {
  const found = liveById(live.resources);
  return new Set(
    [...predecessors].flatMap(([id, predecessor]) => {
      const successor = found.get(id);
      const kind = registry.get(kindOf(id));
      return successor !== undefined && isClosed(kind, successor) && !isClosed(kind, predecessor) ? [id] : [];
    }),
  );
}

function inheritFields(kind: Kind, resource: DesiredResource, predecessor: LiveResource): DesiredResource {
  const spec: Record<string, Json> = { ...resource.spec };
  for (const { name, omitted, secret, edge } of kind.fields) {
    const value = predecessor.spec[name];
    const keeps = omitted === 'kept' && secret === undefined && edge === undefined;
    if (keeps && spec[name] === undefined && value !== undefined) spec[name] = value;
  }
  const secrets: Record<Pointer, DesiredSecret> = { ...resource.secrets };
  for (const [path, secret] of Object.entries(predecessor.secrets)) {
    const isGiven = isWithinAny(path, resource.wholeSecrets) && resource.secrets[path]?.state !== 'keep';
    if (!isGiven) secrets[path] = inheritSecret(secret, predecessor.id);
  }
  // The token may not read which secrets the predecessor has.
  for (const [path, { state }] of Object.entries(resource.secrets))
    if (state === 'keep' && predecessor.secrets[path] === undefined && isWithinAny(path, predecessor.unknown))
      secrets[path] = { state: 'unresolved', source: `live:${predecessor.id}` };
  return { ...resource, spec: withTools(spec, secrets), secrets };
}

/** Inherits what the gateway keeps in rows, which it writes after the creation: an interrupted one has left the successor without them. */
function inheritRows(
  resource: DesiredResource,
  predecessor: LiveResource,
  { created, live }: { readonly created: LiveResource; readonly live: LiveState },
): DesiredResource {
  const missing = rowFieldsOf(live, kindOf(resource.id)).flatMap(({ name, path }) => {
    const value = predecessor.spec[name];
    const isKept = resource.spec[name] === undefined && !isWithinAny(path, resource.ignore);
    return isKept && value !== undefined && isMissingRow(path, created, live) ? [[name, value] as const] : [];
  });
  return missing.length === 0 ? resource : { ...resource, spec: { ...resource.spec, ...Object.fromEntries(missing) } };
}

type DriftContext = {
  readonly predecessor: LiveResource;
  readonly state: LiveState;
  readonly base: DesiredResource | undefined;
  readonly check: DriftCheck;
};

/** Returns the successor with the drift of its predecessor that is held. */
function keepHeldDrift(kind: Kind, successor: DesiredResource, { predecessor, state, base, check }: DriftContext): DesiredResource {
  if (base === undefined) return successor;
  const fields = compareSpecs(comparedFields(kind), successor.spec, predecessor.spec, successor.ignore);
  const drift = withOrigins(fields, cellsOf({ kind, base, head: successor, live: predecessor, state }));
  if (!drift.some((field) => isProtectionDrift(kind, field))) return successor;
  const reverted = { ...predecessor.spec, ...successor.spec };
  const sides = { id: predecessor.id, kind, desired: successor, live: predecessor.spec, reverted, fields: drift };
  const held = findStricterDrift(sides, check);
  const edits = drift.flatMap(({ path, before }) =>
    held.has(path) ? [{ path, value: 'value' in before ? before.value : undefined }] : [],
  );
  if (edits.length === 0) return successor;
  return { ...successor, spec: editSpec(kind.fields, successor.spec, edits), holds: edits.map(({ path }) => path) };
}

function inheritSecret(secret: LiveSecret, from: ResourceId): DesiredSecret {
  const source = `live:${from}`;
  return secret.state === 'value' ? secret.withSource(source) : { state: 'unresolved', source };
}

/** Reports secrets that the successor inherits and this token may not read. */
function unreadableSecrets(successor: DesiredResource, predecessor: LiveResource, onlyReads: boolean): readonly Diagnostic[] {
  const hidden = Object.entries(successor.secrets).flatMap(([path, { state, source }]) =>
    state === 'unresolved' && source === `live:${predecessor.id}` ? [path] : [],
  );
  const isGiven = (path: Pointer): boolean =>
    isWithinAny(path, successor.wholeSecrets) &&
    !Object.entries(successor.secrets).some(([own, { state }]) => state === 'keep' && isPointerWithin(own, path));
  const unreadable = [...hidden, ...predecessor.unknown.filter((path) => !hidden.includes(path) && !isGiven(path))];
  return unreadable.map((path) => ({
    code: 'plan/would-lose-secret',
    severity: onlyReads ? 'notice' : 'error',
    message: `${successor.id} replaces ${predecessor.id}, whose ${path} this token cannot see`,
    hint: `${onlyReads ? 'apply with' : 'use'} a key with the role admin, or set every secret in the manifest`,
    at: successor.locate(path),
    resource: successor.id,
  }));
}

type MovedEdge = { readonly successor: ResourceId; readonly ends: EdgeEnds };

/** Returns the edges of predecessors whose other end is unmanaged, or that were attached outside Ostiary since the base. */
function edgesToMove(successors: ReadonlyMap<ResourceId, LiveResource>, input: Parameters<typeof indexEdges>[0]): readonly MovedEdge[] {
  if (successors.size === 0) return [];
  const index = indexEdges(input);
  const declared = new EdgeMap(declaredEnds(input.desired, index));
  const successorOf = new Map([...successors].map(([id, predecessor]) => [predecessor.id, id]));
  return index.edges.values().flatMap((edge): readonly MovedEdge[] => {
    const predecessor = [edge.rule, edge.connection].find((id) => successorOf.has(id));
    const successor = predecessor === undefined ? undefined : successorOf.get(predecessor);
    if (predecessor === undefined || successor === undefined) return [];
    const other = otherEnd(edge, predecessor);
    const ends = predecessor === edge.rule ? { rule: successor, connection: edge.connection } : { rule: edge.rule, connection: successor };
    const isUnmanaged = index.past === undefined ? !index.declared.has(other) : !index.past.has(edge);
    return isUnmanaged && !declared.has(ends) ? [{ successor, ends }] : [];
  });
}

/** Returns whether an end with a manifest can write the edge. */
function canMove(ends: EdgeEnds, successor: ResourceId, desired: DesiredState, registry: Registry): boolean {
  const other = otherEnd(ends, successor);
  const isDeclared = desiredByKey(desired.resources).has(other);
  return edgeField(successor, other, registry) !== undefined || isDeclared;
}

function edgeCannotMove(successor: ResourceId, ends: EdgeEnds, { resources }: DesiredState): Diagnostic {
  const at = resources.find(({ id }) => id === successor)?.locate('');
  const other = otherEnd(ends, successor);
  return {
    code: 'plan/edge-cannot-move',
    severity: 'error',
    message: `${other} has no manifest, so its attachment cannot move to ${successor}`,
    hint: `add a manifest for ${other} first (a rule declares its own attachments)`,
    at,
    resource: successor,
  };
}

function declareEdge({ successor, ends }: MovedEdge): DeclaredEdge {
  return { ...ends, declarations: [{ by: successor, how: 'listed', path: '' }] };
}
