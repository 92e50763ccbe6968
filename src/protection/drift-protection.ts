import type { Registry } from '../model/kind.ts';
import type { LiveState } from '../model/live.ts';
import type { Change, EdgeChange, FieldChange, Plan } from '../model/plan/plan.ts';
import type { Protection, ProtectionVerdict } from '../model/protection/protection.ts';
import { createCauseFinder, type CauseFinder } from './posture/causes.ts';
import { reverseSnapshots, snapshotPlan, type AttachmentSources } from './posture/diff-postures.ts';
import { summarizeProtection } from './protection.ts';

/** What a drift means for connections, seen from the manifests to what is live; what is held would not be undone, and counts. */
export function protectionOfDrift(
  { target, changes, edges }: Plan,
  live: LiveState,
  registry: Registry,
  manifests?: AttachmentSources,
): Protection {
  const undoing = { target, changes: changes.map(withoutHeld), edges: edges.map(detachHeld) };
  return summarizeProtection(
    undoing,
    reverseSnapshots(snapshotPlan(undoing, live, registry, manifests)),
    reverseCauses(createCauseFinder(undoing, registry)),
  );
}

/** What undoing it would take away, somebody added. */
function reverseCauses(causes: CauseFinder): CauseFinder {
  return (...place) => causes(...place).map((bearing) => ({ ...bearing, way: opposites[bearing.way] }));
}

const opposites: Readonly<Record<ProtectionVerdict, ProtectionVerdict>> = {
  weakens: 'strengthens',
  strengthens: 'weakens',
  both: 'both',
  unknown: 'unknown',
  neutral: 'neutral',
};

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
