import { distinctSorted } from '../../model/json.ts';
import { membersText } from '../../model/protection/permission.ts';
import { durationText } from '../../model/time.ts';
import { admitsMore, forcingOnly, isEasierApproval } from '../access/compare-terms.ts';
import {
  type Approval,
  canUse,
  type ConnectionAccess,
  type MemberSort,
  modesOfStep,
  reviewFor,
  type ReviewStep,
  sortPlaces,
  stepOf,
} from '../access/effective-access.ts';
import { neededFor, peopleIn } from '../access/people.ts';
import type { Difference, Terms } from '../access/terms.ts';
import {
  controlsOf,
  controlTexts,
  missingFrom,
  type MovedNaming,
  namedOnce,
  namesText,
  type Posture,
  type ComparedPostures,
  quoteName,
} from './control-row.ts';

/** The name of the pseudo-control for the number of approvals when no group changes; no group has this name. */
export const approvalCount = '(approvals)';

/** The pseudo-control of people whose approval is easier or harder, but not gone. */
export const otherApproval = '(other approval)';

const steps: readonly ReviewStep[] = ['jit', 'command'];

/** What people need on the side where it is easier, and on the other one. */
type Needs = { readonly easier: Terms['approval']; readonly stricter: Terms['approval'] };

function needsOf({ terms: [had, has] }: Difference, direction: 'more' | 'less'): Needs {
  const [easier, stricter] = direction === 'more' ? [has, had] : [had, has];
  return { easier: easier?.approval, stricter: stricter?.approval };
}

/** Returns whether an access-request rule asks people for an approval on either side. */
export function isRuled({ people, verb }: Difference, { before, after }: ComparedPostures): boolean {
  return 'member' in people && [before, after].some(({ access }) => neededFor(access, people.member, verb).rule !== undefined);
}

/** Returns whether the connection itself decides what people need on both sides. */
export function isOfConnection(difference: Difference, sides: ComparedPostures): boolean {
  return !isRuled(difference, sides);
}

/**
 * Names the reviewers: they lose when a set of them can approve afterwards that could not approve before, as reviewers or by
 * force, and gain in the reverse case. Together with the groups that may approve alone, this decides exactly who can approve.
 */
export const movedReview: MovedNaming = (some, direction, sides) => {
  const isMoved = some.some((one) => {
    const { easier, stricter } = needsOf(one, direction);
    return easier !== 'refused' && (stricter === 'refused' || admitsMore(easier, stricter));
  });
  if (!isMoved) return [];
  const [had, has] = [controlsOf(sides.before, 'review'), controlsOf(sides.after, 'review')];
  const groups = direction === 'more' ? missingFrom(had, has) : missingFrom(has, had);
  return groups.length > 0 ? groups : [{ name: approvalCount }];
};

type Quota = Pick<Approval, 'groups' | 'needed'>;

/** Names the reviewer groups that are lost or gained, with the number of approvals where fewer are enough; undefined if neither shows. */
export function reviewersPhrase(
  groups: readonly string[],
  isLoss: boolean,
  [before, after]: readonly (Quota | undefined)[],
): string | undefined {
  const quota = quotaPhrase(isLoss, before, after);
  if (groups.length === 0) return quota;
  const isFewer = isLoss && (after?.needed ?? 0) < Math.min(before?.needed ?? 0, after?.groups.length ?? 0);
  const names = namesText('reviewer group', groups.map(quoteName));
  return `${isLoss ? 'loses' : 'gains'} ${isFewer && quota !== undefined ? `${names}, and ${quota}` : names}`;
}

/** Returns `needs approval by 1 of 1 group (was 1 of 2, with group sre)`; undefined unless the numbers show that approval is easier (a loss) or harder. */
function quotaPhrase(isLoss: boolean, before: Quota | undefined, after: Quota | undefined): string | undefined {
  if (before === undefined || after === undefined) return undefined;
  const [fewer, more] = isLoss ? [after, before] : [before, after];
  if (fewer.needed > more.needed || (fewer.needed === more.needed && fewer.groups.length <= more.groups.length)) return undefined;
  const is = `${after.needed} of ${after.groups.length} group${after.groups.length === 1 ? '' : 's'}`;
  const named = fewer.groups.filter((group) => !more.groups.includes(group));
  const others = named.length === 0 ? '' : `, ${isLoss ? 'without' : 'with'} ${namesText('group', named.map(quoteName))}`;
  const rest = `${is} (was ${before.needed} of ${before.groups.length}${others})`;
  return isLoss ? `can be approved by any ${rest}` : `needs approval by ${rest}`;
}

/** Names the groups that may approve alone on one side, and could not on the other one. */
export const movedForce: MovedNaming = (some, direction) =>
  namedOnce(
    some.flatMap((one) => {
      const { easier, stricter } = needsOf(one, direction);
      return easier === 'refused' || stricter === 'refused' ? [] : forcingOnly(easier, stricter);
    }),
  );

/**
 * Names the people that need no approval on one side where an access-request rule asks for one, and those that need another one. The content is
 * the step that needs none, if the other one still needs approval.
 */
export const movedApproval: MovedNaming = (some, direction, sides) => {
  const moved = some.filter((one) => {
    const { easier, stricter } = needsOf(one, direction);
    return isEasierApproval(easier, stricter);
  });
  const free = moved.filter((one) => needsOf(one, direction).easier === undefined);
  const open = direction === 'more' ? sides.after.access : sides.before.access;
  const content = stepOfFree(free, open);
  const names = namesOfPeople(
    free.flatMap(({ people }) => ('member' in people ? [people] : [])),
    everyoneBy(sides, free),
  );
  return [...names.map((name) => ({ name, content })), ...(moved.length > free.length ? [{ name: otherApproval }] : [])];
};

/** Lists all people who use some verbs on both sides. */
function everyoneBy({ before, after }: ComparedPostures, some: readonly Difference[]): readonly MemberSort[] {
  const verbs = [...new Set(some.map(({ verb }) => verb))];
  const sides = [before.access, after.access];
  const all = verbs.flatMap((verb) => peopleIn(sides, verb).filter(({ member }) => sides.every((access) => canUse(access, member, verb))));
  return distinctSorts(all);
}

function distinctSorts(sorts: readonly MemberSort[]): readonly MemberSort[] {
  return [...new Map(sorts.map((sort) => [sort.member.join('\n'), sort])).values()];
}

/** Returns the only step in which people need no approval, if some of them still need one in the other step. */
function stepOfFree(free: readonly Difference[], access: ConnectionAccess): ReviewStep | undefined {
  const [step, ...more] = new Set(free.map(({ verb }) => stepOf(verb)));
  const other = steps.find((one) => one !== step);
  if (step === undefined || other === undefined || more.length > 0) return undefined;
  const needsOther = ({ people }: Difference): boolean =>
    'member' in people &&
    modesOfStep[other].some((mode) => canUse(access, people.member, mode) && reviewFor(access, people.member, other).by !== undefined);
  return free.some(needsOther) ? step : undefined;
}

/** What headlines call everybody who can use a connection. */
export const everybody = 'everybody';

function isPart(one: MemberSort, of: MemberSort): boolean {
  return one.member.length < of.member.length && one.member.every((group) => of.member.includes(group));
}

/** Names some sorts of people: the groups, `everybody`, or everybody in no group that matters. */
function namesOfPeople(free: readonly MemberSort[], all: readonly MemberSort[]): readonly string[] {
  const some = distinctSorts(free);
  if (some.length === 0) return [];
  if (some.length === all.length) return [everybody];
  const single = some.filter(({ groups, seesAll }) => groups.length > 0 && seesAll !== true);
  const rest = some.some(({ member }) => member.length === 0) ? ['everybody else'] : [];
  const named = [...single.flatMap(({ groups }) => groups), ...rest];
  if (named.length > 0) return distinctSorted(named);
  // Those in more groups need the same as those in some of these; admins and auditors count only where no other people do.
  const others = some.filter(({ seesAll }) => seesAll !== true);
  const people = others.length > 0 ? others : some.slice(0, 1);
  const fewest = people.filter((sort) => !people.some((one) => isPart(one, sort)));
  return fewest.map(({ member, places }) => (member.length > 1 ? membersText(sortPlaces(places)) : (member[0] ?? '')));
}

/** Names the longest access; its content is `8 h (was 1 h)` if that of all people changes alike. */
export const movedDuration: MovedNaming = (some) => {
  if (some.length === 0) return [];
  const [content, ...others] = new Set(some.map(({ terms: [had, has] }) => limitsText(had?.longest, has?.longest)));
  return [{ name: 'session', content: others.length === 0 ? content : undefined }];
};

function limitsText(from: Terms['longest'] | undefined, to: Terms['longest'] | undefined): string | undefined {
  return isLimit(from) && isLimit(to) ? `${durationText(to)} (was ${durationText(from)})` : undefined;
}

function isLimit(limit: Terms['longest'] | undefined): limit is number {
  return typeof limit === 'number' && Number.isFinite(limit);
}

/** Returns the texts of the reviewers, and how many of them must approve. */
export function reviewTexts(posture: Posture): readonly string[] {
  const groups = controlsOf(posture, 'review');
  const { needed = 0 } = posture.access.own ?? {};
  return needed < groups.length ? [...controlTexts(groups), `${needed} of ${groups.length} must approve`] : controlTexts(groups);
}
