import { controlTypes, type ControlType, type ProtectionVerdict } from '../../model/protection/protection.ts';
import { controlsOf, type Control, type Posture } from './posture.ts';

/** How one aspect differs: what surely protects less or more afterwards, and what nobody can compare. */
export type ControlDifference = {
  readonly aspect: ControlType;
  readonly lost: readonly Control[];
  readonly gained: readonly Control[];
  readonly incomparable: readonly Control[];
  /** What comes beside the same thing from another score, which stays: it takes nothing away, and nobody can tell what it adds. */
  readonly coexisting: readonly Control[];
  /** What only one side has, as people read it. */
  readonly before: readonly string[];
  readonly after: readonly string[];
};

/** What was compared already: connections share their rules, and so what becomes of them. */
export type ComparisonCache = Map<readonly Control[], Map<readonly Control[], SetDifference>>;

type SetDifference = Omit<ControlDifference, 'aspect'>;

/** Stands for how many must approve, where no group comes or goes; groups have no such name. */
export const approvalCount = '(approvals)';

/** More of these means less protection. */
const accessControls: ReadonlySet<ControlType> = new Set<ControlType>(['access', 'schema', 'force']);

/** The aspects in which two postures differ; a word is covered by a shorter one within it, a limit by a lower one. */
export function comparePostures(before: Posture, after: Posture, compared: ComparisonCache = new Map()): readonly ControlDifference[] {
  return controlTypes.flatMap((aspect) => {
    const parting =
      aspect === 'review' ? compareReview(before, after) : compareSets(controlsOf(before, aspect), controlsOf(after, aspect), compared);
    const { lost, gained, incomparable, coexisting } = accessControls.has(aspect)
      ? { ...parting, lost: parting.gained, gained: parting.lost }
      : parting;
    if (lost.length + gained.length + incomparable.length + coexisting.length === 0) return [];
    if (before.incomplete.has(aspect) === after.incomplete.has(aspect)) return [{ ...parting, aspect, lost, gained }];
    // What could be seen on one side only can be compared with nothing.
    return [
      { ...parting, aspect, lost: [], gained: [], coexisting: [], incomparable: [...lost, ...gained, ...incomparable, ...coexisting] },
    ];
  });
}

/** The direction of a difference: what is surely lost outweighs what nobody can compare, and that what is gained. */
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

/** How the parts of one rule differ, before others make up for it. */
export function compareControls(
  had: readonly Control[],
  has: readonly Control[],
): Pick<ControlDifference, 'lost' | 'gained' | 'incomparable' | 'coexisting'> {
  return compareSets(had, has, new Map());
}

/** Which way review goes as a whole. */
export function reviewVerdict(before: Posture, after: Posture): ProtectionVerdict {
  return differenceVerdict(compareReview(before, after));
}

function compareSets(had: readonly Control[], has: readonly Control[], compared: ComparisonCache): SetDifference {
  const known = compared.get(had)?.get(has);
  if (known !== undefined) return known;
  const gone = had.filter((part) => !isCovered(part, has));
  const come = has.filter((part) => !isCovered(part, had));
  const doubtful = new Set([...gone.filter((part) => mayReplace(part, come, has)), ...come.filter((part) => mayReplace(part, gone, had))]);
  const coexisting = new Set(come.filter((part) => doubtful.has(part) && !mayReplace(part, gone, gone)));
  const parting = {
    lost: gone.filter((part) => !doubtful.has(part)),
    gained: come.filter((part) => !doubtful.has(part)),
    incomparable: [...doubtful].filter((part) => !coexisting.has(part)),
    coexisting: [...coexisting],
    ...exclusiveTexts(controlTexts(had), controlTexts(has)),
  };
  // What is a connection's own is compared once only.
  if (had.some(({ rules }) => rules !== undefined) || has.some(({ rules }) => rules !== undefined))
    compared.set(had, (compared.get(had) ?? new Map<readonly Control[], SetDifference>()).set(has, parting));
  return parting;
}

function controlTexts(parts: readonly Control[]): readonly string[] {
  return parts.map(({ name, text }) => text ?? name);
}

function exclusiveTexts(before: readonly string[], after: readonly string[]): Pick<SetDifference, 'before' | 'after'> {
  const [first, last] = [new Set(before), new Set(after)];
  return { before: before.filter((text) => !last.has(text)), after: after.filter((text) => !first.has(text)) };
}

function isCovered(part: Control, by: readonly Control[]): boolean {
  return by.some((other) => {
    if (part.form !== other.form || part.relativeToGateway !== other.relativeToGateway) return false;
    if (part.form === 'word') return part.name.includes(other.name);
    return part.name === other.name && (other.limit ?? 0) <= (part.limit ?? 0);
  });
}

/**
 * Tells whether something on the other side may make up for the part, though nobody can tell: another pattern that comes
 * as this one goes, or the same thing from a score that cannot be compared.
 */
function mayReplace(part: Control, moving: readonly Control[], others: readonly Control[]): boolean {
  const isSame = (other: Control): boolean =>
    part.form === other.form && part.name === other.name && part.relativeToGateway !== other.relativeToGateway;
  if (others.some(isSame)) return true;
  return part.form === 'pattern' && moving.some((other) => other.form === 'pattern' && other.entityType === part.entityType);
}

/** Review loses something where a set of groups is enough afterwards that was not before; the other way round it gains. */
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

/** Whatever is enough for `one` is enough for `other`: it cannot be filled with groups that the other does not ask. */
function isAsStrict(one: Posture, other: Posture): boolean {
  return Math.max(0, one.approvals - groupsMissingFrom(one, other).length) >= other.approvals;
}

function groupsMissingFrom(one: Posture, other: Posture): readonly Control[] {
  return controlsOf(one, 'review').filter((part) => !controlsOf(other, 'review').some(({ name }) => name === part.name));
}

function orApprovals(groups: readonly Control[]): readonly Control[] {
  return groups.length > 0 ? groups : [{ name: approvalCount }];
}
