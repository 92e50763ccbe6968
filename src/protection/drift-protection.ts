import type { Registry } from '../model/kind.ts';
import type { LiveState } from '../model/live.ts';
import type { Change, EdgeChange, FieldChange, Diff } from '../model/plan/plan.ts';
import type { Protection, ProtectionVerdict } from '../model/protection/protection.ts';
import { createCauseFinder, type CauseFinder } from './posture/causes.ts';
import { reverseSnapshots, snapshotPlan, type AttachmentSources } from './posture/diff-postures.ts';
import { summarizeProtection } from './protection.ts';

/** Returns what a drift changed for connections, from the manifests to the live state. Held changes count as well. */
export function protectionOfDrift(
  { target, changes, edges }: Pick<Diff, 'target' | 'changes' | 'edges'>,
  live: LiveState,
  registry: Registry,
  manifests?: AttachmentSources,
): Protection {
  const revert = { target, changes: changes.map(withoutHeld), edges: edges.map(detachHeld) };
  return summarizeProtection(
    revert,
    reverseSnapshots(snapshotPlan(revert, live, registry, manifests)),
    reverseCauses(createCauseFinder(revert, registry)),
  );
}

/** Reverses the verdicts of causes: a control that the revert would remove was added by the drift. */
function reverseCauses(causes: CauseFinder): CauseFinder {
  return (...place) => causes(...place).map((contribution) => ({ ...contribution, way: opposites[contribution.way] }));
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
