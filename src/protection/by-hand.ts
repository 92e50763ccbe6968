import type { Registry } from '../model/kind.ts';
import type { LiveState } from '../model/live.ts';
import type { Change, EdgeChange, FieldChange, Plan } from '../model/plan/plan.ts';
import type { Protection, ProtectionVerdict } from '../model/protection/protection.ts';
import { causesOf, type Causes } from './causes.ts';
import { reversed, viewsOf, type Manifests } from './diff.ts';
import { protectionFrom } from './protection.ts';

/** What a drift means for connections, seen from the manifests to what is live; what is held would not be undone, and counts. */
export function protectionByHand({ target, changes, edges }: Plan, live: LiveState, registry: Registry, manifests?: Manifests): Protection {
  const undoing = { target, changes: changes.map(released), edges: edges.map(releasedEdge) };
  return protectionFrom(undoing, reversed(viewsOf(undoing, live, registry, manifests)), backwards(causesOf(undoing, registry)));
}

/** What undoing it would take away, somebody added. */
function backwards(causes: Causes): Causes {
  return (...place) => causes(...place).map((bearing) => ({ ...bearing, way: opposites[bearing.way] }));
}

const opposites: Readonly<Record<ProtectionVerdict, ProtectionVerdict>> = {
  weakens: 'strengthens',
  strengthens: 'weakens',
  both: 'both',
  unknown: 'unknown',
  neutral: 'neutral',
};

function released(change: Change): Change {
  const fields = change.fields.map(releasedField);
  return change.action === 'held' ? { ...change, action: 'update', fields } : { ...change, fields };
}

function releasedField(field: FieldChange): FieldChange {
  const { path, before, after, at, origin } = field;
  return { path, before, after, ...(at === undefined ? {} : { at }), ...(origin === undefined ? {} : { origin }) };
}

function releasedEdge(edge: EdgeChange): EdgeChange {
  return edge.action === 'held' ? { ...edge, action: 'detach' } : edge;
}
