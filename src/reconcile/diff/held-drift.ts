import type { DesiredResource } from '../../model/desired.ts';
import type { Kind } from '../../model/kind.ts';
import type { LiveResource } from '../../model/live.ts';
import { liveKeyOf, type Change, type EdgeChange } from '../../model/plan/plan.ts';
import type { Pointer } from '../../model/pointer.ts';
import { specAfter } from '../../model/spec/edit.ts';
import { plannedSnapshot, samplesOf } from '../../protection/posture/protection-snapshot.ts';
import { createStricterCheck, findStricterDrift, isProtectionDrift } from '../../protection/stricter-drift.ts';
import type { Prepared } from '../prepare/prepare.ts';
import type { ChangeDraft, DraftedChange } from './draft-change.ts';

/** A draft that reverts all drift; `holdable` when some of its drift may be held instead. */
export type HoldableChange = Omit<DraftedChange, 'unverified'> & {
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

/**
 * Holds the drift that is provably stricter than the manifests: its revert would weaken the whole protection of a connection,
 * and strengthen nothing. It computes protection only when something that protects has drifted.
 */
export function holdStricterDrift(
  { input: { target, registry }, live, applied }: Prepared,
  drafts: readonly HoldableChange[],
  { edges, changesOf }: RestOfPlan,
): readonly ChangeDraft[] {
  const all = drafts.map(({ draft }) => draft);
  if (!drafts.some(hasDrift)) return all;
  const changes = changesOf(all);
  const samples = applied === undefined ? undefined : samplesOf(applied);
  const isStricter = createStricterCheck({ ...plannedSnapshot({ target, changes, edges }, live, registry), samples });
  return drafts.map((one) => {
    const { draft, holdable } = one;
    if (holdable === undefined || !hasDrift(one)) return draft;
    const { kind, desired, live: found } = holdable;
    const sides = { kind, desired, live: found.spec, reverted: specAfter(draft, kind, found.spec) };
    const held = findStricterDrift({ ...sides, id: liveKeyOf(draft), fields: draft.fields }, isStricter);
    return held.size === 0 ? draft : holdable.redraft(held);
  });
}

function hasDrift({ draft, holdable }: HoldableChange): boolean {
  return holdable !== undefined && draft.fields.some((field) => isProtectionDrift(holdable.kind, field));
}
