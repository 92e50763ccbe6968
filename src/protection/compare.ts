import { controlTypes, type ControlType, type ProtectionVerdict } from '../model/protection/protection.ts';
import { partsOf, type Part, type Posture } from './posture.ts';

/** How one aspect differs: what surely protects less or more afterwards, and what nobody can compare. */
export type Difference = {
  readonly aspect: ControlType;
  readonly lost: readonly Part[];
  readonly gained: readonly Part[];
  readonly untold: readonly Part[];
  /** What comes beside the same thing from another score, which stays: it takes nothing away, and nobody can tell what it adds. */
  readonly beside: readonly Part[];
  /** What only one side has, as people read it. */
  readonly before: readonly string[];
  readonly after: readonly string[];
};

/** What was compared already: connections share their rules, and so what becomes of them. */
export type Compared = Map<readonly Part[], Map<readonly Part[], Parting>>;

type Parting = Omit<Difference, 'aspect'>;

/** Stands for how many must approve, where no group comes or goes; groups have no such name. */
export const approvals = '(approvals)';

/** More of these means less protection. */
const openings: ReadonlySet<ControlType> = new Set<ControlType>(['access', 'schema', 'force']);

/** The aspects in which two postures differ; a word is covered by a shorter one within it, a limit by a lower one. */
export function comparePostures(before: Posture, after: Posture, compared: Compared = new Map()): readonly Difference[] {
  return controlTypes.flatMap((aspect) => {
    const parting =
      aspect === 'review' ? reviewParting(before, after) : partingOf(partsOf(before, aspect), partsOf(after, aspect), compared);
    const { lost, gained, untold, beside } = openings.has(aspect) ? { ...parting, lost: parting.gained, gained: parting.lost } : parting;
    if (lost.length + gained.length + untold.length + beside.length === 0) return [];
    if (before.unseen.has(aspect) === after.unseen.has(aspect)) return [{ ...parting, aspect, lost, gained }];
    // What could be seen on one side only can be compared with nothing.
    return [{ ...parting, aspect, lost: [], gained: [], beside: [], untold: [...lost, ...gained, ...untold, ...beside] }];
  });
}

/** The direction of a difference: what is surely lost outweighs what nobody can compare, and that what is gained. */
export function wayOfDifference({
  lost,
  gained,
  untold,
  beside,
}: Pick<Difference, 'lost' | 'gained' | 'untold' | 'beside'>): ProtectionVerdict {
  if (lost.length > 0) return gained.length > 0 ? 'both' : 'weakens';
  if (untold.length > 0) return 'unknown';
  return gained.length + beside.length > 0 ? 'strengthens' : 'neutral';
}

/** How the parts of one rule differ, before others make up for it. */
export function comparePart(had: readonly Part[], has: readonly Part[]): Pick<Difference, 'lost' | 'gained' | 'untold' | 'beside'> {
  return partingOf(had, has, new Map());
}

/** Which way review goes as a whole. */
export function reviewWay(before: Posture, after: Posture): ProtectionVerdict {
  return wayOfDifference(reviewParting(before, after));
}

function partingOf(had: readonly Part[], has: readonly Part[], compared: Compared): Parting {
  const known = compared.get(had)?.get(has);
  if (known !== undefined) return known;
  const gone = had.filter((part) => !isCovered(part, has));
  const come = has.filter((part) => !isCovered(part, had));
  const doubtful = new Set([...gone.filter((part) => isRival(part, come, has)), ...come.filter((part) => isRival(part, gone, had))]);
  const beside = new Set(come.filter((part) => doubtful.has(part) && !isRival(part, gone, gone)));
  const parting = {
    lost: gone.filter((part) => !doubtful.has(part)),
    gained: come.filter((part) => !doubtful.has(part)),
    untold: [...doubtful].filter((part) => !beside.has(part)),
    beside: [...beside],
    ...onlyOn(textsOf(had), textsOf(has)),
  };
  // What is a connection's own is compared once only.
  if (had.some(({ rules }) => rules !== undefined) || has.some(({ rules }) => rules !== undefined))
    compared.set(had, (compared.get(had) ?? new Map<readonly Part[], Parting>()).set(has, parting));
  return parting;
}

function textsOf(parts: readonly Part[]): readonly string[] {
  return parts.map(({ name, text }) => text ?? name);
}

function onlyOn(before: readonly string[], after: readonly string[]): Pick<Parting, 'before' | 'after'> {
  const [first, last] = [new Set(before), new Set(after)];
  return { before: before.filter((text) => !last.has(text)), after: after.filter((text) => !first.has(text)) };
}

function isCovered(part: Part, by: readonly Part[]): boolean {
  return by.some((other) => {
    if (part.form !== other.form || part.own !== other.own) return false;
    if (part.form === 'word') return part.name.includes(other.name);
    return part.name === other.name && (other.limit ?? 0) <= (part.limit ?? 0);
  });
}

/**
 * Tells whether something on the other side may make up for the part, though nobody can tell: another pattern that comes
 * as this one goes, or the same thing from a score that cannot be compared.
 */
function isRival(part: Part, moving: readonly Part[], others: readonly Part[]): boolean {
  const isSame = (other: Part): boolean => part.form === other.form && part.name === other.name && part.own !== other.own;
  if (others.some(isSame)) return true;
  return part.form === 'pattern' && moving.some((other) => other.form === 'pattern' && other.of === part.of);
}

/** Review loses something where a set of groups is enough afterwards that was not before; the other way round it gains. */
function reviewParting(before: Posture, after: Posture): Parting {
  const lost = isAsStrict(after, before) ? [] : orApprovals(without(before, after));
  const gained = isAsStrict(before, after) ? [] : orApprovals(without(after, before));
  return { lost, gained, untold: [], beside: [], ...onlyOn(reviewTexts(before), reviewTexts(after)) };
}

function reviewTexts(posture: Posture): readonly string[] {
  const groups = partsOf(posture, 'review');
  const isFewer = posture.approvals < groups.length;
  return isFewer ? [...textsOf(groups), `${posture.approvals} of ${groups.length} must approve`] : textsOf(groups);
}

/** Whatever is enough for `one` is enough for `other`: it cannot be filled with groups that the other does not ask. */
function isAsStrict(one: Posture, other: Posture): boolean {
  return Math.max(0, one.approvals - without(one, other).length) >= other.approvals;
}

function without(one: Posture, other: Posture): readonly Part[] {
  return partsOf(one, 'review').filter((part) => !partsOf(other, 'review').some(({ name }) => name === part.name));
}

function orApprovals(groups: readonly Part[]): readonly Part[] {
  return groups.length > 0 ? groups : [{ name: approvals }];
}
