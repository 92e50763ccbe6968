import type { DesiredState } from '../model/desired.ts';
import type { Diagnostic, Position } from '../model/diagnostic.ts';
import { compareText } from '../model/json.ts';
import type { Kind, Registry } from '../model/kind.ts';
import type { LiveResource, LiveState } from '../model/live.ts';
import type { EdgeAction, EdgeChange } from '../model/plan.ts';
import { isWithin, pointer, type Pointer } from '../model/pointer.ts';
import { kindOf, nameOf, resourceId, type ResourceId } from '../model/resource.ts';
import { closest } from '../model/suggest.ts';

/** Everything the edge rules ask about the two sides of a plan. */
export type EdgeInput = { readonly desired: DesiredState; readonly live: LiveState; readonly registry: Registry };

export type EdgePlan = { readonly edges: readonly EdgeChange[]; readonly diagnostics: readonly Diagnostic[] };

type Ends = { readonly rule: ResourceId; readonly connection: ResourceId };

/** Plans the edges: declared ones that are missing are attached, undeclared ones go only where both ends are ours to change. */
export function planEdges(input: EdgeInput): EdgePlan {
  const index = indexOf(input);
  const diagnostics: Diagnostic[] = [];
  const declared = declaredEdges(input, index, diagnostics);
  const found = new Map(liveEdges(input).map((ends) => [keyOf(ends), ends]));
  const all = new Map([...found, ...[...declared].map(([key, one]) => [key, one.ends] as const)]);
  const edges: EdgeChange[] = [];
  for (const [key, ends] of [...all].toSorted(([left], [right]) => compareText(left, right))) {
    const places = declared.get(key)?.places ?? [];
    const outcome = declared.has(key) ? attachment(ends, found.has(key), index) : removal(ends, index);
    if (outcome === undefined) continue;
    if (outcome === 'unwritable') diagnostics.push(...needsSelection(ends, places[0], index));
    else edges.push({ ...ends, ...outcome, declared: places.map(({ file, line, column }) => `${file}:${line}:${column}`) });
  }
  return { edges, diagnostics };
}

type Index = {
  readonly selected: ReadonlyMap<ResourceId, DesiredState['resources'][number]>;
  /** All that manifests declare, selected or not, with what each ignores. */
  readonly declared: ReadonlyMap<ResourceId, readonly Pointer[]>;
  readonly live: ReadonlyMap<ResourceId, LiveResource>;
  /** The id behind `Kind/uid`. */
  readonly byUid: (text: string) => ResourceId | undefined;
  readonly kinds: Registry;
};

function indexOf({ desired, live, registry }: EdgeInput): Index {
  // Few texts are uids, so their index is made when the first one comes.
  let uids: ReadonlyMap<string, ResourceId> | undefined;
  return {
    selected: new Map(desired.resources.map((resource) => [resource.key, resource])),
    declared: new Map([...desired.resources, ...desired.unselected].map((resource) => [resource.key, resource.ignore])),
    live: new Map(live.resources.map((resource) => [resource.id, resource])),
    byUid: (text) => (uids ??= uidsOf(live)).get(text),
    kinds: registry,
  };
}

function uidsOf({ resources }: LiveState): ReadonlyMap<string, ResourceId> {
  return new Map(resources.map((resource) => [resourceId(kindOf(resource.id), resource.uid), resource.id]));
}

type Declared = { readonly ends: Ends; readonly places: readonly Position[] };

function declaredEdges({ desired }: EdgeInput, index: Index, diagnostics: Diagnostic[]): ReadonlyMap<string, Declared> {
  const result = new Map<string, Declared>();
  if (desired.edges.length === 0) return result;
  const manifests = new Map(desired.resources.map((resource) => [resource.id, resource]));
  for (const edge of desired.edges) {
    const rule = endOf(edge.rule, index);
    const connection = endOf(edge.connection, index);
    const places = edge.declarations.flatMap(({ by, path }) => manifests.get(by)?.locate(path) ?? []);
    const [at] = places;
    for (const [end, resolved] of [
      [edge.rule, rule],
      [edge.connection, connection],
    ] as const) {
      if (resolved === undefined && at !== undefined) diagnostics.push(dangling(end, index, at));
    }
    if (rule === undefined || connection === undefined) continue;
    const ends = { rule, connection };
    const earlier = result.get(keyOf(ends));
    result.set(keyOf(ends), { ends, places: [...(earlier?.places ?? []), ...places].toSorted(comparePlaces) });
  }
  return result;
}

function endOf(end: { readonly kind: string; readonly text: string }, index: Index): ResourceId | undefined {
  const id = resourceId(end.kind, end.text);
  if (index.declared.has(id) || index.live.has(id)) return id;
  return index.byUid(resourceId(end.kind, end.text.toLowerCase()));
}

/** All live edges, seen from either side, each once. */
export function liveEdges({ live, registry }: Pick<EdgeInput, 'live' | 'registry'>): readonly Ends[] {
  const all = new Map<string, Ends>();
  const fields = new Map([...registry].map(([name, kind]) => [name, kind.fields.filter((field) => field.edge !== undefined)]));
  for (const resource of live.resources) {
    for (const field of fields.get(kindOf(resource.id)) ?? []) {
      for (const other of resource.edges[field.name] ?? []) {
        const ends = field.edge === 'rule' ? { rule: resource.id, connection: other } : { rule: other, connection: resource.id };
        all.set(keyOf(ends), ends);
      }
    }
  }
  return [...all.values()];
}

type EdgeOutcome = { readonly action: EdgeAction; readonly by?: ResourceId };

function attachment(ends: Ends, exists: boolean, index: Index): EdgeOutcome | 'unwritable' | undefined {
  if (exists) return undefined;
  if (!index.selected.has(ends.rule) && !index.selected.has(ends.connection)) return undefined;
  if (isManaged(ends.connection, index)) return { action: 'blocked' };
  const writers = index.live.has(ends.connection) ? [ends.rule, ends.connection] : [ends.connection, ends.rule];
  const writer = writers.find((id) => canWrite(id, ends, index));
  if (writer !== undefined) return { action: 'attach', by: writer };
  return isManaged(ends.rule, index) ? { action: 'blocked' } : 'unwritable';
}

/** An edge goes only if both ends have a manifest, neither is managed, no end ignores it, and an end of this run can write it. */
function removal(ends: Ends, index: Index): EdgeOutcome | undefined {
  const { rule, connection } = ends;
  if (!index.selected.has(rule) && !index.selected.has(connection)) return undefined;
  const ours = index.declared.has(rule) && index.declared.has(connection);
  if (!ours || isManaged(rule, index) || isManaged(connection, index) || isIgnored(ends, index)) return { action: 'foreign' };
  const writer = [rule, connection].find((id) => canWrite(id, ends, index));
  return writer === undefined ? { action: 'foreign' } : { action: 'detach', by: writer };
}

/** An end can write an edge if it is ours in this run, not managed, has a field for it, and the other end is or will be there. */
function canWrite(id: ResourceId, ends: Ends, index: Index): boolean {
  const other = id === ends.rule ? ends.connection : ends.rule;
  if (!index.selected.has(id) || isManaged(id, index)) return false;
  if (!index.live.has(other) && !index.selected.has(other)) return false;
  return edgeField(index.kinds.get(kindOf(id)), kindOf(other)) !== undefined;
}

/** The field in which a kind lists its edges to another kind. */
export function edgeField(kind: Kind | undefined, other: string): string | undefined {
  return kind?.fields.find((field) => field.edge !== undefined && field.refers === other)?.name;
}

function isManaged(id: ResourceId, index: Index): boolean {
  return index.live.get(id)?.managedBy !== undefined;
}

function isIgnored(ends: Ends, index: Index): boolean {
  return [ends.rule, ends.connection].some((id) => {
    const other = id === ends.rule ? ends.connection : ends.rule;
    const field = edgeField(index.kinds.get(kindOf(id)), kindOf(other));
    const ignore = index.declared.get(id) ?? [];
    return field !== undefined && ignore.some((path) => isWithin(pointer(field, nameOf(other)), path));
  });
}

function keyOf(ends: Ends): string {
  return `${ends.rule}\u0000${ends.connection}`;
}

function comparePlaces(left: Position, right: Position): number {
  return compareText(left.file, right.file) || left.line - right.line || left.column - right.column;
}

function dangling(end: { readonly kind: string; readonly text: string }, index: Index, at: Position): Diagnostic {
  const names = [...index.declared.keys(), ...index.live.keys()].filter((id) => kindOf(id) === end.kind).map(nameOf);
  const near = closest(end.text, names);
  return {
    code: 'manifest/dangling-reference',
    severity: 'error',
    message: `there is no ${end.kind} "${end.text}", neither in the manifests nor on the gateway`,
    hint: near === undefined ? `write a manifest for it, or name one that exists` : `did you mean "${near}"?`,
    at,
  };
}

/**
 * A declared edge that no end of this run can write: an error where the connection would be opened without it or
 * asks for it itself, a warning where the selection leaves out a rule of its own accord, nothing where no connection is.
 */
function needsSelection(ends: Ends, at: Position | undefined, index: Index): readonly Diagnostic[] {
  const { rule, connection } = ends;
  if (!index.selected.has(connection)) {
    return at === undefined ? [] : [unwritten(ends, { severity: 'warning', why: `${connection} is not on the gateway yet`, at })];
  }
  const why = index.live.has(rule) ? `only ${rule} can write it` : `${rule} is not on the gateway yet`;
  const severity = at === undefined && index.live.has(connection) ? 'warning' : 'error';
  return [unwritten(ends, { severity, why, at })];
}

type Unwritten = { readonly severity: 'error' | 'warning'; readonly why: string; readonly at: Position | undefined };

function unwritten({ rule, connection }: Ends, { severity, why, at }: Unwritten): Diagnostic {
  return {
    code: 'plan/needs-unselected',
    severity,
    message: `the edge between ${rule} and ${connection} is left out: ${why}, and it is not selected`,
    hint: 'select both',
    ...(at === undefined ? {} : { at }),
  };
}
