import { type BaseState, type DeclaredEdge, desiredByKey, type DesiredResource, type DesiredState } from '../../model/desired.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { editSpec } from '../../model/spec/edit.ts';
import type { Json } from '../../model/json.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import { type LiveResource, type LiveState, liveById } from '../../model/live.ts';
import { isPointerWithin, pointer, type Pointer } from '../../model/pointer.ts';
import { withNames } from '../../model/plan/renames.ts';
import { kindOf, nameOf, resourceId, type ResourceId } from '../../model/resource.ts';
import type { DesiredSecret, LiveSecret } from '../../model/secret.ts';
import { compareSpecs } from '../diff/compare.ts';
import { edgeKey, type EdgeEnds } from '../../model/edges.ts';
import { declaredEnds, edgeField, indexOf } from '../diff/edge-index.ts';
import { formerNames } from './former.ts';
import { withOrigins } from '../diff/origin.ts';
import { comparedFields } from '../diff/settle.ts';

/** Desired resources that take the place of a live object, by their id, while both names are known. */
export function replacedBy(desired: DesiredState, live: LiveState): ReadonlyMap<ResourceId, LiveResource> {
  const heirs = desired.resources.filter(({ replaces }) => replaces !== undefined);
  if (heirs.length === 0) return new Map();
  const found = liveById(live.resources);
  return new Map(
    heirs.flatMap(({ id, replaces = '' }) => {
      const former = found.get(resourceId(kindOf(id), replaces));
      return former === undefined ? [] : [[id, former] as const];
    }),
  );
}

export type Inherited = { readonly desired: DesiredState; readonly diagnostics: readonly Diagnostic[] };

/**
 * Gives what takes another one's place all that the former one has and its manifest keeps: fields, secrets, and the edges
 * that no manifest and no base speak of. What is live under its own name already has them. Who only reads cannot copy what
 * it does not see, and somebody else can.
 */
export function inherited(
  desired: DesiredState,
  live: LiveState,
  { registry, base, onlyReads = false }: { registry: Registry; base: BaseState | undefined; onlyReads?: boolean },
): Inherited {
  const formers = replacedBy(desired, live);
  if (formers.size === 0) return { desired, diagnostics: [] };
  const state = withNames(live, formerNames(desired, live).renames);
  const present = liveById(live.resources);
  const applied = desiredByKey(base?.desired.resources ?? []);
  const waiting = waitingHeirs(formers, live, registry);
  // What is closed still may have been cut off before everything was attached to it.
  const shut = new Set(live.resources.flatMap((resource) => (isShut(registry.get(kindOf(resource.id)), resource) ? [resource.id] : [])));
  const heirs = new Map([...formers].filter(([id]) => !present.has(id) || shut.has(id)));
  const diagnostics: Diagnostic[] = [];
  const resources = desired.resources.map((resource) => {
    const former = heirs.get(resource.id);
    const kind = registry.get(kindOf(resource.id));
    if (former === undefined || kind === undefined) return resource;
    const beside = { former, state, base: applied.get(former.id) };
    if (present.has(resource.id)) return waiting.has(resource.id) ? tightened(kind, resource, beside) : resource;
    const heir = tightened(kind, endowed(kind, resource, former), beside);
    diagnostics.push(...unreadable(heir, former, onlyReads));
    return heir;
  });
  const edges = edgesFor(heirs, { desired, live: state, registry, base: base?.desired });
  for (const { heir, ends } of edges) if (!canMove(ends, heir, desired, registry)) diagnostics.push(immovable(heir, ends, desired));
  return { desired: { ...desired, resources, edges: [...desired.edges, ...edges.map(declaration)] }, diagnostics };
}

/**
 * The heirs that were created closed by an apply that was cut off, and wait to be opened: what they take the place of is
 * closed after that, so something of it is still open.
 */
export function waitingHeirs(formers: ReadonlyMap<ResourceId, LiveResource>, live: LiveState, registry: Registry): ReadonlySet<ResourceId> {
  const found = liveById(live.resources);
  return new Set(
    [...formers].flatMap(([id, former]) => {
      const heir = found.get(id);
      const kind = registry.get(kindOf(id));
      return heir !== undefined && isShut(kind, heir) && !isShut(kind, former) ? [id] : [];
    }),
  );
}

/** Tells whether it can be closed, and is. */
function isShut(kind: Kind | undefined, { spec }: LiveResource): boolean {
  const doors = kind === undefined ? [] : closings(kind);
  return doors.length > 0 && doors.every(({ name, value }) => spec[name] === value);
}

function endowed(kind: Kind, resource: DesiredResource, former: LiveResource): DesiredResource {
  const spec: Record<string, Json> = { ...resource.spec };
  for (const { name, omitted, secret, edge } of kind.fields) {
    const value = former.spec[name];
    const keeps = omitted === 'kept' && secret === undefined && edge === undefined;
    if (keeps && spec[name] === undefined && value !== undefined) spec[name] = value;
  }
  const secrets: Record<Pointer, DesiredSecret> = { ...resource.secrets };
  for (const [path, secret] of Object.entries(former.secrets)) {
    const isGiven = resource.wholeSecrets.some((whole) => isPointerWithin(path, whole)) && resource.secrets[path]?.state !== 'keep';
    if (!isGiven) secrets[path] = taken(secret, former.id);
  }
  return { ...resource, spec, secrets };
}

/** What was tightened by hand on the former object since the base is held on its heir, too. */
function tightened(
  kind: Kind,
  heir: DesiredResource,
  { former, state, base }: { readonly former: LiveResource; readonly state: LiveState; readonly base: DesiredResource | undefined },
): DesiredResource {
  if (base === undefined) return heir;
  const fields = compareSpecs(comparedFields(kind), heir.spec, former.spec, heir.ignore);
  const told = withOrigins(fields, { base, revert: false }, { kind, desired: heir, live: former, state });
  const edits = told.flatMap(({ path, before, held }) =>
    held === true ? [{ path, value: 'value' in before ? before.value : undefined }] : [],
  );
  return edits.length === 0 ? heir : { ...heir, spec: editSpec(kind.fields, heir.spec, edits) };
}

function taken(secret: LiveSecret, from: ResourceId): DesiredSecret {
  const source = `live:${from}`;
  return secret.state === 'value' ? secret.withSource(source) : { state: 'unresolved', source };
}

/** Secrets that would have to move, but that this token may not see. */
function unreadable(heir: DesiredResource, former: LiveResource, onlyReads: boolean): readonly Diagnostic[] {
  const hidden = Object.entries(heir.secrets).flatMap(([path, { state, source }]) =>
    state === 'unresolved' && source === `live:${former.id}` ? [path] : [],
  );
  const isGiven = (path: Pointer): boolean =>
    heir.wholeSecrets.some((whole) => isPointerWithin(path, whole)) &&
    !Object.entries(heir.secrets).some(([own, { state }]) => state === 'keep' && isPointerWithin(own, path));
  const unseen = [...hidden, ...former.unknown.filter((path) => !hidden.includes(path) && !isGiven(path))];
  return unseen.map((path) => ({
    code: 'plan/would-lose-secret',
    severity: onlyReads ? 'notice' : 'error',
    message: `${heir.id} takes the place of ${former.id}, whose ${path} this token may not see`,
    hint: `${onlyReads ? 'apply with' : 'use'} a key with the role admin, or give every secret in the manifest`,
    at: heir.locate(path),
    resource: heir.id,
  }));
}

type Moved = { readonly heir: ResourceId; readonly former: ResourceId; readonly ends: EdgeEnds };

/** The former objects' edges whose other end no manifest declares, and those that somebody attached since the base. */
function edgesFor(heirs: ReadonlyMap<ResourceId, LiveResource>, input: Parameters<typeof indexOf>[0]): readonly Moved[] {
  const index = indexOf(input);
  const declared = new Set(declaredEnds(input.desired, index).map(edgeKey));
  const heirOf = new Map([...heirs].map(([id, former]) => [former.id, id]));
  return [...index.edges.values()].flatMap((edge): readonly Moved[] => {
    const former = [edge.rule, edge.connection].find((id) => heirOf.has(id));
    const heir = former === undefined ? undefined : heirOf.get(former);
    if (former === undefined || heir === undefined) return [];
    const other = former === edge.rule ? edge.connection : edge.rule;
    const ends = former === edge.rule ? { rule: heir, connection: edge.connection } : { rule: edge.rule, connection: heir };
    const isTheirs = !index.declared.has(other) || (index.past !== undefined && !index.past.has(edgeKey(edge)));
    return isTheirs && !declared.has(edgeKey(ends)) ? [{ heir, former, ends }] : [];
  });
}

/** Whether an end with a manifest can write the edge. */
function canMove({ rule, connection }: EdgeEnds, heir: ResourceId, desired: DesiredState, registry: Registry): boolean {
  const other = heir === rule ? connection : rule;
  const isOurs = desired.resources.some(({ key }) => key === other);
  return edgeField(registry.get(kindOf(heir)), kindOf(other)) !== undefined || isOurs;
}

function immovable(heir: ResourceId, { rule, connection }: EdgeEnds, { resources }: DesiredState): Diagnostic {
  const at = resources.find(({ id }) => id === heir)?.locate('');
  const other = heir === rule ? connection : rule;
  return {
    code: 'plan/edge-cannot-move',
    severity: 'error',
    message: `${other} has no manifest, so its edge cannot move to ${heir}`,
    hint: `write a manifest for ${other} first (a rule is attached from its own side)`,
    ...(at === undefined ? {} : { at }),
    resource: heir,
  };
}

function declaration({ heir, ends: { rule, connection } }: Moved): DeclaredEdge {
  return { rule: endText(rule), connection: endText(connection), declarations: [{ by: heir, how: 'listed', path: '' }] };
}

function endText(id: ResourceId): DeclaredEdge['rule'] {
  return { kind: kindOf(id), text: nameOf(id) };
}

/** The paths at which a kind's access is closed, with the value that closes it. */
export function closings({
  fields,
}: Kind): readonly { readonly path: Pointer; readonly value: Json; readonly empty: Json; readonly name: string }[] {
  return fields.flatMap(({ name, closed, empty }) => (closed === undefined ? [] : [{ path: pointer(name), value: closed, empty, name }]));
}
