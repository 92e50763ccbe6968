import { dialectNames, hiddenControls, type DialectChoice, type DialectName } from './dialects.ts';
import type { DesiredState } from './desired.ts';
import type { Checked, Diagnostic } from './diagnostic.ts';
import type { JsonObject } from './json.ts';
import type { FieldRule } from './kind.ts';
import type { InheritedKeys, LiveResource, LiveState, GrantRow } from './live.ts';
import type { AcceptedDrift, Diff, OutsideReference, Refusal } from './plan/plan.ts';
import type { Pointer } from './pointer.ts';
import type { ResourceId, Spec } from './resource.ts';
import type { Secret } from './secret.ts';

/** The gateway behind a URL, and the role of the token there. */
export type GatewayIdentity = {
  readonly url: string;
  readonly organisation?: string;
  readonly dialect: string;
  readonly version?: string;
  readonly role?: 'admin' | 'auditor' | 'standard';
  /** Fields of another dialect that the gateway reports: `Kind.field`. */
  readonly borrowed?: readonly string[];
};

/** The part of the identity that decides which fields a gateway has. */
export type DialectFields = Pick<GatewayIdentity, 'dialect' | 'borrowed'>;

/** Returns the dialect that is assumed before the gateway was asked: for `auto`, the one that hides the most controls. */
export function assumedDialect(choice: DialectChoice): DialectName {
  if (choice !== 'auto') return choice;
  return dialectNames.reduce((most, name) => (hiddenControls[name].length > hiddenControls[most].length ? name : most));
}

/** Returns whether a gateway has a field of a kind. */
export function hasField({ dialect, borrowed = [] }: DialectFields, kind: string, field: FieldRule): boolean {
  if (field.dialect === dialect || (field.dialect === undefined && field.borrowed === undefined)) return true;
  return field.borrowed === dialect && borrowed.includes(`${kind}.${field.name}`);
}

/** A complete resource to write: references and edge ends are names, secrets are sealed. */
export type WriteRequest = {
  readonly id: ResourceId;
  readonly spec: Spec;
  /** Secrets to set. An update keeps secrets that are neither here nor in `dropped` as the fresh read returned them. */
  readonly secrets: Readonly<Record<Pointer, Secret>>;
  readonly dropped: readonly Pointer[];
  /** All edges of the resource after the write, by edge field. */
  readonly edges: Readonly<Record<string, readonly ResourceId[]>>;
};

/** The part of the lists that a run needs. */
export type PartOfGateway = {
  /** The ids of the objects that it needs whole; of others, their list is enough. */
  readonly objects: ReadonlySet<string>;
  /** The fields that it does not need: they stay empty where they take a list of their own. */
  readonly without: ReadonlySet<string>;
  /** `compared`: no names of groups, and nothing that is only reported; `deciding`: nothing that is only reported. */
  readonly lists: 'compared' | 'deciding' | 'all';
};

/** What cannot move from one access-request rule to another, because it would have no approval between two writes and must not be closed. */
export type BlockedMove = {
  readonly connection: ResourceId;
  readonly from: ResourceId;
  readonly to: ResourceId;
  readonly why: string;
};

/** A plan and its input, for the dialect to check before anything is written. */
export type PreflightRequest = {
  readonly plan: Diff;
  /** Changes of the manifests that the gateway has already. */
  readonly accepted: readonly Pick<AcceptedDrift, 'id' | 'action' | 'fields'>[];
  readonly desired: DesiredState;
  readonly live: LiveState;
  /** The intermediate specs of objects that are written twice. */
  readonly joined: ReadonlyMap<ResourceId, Spec>;
  /** What cannot move between access-request rules; absent: everything can. */
  readonly blockedMoves?: readonly BlockedMove[];
};

/** The result of a preflight check. */
export type PreflightResult = {
  /** Errors in the manifests that this gateway rejects, independent of its state. */
  readonly diagnostics: readonly Diagnostic[];
  /** Valid changes that the gateway refuses in its current state. */
  readonly refusals: readonly Refusal[];
  /** Changes whose intermediate spec the gateway rejects, with the reason: they can only be written once. */
  readonly indivisible: ReadonlyMap<ResourceId, string>;
  /** Objects of the gateway that refer to a replaced resource and do not refer to its successor. */
  readonly references: readonly OutsideReference[];
  /** The secrets that connections inherit; absent where no change may send them elsewhere. */
  readonly inherited?: InheritedKeys;
};

/**
 * What a gateway showed at a time: its dialect and its answers about itself as far as plans depend on them, and the live state. It has no value of a
 * secret, and survives JSON.
 */
export type GatewaySnapshot = {
  readonly url: string;
  readonly dialect: DialectName;
  readonly info: { readonly server: string; readonly status: number; readonly body: JsonObject };
  readonly caller: JsonObject;
  /** Absent where no bulk read brought them. */
  readonly inherited?: 'hidden' | readonly (readonly [resource: string, keys: readonly string[]])[];
  readonly live: LiveState;
};

/** The name of the caller in the gateway's audit log, and the time of its newest entry; empty for an empty log. */
export type AuditMark = { readonly principal: string; readonly at: string };

/** The port to a gateway's configuration. Failures throw an ApiError; retries happen inside the adapter. */
export interface Gateway {
  identify(): Promise<GatewayIdentity>;
  /** Whether a read of a part leaves anything unknown: in other gateways, lists have all objects whole. */
  readonly readsParts: boolean;
  /**
   * Reads all objects of the kinds, watched ones included, in bulk; without a value when a list could not be proven complete. What a part does
   * not need may stay unknown; a later read of more asks for the rest alone.
   */
  readAll(kinds: readonly string[], part?: PartOfGateway): Promise<Checked<LiveState>>;
  /** Reads one resource again; undefined when it was deleted. */
  readOne(live: Pick<LiveResource, 'id' | 'uid'>): Promise<LiveResource | undefined>;
  /** Returns whether a write can depend on the version of an object: the gateway rejects others, and no proxy removes the condition. */
  checksVersions(listed: LiveResource): Promise<boolean>;
  /** Returns the ids (`Kind/uid`, the gateway's own) that exist when read one by one, whatever its lists show. */
  confirm(ids: readonly ResourceId[]): Promise<readonly ResourceId[]>;
  /** Finds the parts of a plan that the gateway would reject or lose, at the lines of the manifests; writes nothing. */
  preflight(proposal: PreflightRequest): Promise<PreflightResult>;
  /** Switches on the feature that keeps a field of a kind in rows, with these rows in the same request. */
  switchRowsOn(kind: string, rows: readonly GrantRow[]): Promise<void>;
  /** Creates a resource exactly once, even when the response is lost. */
  create(request: WriteRequest): Promise<LiveResource>;
  /**
   * Replaces a resource completely; values that the request does not state are carried over from the fresh read. Calls `onWritten`
   * as soon as the gateway has answered the write: some gateways are read after it.
   */
  update(fresh: LiveResource, request: WriteRequest, onWritten?: () => void): Promise<LiveResource>;
  remove(fresh: LiveResource): Promise<void>;
  /** Returns where the audit log ends now; undefined if the gateway has no such log, or does not show it. */
  auditMark(): Promise<AuditMark | undefined>;
  /** Returns what a plan can be made from later, without this gateway; sends nothing. */
  snapshot(live: LiveState): Promise<GatewaySnapshot>;
  /** Returns by how many milliseconds the gateway's clock was ahead of that of this machine when it answered last; 0 if that is less than a minute. */
  clockAheadMs(): number;
  close(): Promise<void>;
}
