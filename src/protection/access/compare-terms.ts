import { canonical } from '../../model/json.ts';
import type { AllowedRunbook } from '../../model/protection/permission.ts';
import { endsLater } from '../../model/time.ts';
import {
  type AccessDirection,
  accessDirections,
  type AnalyzedCommand,
  type Approval,
  type ConnectionAccess,
  type NeededReview,
  riskLevels,
} from './effective-access.ts';
import { type AccessPart, isUsable, type TermPart, type Terms } from './terms.ts';

/** One part that differs, with the parts of the terms that make it differ. */
export type TermDifference = {
  readonly part: AccessPart;
  readonly of: readonly TermPart[];
  readonly directions: readonly AccessDirection[];
};

/** How far a part is read on two sides: all of it, not all but the same is unread, or something else is. */
export type ReadPart = 'all' | 'same' | 'other';

/**
 * Compares two terms part by part, as far as they are known; undefined: the connection does not exist. Where something else is unread on the two
 * sides, more stays more, and nothing is certainly less.
 */
export function compareTerms(
  [had, has]: readonly [Terms | undefined, Terms | undefined],
  readPart: (part: TermPart) => ReadPart = () => 'all',
): readonly TermDifference[] {
  const isSameUnread = (part: TermPart): boolean => readPart(part) !== 'other';
  const sure = (one: TermDifference): TermDifference =>
    one.of.every(isSameUnread) ? one : { ...one, directions: [...one.directions.filter((direction) => direction === 'more'), 'unclear'] };
  const [was, is] = [had, has].map((terms) => terms !== undefined && isUsable(terms));
  if (was !== is) return [sure({ part: 'use', of: partsOfUse(had, has), directions: [is === true ? 'more' : 'less'] })];
  const parts = was === true && had !== undefined && has !== undefined ? comparedParts(had, has) : [];
  const found = parts.filter(({ directions }) => directions.length > 0).map(sure);
  const unread = (['sees', 'open', 'runs', 'approval'] as const).filter((part) => !isSameUnread(part));
  // What is certainly closed stays so, whatever else is not read.
  const isClosed = [had, has].every((terms) => entryParts.some((part) => terms?.[part] === false && readPart(part) === 'all'));
  if (found.length > 0 || unread.length === 0 || isClosed) return found;
  return [{ part: 'use', of: [...new Set([...unread, ...partsOfUse(had, has)])], directions: ['unclear'] }];
}

/** The parts that let people in, before any approval. */
const entryParts = ['sees', 'open', 'runs'] as const;

function partsOfUse(had: Terms | undefined, has: Terms | undefined): readonly TermPart[] {
  const entry = entryParts.filter((part) => had?.[part] !== has?.[part]);
  return (had?.approval === 'refused') === (has?.approval === 'refused') ? entry : [...entry, 'approval'];
}

function comparedParts(had: Terms, has: Terms): readonly TermDifference[] {
  return [
    partOrder('approval', isEasierApproval(has.approval, had.approval), isEasierApproval(had.approval, has.approval)),
    compareLimits(had, has),
    partOrder('files', uncoveredFiles(has.files, had.files).length > 0, uncoveredFiles(had.files, has.files).length > 0),
  ];
}

function partOrder(part: TermPart & AccessPart, isMore: boolean, isLess: boolean): TermDifference {
  const directions: readonly AccessDirection[] = [...(isMore ? (['more'] as const) : []), ...(isLess ? (['less'] as const) : [])];
  return { part, of: [part], directions };
}

/** That a limit begins or ends with an approval is said by the approval. */
function compareLimits(had: Terms, has: Terms): TermDifference {
  const [from, to] = [had.longest, has.longest];
  const isUnlimited = [had, has].some(({ approval, longest }) => approval === undefined && longest === Number.POSITIVE_INFINITY);
  const isSame = from === to || ((had.approval === undefined) !== (has.approval === undefined) && isUnlimited);
  return { part: 'longest', of: ['longest'], directions: isSame ? [] : [limitDirection(from, to)] };
}

/** No limit is never shorter than one that is not known. */
function limitDirection(from: Terms['longest'], to: Terms['longest']): AccessDirection {
  if (to === 'unknown') return from === Number.POSITIVE_INFINITY ? 'less' : 'unclear';
  if (from === 'unknown') return 'unclear';
  return to > from ? 'more' : 'less';
}

/** Actions of the analyzer, the stricter the higher: a review lets a run through, and a block does not. */
const strictness: Readonly<Record<string, number>> = { allow_execution: 0, require_access_request: 1, block_execution: 2 };

const runs: AnalyzedCommand = { action: 'allow_execution', by: undefined };

/** Compares what the analyzer does with commands of each level of risk; without a rule all run. */
export function compareAnalyzers(had: ConnectionAccess['analyzer'], has: ConnectionAccess['analyzer']): readonly AccessDirection[] {
  const ofLevels = riskLevels.flatMap((level) => analyzedDirections(had?.[level] ?? runs, has?.[level] ?? runs));
  // Which command has which risk follows from the prompt.
  const isOtherPrompt = had !== undefined && has !== undefined && had.prompt !== has.prompt;
  const found = new Set<AccessDirection>([...ofLevels, ...(isOtherPrompt ? (['unclear'] as const) : [])]);
  return accessDirections.filter((direction) => found.has(direction));
}

/** Compares what the analyzer does with native requests, which it only blocks: nothing is certain, because they pass where no model answers. */
export function compareNativeAnalyzers(had: ConnectionAccess | undefined, has: ConnectionAccess | undefined): readonly AccessDirection[] {
  const [was, is] = [had, has].map((access) => {
    const { mayAnalyzeNative = false, analyzer } = access ?? {};
    const levels = mayAnalyzeNative ? riskLevels.filter((level) => analyzer?.[level].action === 'block_execution') : [];
    return levels.length === 0 ? '' : [...levels, analyzer?.prompt ?? ''].join('\n');
  });
  return was === is ? [] : ['unclear'];
}

function analyzedDirections(had: AnalyzedCommand, has: AnalyzedCommand): readonly AccessDirection[] {
  const [from, to] = [strictness[had.action], strictness[has.action]];
  if (from === undefined || to === undefined) return had.action === has.action ? [] : ['unclear'];
  const isReview = had.action === 'require_access_request' && from === to;
  return [
    ...(to < from || (isReview && isEasierReview(has.by, had.by)) ? (['more'] as const) : []),
    ...(to > from || (isReview && isEasierReview(had.by, has.by)) ? (['less'] as const) : []),
  ];
}

/** Returns whether one review is easier than another; without its rule a command fails. */
function isEasierReview(one: Approval | undefined, other: Approval | undefined): boolean {
  return one !== undefined && isEasierApproval(one, other ?? 'refused');
}

/** Compares when access ends; undefined: never. */
export function compareEnds(had: string | undefined, has: string | undefined): TermDifference {
  const isLater = has === undefined || (had !== undefined && endsLater(has, had));
  return { part: 'until', of: ['until'], directions: had === has ? [] : [isLater ? 'more' : 'less'] };
}

/** Lists the runbooks that others do not certainly cover. */
export function uncoveredFiles(some: readonly AllowedRunbook[], by: readonly AllowedRunbook[]): readonly AllowedRunbook[] {
  return some.filter((one) => !by.some((other) => coversRunbook(other, one) === true || canonical({ ...other }) === canonical({ ...one })));
}

/** Returns whether some approvals are enough for one review, and not for another. */
export function isEasierApproval(one: NeededReview['by'], other: NeededReview['by']): boolean {
  if (one === 'refused') return false;
  return other === 'refused' || admitsMore(one, other) || forcingOnly(one, other).length > 0;
}

/** Returns whether reviewers of `one` are enough there, and cannot approve in `other`: too few of them review, and none can force. */
export function admitsMore(one: Approval | undefined, other: Approval | undefined): boolean {
  const { groups, needed } = one ?? noApproval;
  const { groups: known, needed: asked, force } = other ?? noApproval;
  const usable = groups.filter((group) => !force.includes(group));
  if (usable.length < needed) return false;
  const unknownToOther = usable.filter((group) => !known.includes(group)).length;
  return Math.max(0, needed - unknownToOther) < asked;
}

const noApproval: Approval = { groups: [], needed: 0, force: [] };

/** Lists the groups that may approve alone in `one` by force, and are not enough in `other`. */
export function forcingOnly(one: Approval | undefined, other: Approval | undefined): readonly string[] {
  return (one?.force ?? []).filter((group) => other !== undefined && !other.force.includes(group) && !isEnough(other, group));
}

function isEnough({ groups, needed }: Approval, group: string): boolean {
  return needed === 1 && groups.includes(group);
}

/** Returns whether a permission covers a runbook, as the gateway compares their names: it ignores case, and knows two wildcards. */
export function coversRunbook(by: AllowedRunbook, { repository, name }: AllowedRunbook): boolean | undefined {
  if (by.repository === undefined) return true;
  if (by.repository !== repository) return false;
  if (name.toLowerCase().startsWith(by.name.toLowerCase())) return true;
  return /[%_]/.test(by.name) ? undefined : false;
}
