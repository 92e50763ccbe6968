import { canonical } from '../../model/json.ts';
import type { AllowedRunbook } from '../../model/protection/permission.ts';
import { endsLater } from '../../model/time.ts';
import type { AccessDirection } from '../access/effective-access.ts';
import { isEasierApproval } from '../controls/compare-approvals.ts';
import { coversRunbook } from '../controls/runbooks-row.ts';
import { isUsable, type TermPart, type Terms } from '../effective/effective.ts';

/** A part of what people may do: the use itself, after which approval, for how long, of which runbooks, until when, with which analyzer. */
export type AccessPart = 'use' | 'approval' | 'longest' | 'files' | 'until' | 'analyzer';

/** One part that differs, with the parts of the terms that make it differ. */
export type TermDifference = {
  readonly part: AccessPart;
  readonly of: readonly TermPart[];
  readonly directions: readonly AccessDirection[];
};

/**
 * Compares two terms part by part, as far as they are known; undefined: the connection does not exist. Where something else is unread on the two
 * sides, more stays more, and nothing is certainly less.
 */
export function compareTerms(
  [had, has]: readonly [Terms | undefined, Terms | undefined],
  isSameUnread: (part: TermPart) => boolean = () => true,
): readonly TermDifference[] {
  const sure = (one: TermDifference): TermDifference =>
    one.of.every(isSameUnread) ? one : { ...one, directions: [...one.directions.filter((direction) => direction === 'more'), 'unclear'] };
  const [was, is] = [had, has].map((terms) => terms !== undefined && isUsable(terms));
  if (was !== is) return [sure({ part: 'use', of: partsOfUse(had, has), directions: [is === true ? 'more' : 'less'] })];
  const parts = was === true && had !== undefined && has !== undefined ? comparedParts(had, has) : [];
  const found = parts.filter(({ directions }) => directions.length > 0).map(sure);
  const unread = (['sees', 'open', 'runs', 'approval'] as const).filter((part) => !isSameUnread(part));
  return found.length === 0 && unread.length > 0 ? [{ part: 'use', of: unread, directions: ['unclear'] }] : found;
}

function partsOfUse(had: Terms | undefined, has: Terms | undefined): readonly TermPart[] {
  const entry = (['sees', 'open', 'runs'] as const).filter((part) => had?.[part] !== has?.[part]);
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

/** Compares when access ends; undefined: never. */
export function compareEnds(had: string | undefined, has: string | undefined): TermDifference {
  const isLater = has === undefined || (had !== undefined && endsLater(has, had));
  return { part: 'until', of: ['until'], directions: had === has ? [] : [isLater ? 'more' : 'less'] };
}

/** Lists the runbooks that others do not certainly cover. */
export function uncoveredFiles(some: readonly AllowedRunbook[], by: readonly AllowedRunbook[]): readonly AllowedRunbook[] {
  return some.filter((one) => !by.some((other) => coversRunbook(other, one) === true || canonical({ ...other }) === canonical({ ...one })));
}
