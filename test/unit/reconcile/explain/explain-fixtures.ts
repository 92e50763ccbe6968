import { registry } from '../../../../src/kinds/index.ts';
import { resolveEdges } from '../../../../src/model/edge-ends.ts';
import type { BaseState, DeclaredEdge, DesiredResource } from '../../../../src/model/desired.ts';
import type { Explanation, ExplanationRow } from '../../../../src/model/result/drift.ts';
import type { Plan } from '../../../../src/model/plan/plan.ts';
import type { LiveResource } from '../../../../src/model/live.ts';
import { explain } from '../../../../src/reconcile/explain/explain.ts';
import { stateOf, wantedOf } from '../../../support/resources.ts';
import { planOf } from '../../../support/run-pipeline.ts';

/** The connection that is explained. */
export const id = 'Connection/db';
/** A rule that may be attached to it. */
export const rule = 'GuardrailRule/rule';

/** The input of a plan, and the field to explain. */
export type Case = {
  readonly desired?: DesiredResource;
  readonly live?: LiveResource;
  readonly base?: BaseState;
  readonly beside?: readonly LiveResource[];
  readonly edges?: readonly DeclaredEdge[];
  readonly field?: string;
  readonly plan?: Plan;
};

/** Plans a connection, and explains it. */
export function explainCase({ desired, live, base, beside = [], edges = [], field, plan }: Case): Explanation {
  const kind = registry.get('Connection');
  if (kind === undefined) throw new Error('no such kind');
  const state = stateOf(...(live === undefined ? [] : [live]), ...beside);
  const declared = wantedOf(desired === undefined ? [] : [desired], edges);
  const wanted = { ...declared, edges: resolveEdges(edges, { desired: declared, live: state, registry }) };
  const explanation = explain({
    id: desired?.id ?? id,
    kind,
    desired: wanted,
    live: state,
    base,
    plan: plan ?? planOf(wanted, state, base),
    registry,
    field,
  });
  if (explanation === undefined) throw new Error('nothing to explain');
  return explanation;
}

/** Returns the first row in short. */
export function rowOf(given: Case): Pick<ExplanationRow, 'status' | 'why'> & { readonly sides: string } {
  const [row] = explainCase(given).rows;
  if (row === undefined) throw new Error('no row');
  const sides = [row.desired === undefined ? '' : 'desired', row.live === undefined ? '' : 'live', row.at === undefined ? '' : 'at'].filter(
    (text) => text !== '',
  );
  return { status: row.status, why: row.why, sides: sides.join(' ') };
}
