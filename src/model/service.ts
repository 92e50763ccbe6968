import type { AccessList, AccessObjects } from './protection/access-objects.ts';
import type { Checked } from './diagnostic.ts';
import type { AuditedWrite } from './result/drift.ts';
import type { RecordedSessions } from './result/replay.ts';
import type { GatewayIdentity } from './gateway.ts';
import type { JsonObject } from './json.ts';

/** An agent, and whether it is connected. */
export type Agent = { readonly id: string; readonly name: string; readonly status: string };

/** A resource; of its variables only the names. */
export type ListedResource = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly subtype: string;
  readonly agent_id: string;
  readonly env_vars: Readonly<Record<string, '***'>>;
  readonly created_at: string;
  readonly updated_at: string;
};

/** A runbook of a repository; `repository` is empty when the gateway does not report it. */
export type RunbookTemplate = {
  readonly name: string;
  readonly repository: string;
  readonly connections: readonly string[];
  readonly error: string;
  readonly metadata: JsonObject;
  readonly commit: string;
  readonly commit_author: string;
  readonly commit_message: string;
};

export type ReviewGroup = {
  readonly id: string;
  readonly group: string;
  readonly status: string;
  readonly forced_review: boolean;
  readonly review_date: string | null;
  readonly reviewed_by: { readonly id: string; readonly name: string; readonly email: string; readonly chat_id: string } | null;
};

/** Hours of the day in UTC, each HH:MM. */
export type TimeWindow = { readonly configuration: { readonly start_time: string; readonly end_time: string } };

export type Review = {
  readonly id: string;
  readonly created_at: string;
  readonly session: string;
  readonly type: string;
  readonly status: string;
  /** Nanoseconds. */
  readonly access_duration: number;
  readonly revoke_at: string;
  readonly review_groups_data: readonly ReviewGroup[];
  /** When the approval ends, empty before it; absent where the gateway does not say. */
  readonly expires_at?: string;
  /** Absent when the response does not contain it. */
  readonly time_window?: TimeWindow | null;
};

/** A review as one response showed it; the version is absent where the gateway has none. */
export type ReadReview = Review & { readonly version?: string };

/** The session that a review decides about. */
export type ReviewedSession = {
  readonly connection: string;
  /** The email address or name of the user that asks for access. */
  readonly requester: string;
  /** What the session executes; empty where it only opens the connection. */
  readonly input: string;
};

/** A review and its session. */
export type ReviewDetails = Review & {
  /** Undefined where the gateway does not show the session to the token. */
  readonly about: ReviewedSession | undefined;
  /** Whole seconds until the approved access ends; undefined where none is approved. */
  readonly remaining: number | undefined;
};

type Found = { readonly id: string; readonly name: string; readonly type: string; readonly subtype: string };

export type SearchResult = {
  readonly connections: readonly (Found & { readonly resource_name: string })[];
  readonly resources: readonly Found[];
  readonly runbooks: readonly { readonly name: string; readonly repository: string }[];
  /** The areas that could not be searched. */
  readonly errors: readonly string[];
};

/** The decision of a reviewer about a review. */
export type Decision = {
  readonly status: 'APPROVED' | 'REJECTED' | 'REVOKED';
  readonly force: boolean;
  readonly window?: TimeWindow | undefined;
};

/** Where the reading of sessions ends: after the newest `most`, or when it takes too long. */
export type SessionLimits = { readonly most: number; readonly isLate: () => boolean };

/** The port to everything on a gateway besides its configuration. Failures throw an ApiError; a list has no value when it could not be proven complete. */
export interface Service {
  identify(): Promise<GatewayIdentity>;
  agents(): Promise<Checked<readonly Agent[]>>;
  resources(): Promise<Checked<readonly ListedResource[]>>;
  /** Warns of repositories that could not be read. */
  templates(): Promise<Checked<readonly RunbookTemplate[]>>;
  /** Lists reviews, newest first. */
  reviews(): Promise<Checked<readonly Review[]>>;
  /** Lists what decides access, by name; `off` while the gateway's feature is off, undefined where the gateway has nothing of the kind. */
  access<List extends AccessList>(list: List): Promise<(Checked<readonly AccessObjects[List][]> & { readonly off?: true }) | undefined>;
  search(term: string): Promise<SearchResult>;
  /** Returns one review; undefined when there is none that the token may read. */
  review(id: string): Promise<ReadReview | undefined>;
  /** Returns the session of a review, or another one; undefined where the token may not read it. */
  session(review: Pick<Review, 'session'>): Promise<ReviewedSession | undefined>;
  /** Lists the newest sessions since a time, newest first; undefined where the gateway has none or does not show them to the token. */
  sessionsSince(since: Date, limits: SessionLimits): Promise<RecordedSessions | undefined>;
  /** Returns the time at which an approved access ends; undefined without one. */
  accessEnds(review: Review): string | undefined;
  /** Returns why this dialect cannot carry out a decision, before any request; undefined when it can. */
  objection(review: Review, decision: Decision): string | undefined;
  /** Decides the version of a review that was read. The gateway may answer with another review. */
  decide(review: Pick<ReadReview, 'id' | 'version'>, decision: Decision): Promise<Review>;
  /** Returns the successful writes since a time, newest first, at most `most`; undefined without a readable audit log. */
  writesSince(since: Date, most: number): Promise<readonly AuditedWrite[] | undefined>;
  close(): Promise<void>;
}
