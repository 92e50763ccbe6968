import type { DesiredResource } from '../../model/desired.ts';
import type { Kind } from '../../model/kind.ts';
import type { LiveResource } from '../../model/live.ts';
import { liveKeyOf, type Change, type EdgeChange } from '../../model/plan/plan.ts';
import type { Pointer } from '../../model/pointer.ts';
import { specAfter } from '../../model/spec/edit.ts';
import { plannedSnapshot, samplesOf, type ProtectionSnapshot } from '../../protection/posture/protection-snapshot.ts';
import {
  createDriftCheck,
  type DriftCheck,
  findAttachmentsToRevert,
  findStricterDrift,
  isProtectionDrift,
} from '../../protection/stricter-drift.ts';
import type { Prepared } from '../prepare/prepare.ts';
import type { ChangeDraft, DraftedChange } from './draft-change.ts';

/** A draft that reverts all drift; `holdable` when some of its drift may be held instead. */
export type HoldableChange = Omit<DraftedChange, 'notCompared' | 'unwrittenSecrets'> & {
  readonly holdable?: {
    readonly kind: Kind;
    readonly desired: DesiredResource;
    readonly live: LiveResource;
    /** Drafts the change again with the drift at these paths held. */
    readonly redraft: (held: ReadonlySet<Pointer>) => ChangeDraft;
  };
};

type RestOfPlan = {
  readonly edges: readonly EdgeChange[];
  /** Returns all changes of the plan, with those of the given drafts. */
  readonly changesOf: (drafts: readonly ChangeDraft[]) => readonly Change[];
};

/** Returns the state after a plan, with the samples of the applied manifests. */
function stateAfter(
  { input: { target, registry }, live, applied }: Prepared,
  drafts: readonly ChangeDraft[],
  { edges, changesOf }: RestOfPlan,
): ProtectionSnapshot {
  const samples = applied === undefined ? undefined : samplesOf(applied);
  return { ...plannedSnapshot({ target, changes: changesOf(drafts), edges }, live, registry), samples };
}

/**
 * Compares drift beside the state after a plan, and, where the plan switches access control on, also as if it stayed off: what everybody sees
 * while it is off is hidden afterwards, and what an attribute grants counts only then.
 */
function checkDrift(prepared: Prepared, drafts: readonly ChangeDraft[], rest: RestOfPlan): DriftCheck {
  const check = createDriftCheck(stateAfter(prepared, drafts, rest));
  const { rowFields, ...live } = prepared.live;
  if (!Object.values(rowFields ?? {}).includes('off')) return check;
  const whileOff = createDriftCheck(stateAfter({ ...prepared, live }, drafts, rest));
  return (id, drifted, reverted) => {
    const [on, off] = [check(id, drifted, reverted), whileOff(id, drifted, reverted)];
    if (on === off) return on;
    return on === 'other' || off === 'other' ? 'other' : 'none';
  };
}

/**
 * Holds the drift that is provably stricter than the manifests: its revert would weaken the whole protection of a connection,
 * and strengthen nothing. It computes protection only when something that protects has drifted.
 */
export function holdStricterDrift(prepared: Prepared, drafts: readonly HoldableChange[], rest: RestOfPlan): readonly ChangeDraft[] {
  const all = drafts.map(({ draft }) => draft);
  if (!drafts.some(hasDrift)) return all;
  const check = checkDrift(prepared, all, rest);
  return drafts.map((one) => {
    const { draft, holdable } = one;
    if (holdable === undefined || !hasDrift(one)) return draft;
    const { kind, desired, live: found } = holdable;
    const sides = { kind, desired, live: found.spec, reverted: specAfter(draft, kind, found.spec) };
    const held = findStricterDrift({ ...sides, id: liveKeyOf(draft), fields: draft.fields }, check);
    return held.size === 0 ? draft : holdable.redraft(held);
  });
}

/**
 * Returns the keys of the attachments that `edges` holds because they were made outside Ostiary, and that the plan reverts: their removal
 * does not only weaken the connection.
 */
export function findRevertedAttachments(prepared: Prepared, drafts: readonly HoldableChange[], rest: RestOfPlan): ReadonlySet<string> {
  // A replacement attached what its predecessor had; that is no drift.
  const successors = new Set(prepared.named.desired.resources.flatMap(({ key, replaces }) => (replaces === undefined ? [] : [key])));
  const attachments = rest.edges.filter(({ action, connection }) => action === 'held' && !successors.has(connection));
  if (attachments.length === 0) return new Set();
  const snapshot = stateAfter(
    prepared,
    drafts.map(({ draft }) => draft),
    rest,
  );
  return findAttachmentsToRevert(snapshot, attachments);
}

function hasDrift({ draft, holdable }: HoldableChange): boolean {
  return holdable !== undefined && draft.fields.some((field) => isProtectionDrift(holdable.kind, field));
}
