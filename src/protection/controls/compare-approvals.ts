import { noDifference } from './compare-controls.ts';
import { controlsOf, controlTexts, exclusiveTexts, type Control, type ControlComparison, type Posture } from './control-row.ts';

/** The name of the pseudo-control for the number of approvals when no group changes; no group has this name. */
export const approvalCount = '(approvals)';

/**
 * Compares the reviewers: they lose when a set of them can approve afterwards that could not approve before, as reviewers or by
 * force, and gain in the reverse case. Together with the groups that may approve alone, this decides exactly who can approve.
 */
export function compareReview(before: Posture, after: Posture): ControlComparison {
  const [loses, gains] = [admitsMore(after, before), admitsMore(before, after)];
  if (!loses && !gains) return noDifference;
  return {
    ...noDifference,
    lost: loses ? orApprovals(missing(controlsOf(before, 'review'), controlsOf(after, 'review'))) : [],
    gained: gains ? orApprovals(missing(controlsOf(after, 'review'), controlsOf(before, 'review'))) : [],
    ...exclusiveTexts(reviewTexts(before), reviewTexts(after)),
  };
}

/** Returns whether reviewers of `one` are enough there, and cannot approve in `other`: too few of them review, and none can force. */
function admitsMore(one: Posture, other: Posture): boolean {
  const usable = missing(controlsOf(one, 'review'), controlsOf(other, 'force'));
  if (usable.length < one.approvals) return false;
  const unknownToOther = missing(usable, controlsOf(other, 'review')).length;
  return Math.max(0, one.approvals - unknownToOther) < other.approvals;
}

/**
 * Compares the groups that may approve alone: one is lost only if it could not approve alone before. Without review they decide
 * nothing, unless a rule of the gateway requires review.
 */
export function compareForce(before: Posture, after: Posture): ControlComparison {
  const [had, has] = [controlsOf(before, 'force'), controlsOf(after, 'force')];
  const moved = [...missing(had, has), ...missing(has, had)];
  if (moved.length === 0) return noDifference;
  const texts = exclusiveTexts(controlTexts(had), controlTexts(has));
  if (before.approvals === 0 && after.approvals === 0)
    return [before, after].some(mayRequireReview) ? { ...noDifference, incomparable: moved, ...texts } : noDifference;
  const lost = missing(has, had).filter((group) => !isEnough(before, group));
  const gained = missing(had, has).filter((group) => !isEnough(after, group));
  return { ...noDifference, lost, gained, ...texts };
}

/** Returns whether a group can approve alone as a reviewer. */
function isEnough(posture: Posture, { name }: Control): boolean {
  return posture.approvals === 0 || (posture.approvals === 1 && controlsOf(posture, 'review').some((control) => control.name === name));
}

function mayRequireReview(posture: Posture): boolean {
  return posture.incomplete.has('review') || controlsOf(posture, 'requests').length > 0;
}

function missing(controls: readonly Control[], from: readonly Control[]): readonly Control[] {
  return controls.filter(({ name }) => !from.some((other) => other.name === name));
}

function orApprovals(groups: readonly Control[]): readonly Control[] {
  return groups.length > 0 ? groups : [{ name: approvalCount }];
}

function reviewTexts(posture: Posture): readonly string[] {
  const groups = controlsOf(posture, 'review');
  const isFewer = posture.approvals < groups.length;
  return isFewer ? [...controlTexts(groups), `${posture.approvals} of ${groups.length} must approve`] : controlTexts(groups);
}
