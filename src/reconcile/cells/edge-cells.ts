import { EdgeMap } from '../../model/collections.ts';
import { type DeclaredEdge, type DesiredState, desiredByKey } from '../../model/desired.ts';
import type { Registry } from '../../model/kind.ts';
import { liveEdges, type LiveResource, type LiveState, liveById } from '../../model/live.ts';
import { isWithinAny, pointer, type Pointer } from '../../model/pointer.ts';
import { type EdgeEnds, type ResourceId, kindOf, nameOf } from '../../model/resource.ts';
import type { Cell, Side } from './cell.ts';
import { decidesAccess } from '../../protection/access/deciding-kinds.ts';

/** The input of the edge rules: both sides of a plan, and what was applied before, with resolved edges. */
export type EdgeInput = {
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly registry: Registry;
  readonly base?: DesiredState | undefined;
  /** Edges that incomplete applies attached; the base has them, if there is one. */
  readonly attached?: readonly EdgeEnds[] | undefined;
  /** Their edges stay as long as they do. */
  readonly orphans?: ReadonlySet<ResourceId>;
  /** Orphans that this plan deletes together with their edges. */
  readonly toDelete?: ReadonlySet<ResourceId>;
  /** Objects whose edges stay as they are. */
  readonly frozen?: ReadonlySet<ResourceId>;
  /** Resources whose drift is undone even if that weakens protection. */
  readonly reverts?: ReadonlySet<string>;
  /** Attachments made outside Ostiary that are removed, by edge key. */
  readonly reverted?: ReadonlySet<string>;
};

/** What else decides about edges, beside their ends. */
type EdgeDecisions = 'orphans' | 'toDelete' | 'frozen' | 'reverts' | 'reverted';

/** The lookups of the edge rules. */
export type EdgeIndex = Required<Pick<EdgeInput, EdgeDecisions>> & {
  readonly selected: ReadonlyMap<ResourceId, DesiredState['resources'][number]>;
  /** All declared resources, selected or not, with the paths that each ignores. */
  readonly declared: ReadonlyMap<ResourceId, readonly Pointer[]>;
  readonly live: ReadonlyMap<ResourceId, LiveResource>;
  /** All live edges. */
  readonly edges: EdgeMap<EdgeEnds>;
  /** The rules that manifests attach to a connection. */
  readonly attaching: ReadonlySet<ResourceId>;
  /** Objects that no list shows and the gateway confirmed. */
  readonly hidden: ReadonlySet<ResourceId>;
  readonly kinds: Registry;
  /** The edges that the base declared; undefined without a base. */
  readonly past: EdgeMap<EdgeEnds> | undefined;
  /** The edges that applies attached: those of the base, or without one those of incomplete applies. */
  readonly applied: EdgeMap<EdgeEnds>;
};

/** Builds the lookups of both sides of a plan. */
export function indexEdges({ desired, live, registry, base, attached = [], ...given }: EdgeInput): EdgeIndex {
  const decisions = { orphans: noIds, toDelete: noIds, frozen: noIds, reverts: noIds, reverted: noIds, ...given };
  const declared = ignoresOf(desired);
  // What an object without a manifest decides about access is watched as a whole; its connections are no attachments of a plan.
  const counts = ({ rule }: EdgeEnds): boolean => !decidesAccess(kindOf(rule)) || declared.has(rule) || decisions.toDelete.has(rule);
  const index: EdgeIndex = {
    ...decisions,
    selected: desiredByKey(desired.resources),
    declared,
    live: liveById(live.resources),
    edges: new EdgeMap(liveEdges(live, registry).filter(counts)),
    attaching: new Set(desired.edges.map(({ rule }) => rule)),
    hidden: new Set(live.hidden),
    kinds: registry,
    past: undefined,
    applied: new EdgeMap(attached),
  };
  if (base === undefined) return index;
  const past = new EdgeMap<EdgeEnds>(declaredEnds(base, index).filter(counts));
  return { ...index, past, applied: past };
}

const noIds: ReadonlySet<never> = new Set();

function ignoresOf({ resources, unselected }: DesiredState): EdgeIndex['declared'] {
  const ignores = new Map<ResourceId, readonly Pointer[]>();
  for (const { key, ignore } of resources) ignores.set(key, ignore);
  for (const { key, ignore } of unselected) ignores.set(key, ignore);
  return ignores;
}

/** Returns the edges that manifests declare and whose ends exist. */
export function declaredEnds({ edges }: DesiredState, index: EdgeIndex): readonly DeclaredEdge[] {
  return edges.filter((edge) => missingEnds(edge, index).length === 0);
}

/** Returns the ends that no manifest, no list and no live edge of the gateway has. */
export function missingEnds(ends: EdgeEnds, index: EdgeIndex): readonly ResourceId[] {
  const missing = [ends.rule, ends.connection].filter((end) => !index.declared.has(end) && !index.live.has(end) && !index.hidden.has(end));
  return missing.length > 0 && index.edges.has(ends) ? [] : missing;
}

/** Returns the row of an attachment. Its path is that of the rule's field for it. */
export function edgeCell(ends: EdgeEnds, isDeclared: boolean, { past, edges, kinds }: EdgeIndex): Cell {
  const { rule, connection } = ends;
  const path = pointer(edgeField(rule, connection, kinds) ?? '', nameOf(connection));
  const sideOf = (has: boolean): Side => (has ? { is: 'value', value: 'attached' } : { is: 'absent', at: path });
  const base = past && sideOf(past.has(ends));
  return { path, base, head: sideOf(isDeclared), live: sideOf(edges.has(ends)), written: [] };
}

/** Returns whether an end with a manifest ignores the attachment. */
export function isIgnoredEdge({ rule, connection }: EdgeEnds, { declared, kinds }: EdgeIndex): boolean {
  const ignores = (id: ResourceId, other: ResourceId): boolean => {
    const field = edgeField(id, other, kinds);
    return field !== undefined && isWithinAny(pointer(field, nameOf(other)), declared.get(id) ?? []);
  };
  return ignores(rule, connection) || ignores(connection, rule);
}

/** Returns the field in which the kind of a resource lists its edges to the kind of another one. */
export function edgeField(id: ResourceId, other: ResourceId, registry: Registry): string | undefined {
  return registry.get(kindOf(id))?.fields.find((field) => field.edge !== undefined && field.refers === kindOf(other))?.name;
}
