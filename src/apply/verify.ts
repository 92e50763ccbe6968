import { liveKeyOf, otherEnd } from '../model/plan/plan.ts';
import type { Step } from '../model/plan/schedule.ts';
import type { WriteRequest } from '../model/gateway.ts';
import type { LiveResource } from '../model/live.ts';
import { tokensOf } from '../model/pointer.ts';
import type { ResourceId } from '../model/resource.ts';
import { differences } from './request.ts';

/** What was written and is to be found again by a bulk read. */
export type WrittenStep = { readonly step: Step; readonly id: ResourceId; readonly request?: WriteRequest };

/** The fields and edges that the gateway does not show as they were written; what others attached meanwhile is no matter. */
export function findUnkept({ step, request }: WrittenStep, found: LiveResource | undefined): readonly string[] {
  if (request === undefined) return found === undefined ? [] : ['it is still there'];
  if (found === undefined) return ['the whole object'];
  const { change, kind } = step;
  const touched = new Set(change.fields.filter((field) => field.held !== true).map((field) => tokensOf(field.path)[0]));
  const fields = kind.fields.filter((field) => touched.has(field.name) || change.action === 'create');
  return [...differences(request, { fields }, found), ...unkeptEdges(step, found)];
}

function unkeptEdges({ change, kind, edges, part }: Step, found: LiveResource): readonly string[] {
  if (part === 'open' || part === 'name') return [];
  const key = liveKeyOf(change);
  const shown = new Set(kind.fields.flatMap((field) => found.edges[field.name] ?? []));
  return edges.flatMap((edge) => {
    const other = otherEnd(edge, key);
    const wrong = edge.action === 'attach' ? !shown.has(other) : part !== 'gain' && shown.has(other);
    return wrong ? [`the edge to ${other}`] : [];
  });
}
