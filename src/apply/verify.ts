import type { WriteRequest } from '../model/gateway.ts';
import type { Kind } from '../model/kind.ts';
import type { LiveResource } from '../model/live.ts';
import type { EdgeChange } from '../model/plan.ts';
import { tokensOf } from '../model/pointer.ts';
import { keyOf } from './effects.ts';
import { differences } from './request.ts';
import type { Step } from './steps.ts';

/** What was written and is to be found again by a bulk read. */
export type Written = { readonly step: Step; readonly kind: Kind; readonly request: WriteRequest };

/** The fields and edges that the gateway does not show as they were written; empty where all is well. */
export function unkept({ step, kind, request }: Written, edges: readonly EdgeChange[], found: LiveResource | undefined): readonly string[] {
  if (found === undefined) return ['the whole object'];
  const touched = new Set([
    ...step.change.fields.map((field) => tokensOf(field.path)[0]),
    ...kind.fields.filter((field) => field.closed !== undefined).map((field) => field.name),
  ]);
  const compared = kind.fields.filter((field) => field.edge === undefined && (touched.has(field.name) || step.change.action === 'create'));
  return [...differences(request, { ...kind, fields: compared }, found), ...unkeptEdges(step, kind, edges, found)];
}

function unkeptEdges(step: Step, kind: Kind, edges: readonly EdgeChange[], found: LiveResource): readonly string[] {
  const key = keyOf(step.change);
  if (step.part === 'open') return [];
  const shown = new Set(kind.fields.flatMap((field) => found.edges[field.name] ?? []));
  return edges.flatMap((edge) => {
    if (edge.by !== key) return [];
    const other = edge.rule === key ? edge.connection : edge.rule;
    const wrong = edge.action === 'attach' ? !shown.has(other) : edge.action === 'detach' && step.part !== 'gain' && shown.has(other);
    return wrong ? [`the edge to ${other}`] : [];
  });
}
