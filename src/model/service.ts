import type { Checked } from './diagnostic.ts';
import type { AuditedWrite } from './result/drift.ts';
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

/** A runbook of a repository; the repository is empty where the gateway does not tell it. */
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
  /** Absent where the answer does not tell it. */
  readonly time_window?: TimeWindow | null;
};

type Found = { readonly id: string; readonly name: string; readonly type: string; readonly subtype: string };

export type SearchResult = {
  readonly connections: readonly (Found & { readonly resource_name: string })[];
  readonly resources: readonly Found[];
  readonly runbooks: readonly { readonly name: string; readonly repository: string }[];
  /** What could not be searched. */
  readonly errors: readonly string[];
};

/** What a reviewer wants to become of a review. */
export type Decision = {
  readonly status: 'APPROVED' | 'REJECTED' | 'REVOKED';
  readonly force: boolean;
  readonly window?: TimeWindow | undefined;
};

/** What people look up and decide on a gateway beside its configuration. Failures throw an ApiError; lists have no value where they are not proven whole. */
export interface Service {
  identify(): Promise<GatewayIdentity>;
  agents(): Promise<Checked<readonly Agent[]>>;
  resources(): Promise<Checked<readonly ListedResource[]>>;
  /** Warns of repositories that could not be read. */
  templates(): Promise<Checked<readonly RunbookTemplate[]>>;
  /** The newest first. */
  reviews(): Promise<Checked<readonly Review[]>>;
  search(term: string): Promise<SearchResult>;
  /** One review; undefined where there is none that the caller may see. */
  review(id: string): Promise<Review | undefined>;
  /** Why this sort of gateway would not carry a decision out, before it is asked. */
  objection(review: Review, decision: Decision): string | undefined;
  decide(id: string, decision: Decision): Promise<Review>;
  /** The successful writes since a time, the newest first, not more than so many; undefined where the gateway has no log, or does not show it. */
  writesSince(since: Date, most: number): Promise<readonly AuditedWrite[] | undefined>;
  close(): Promise<void>;
}
