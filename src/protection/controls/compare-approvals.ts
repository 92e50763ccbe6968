import { compareText } from '../../model/json.ts';
import { membersText } from '../../model/protection/permission.ts';
import { durationText } from '../../model/time.ts';
import {
  type Approval,
  canUse,
  type ConnectionAccess,
  type MemberSort,
  memberSorts,
  modesOfStep,
  type NeededReview,
  reviewFor,
  seeingAll,
  sortPlaces,
  type ReviewStep,
  seesConnection,
} from '../access/effective-access.ts';
import { noDifference } from './compare-controls.ts';
import {
  controlsOf,
  controlTexts,
  exclusiveTexts,
  namesText,
  quoteName,
  verbPhrase,
  type Control,
  type ControlComparison,
  type Posture,
  type VerbPhrase,
} from './control-row.ts';

/** The name of the pseudo-control for the number of approvals when no group changes; no group has this name. */
export const approvalCount = '(approvals)';

/** The pseudo-control of people whose approval is easier or harder, but not gone. */
export const otherApproval = '(other approval)';

const steps: readonly ReviewStep[] = ['jit', 'command'];

/** What one sort of people needs for a step before and after. */
type ReviewPair = { readonly sort: MemberSort; readonly step: ReviewStep; readonly had: NeededReview; readonly has: NeededReview };

/** Lists what each sort of people needs that sees a connection, and can use a mode of the step, on both sides. */
function reviewPairs({ access: before }: Posture, { access: after }: Posture): readonly ReviewPair[] {
  return memberSorts(before, after).flatMap((sort) =>
    steps
      .filter((step) => modesOfStep[step].some((mode) => [before, after].every((access) => canUse(access, sort.member, mode))))
      .map((step) => ({ sort, step, had: reviewFor(before, sort.member, step), has: reviewFor(after, sort.member, step) })),
  );
}

/** Returns whether an access-request rule governs a step on either side. */
function isGoverned(...sides: readonly Posture[]): boolean {
  return sides.some(({ access: { rules } }) => rules.jit !== undefined || rules.command !== undefined);
}

/**
 * Returns whether the reviewers of the connection decide for one sort of people on both sides: an access-request rule replaces them, and
 * what the gateway refuses on both sides is not reviewed.
 */
function decideOwnReviewers(before: Posture, after: Posture): boolean {
  return (
    !isGoverned(before, after) ||
    reviewPairs(before, after).some(
      ({ had, has }) => had.rule === undefined && has.rule === undefined && (had.by !== 'refused' || has.by !== 'refused'),
    )
  );
}

/**
 * Compares the reviewers: they lose when a set of them can approve afterwards that could not approve before, as reviewers or by
 * force, and gain in the reverse case. Together with the groups that may approve alone, this decides exactly who can approve.
 */
export function compareReview(before: Posture, after: Posture): ControlComparison {
  const [had, has] = [before.access.own, after.access.own];
  const [loses, gains] = [admitsMore(has, had), admitsMore(had, has)];
  if ((!loses && !gains) || !decideOwnReviewers(before, after)) return noDifference;
  return {
    ...noDifference,
    lost: loses ? orApprovals(missing(controlsOf(before, 'review'), controlsOf(after, 'review'))) : [],
    gained: gains ? orApprovals(missing(controlsOf(after, 'review'), controlsOf(before, 'review'))) : [],
    ...exclusiveTexts(reviewTexts(before), reviewTexts(after)),
  };
}

/** Returns whether reviewers of `one` are enough there, and cannot approve in `other`: too few of them review, and none can force. */
function admitsMore(one: Approval | undefined, other: Approval | undefined): boolean {
  const { groups, needed } = one ?? noApproval;
  const { groups: known, needed: asked, force } = other ?? noApproval;
  const usable = groups.filter((group) => !force.includes(group));
  if (usable.length < needed) return false;
  const unknownToOther = usable.filter((group) => !known.includes(group)).length;
  return Math.max(0, needed - unknownToOther) < asked;
}

const noApproval: Approval = { groups: [], needed: 0, force: [] };

type Quota = Pick<Approval, 'groups' | 'needed'>;

/** Names the reviewer groups that are lost or gained, with the number of approvals where fewer are enough; undefined if neither shows. */
export function reviewersPhrase(
  groups: readonly string[],
  isLoss: boolean,
  [before, after]: readonly (Quota | undefined)[],
): VerbPhrase | undefined {
  const quota = quotaPhrase(isLoss, before, after);
  if (groups.length === 0) return quota;
  const isFewer = isLoss && (after?.needed ?? 0) < Math.min(before?.needed ?? 0, after?.groups.length ?? 0);
  const names = namesText('reviewer group', groups.map(quoteName));
  return verbPhrase(
    isLoss ? 'loses' : 'gains',
    isLoss ? 'lose' : 'gain',
    isFewer && quota !== undefined ? `${names}, and ${quota.one}` : names,
  );
}

/** Returns `can be approved by any 1 of 3 groups (was 2 of 3)`; undefined unless the numbers show that approval is easier (a loss) or harder. */
function quotaPhrase(isLoss: boolean, before: Quota | undefined, after: Quota | undefined): VerbPhrase | undefined {
  if (before === undefined || after === undefined) return undefined;
  const [fewer, more] = isLoss ? [after, before] : [before, after];
  if (fewer.needed > more.needed || (fewer.needed === more.needed && fewer.groups.length <= more.groups.length)) return undefined;
  const is = `${after.needed} of ${after.groups.length} group${after.groups.length === 1 ? '' : 's'}`;
  const rest = `${is} (was ${before.needed} of ${before.groups.length})`;
  return isLoss ? verbPhrase('can be', 'can be', `approved by any ${rest}`) : verbPhrase('needs', 'need', `approval by ${rest}`);
}

/** Returns whether a group may approve alone in `one` by force, and is not enough in `other`. */
function forcesMore(one: Approval | undefined, other: Approval | undefined): boolean {
  return (one?.force ?? []).some((group) => other !== undefined && !other.force.includes(group) && !isEnough(other, group));
}

function isEnough({ groups, needed }: Approval, group: string): boolean {
  return needed === 1 && groups.includes(group);
}

/**
 * Compares the groups that may approve alone: one is lost only if it could not approve alone before. Without review they decide
 * nothing, unless the gateway may require a review by rules that cannot be read.
 */
export function compareForce(before: Posture, after: Posture): ControlComparison {
  const [had, has] = [controlsOf(before, 'force'), controlsOf(after, 'force')];
  const moved = [...missing(had, has), ...missing(has, had)];
  if (moved.length === 0 || !decideOwnReviewers(before, after)) return noDifference;
  const texts = exclusiveTexts(controlTexts(had), controlTexts(has));
  const [first, last] = [before.access.own, after.access.own];
  if (first === undefined && last === undefined)
    return [before, after].some(({ incomplete }) => incomplete.has('review'))
      ? { ...noDifference, incomparable: moved, ...texts }
      : noDifference;
  const lost = missing(has, had).filter(({ name }) => first !== undefined && !isEnough(first, name));
  const gained = missing(had, has).filter(({ name }) => last !== undefined && !isEnough(last, name));
  return { ...noDifference, lost, gained, ...texts };
}

/** Compares what each sort of people needs where an access-request rule asks for it on at least one side. */
export function compareApproval(before: Posture, after: Posture): ControlComparison {
  if (!isGoverned(before, after)) return noDifference;
  const pairs = reviewPairs(before, after);
  const ruled = pairs.filter(({ had, has }) => had.rule !== undefined || has.rule !== undefined);
  const lost = approvalControls(
    ruled.filter(({ had, has }) => isEasier(has, had)),
    pairs,
    ({ has }) => has.by === undefined,
  );
  const gained = approvalControls(
    ruled.filter(({ had, has }) => isEasier(had, has)),
    pairs,
    ({ had }) => had.by === undefined,
  );
  if (lost.length + gained.length === 0) return noDifference;
  const texts = exclusiveTexts(controlTexts(controlsOf(before, 'approval')), controlTexts(controlsOf(after, 'approval')));
  return { ...noDifference, lost, gained, ...texts };
}

/** Returns whether some approvals are enough for `one`, and not for `other`. */
function isEasier({ by: one }: NeededReview, { by: other }: NeededReview): boolean {
  return isEasierApproval(one, other);
}

/** Returns whether some approvals are enough for one review, and not for another. */
export function isEasierApproval(one: NeededReview['by'], other: NeededReview['by']): boolean {
  if (one === 'refused') return false;
  return other === 'refused' || admitsMore(one, other) || forcesMore(one, other);
}

/**
 * Returns one control for each group that needs no approval on one side, and one for those that need another one. Its content is the step
 * that needs none, if the other one still needs approval.
 */
function approvalControls(
  changed: readonly ReviewPair[],
  all: readonly ReviewPair[],
  isFree: (pair: ReviewPair) => boolean,
): readonly Control[] {
  const free = new Set(changed.filter(isFree).map(({ sort }) => sort));
  const names = namesOfPeople([...free], [...new Set(all.map(({ sort }) => sort))]);
  const isOther = changed.some((pair) => !isFree(pair));
  const some = changed.filter(isFree).map(({ step }) => step);
  const only = steps.find(
    (step) => some.every((one) => one === step) && all.some((pair) => free.has(pair.sort) && pair.step !== step && !isFree(pair)),
  );
  const content = only === undefined ? {} : { content: only };
  return [...names.map((name) => ({ name, ...content })), ...(isOther ? [{ name: otherApproval }] : [])];
}

/** What headlines call everybody who can use a connection. */
export const everybody = 'everybody';

function isPart(one: MemberSort, of: MemberSort): boolean {
  return one.member.length < of.member.length && one.member.every((group) => of.member.includes(group));
}

/** Names some sorts of people: the groups, `everybody`, or everybody in no group that matters. */
function namesOfPeople(some: readonly MemberSort[], all: readonly MemberSort[]): readonly string[] {
  if (some.length === 0) return [];
  if (some.length === all.length) return [everybody];
  const single = some.filter(({ groups }) => groups.length > 0);
  const rest = some.some(({ member }) => member.length === 0) ? ['everybody else'] : [];
  const named = [...single.flatMap(({ groups }) => groups).filter((group) => group !== 'admin' && group !== 'auditor'), ...rest];
  if (named.length > 0) return named.toSorted(compareText);
  // Those in more groups need the same as those in some of these; admins and auditors count only where no other people do.
  const others = some.filter(({ member }) => !member.some((group) => seeingAll.includes(group)));
  const people = others.length > 0 ? others : some.slice(0, 1);
  const fewest = people.filter((sort) => !people.some((one) => isPart(one, sort)));
  return fewest.map(({ member, places }) => (member.length > 1 ? membersText(sortPlaces(places)) : (member[0] ?? '')));
}

/**
 * Compares the longest access. Without a limit the gateway's own counts; if that is not known, it cannot be compared. Where the gateway
 * ignores the limit of connections on its license or by its rules, the effective limits of all people count: those who need no review have
 * none, and losing the review is a difference of its own.
 */
export function compareDuration(before: Posture, after: Posture): ControlComparison {
  const [had, has] = [controlsOf(before, 'duration'), controlsOf(after, 'duration')];
  const texts = exclusiveTexts(controlTexts(had), controlTexts(has));
  if (before.access.license !== undefined || [before, after].some(({ access }) => access.rules.jit !== undefined)) {
    const limits = limitPairs(before.access, after.access);
    if (limits.every(([from, to]) => from === to)) return noDifference;
    const longer = limits.filter(([from, to]) => to > from);
    const shorter = limits.filter(([from, to]) => to < from);
    const found = { ...noDifference, lost: sessionLimits(longer), gained: sessionLimits(shorter) };
    if (texts.before.length + texts.after.length > 0) return { ...found, ...texts };
    const [from, to] = limits.find(([one, other]) => one !== other) ?? [0, 0];
    return { ...found, before: [`${from} s`], after: [`${to} s`] };
  }
  const [from, to] = [had[0]?.limit ?? before.access.longest, has[0]?.limit ?? after.access.longest];
  if (had[0]?.limit === has[0]?.limit || (from !== undefined && from === to)) return noDifference;
  if (from === undefined || to === undefined) return { ...noDifference, incomparable: [...had, ...has], ...texts };
  const moved = sessionLimits([[from, to]]);
  return to > from ? { ...noDifference, lost: moved, ...texts } : { ...noDifference, gained: moved, ...texts };
}

/** Returns one control for changed limits; its content is `8 h (was 1 h)` if all of them are equal. */
function sessionLimits(limits: readonly (readonly [number, number])[]): readonly Control[] {
  const [content, ...others] = new Set(limits.map(([from, to]) => `${durationText(to)} (was ${durationText(from)})`));
  if (content === undefined) return [];
  return [{ name: 'session', ...(others.length === 0 ? { content } : {}) }];
}

/** Lists the longest native access before and after of all people with a limit on both sides. */
function limitPairs(before: ConnectionAccess, after: ConnectionAccess): readonly (readonly [number, number])[] {
  return memberSorts(before, after)
    .filter(({ member }) => seesConnection(before, member) && seesConnection(after, member))
    .map(({ member }) => [reviewFor(before, member, 'jit').longest, reviewFor(after, member, 'jit').longest] as const)
    .filter(([from, to]) => Number.isFinite(from) && Number.isFinite(to));
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
