import type { DesiredState } from './desired.ts';
import type { ResourceId } from './resource.ts';

/** What the last commit that was wholly applied to a target wanted; of its secrets the sources count, resolved or not. */
export type Base = {
  readonly commit: string;
  readonly desired: DesiredState;
  /** The commit that took away each manifest that is gone since, as far as the history tells. */
  readonly removedIn: ReadonlyMap<ResourceId, Commit>;
};

/** A commit by its hash and the first line of its message. */
export type Commit = { readonly id: string; readonly subject: string };
