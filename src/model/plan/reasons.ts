import type { ResourceId } from '../resource.ts';
import { type Change, type Diff, liveKeyOf } from './plan.ts';

/** Returns why a plan has each of its changes, as codes for documents; they follow from the change and its attachments, and decide nothing. */
export function reasonsIn({ edges }: Pick<Diff, 'edges'>): (change: Change) => readonly string[] {
  const byObject = new Map<ResourceId, Set<string>>();
  for (const { by, rule, connection, action } of edges)
    for (const id of action === 'blocked' ? [rule, connection] : by === undefined ? [] : [by])
      byObject.set(id, (byObject.get(id) ?? new Set()).add(`edge/${action}`));
  return (change) => reasonsOf(change, byObject.get(liveKeyOf(change)) ?? new Set());
}

function reasonsOf(change: Change, written: ReadonlySet<string>): readonly string[] {
  const { id, key, action, error, replacedBy, closed, unfinished, managedBy, adoption, reach, fields } = change;
  if (error !== undefined) return ['not-planned'];
  if (action === 'delete') return [replacedBy === undefined ? 'orphan' : 'replaced', ...(closed === 'first' ? ['closed-first'] : [])];
  const isHeld = fields.some(({ held }) => held === true);
  const differs = fields.every(({ held }) => held === true) ? [] : [unfinished === true ? 'unfinished' : 'differs'];
  const renamed = action === 'rename' || (action === 'blocked' && key !== undefined && key !== id) ? ['renamed'] : [];
  const update = replacedBy === undefined ? differs : ['replaced'];
  return [
    ...(closed === 'between' ? ['closed-between'] : []),
    ...(action === 'create' ? ['not-live'] : [...renamed, ...(action === 'held' ? [] : update)]),
    ...[...written].filter((code) => action === 'blocked' || code !== 'edge/blocked').toSorted(),
    ...(isHeld && action !== 'blocked' ? ['held'] : []),
    ...(adoption === true ? ['adoption'] : []),
    ...(action === 'blocked' && managedBy !== undefined ? ['managed'] : []),
    ...(reach === undefined ? [] : [`${reach}-connection${reach === 'named' ? 's' : ''}`]),
  ];
}
