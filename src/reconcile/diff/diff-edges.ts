import { type DeclaredEdge, desiredById } from '../../model/desired.ts';
import { type Diagnostic, type Position, suggest } from '../../model/diagnostic.ts';
import { compareText } from '../../model/json.ts';
import type { EdgeChange } from '../../model/plan/plan.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import { edgeKey, type EdgeEnds } from '../../model/live.ts';
import { resolveEnds, indexEdges, idFromUid, type EdgeInput, type EdgeIndex } from './edge-index.ts';
import { decideAttach, decideDetach } from './edge-outcome.ts';
import { isUuid } from './resolve-references.ts';

export type EdgeDiff = { readonly edges: readonly EdgeChange[]; readonly diagnostics: readonly Diagnostic[] };

/** Plans the edges: attaches missing declared edges, and detaches undeclared edges only if this run may change both ends. */
export function diffEdges(input: EdgeInput): EdgeDiff {
  const index = indexEdges(input);
  const found = index.edges;
  const { declared, unresolved } = declaredEdges(input, index);
  const diagnostics = unresolved.flatMap(({ end, at }) => (at === undefined ? [] : [dangling(end, index, at)]));
  const all = new Map([...found, ...[...declared].map(([key, one]) => [key, one.ends] as const)]);
  const edges: EdgeChange[] = [];
  for (const [key, ends] of [...all].toSorted(([left], [right]) => compareText(left, right))) {
    const places = declared.get(key)?.places ?? [];
    const outcome = declared.has(key) ? decideAttach(ends, found.has(key), index) : decideDetach(ends, index);
    if (outcome === undefined) continue;
    if (outcome === 'unwritable')
      diagnostics.push(...(declared.has(key) ? needsSelection(ends, places[0], index) : [undetachable(ends, index)]));
    else {
      const bySelector = declared.get(key)?.bySelector === true ? ({ bySelector: true } as const) : {};
      edges.push({ ...ends, ...outcome, declared: places.map(({ file, line, column }) => `${file}:${line}:${column}`), ...bySelector });
    }
  }
  return { edges, diagnostics };
}

/** Returns the gateway ids that manifests name and no listed object has: lists may hide those objects. */
export function unresolvedIds(input: EdgeInput): readonly ResourceId[] {
  if (!input.desired.edges.some(({ rule, connection }) => isUuid(rule.text) || isUuid(connection.text))) return [];
  const { unresolved } = declaredEdges(input, indexEdges(input));
  const ids = unresolved.filter(({ end }) => isUuid(end.text)).map(({ end }) => idFromUid(end));
  return [...new Set(ids)].toSorted(compareText);
}

type Declared = { readonly ends: EdgeEnds; readonly places: readonly Position[]; readonly bySelector: boolean };
type Unresolved = { readonly end: DeclaredEdge['rule']; readonly at: Position | undefined };
type DeclaredEdges = { readonly declared: ReadonlyMap<string, Declared>; readonly unresolved: readonly Unresolved[] };

function declaredEdges({ desired }: EdgeInput, index: EdgeIndex): DeclaredEdges {
  const declared = new Map<string, Declared>();
  const unresolved: Unresolved[] = [];
  if (desired.edges.length === 0) return { declared, unresolved };
  const manifests = desiredById(desired.resources);
  for (const edge of desired.edges) {
    const places = edge.declarations.flatMap(({ by, path }) => manifests.get(by)?.locate(path) ?? []);
    const { rule, connection } = resolveEnds(edge, index);
    if (rule === undefined) unresolved.push({ end: edge.rule, at: places[0] });
    if (connection === undefined) unresolved.push({ end: edge.connection, at: places[0] });
    if (rule === undefined || connection === undefined) continue;
    const key = edgeKey({ rule, connection });
    const earlier = declared.get(key);
    declared.set(key, {
      ends: { rule, connection },
      places: [...(earlier?.places ?? []), ...places].toSorted(comparePlaces),
      bySelector: earlier?.bySelector !== false && edge.declarations.every(({ how }) => how === 'selector'),
    });
  }
  return { declared, unresolved };
}

function comparePlaces(left: Position, right: Position): number {
  return compareText(left.file, right.file) || left.line - right.line || left.column - right.column;
}

function dangling(end: DeclaredEdge['rule'], index: EdgeIndex, at: Position): Diagnostic {
  const names = [...index.declared.keys(), ...index.live.keys()].filter((id) => kindOf(id) === end.kind).map(nameOf);
  const near = suggest(end.text, names);
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
function needsSelection(ends: EdgeEnds, at: Position | undefined, index: EdgeIndex): readonly Diagnostic[] {
  const { rule, connection } = ends;
  if (!index.selected.has(connection)) {
    return at === undefined ? [] : [unwritten(ends, { severity: 'warning', why: `${connection} is not on the gateway yet`, at })];
  }
  const why = index.live.has(rule) ? `only ${rule} can write it` : `${rule} is not on the gateway yet`;
  const severity = at === undefined && index.live.has(connection) ? 'warning' : 'error';
  return [unwritten(ends, { severity, why, at })];
}

/** Warns about an edge that no manifest declares any more, and that no selected end can detach. */
function undetachable({ rule, connection }: EdgeEnds, index: EdgeIndex): Diagnostic {
  const other = index.selected.has(rule) ? connection : rule;
  return {
    code: 'plan/needs-unselected',
    severity: 'warning',
    message: `the edge between ${rule} and ${connection} stays, though no manifest declares it: only ${other} can write it, and it is not selected`,
    hint: `select ${other}`,
  };
}

type Unwritten = { readonly severity: 'error' | 'warning'; readonly why: string; readonly at: Position | undefined };

function unwritten({ rule, connection }: EdgeEnds, { severity, why, at }: Unwritten): Diagnostic {
  return {
    code: 'plan/needs-unselected',
    severity,
    message: `the edge between ${rule} and ${connection} is left out: ${why}, and it is not selected`,
    hint: 'select both',
    ...(at === undefined ? {} : { at }),
  };
}
