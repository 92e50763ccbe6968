import { appendAll, compareEdges } from '../../model/collections.ts';
import { type DeclaredEdge, desiredById, type DesiredResource, type EdgesByEnds, edgesByEnds } from '../../model/desired.ts';
import { comparePositions, type Diagnostic, formatPosition, type Position, didYouMean } from '../../model/diagnostic.ts';
import { distinctSorted } from '../../model/json.ts';
import { idFromUid, resolveEdges } from '../../model/edge-ends.ts';
import { type EdgeChange, type EdgeAction, type Origin, otherEnd } from '../../model/plan/plan.ts';
import { type EdgeEnds, type ResourceId, edgeKey, isUuid, kindOf, nameOf } from '../../model/resource.ts';
import { originOf } from '../cells/cell.ts';
import { edgeCell, indexEdges, type EdgeInput, type EdgeIndex, edgeField, isIgnoredEdge, missingEnds } from '../cells/edge-cells.ts';

/** The action for an edge, the resource that writes it, and the origin of the difference. */
type EdgeOutcome = { readonly action: EdgeAction; readonly by?: ResourceId; readonly origin?: Origin };

/** Decides about a declared edge that the gateway does not have: an end that can write it attaches it. */
function decideAttach(ends: EdgeEnds, index: EdgeIndex): EdgeOutcome | 'unwritable' | undefined {
  if (isFrozen(ends, index)) return undefined;
  if (!index.selected.has(ends.rule) && !index.selected.has(ends.connection)) return undefined;
  if (isManaged(ends.connection, index)) return { action: 'blocked' };
  const writers = index.live.has(ends.connection) ? [ends.rule, ends.connection] : [ends.connection, ends.rule];
  const writer = writers.find((id) => canWrite(id, ends, index));
  if (writer !== undefined) return { action: 'attach', by: writer, ...originIn(ends, true, index) };
  return isManaged(ends.rule, index) ? { action: 'blocked' } : 'unwritable';
}

/**
 * Decides about an edge that no manifest declares. It is detached only if both ends have a manifest, or if the base declared it
 * and no end is an orphan; neither end may be managed or ignore it, and a selected end must be able to write it. An edge that
 * was attached outside Ostiary since the base is held, unless `reverted` names it.
 */
function decideDetach(ends: EdgeEnds, index: EdgeIndex): EdgeOutcome | 'unwritable' | undefined {
  const { rule, connection } = ends;
  const toDelete = [rule, connection].find((id) => index.toDelete.has(id));
  if (toDelete !== undefined) return { action: 'detach', by: keepsName(ends, index) ? rule : toDelete, origin: 'intent' };
  if (isFrozen(ends, index) || (!index.selected.has(rule) && !index.selected.has(connection))) return undefined;
  const ours = index.declared.has(rule) && index.declared.has(connection);
  const applied = index.applied.has(ends);
  const isOrphaned = index.orphans.has(rule) || index.orphans.has(connection);
  if (isOrphaned || !(ours || applied)) return { action: 'foreign' };
  if (isManaged(rule, index) || isManaged(connection, index) || isIgnoredEdge(ends, index)) return { action: 'foreign' };
  const reverts = index.reverts.has(rule) || index.reverts.has(connection) || index.reverted.has(edgeKey(ends));
  if (index.past !== undefined && !applied && !reverts) return { action: 'held', origin: 'drift' };
  const writer = [rule, connection].find((id) => canWrite(id, ends, index));
  if (writer === undefined) return [rule, connection].some((id) => isUnselected(id, index)) ? 'unwritable' : { action: 'foreign' };
  return { action: 'detach', by: writer, ...originIn(ends, false, index) };
}

/**
 * Returns whether a rule would keep the name of a connection that this plan deletes, and can drop it: a manifest attached it, and others stay, or its
 * manifest names none. Some lists mean every connection when they are empty, which a selector without a match does not say.
 */
function keepsName(ends: EdgeEnds, index: EdgeIndex): boolean {
  const { rule, connection } = ends;
  const isNamed = index.kinds.get(kindOf(rule))?.fields.some((field) => field.byName === true && field.refers === kindOf(connection));
  const applied = index.applied.has(ends);
  const mayEmpty = index.selected.get(rule)?.selector === undefined;
  if (isNamed !== true || !applied || index.toDelete.has(rule) || !(mayEmpty || index.attaching.has(rule))) return false;
  return !isFrozen(ends, index) && !isIgnoredEdge(ends, index) && canWrite(rule, ends, index);
}

/** Returns whether an end is blocked, or will be renamed or replaced by a blocked object. */
function isFrozen({ rule, connection }: EdgeEnds, { frozen }: EdgeIndex): boolean {
  return frozen.has(rule) || frozen.has(connection);
}

function originIn(ends: EdgeEnds, isDeclared: boolean, index: EdgeIndex): Pick<EdgeOutcome, 'origin'> {
  const origin = originOf(edgeCell(ends, isDeclared, index));
  return origin === undefined ? {} : { origin };
}

/** Returns whether the resource has a manifest that is not selected. */
function isUnselected(id: ResourceId, index: EdgeIndex): boolean {
  return index.declared.has(id) && !index.selected.has(id);
}

/** Returns whether an end can write an edge: it is selected, not managed, has a field for it, and the other end exists or will exist. */
function canWrite(id: ResourceId, ends: EdgeEnds, index: EdgeIndex): boolean {
  const other = otherEnd(ends, id);
  if (!index.selected.has(id) || isManaged(id, index)) return false;
  const there = index.live.has(other) || index.selected.has(other) || index.hidden.has(other) || index.edges.has(ends);
  if (!there) return false;
  return edgeField(id, other, index.kinds) !== undefined;
}

function isManaged(id: ResourceId, index: EdgeIndex): boolean {
  return index.live.get(id)?.managedBy !== undefined;
}

export type EdgeDiff = { readonly edges: readonly EdgeChange[]; readonly diagnostics: readonly Diagnostic[] };

/** Plans the edges: attaches missing declared edges, and detaches undeclared edges only if this run may change both ends. */
export function diffEdges(input: EdgeInput): EdgeDiff {
  const index = indexEdges(input);
  const found = index.edges;
  const { declared, unresolved, placesOf } = declaredEdges(input, index);
  const diagnostics = unresolved.flatMap(({ end, from }) => (from === undefined ? [] : [dangling(end, index, from)]));
  // An attachment that both sides have stays as it is.
  const live = found.without(declared);
  const missing = found.size - live.length === declared.size ? [] : declared.without(found);
  const edges: EdgeChange[] = [];
  for (const ends of [...live, ...missing].toSorted(compareEdges)) {
    const edge = declared.get(ends);
    const places = edge === undefined ? [] : placesOf(edge);
    const outcome = edge === undefined ? decideDetach(ends, index) : decideAttach(ends, index);
    if (outcome === undefined) continue;
    if (outcome === 'unwritable')
      appendAll(diagnostics, edge === undefined ? [undetachable(ends, index)] : needsSelection(ends, places[0], index));
    else {
      const bySelector = edge?.declarations.every(({ how }) => how === 'selector') === true ? ({ bySelector: true } as const) : {};
      const { rule, connection } = ends;
      edges.push({
        rule,
        connection,
        ...outcome,
        declared: places.map(formatPosition),
        ...bySelector,
      });
    }
  }
  return { edges, diagnostics };
}

/** Returns the gateway ids that manifests name and no listed object has: lists may hide those objects. */
export function unresolvedIds(input: EdgeInput): readonly ResourceId[] {
  const named = input.desired.edges.filter(({ rule, connection }) => isUuid(nameOf(rule)) || isUuid(nameOf(connection)));
  if (named.length === 0) return [];
  const index = indexEdges(input);
  const missing = resolveEdges(named, input).flatMap((edge) => missingEnds(edge, index));
  return distinctSorted(missing.filter((end) => isUuid(nameOf(end))).map(idFromUid));
}

type Unresolved = { readonly end: ResourceId; readonly from: DeclaringPlace | undefined };

/** A manifest that declares an edge, and where and how. */
type DeclaringPlace = Pick<DeclaredEdge['declarations'][number], 'by' | 'how'> & { readonly at: Position };

/** Returns the manifests that declare an edge, and where; `manifests` are by id. */
export function declaringPlaces(
  { declarations }: DeclaredEdge,
  manifests: ReadonlyMap<ResourceId, Pick<DesiredResource, 'locate'>>,
): readonly DeclaringPlace[] {
  return declarations.flatMap(({ by, path, how }): readonly DeclaringPlace[] => {
    const at = manifests.get(by)?.locate(path);
    return at === undefined ? [] : [{ by, how, at }];
  });
}

type DeclaredEdges = {
  readonly declared: EdgesByEnds;
  readonly unresolved: readonly Unresolved[];
  readonly placesOf: (edge: DeclaredEdge) => readonly Position[];
};

function declaredEdges({ desired }: EdgeInput, index: EdgeIndex): DeclaredEdges {
  const unresolved: Unresolved[] = [];
  const manifests = desiredById(desired.resources);
  const resolved = desired.edges.filter((edge) => {
    const missing = missingEnds(edge, index);
    if (missing.length === 0) return true;
    const [from] = declaringPlaces(edge, manifests);
    appendAll(
      unresolved,
      missing.map((end) => ({ end, from })),
    );
    return false;
  });
  return {
    declared: edgesByEnds(unresolved.length === 0 ? desired.edges : resolved),
    unresolved,
    placesOf: (edge) =>
      declaringPlaces(edge, manifests)
        .map(({ at }) => at)
        .toSorted(comparePositions),
  };
}

function dangling(end: ResourceId, index: EdgeIndex, { by, at }: DeclaringPlace): Diagnostic {
  const names = [...index.declared.keys(), ...index.live.keys()].filter((id) => kindOf(id) === kindOf(end)).map(nameOf);
  return {
    code: 'manifest/dangling-reference',
    severity: 'error',
    message: `${kindOf(end)} "${nameOf(end)}" exists neither in the manifests nor on the gateway`,
    hint: didYouMean(nameOf(end), names) ?? `add a manifest for it, or correct the name`,
    at,
    resource: by,
  };
}

/**
 * A declared edge that no end of this run can write: an error where the connection would be opened without it or
 * asks for it itself, a warning where the selection leaves out a rule of its own accord, nothing where no connection is.
 */
function needsSelection(ends: EdgeEnds, at: Position | undefined, index: EdgeIndex): readonly Diagnostic[] {
  const { rule, connection } = ends;
  if (!index.selected.has(connection)) {
    return at === undefined ? [] : [unwritten(ends, { severity: 'warning', why: `${connection} does not exist on the gateway yet`, at })];
  }
  const why = index.live.has(rule) ? `only ${rule} can write it` : `${rule} does not exist on the gateway yet`;
  const severity = at === undefined && index.live.has(connection) ? 'warning' : 'error';
  return [unwritten(ends, { severity, why, at })];
}

/** Warns about an edge that no manifest declares any more, and that no selected end can detach. */
function undetachable({ rule, connection }: EdgeEnds, index: EdgeIndex): Diagnostic {
  const other = index.selected.has(rule) ? connection : rule;
  return {
    code: 'plan/needs-unselected',
    severity: 'warning',
    message: `the attachment of ${rule} to ${connection} is kept although no manifest declares it: only ${other} can detach it, and it is not selected`,
    hint: `select ${other}`,
  };
}

type Unwritten = { readonly severity: 'error' | 'warning'; readonly why: string; readonly at: Position | undefined };

function unwritten({ rule, connection }: EdgeEnds, { severity, why, at }: Unwritten): Diagnostic {
  return {
    code: 'plan/needs-unselected',
    severity,
    message: `the attachment of ${rule} to ${connection} is skipped: ${why}, and it is not selected`,
    hint: 'select both',
    at,
  };
}
