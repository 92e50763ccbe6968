import type { Action, Allowance, TargetIdentity } from '../plan/plan.ts';
import type { LiveResource } from '../live.ts';
import type { ResourceId } from '../resource.ts';

/** The outcome of one change. `done`: written and read back; `already`: nothing left to write; `skipped`: a needed change failed; `blocked`: managed by another tool; `held`: stricter on the gateway. */
export type OutcomeStatus = 'done' | 'already' | 'failed' | 'skipped' | 'blocked' | 'held' | 'interrupted';

export type Outcome = {
  readonly id: ResourceId;
  readonly action: Action;
  readonly status: OutcomeStatus;
  /** The first of its two writes is done, the second is not. */
  readonly begun?: boolean;
  readonly code?: `${string}/${string}`;
  readonly message?: string;
  readonly hint?: string;
};

/** The gateway's id of an object that an apply wrote, and the version of its secrets then, if the gateway reports one. */
export type WrittenSecrets = { readonly uid: string; readonly version: string | undefined };

export type ApplyResult = {
  readonly outcomes: readonly Outcome[];
  readonly interrupted: boolean;
  /** The gateway's ids of the objects that are known after the run. */
  readonly uids?: ReadonlyMap<ResourceId, string>;
  /** The versions of the secrets of the written objects, by the keys of their changes. */
  readonly secretVersions?: ReadonlyMap<ResourceId, WrittenSecrets>;
  /** The written objects whose secrets lists leave out, with these secrets, as they were read back. */
  readonly reread?: readonly LiveResource[];
};

/** An event during an apply. */
export type ApplyEvent = {
  readonly event: 'begin' | 'write' | 'written' | 'failed' | 'verified' | 'skipped' | 'end';
  readonly id?: ResourceId;
  readonly step?: string;
  readonly detail?: string;
  /** For `begin`: the target, the plan and the overridden refusals. */
  readonly target?: Pick<TargetIdentity, 'name' | 'url'>;
  readonly digest?: string;
  readonly writes?: number;
  readonly allowed?: readonly Allowance[];
  /** For `end`: the number of changes by outcome. */
  readonly counts?: Readonly<Record<OutcomeStatus, number>>;
};

/** One attempt of one request, with the status of the response or the code of the failure. */
export type RequestEvent = {
  readonly method: string;
  readonly path: string;
  /** Counts from 1. */
  readonly attempt: number;
  readonly status?: number;
  readonly code?: string;
  /** The time until the response was read, or the attempt failed, in milliseconds. */
  readonly elapsedMs: number;
};

/** A failed attempt of a request that is sent again after a pause. */
export type RetryEvent = {
  /** The method, the URL and the reason of the failure; never a secret. */
  readonly message: string;
  readonly pauseMs: number;
};

/** One line of the journal; it never contains a secret. */
export type JournalEntry = { readonly at: string } & (ApplyEvent | ({ readonly event: 'request' } & RequestEvent));
