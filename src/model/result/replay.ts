import type { AccessMode } from '../protection/access-objects.ts';
import type { AllowedRunbook } from '../protection/permission.ts';
import type { Position } from '../diagnostic.ts';
import type { ResourceId } from '../resource.ts';

/** A session as a gateway lists it: without its script, which is read apart and never kept. */
export type RecordedSession = {
  readonly id: string;
  readonly connection: string;
  readonly verb: AccessMode;
  /** The runbook; absent for other verbs, and where the gateway does not record it. */
  readonly runbook?: AllowedRunbook;
  /** When it started, as the gateway spells it. */
  readonly at: string;
  /** The ID and the name of the person; a machine identity acts as an admin. */
  readonly user: { readonly id: string; readonly name: string };
  readonly isMachine: boolean;
  /** The length of the script in bytes; 0 without one, as native connections are. */
  readonly scriptSize: number;
  /** The guardrails that matched, as the gateway recorded it. */
  readonly matched: readonly string[];
};

/** The newest sessions since a time; `isWhole`: no older one was left out. */
export type RecordedSessions = { readonly sessions: readonly RecordedSession[]; readonly isWhole: boolean };

/** The groups of people by ID and by name; undefined for those whom the gateway does not list. */
export type GroupsOf = (user: RecordedSession['user']) => readonly string[] | undefined;

/** What a plan changes for a session, the worst first. */
export const replayTurns = ['blocked', 'refused', 'approval', 'possible', 'unapproved', 'unknown'] as const;

export type ReplayTurn = (typeof replayTurns)[number];

/** What decides that sessions end differently, and where a manifest states it; without an object, what is not known. */
export type ReplayCause = {
  readonly by?: ResourceId | undefined;
  readonly why?: string | undefined;
  readonly at?: Position | undefined;
  readonly sessions: number;
};

/** The sessions that end differently in one way: how many, of how many people, and why, the most frequent cause first. */
export type ReplayChange = {
  readonly turn: ReplayTurn;
  readonly sessions: number;
  readonly people: number;
  readonly causes: readonly ReplayCause[];
  /** Who started them; absent where everybody can read the report. */
  readonly users?: readonly { readonly name: string; readonly sessions: number }[] | undefined;
};

/** What a plan would have done to the last sessions; `missing`: why none could be read. */
export type Replay =
  | { readonly since: string; readonly missing: string }
  | {
      readonly since: string;
      readonly sessions: number;
      readonly isWhole: boolean;
      readonly withoutScript: number;
      readonly changes: readonly ReplayChange[];
    };

/** A way to use a connection that no session used; `unknown`: why that is not known. */
export type UnusedGrant = {
  readonly group: string;
  readonly connection: string;
  readonly verb: AccessMode;
  readonly isUsed: 'no' | 'unknown';
  readonly why?: string | undefined;
  readonly at?: Position | undefined;
};

/** A rule that matched no session, or a group without members. */
export type UnusedObject = Pick<UnusedGrant, 'isUsed' | 'why' | 'at'> & { readonly name: string };

/** What nothing used since a time. */
export type Unused = {
  readonly since: string;
  readonly sessions: number;
  readonly isWhole: boolean;
  readonly grants: readonly UnusedGrant[];
  readonly rules: readonly UnusedObject[];
  readonly groups: readonly UnusedObject[];
};
