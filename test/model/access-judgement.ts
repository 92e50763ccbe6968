import {
  analyzerTerms,
  mayAsk,
  mayRunFile,
  reaches,
  requests,
  riskLevels,
  termsOf,
  type AccessState,
  type Request,
  type RunbookFile,
  type Subject,
} from './access-model.ts';
import { accessPools } from './access-pools.ts';
import { approvalsOf } from './approvals.ts';
import { bitsOf, subsetsOf } from './universe.ts';

/** What a request needs: each admits a set of ways, one bit each. */
export const accessConditions = ['who', 'mode', 'runbooks', 'approval', 'duration', 'analyzer'] as const;

export type AccessCondition = (typeof accessConditions)[number];

/** Who asks for what. */
type Asked = { readonly subject: Subject; readonly request: Request };

/** What becomes possible for a subject, and the conditions that prevented it; a report has to name one of them. */
export type AccessGain = Asked & { readonly by: readonly AccessCondition[]; readonly isUnreviewed: boolean };

export type AccessVerdict = {
  readonly gains: readonly AccessGain[];
  readonly losses: readonly AccessGain[];
  /** The conditions that admit more, or less, for any subject and request, whatever the other conditions are. */
  readonly weaker: ReadonlySet<AccessCondition>;
  readonly stronger: ReadonlySet<AccessCondition>;
};

const durations = [60, 600, 1200, 1800, 3600, 86_400, 172_800, 604_800, Infinity];
const everyone = accessPools.groups;

/** Everybody who can ask: all sets of groups, as an admin and as an auditor too, and the machine identities. */
function subjectsOf(...states: readonly AccessState[]): readonly Subject[] {
  const people = subsetsOf(everyone).flatMap((groups) =>
    [groups, [...groups, 'admin'], [...groups, 'auditor']].map((own) => ({ groups: own })),
  );
  const machines = new Map(states.flatMap(({ machines: own }) => own).map((machine) => [machine.name, machine]));
  return [...people, ...[...machines.values()].map((machine) => ({ groups: [], machine }))];
}

type Ways = Readonly<Record<Exclude<AccessCondition, 'analyzer'>, bigint>> & { readonly analyzer: readonly bigint[] };

function waysOf(state: AccessState, { subject, request }: Asked, name: string): Ways {
  const terms = termsOf(state, subject, name, request);
  const isExecuted = request === 'exec' || request === 'runbooks';
  const files: readonly RunbookFile[] = request === 'runbooks' ? accessPools.files : [{ repository: '', name: '' }];
  return {
    who: reaches(state, subject, name) ? 1n : 0n,
    mode: mayAsk(state, subject, name, request) ? 1n : 0n,
    runbooks: bitsOf(files, (file) => request !== 'runbooks' || mayRunFile(state, subject, name, file)),
    approval: approvalsOf(terms),
    // Only an approved session is cut.
    duration: bitsOf(durations, (seconds) => (request === 'connect' && terms.approval === undefined) || seconds <= terms.longest),
    analyzer: isExecuted ? riskLevels.map((level) => approvalsOf(analyzerTerms(state, name, level))) : [all],
  };
}

const all = approvalsOf({ refused: false, longest: Infinity });
const nothing: Ways = { who: 0n, mode: 0n, runbooks: 0n, approval: 0n, duration: 0n, analyzer: [0n] };

/** Compares what everybody can do on a connection in two states; `predecessor` is the connection that it replaces. */
export function compareAccess(
  before: AccessState,
  after: AccessState,
  { name, predecessor = name }: { readonly name: string; readonly predecessor?: string | undefined },
): AccessVerdict {
  const gains: AccessGain[] = [];
  const losses: AccessGain[] = [];
  const weaker = new Set<AccessCondition>();
  const stronger = new Set<AccessCondition>();
  for (const subject of subjectsOf(before, after))
    for (const request of requests) {
      const asked = { subject, request };
      const was = before.connections[predecessor] === undefined ? nothing : waysOf(before, asked, predecessor);
      const is = after.connections[name] === undefined ? nothing : waysOf(after, asked, name);
      for (const condition of wider(was, is)) weaker.add(condition);
      for (const condition of wider(is, was)) stronger.add(condition);
      if (request === 'credential') {
        // A credential is native access like a session by connect.
        const [had, has] = [nativeWays(before, subject, predecessor), nativeWays(after, subject, name)];
        gains.push(...(isNativelyCovered(is, had) ? [] : gainOf(asked, was, is)));
        losses.push(...(isNativelyCovered(was, has) ? [] : gainOf(asked, is, was)));
      } else {
        gains.push(...gainOf(asked, was, is));
        losses.push(...gainOf(asked, is, was));
      }
    }
  return { gains, losses, weaker, stronger };
}

/** Returns both ways to native access that are possible. */
function nativeWays(state: AccessState, subject: Subject, name: string): readonly Ways[] {
  if (state.connections[name] === undefined) return [];
  return (['connect', 'credential'] as const)
    .map((request) => waysOf(state, { subject, request }, name))
    .filter(({ who, mode }) => who !== 0n && mode !== 0n);
}

/** Returns whether some ways admit, for each duration, every approval that a way admits. */
function isNativelyCovered({ approval, duration }: Ways, by: readonly Ways[]): boolean {
  return durations.every((_, index) => {
    const bit = 1n << BigInt(index);
    if ((duration & bit) === 0n) return true;
    const admitted = by.reduce((bits, one) => ((one.duration & bit) === 0n ? bits : bits | one.approval), 0n);
    return (approval & ~admitted) === 0n;
  });
}

function wider(was: Ways, is: Ways): readonly AccessCondition[] {
  return accessConditions.filter((condition) => {
    if (condition !== 'analyzer') return (is[condition] & ~was[condition]) !== 0n;
    return is.analyzer.some((bits, index) => (bits & ~(was.analyzer[index] ?? was.analyzer[0] ?? 0n)) !== 0n);
  });
}

/** Returns what the second state admits and the first does not, at any level of risk. */
function gainOf(asked: Asked, was: Ways, is: Ways): readonly AccessGain[] {
  const found = is.analyzer.flatMap((analyzer, index) => {
    const now = { ...is, analyzer };
    const then = { ...was, analyzer: was.analyzer[index] ?? was.analyzer[0] ?? 0n };
    const by = demandOf(then, now);
    const isUnreviewed = (now.approval & now.analyzer & 1n) === 1n;
    return by.length === 0 ? [] : [{ by, isUnreviewed }];
  });
  if (found.length === 0) return [];
  return [{ ...asked, by: [...new Set(found.flatMap(({ by }) => by))], isUnreviewed: found.some((one) => one.isUnreviewed) }];
}

type Level = Readonly<Record<AccessCondition, bigint>>;

/** Returns the conditions that prevented an action before; none if nothing became possible. */
function demandOf(was: Level, is: Level): readonly AccessCondition[] {
  const approved = is.approval & is.analyzer;
  if (approved === 0n || accessConditions.some((condition) => is[condition] === 0n)) return [];
  const closed = accessConditions.filter((condition) => was[condition] === 0n);
  if (closed.length > 0) return closed;
  // Both ask for approval: what one of them admits newly, the other one may still refuse.
  const isApprovedMore = (approved & ~(was.approval & was.analyzer)) !== 0n;
  return accessConditions.filter((condition) => {
    if ((condition === 'approval' || condition === 'analyzer') && !isApprovedMore) return false;
    return (is[condition] & ~was[condition]) !== 0n;
  });
}
