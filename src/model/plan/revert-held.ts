import type { Change, Diff, EdgeChange, FieldChange } from './plan.ts';

type PlannedChanges = Pick<Diff, 'target' | 'changes' | 'edges'>;

/** Returns the plan that reverts all held drift, too. */
export function revertHeld({ target, changes, edges }: PlannedChanges): PlannedChanges {
  return { target, changes: changes.map(withoutHeld), edges: edges.map(detachHeld) };
}

/** Returns whether a plan holds drift. */
export function hasHeld({ changes, edges }: PlannedChanges): boolean {
  return changes.some(({ fields }) => fields.some(({ held }) => held === true)) || edges.some(({ action }) => action === 'held');
}

function withoutHeld(change: Change): Change {
  const fields = change.fields.map(withoutHeldMark);
  return change.action === 'held' ? { ...change, action: 'update', fields } : { ...change, fields };
}

function withoutHeldMark(field: FieldChange): FieldChange {
  const { path, before, after, at, origin } = field;
  return { path, before, after, ...(at === undefined ? {} : { at }), ...(origin === undefined ? {} : { origin }) };
}

function detachHeld(edge: EdgeChange): EdgeChange {
  return edge.action === 'held' ? { ...edge, action: 'detach' } : edge;
}
