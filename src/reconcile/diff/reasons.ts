import { compareText } from '../../model/json.ts';
import type { Change, EdgeChange } from '../../model/plan/plan.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { ChangeDraft } from './draft-change.ts';

/** Why edges make a change of their writer, or of the managed end they cannot be written to. */
export function edgeReasons(edges: readonly EdgeChange[]): ReadonlyMap<ResourceId, readonly string[]> {
  const reasons = new Map<ResourceId, Set<string>>();
  const add = (id: ResourceId, reason: string): void => {
    reasons.set(id, (reasons.get(id) ?? new Set()).add(reason));
  };
  for (const edge of edges) {
    if (edge.by !== undefined) add(edge.by, `edge/${edge.action}`);
    if (edge.action === 'blocked') for (const id of [edge.rule, edge.connection]) add(id, 'edge/blocked');
  }
  return new Map([...reasons].map(([id, set]) => [id, [...set].toSorted(compareText)]));
}

/** The change that a draft makes, with its reasons; undefined where it makes none. */
export function completeChange(draft: ChangeDraft, needs: readonly ResourceId[], edgeWhy: readonly string[]): Change | undefined {
  const { action, unfinished, adopts, replacedBy, ...change } = draft;
  const after = replacedBy === undefined ? needs : [...new Set([...needs, replacedBy])].toSorted(compareText);
  if (action === 'delete') return { ...change, action, needs: after, reasons: [replacedBy === undefined ? 'orphan' : 'replaced'] };
  const isHeld = draft.fields.some(({ held }) => held === true);
  const differs = draft.fields.every(({ held }) => held === true) ? [] : [unfinished === true ? 'unfinished' : 'differs'];
  if (draft.managedBy !== undefined) {
    const why = [...(action === 'rename' ? ['renamed'] : []), ...differs, ...edgeWhy];
    return why.length === 0 ? undefined : { ...change, action: 'blocked', needs: [], reasons: [...why, 'managed'] };
  }
  const own = replacedBy === undefined ? differs : ['replaced'];
  const first = { create: ['not-live'], rename: ['renamed', ...differs], update: own }[action];
  const reasons = [...first, ...edgeWhy.filter((reason) => reason !== 'edge/blocked')];
  if (reasons.length === 0) return isHeld ? { ...change, action: 'held', needs: [], reasons: ['held'] } : undefined;
  const adoption = adopts === true && unfinished !== true;
  return {
    ...change,
    ...(adoption ? { adoption: true as const } : {}),
    action,
    needs: after,
    reasons: [...reasons, ...(isHeld ? ['held'] : []), ...(adoption ? ['adoption'] : [])],
  };
}
