import type { Principal } from '../auth.ts';
import type { Review, Status, TimeWindow } from './review.ts';
import { statuses } from './review.ts';

/** What is asked of a review: the first four by `PUT /reviews/{id}`, the others by its execution. */
export type Ask = 'approve' | 'force' | 'reject' | 'revoke' | 'start' | 'finish';

/** What becomes of a review. */
export type Move = 'vote' | 'force' | 'end' | 'start' | 'finish';

/** What may be true of the caller, or of the review at this moment; `awaited`: in one of its groups that has not spoken yet. */
const traits = [
  'always',
  'auditor',
  'admin',
  'owner',
  'reviewer',
  'awaited',
  'forcer',
  'for a time',
  'connection gone',
  'outside its window',
] as const;

type Trait = (typeof traits)[number];
type Outcome = { readonly move: Move } | { readonly status: 403 | 409; readonly reason: string };

type Transition = {
  readonly asks: readonly Ask[];
  readonly from: readonly Status[];
  /** One of them is enough. */
  readonly when: readonly Trait[];
  readonly outcome: Outcome;
};

const decisions = ['approve', 'force', 'reject', 'revoke'] as const;
const execution = ['start', 'finish'] as const;
const anybody = ['always'] as const;
const open = ['PENDING', 'APPROVED'] as const;

/** The first row that fits decides; the last rows of each request fit everybody, so that one always does. */
const transitions: readonly Transition[] = [
  row([...decisions, ...execution], statuses, ['auditor'], refuse(403, 'an auditor reads reviews and decides none')),

  row(decisions, ['UNKNOWN'], anybody, refuse(409, 'its status cannot be determined')),
  row(decisions, ['REJECTED', 'REVOKED', 'EXECUTED'], anybody, refuse(409, 'that is final')),
  row(decisions, ['PROCESSING'], anybody, refuse(409, 'it is too late: it is being executed')),

  row(['approve', 'force'], ['APPROVED'], anybody, refuse(409, 'it needs no more approvals')),
  row(['approve', 'force'], ['PENDING'], ['owner'], refuse(403, 'nobody approves a request of their own')),
  row(['approve', 'force'], ['PENDING'], ['connection gone'], refuse(409, 'its connection is gone')),
  row(['approve'], ['PENDING'], ['awaited'], { move: 'vote' }),
  row(['approve'], ['PENDING'], ['reviewer'], refuse(409, 'your groups have approved it already')),
  row(['approve'], ['PENDING'], anybody, refuse(403, 'none of your groups reviews it')),
  row(['force'], ['PENDING'], ['forcer'], { move: 'force' }),
  row(['force'], ['PENDING'], anybody, refuse(403, 'none of your groups may force an approval on its connection')),

  row(['revoke'], ['PENDING'], anybody, refuse(409, 'only what is approved can be revoked; reject it instead')),
  row(['reject', 'revoke'], open, ['reviewer', 'owner', 'admin'], { move: 'end' }),
  row(['reject', 'revoke'], open, anybody, refuse(403, 'none of your groups reviews it')),

  row(execution, statuses, ['for a time'], refuse(409, 'a jit review gives access for a time, and is not executed')),
  row(['start'], ['APPROVED'], ['connection gone'], refuse(409, 'its connection is gone')),
  row(['start'], ['APPROVED'], ['outside its window'], refuse(409, 'its time window is closed at this hour (UTC)')),
  row(['start'], ['APPROVED'], ['owner', 'admin'], { move: 'start' }),
  row(['start'], ['APPROVED'], anybody, refuse(403, 'only who asked for it, or an admin, executes it')),
  row(['start'], statuses, anybody, refuse(409, 'only what is approved can be executed')),
  row(['finish'], ['PROCESSING'], ['owner', 'admin'], { move: 'finish' }),
  row(['finish'], ['PROCESSING'], anybody, refuse(403, 'only who asked for it, or an admin, executes it')),
  row(['finish'], statuses, anybody, refuse(409, 'it is not being executed')),
];

/** Finds what becomes of a review that this caller asks something of, or why nothing does. */
export function judge(ask: Ask, review: Review, { principal, now }: { readonly principal: Principal; readonly now: Date }): Outcome {
  const held = traitsOf(review, principal, now);
  const found = transitions.find(
    ({ asks, from, when }) => asks.includes(ask) && from.includes(review.status) && when.some((trait) => held.has(trait)),
  );
  if (found === undefined) throw new Error(`no transition covers ${ask} of a review that is ${review.status}`);
  return found.outcome;
}

function traitsOf(review: Review, principal: Principal, now: Date): ReadonlySet<Trait> {
  const own = review.groups.filter(({ group }) => principal.groups.includes(group));
  const held: Readonly<Record<Trait, boolean>> = {
    always: true,
    auditor: principal.role === 'auditor',
    admin: principal.role === 'admin',
    owner: principal.id === review.ownerId,
    reviewer: own.length > 0,
    awaited: own.some(({ status }) => status === 'PENDING'),
    forcer: principal.groups.some((group) => review.forceGroups.includes(group)),
    'for a time': review.type === 'jit',
    'connection gone': review.connection === null,
    'outside its window': review.window !== null && !isWithin(review.window, now),
  };
  return new Set(traits.filter((trait) => held[trait]));
}

/** A window that ends before it starts goes over midnight. */
function isWithin({ configuration: { start_time: start, end_time: end } }: TimeWindow, now: Date): boolean {
  const time = now.toISOString().slice(11, 16);
  return start < end ? start <= time && time < end : start <= time || time < end;
}

function row(asks: readonly Ask[], from: readonly Status[], when: readonly Trait[], outcome: Outcome): Transition {
  return { asks, from, when, outcome };
}

function refuse(status: 403 | 409, reason: string): Outcome {
  return { status, reason };
}
