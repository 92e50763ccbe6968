import { canonical } from '../model/json.ts';
import { type Change, isWritten, liveKeyOf, type Plan, type Refusal } from '../model/plan/plan.ts';
import { edgeKey, type ResourceId } from '../model/resource.ts';

type PlannedParts = Pick<Plan, 'changes' | 'edges'>;

/**
 * Returns why the plan of what is live now contains more than the rest of an approved plan that was interrupted: objects and
 * attachments that the approved plan does not have, written or not, so that something else changed them since.
 */
export function restRefusals(approved: PlannedParts, rest: PlannedParts): readonly Refusal[] {
  const planned = new Map(approved.changes.flatMap((change) => [change.id, liveKeyOf(change)].map((id) => [id, change] as const)));
  const attachments = new Set(approved.edges.flatMap((edge) => (edge.action === 'foreign' ? [] : [edgeKey(edge)])));
  const changed = rest.changes.flatMap((change): readonly Refusal[] => {
    const more = beyond(planned.get(change.id) ?? planned.get(liveKeyOf(change)), change);
    return more.length === 0 ? [] : [movedSince(change.id, more.join(', '))];
  });
  const attached = rest.edges
    .filter((edge) => edge.action !== 'foreign' && !attachments.has(edgeKey(edge)))
    .map(({ rule, connection }) => movedSince(connection, `its attachment to ${rule}`));
  return [...changed, ...attached];
}

/** Lists the parts of a change that the approved plan does not have. An object that it writes is compared as a whole before it is written. */
function beyond(approved: Change | undefined, { action, fields }: Change): readonly string[] {
  if (approved === undefined) return [action];
  if (isWritten(approved)) return [];
  const known = new Map(approved.fields.map(({ path, before }) => [path, canonical({ ...before })]));
  return fields.flatMap(({ path, before }) => (known.get(path) === canonical({ ...before }) ? [] : [path]));
}

function movedSince(id: ResourceId, what: string): Refusal {
  return {
    code: 'plan/moved',
    message: `it changed since the approved plan began: ${what}`,
    hint: 'review this plan and pass its digest to approve it',
    allowable: false,
    resource: id,
  };
}
