import { compareSets, noDifference } from './compare-sets.ts';
import { controlsOf, controlTexts, exclusiveTexts, type Control, type ControlComparison, type Posture } from './control.ts';
import { byName } from './coverage-rules.ts';

/** The name of the pseudo-control for the number of approvals when no group changes; no group has this name. */
export const approvalCount = '(approvals)';

/** Compares review: it loses when a set of groups suffices afterwards that did not suffice before, and gains in the reverse case. */
export function compareReview(before: Posture, after: Posture): ControlComparison {
  const [loses, gains] = [!isAsStrict(after, before), !isAsStrict(before, after)];
  if (!loses && !gains) return noDifference;
  return {
    ...noDifference,
    lost: loses ? orApprovals(groupsMissingFrom(before, after)) : [],
    gained: gains ? orApprovals(groupsMissingFrom(after, before)) : [],
    ...exclusiveTexts(reviewTexts(before), reviewTexts(after)),
  };
}

/** Returns whether every set of approvals that satisfies `one` satisfies `other`, even if groups unknown to `other` approve first. */
function isAsStrict(one: Posture, other: Posture): boolean {
  return Math.max(0, one.approvals - groupsMissingFrom(one, other).length) >= other.approvals;
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

/**
 * Compares access-request rules by their names. The groups of a rule may approve instead of the reviewers, so what the first or the
 * last rule on a connection with reviewers changes besides cannot be compared.
 */
export function compareRequests(before: Posture, after: Posture): ControlComparison {
  const [had, has] = [controlsOf(before, 'requests'), controlsOf(after, 'requests')];
  const found = compareSets(had, has, byName);
  if (had.length === 0 && before.approvals > 0) return { ...found, gained: [], incomparable: found.gained };
  return has.length === 0 && after.approvals > 0 ? { ...found, incomparable: found.lost } : found;
}

function mayRequireReview(posture: Posture): boolean {
  return posture.incomplete.has('review') || controlsOf(posture, 'requests').length > 0;
}

function missing(controls: readonly Control[], from: readonly Control[]): readonly Control[] {
  return controls.filter(({ name }) => !from.some((other) => other.name === name));
}

function groupsMissingFrom(one: Posture, other: Posture): readonly Control[] {
  return missing(controlsOf(one, 'review'), controlsOf(other, 'review'));
}

function orApprovals(groups: readonly Control[]): readonly Control[] {
  return groups.length > 0 ? groups : [{ name: approvalCount }];
}

function reviewTexts(posture: Posture): readonly string[] {
  const groups = controlsOf(posture, 'review');
  const isFewer = posture.approvals < groups.length;
  return isFewer ? [...controlTexts(groups), `${posture.approvals} of ${groups.length} must approve`] : controlTexts(groups);
}
