import { addToGroup } from '../../model/collections.ts';
import type { DesiredState } from '../../model/desired.ts';
import type { Checked, Diagnostic } from '../../model/diagnostic.ts';
import type { LiveState } from '../../model/live.ts';
import {
  type AcceptedDrift,
  type AcceptedEdge,
  type Change,
  type Diff,
  type FieldChange,
  liveKeyOf,
  remainingOrphans,
  type UnwrittenSecret,
} from '../../model/plan/plan.ts';
import { type ResourceId, edgeKey } from '../../model/resource.ts';
import { diffStates } from '../diff/diff-states.ts';
import { nameStates, type Prepared } from '../prepare/prepare.ts';
import { type PlannedStates, statesOf } from '../prepare/snapshots.ts';
import { liveAtBase } from './live-at-base.ts';

/** Accepted drift whose effect is not assessed yet. */
type UnassessedDrift = Omit<AcceptedDrift, 'risks' | 'by' | 'when'>;

/**
 * The drift that manifests accept, and the plan that they would have without it: what they change since the base, with everything that the plan does
 * besides.
 */
export type AcceptedDiff = PlannedStates & {
  /** The gateway as the base left it. */
  readonly live: LiveState;
  readonly desired: DesiredState;
  readonly entries: readonly UnassessedDrift[];
  /** Whether something was certainly changed outside Ostiary, so that the audit log may name who did. */
  readonly isAudited: boolean;
};

/**
 * Compares the manifests with the gateway as the base left it: what this plan has and the real one does not, the gateway already has.
 * Without a value without a base, without changes of the manifests, and where the gateway was not changed outside Ostiary; with errors
 * where the two cannot be compared, because a plan may not leave out what the manifests change.
 */
export function diffAccepted(prepared: Prepared, plan: Diff): Checked<AcceptedDiff> {
  const undone = liveAtBase(prepared, plan);
  if (undone === undefined) return { diagnostics: [] };
  const desired = { ...prepared.desired, resources: undone.resources, edges: undone.edges };
  const atBase = withLiveAtBase(prepared, undone, desired);
  const { value, diagnostics } = diffStates(atBase);
  if (value === undefined) return { diagnostics: diagnostics.map(beforeDrift) };
  const { diff } = value;
  const entries = findEntries(diff, plan);
  const isAudited = entries.some(({ action, fields, edges }) => action === 'create' || fields.length + edges.length > 0);
  return { value: { ...statesOf(atBase, diff), live: undone.live, desired, entries, isAudited }, diagnostics: [] };
}

/** Says that an error is one of the gateway as it was before it was changed outside Ostiary. */
function beforeDrift(found: Diagnostic): Diagnostic {
  return { ...found, message: `on the gateway as the last apply left it, ${found.message}` };
}

/** Returns the input of the same plan on the gateway as the base left it, on which it deletes what is missing on the real one. */
function withLiveAtBase(
  prepared: Prepared,
  { live, restored }: NonNullable<ReturnType<typeof liveAtBase>>,
  desired: DesiredState,
): Prepared {
  const { input, base } = prepared;
  const { consent = { imports: [], revert: [] } } = input;
  const isRestored = (key: ResourceId): boolean => restored.has(key);
  return {
    ...prepared,
    input: { ...input, live, previewOnly: true, consent: { ...consent, prune: true } },
    live,
    desired,
    base: base && {
      ...base,
      desired: {
        ...base.desired,
        resources: base.desired.resources.map((one) => (one.protect && isRestored(one.key) ? { ...one, protect: false } : one)),
      },
    },
    named: nameStates(desired, live),
  };
}

/** Returns the changes and attachments that the real plan does not write. */
function findEntries(diff: Diff, plan: Diff): readonly UnassessedDrift[] {
  const written = new Map(plan.changes.map((change) => [liveKeyOf(change), change]));
  const writtenEdges = new Set(plan.edges.map((edge) => `${edge.action} ${edgeKey(edge)}`));
  const secrets = new Map(plan.unwrittenSecrets.map((one) => [`${one.id} ${one.path}`, secretField(one)]));
  const remaining = new Set(remainingOrphans(plan).map(({ id }) => id));
  const edgesBy = new Map<ResourceId, AcceptedEdge[]>();
  for (const { rule, connection, action, declared, by } of diff.edges) {
    if (by === undefined || (action !== 'attach' && action !== 'detach') || writtenEdges.has(`${action} ${edgeKey({ rule, connection })}`))
      continue;
    addToGroup(edgesBy, by, { rule, connection, action, declared });
  }
  return diff.changes.flatMap((change): readonly UnassessedDrift[] => {
    const { id, key, at, positions } = change;
    const plans = written.get(liveKeyOf(change));
    // An object that apply creates replaces one that was changed, and one that apply deletes was not deleted before.
    const isWrittenToo = plans !== undefined && (change.action === 'create' || (change.action === 'delete' && plans.action === 'delete'));
    const action = isWrittenToo ? 'update' : change.action;
    // A predecessor that stays live has no manifest to compare.
    if (action === 'blocked' || action === 'held' || (action === 'delete' && remaining.has(id))) return [];
    const fields = acceptedFields(change, plans).map((field) => secrets.get(`${id} ${field.path}`) ?? field);
    const edges = edgesBy.get(liveKeyOf(change)) ?? [];
    const place = at === undefined ? {} : { at };
    return [
      { id, ...(key === undefined ? {} : { key }), action, ...place, fields, ...(positions === undefined ? {} : { positions }), edges },
    ];
  });
}

/** Returns a secret that the manifests changed as a field: both sides are those of manifests. */
function secretField({ path, before, after }: UnwrittenSecret): FieldChange {
  const isSameSource = 'secret' in before && 'secret' in after && before.secret === after.secret;
  if (!isSameSource) return { path, before, after };
  return { path, before, after, cause: after.secret === 'inline' ? 'inline' : 'file' };
}

/** Returns the fields that the real plan does not write. The fields of an import are those of the gateway; an object that apply deletes has none left. */
function acceptedFields({ action, fields }: Change, written: Change | undefined): readonly FieldChange[] {
  if (action === 'create' || (action === 'delete' && written?.action === 'delete')) return [];
  const known = new Set(written?.fields.map(({ path }) => path));
  return fields
    .filter(({ path, held, origin }) => held !== true && origin !== 'drift' && !known.has(path))
    .map(({ path, before, after }) => ({ path, before, after }));
}
