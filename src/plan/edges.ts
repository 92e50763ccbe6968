import type { Diagnostic, Position } from '../model/diagnostic.ts';
import { compareText } from '../model/json.ts';
import type { EdgeChange } from '../model/plan.ts';
import { kindOf, nameOf } from '../model/resource.ts';
import { closest } from '../model/suggest.ts';
import { edgeKey, endOf, indexOf, liveEdges, type EdgeInput, type Ends, type Index } from './edge-index.ts';
import { attachment, removal } from './edge-outcome.ts';

export type EdgePlan = { readonly edges: readonly EdgeChange[]; readonly diagnostics: readonly Diagnostic[] };

/** Plans the edges: declared ones that are missing are attached, undeclared ones go only where both ends are ours to change. */
export function planEdges(input: EdgeInput): EdgePlan {
  const index = indexOf(input);
  const diagnostics: Diagnostic[] = [];
  const declared = declaredEdges(input, index, diagnostics);
  const found = new Map(liveEdges(input).map((ends) => [edgeKey(ends), ends]));
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
    const earlier = result.get(edgeKey(ends));
    result.set(edgeKey(ends), { ends, places: [...(earlier?.places ?? []), ...places].toSorted(comparePlaces) });
  }
  return result;
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
