import type { Action, Allowance, TargetIdentity } from '../plan/plan.ts';
import type { ResourceId } from '../resource.ts';

/** What became of one change: `done` and read back, `already` there, `failed`, `skipped` for a need that failed, `blocked` by a manager, `held` as somebody tightened it, `interrupted`. */
export type OutcomeStatus = 'done' | 'already' | 'failed' | 'skipped' | 'blocked' | 'held' | 'interrupted';

export type Outcome = {
  readonly id: ResourceId;
  readonly action: Action;
  readonly status: OutcomeStatus;
  /** The first of its two writes is done, the last one is not. */
  readonly begun?: boolean;
  readonly code?: `${string}/${string}`;
  readonly message?: string;
  readonly hint?: string;
};

export type ApplyResult = { readonly outcomes: readonly Outcome[]; readonly interrupted: boolean };

/** Something that happened while a plan was carried out. */
export type ApplyEvent = {
  readonly event: 'begin' | 'write' | 'written' | 'failed' | 'verified' | 'skipped' | 'end';
  readonly id?: ResourceId;
  readonly step?: string;
  readonly detail?: string;
  /** Of `begin`: what is carried out where, and what was overridden for it. */
  readonly target?: Pick<TargetIdentity, 'name' | 'url'>;
  readonly digest?: string;
  readonly writes?: number;
  readonly allowed?: readonly Allowance[];
  /** Of `end`: how many changes ended how. */
  readonly counts?: Readonly<Record<OutcomeStatus, number>>;
};

/** One try of one request, and what was answered: a status, or the code of what went wrong. */
export type RequestEvent = {
  readonly method: string;
  readonly path: string;
  /** Counts from 1. */
  readonly attempt: number;
  readonly status?: number;
  readonly code?: string;
};

/** One line of the journal: what was asked and what came of it, never a secret. */
export type JournalEntry = { readonly at: string } & (ApplyEvent | ({ readonly event: 'request' } & RequestEvent));
