import type { AccessMode } from '../../model/protection/access-objects.ts';
import type { AllowedRunbook, Decider } from '../../model/protection/permission.ts';
import type { ResourceId } from '../../model/resource.ts';
import { type AccessDirection, accessDirections, type Approval, type MemberSort } from './effective-access.ts';

/** The parts of the terms, each of which has its own deciders: who sees it, whether it is open and runs a file, after what, how long, which files, until when. */
export type TermPart = 'sees' | 'open' | 'runs' | 'approval' | 'longest' | 'files' | 'until' | 'analyzer';

/** What people in exactly some groups may do by one verb, as far as what is read decides it. */
export type Terms = {
  readonly sees: boolean;
  readonly open: boolean;
  readonly runs: boolean;
  /** Undefined: none; `refused`: the gateway refuses what it cannot review. */
  readonly approval: Approval | 'refused' | undefined;
  /** In seconds: infinity without a limit, `unknown` where the gateway has one of its own and does not report it. */
  readonly longest: number | 'unknown';
  readonly files: readonly AllowedRunbook[];
};

/** Returns whether people can use what the terms are about, after whatever approval. */
export function isUsable({ sees, open, runs, approval }: Terms): boolean {
  return sees && open && runs && approval !== 'refused';
}

/** A part of what people may do: the use itself, after which approval, for how long, of which runbooks, until when, with which analyzer. */
export type AccessPart = 'use' | 'approval' | 'longest' | 'files' | 'until' | 'analyzer';

/** Returns the directions in which something differs. */
export function directionsIn(differences: readonly (Pick<Difference, 'causes'> | undefined)[]): readonly AccessDirection[] {
  return accessDirections.filter((direction) => differences.some((one) => one?.causes[direction] !== undefined));
}

/** One sort of people, or a machine identity, which acts as an admin with native access alone. */
export type People = MemberSort | { readonly machine: string };

/** One part of what some people may do on a connection that differs. Each direction has its own causes: one change may weaken what another one strengthens. */
export type Difference = {
  readonly connection: ResourceId;
  /** The connection that it was before; undefined for a new one. */
  readonly former: ResourceId | undefined;
  readonly people: People;
  readonly verb: AccessMode;
  readonly part: AccessPart;
  /** The parts of the terms that differ, or of which something else is unread on the two sides. */
  readonly of: readonly TermPart[];
  /** What people may do before and after; undefined where the connection does not exist. */
  readonly terms: readonly [Terms | undefined, Terms | undefined];
  /** The deciders that differ, by the direction of what they cause. */
  readonly causes: Readonly<Partial<Record<AccessDirection, readonly Decider[]>>>;
};
