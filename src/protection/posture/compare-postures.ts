import { controlTypes, type ControlType, type ProtectionVerdict } from '../../model/protection/protection.ts';
import { controlsOf, type Control, type Posture } from './posture.ts';

/** The difference of one control type: what was certainly lost or gained, and what cannot be compared. */
export type ControlDifference = {
  readonly aspect: ControlType;
  readonly lost: readonly Control[];
  readonly gained: readonly Control[];
  readonly incomparable: readonly Control[];
  /** Controls added next to the same control with another score. They remove nothing, and what they add cannot be compared. */
  readonly coexisting: readonly Control[];
  /** The texts that only one side after, as reports print them. */
  readonly before: readonly string[];
  readonly after: readonly string[];
};

/** Caches comparisons of control lists, because connections share the lists of their rules. */
export type ComparisonCache = Map<readonly Control[], Map<readonly Control[], SetDifference>>;

type SetDifference = Omit<ControlDifference, 'aspect'>;

/** The name of the pseudo-control for the number of approvals when no group changes; no group after this name. */
export const approvalCount = '(approvals)';

/** Control types whose entries grant access: more of them means less protection. */
const accessControls: ReadonlySet<ControlType> = new Set<ControlType>(['access', 'schema', 'force']);

/**
 * Lists the control types in which two postures differ. A shorter word covers a longer one that contains it; a lower limit
 * covers a higher one.
 */
export function comparePostures(before: Posture, after: Posture, compared: ComparisonCache = new Map()): readonly ControlDifference[] {
  return controlTypes.flatMap((aspect) => {
    const difference =
      aspect === 'review' ? compareReview(before, after) : compareSets(controlsOf(before, aspect), controlsOf(after, aspect), compared);
    const { lost, gained, incomparable, coexisting } = accessControls.has(aspect)
      ? { ...difference, lost: difference.gained, gained: difference.lost }
      : difference;
    if (lost.length + gained.length + incomparable.length + coexisting.length === 0) return [];
    if (before.incomplete.has(aspect) === after.incomplete.has(aspect)) return [{ ...difference, aspect, lost, gained }];
    // A control type that is completely visible on one side only cannot be compared.
    return [
      { ...difference, aspect, lost: [], gained: [], coexisting: [], incomparable: [...lost, ...gained, ...incomparable, ...coexisting] },
    ];
  });
}

/** Returns the verdict of a difference: certain losses outweigh what cannot be compared, which outweighs gains. */
export function differenceVerdict({
  lost,
  gained,
  incomparable,
  coexisting,
}: Pick<ControlDifference, 'lost' | 'gained' | 'incomparable' | 'coexisting'>): ProtectionVerdict {
  if (lost.length > 0) return gained.length > 0 ? 'both' : 'weakens';
  if (incomparable.length > 0) return 'unknown';
  return gained.length + coexisting.length > 0 ? 'strengthens' : 'neutral';
}

/** Compares the controls of one rule, without those of other rules that may compensate. */
export function compareControls(
  before: readonly Control[],
  after: readonly Control[],
): Pick<ControlDifference, 'lost' | 'gained' | 'incomparable' | 'coexisting'> {
  return compareSets(before, after, new Map());
}

/** Returns the verdict of the whole review. */
export function reviewVerdict(before: Posture, after: Posture): ProtectionVerdict {
  return differenceVerdict(compareReview(before, after));
}

function compareSets(before: readonly Control[], after: readonly Control[], compared: ComparisonCache): SetDifference {
  const known = compared.get(before)?.get(after);
  if (known !== undefined) return known;
  const removed = before.filter((control) => !isCovered(control, after));
  const added = after.filter((control) => !isCovered(control, before));
  const uncertain = new Set([
    ...removed.filter((control) => mayReplace(control, added, after)),
    ...added.filter((control) => mayReplace(control, removed, before)),
  ]);
  const coexisting = new Set(added.filter((control) => uncertain.has(control) && !mayReplace(control, removed, removed)));
  const difference = {
    lost: removed.filter((control) => !uncertain.has(control)),
    gained: added.filter((control) => !uncertain.has(control)),
    incomparable: [...uncertain].filter((control) => !coexisting.has(control)),
    coexisting: [...coexisting],
    ...exclusiveTexts(controlTexts(before), controlTexts(after)),
  };
  // A connection's own controls are compared only once, so caching them would only cost memory.
  if (before.some(({ rules }) => rules !== undefined) || after.some(({ rules }) => rules !== undefined))
    compared.set(before, (compared.get(before) ?? new Map<readonly Control[], SetDifference>()).set(after, difference));
  return difference;
}

function controlTexts(controls: readonly Control[]): readonly string[] {
  return controls.map(({ name, text }) => text ?? name);
}

function exclusiveTexts(before: readonly string[], after: readonly string[]): Pick<SetDifference, 'before' | 'after'> {
  const [first, last] = [new Set(before), new Set(after)];
  return { before: before.filter((text) => !last.has(text)), after: after.filter((text) => !first.has(text)) };
}

function isCovered(control: Control, by: readonly Control[]): boolean {
  return by.some((other) => {
    if (control.form !== other.form || control.relativeToGateway !== other.relativeToGateway) return false;
    if (control.form === 'word') return control.name.includes(other.name);
    return control.name === other.name && (other.limit ?? 0) <= (control.limit ?? 0);
  });
}

/**
 * Returns whether a control of the other side may replace this one although they cannot be compared: another pattern that was
 * added while this one was removed, or the same control with a score relative to the gateway's own threshold.
 */
function mayReplace(control: Control, moving: readonly Control[], others: readonly Control[]): boolean {
  const isSame = (other: Control): boolean =>
    control.form === other.form && control.name === other.name && control.relativeToGateway !== other.relativeToGateway;
  if (others.some(isSame)) return true;
  return control.form === 'pattern' && moving.some((other) => other.form === 'pattern' && other.entityType === control.entityType);
}

/** Compares review: it loses when a set of groups suffices afterwards that did not suffice before, and gains in the reverse case. */
function compareReview(before: Posture, after: Posture): SetDifference {
  const lost = isAsStrict(after, before) ? [] : orApprovals(groupsMissingFrom(before, after));
  const gained = isAsStrict(before, after) ? [] : orApprovals(groupsMissingFrom(after, before));
  return { lost, gained, incomparable: [], coexisting: [], ...exclusiveTexts(reviewTexts(before), reviewTexts(after)) };
}

function reviewTexts(posture: Posture): readonly string[] {
  const groups = controlsOf(posture, 'review');
  const isFewer = posture.approvals < groups.length;
  return isFewer ? [...controlTexts(groups), `${posture.approvals} of ${groups.length} must approve`] : controlTexts(groups);
}

/** Returns whether every set of approvals that satisfies `one` satisfies `other`, even if groups unknown to `other` approve first. */
function isAsStrict(one: Posture, other: Posture): boolean {
  return Math.max(0, one.approvals - groupsMissingFrom(one, other).length) >= other.approvals;
}

function groupsMissingFrom(one: Posture, other: Posture): readonly Control[] {
  return controlsOf(one, 'review').filter((control) => !controlsOf(other, 'review').some(({ name }) => name === control.name));
}

function orApprovals(groups: readonly Control[]): readonly Control[] {
  return groups.length > 0 ? groups : [{ name: approvalCount }];
}
