import { EdgeMap } from '../../model/collections.ts';
import { type DeclaredEdge, desiredById, type DesiredState } from '../../model/desired.ts';
import type { Registry } from '../../model/kind.ts';
import { type AssessedChange, liveKeyOf, type Plan } from '../../model/plan/plan.ts';
import type { Pointer } from '../../model/pointer.ts';
import { type EdgeEnds, kindOf, type ResourceId } from '../../model/resource.ts';
import { prove } from './cell.ts';
import { manifestSide } from './object-cells.ts';

/** The manifests, and those that the proposal started from; the ends of edges are resolved. */
type ProposedStates = { readonly head: DesiredState; readonly start: DesiredState; readonly registry: Registry };

/** Labels each change, field and edge of the plan with whether it is the proposal's own; one own field makes the change its own. */
export function labelOwn(plan: Plan, { head, start, registry }: ProposedStates): Plan {
  const [manifests, before] = [desiredById(head.resources), desiredById(start.resources)];
  const isOwnAt = (id: ResourceId, path: Pointer): boolean => {
    const kind = registry.get(kindOf(id));
    const [then, now] = [before, manifests].map((state) => kind && manifestSide(kind, state.get(id), path));
    return then !== undefined && now !== undefined && prove(then, now) === 'different';
  };
  const [declared, known] = [declaredEdges(head), declaredEdges(start)];
  const isOwnEdge = (ends: EdgeEnds): boolean => declared.has(ends) !== known.has(ends);
  const edges = plan.edges.map((edge) => ({ ...edge, own: isOwnEdge(edge) }));
  const writers = new Set(edges.flatMap(({ own, by }) => (own && by !== undefined ? [by] : [])));
  const labelOf = ({ id, fields }: Pick<AssessedChange, 'id' | 'fields'>, hasOwnEdge: boolean): Pick<AssessedChange, 'own' | 'fields'> => {
    const isWhole = isOwnAt(id, '');
    const labeled = fields.map((field) => ({ ...field, own: isWhole || isOwnAt(id, field.path) }));
    return { own: isWhole || hasOwnEdge || labeled.some(({ own }) => own), fields: labeled };
  };
  const changes = plan.changes.map((change) => ({ ...change, ...labelOf(change, writers.has(liveKeyOf(change))) }));
  const accepted = plan.accepted.map((drift) => ({ ...drift, ...labelOf(drift, drift.edges.some(isOwnEdge)) }));
  return { ...plan, changes, edges, accepted };
}

/** What a successor takes from its predecessor is in no manifest. */
function declaredEdges({ edges }: DesiredState): EdgeMap<DeclaredEdge> {
  return new EdgeMap(edges.filter(({ declarations }) => declarations.some(({ path }) => path !== '')));
}
