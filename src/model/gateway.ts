import { dialectNames, hiddenControls, type DialectChoice, type DialectName } from './dialects.ts';
import type { DesiredState } from './desired.ts';
import type { Checked, Diagnostic } from './diagnostic.ts';
import type { FieldRule } from './kind.ts';
import type { InheritedKeys, LiveResource, LiveState } from './live.ts';
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
  if (field.dialect === undefined || field.dialect === dialect) return true;
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

/** A plan and its input, for the dialect to check before anything is written. */
export type PreflightRequest = {
  readonly plan: Diff;
  /** Changes of the manifests that the gateway has already. */
  readonly accepted: readonly Pick<AcceptedDrift, 'id' | 'action' | 'fields'>[];
  readonly desired: DesiredState;
  readonly live: LiveState;
  /** The intermediate specs of objects that are written twice. */
  readonly joined: ReadonlyMap<ResourceId, Spec>;
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

/** The name of the caller in the gateway's audit log, and the time of its newest entry; empty for an empty log. */
export type AuditMark = { readonly principal: string; readonly at: string };

/** The port to a gateway's configuration. Failures throw an ApiError; retries happen inside the adapter. */
export interface Gateway {
  identify(): Promise<GatewayIdentity>;
  /** Reads all resources of the kinds in bulk; without a value when a list could not be proven complete. */
  readAll(kinds: readonly string[]): Promise<Checked<LiveState>>;
  /** Reads one resource again; undefined when it was deleted. */
  readOne(live: Pick<LiveResource, 'id' | 'uid'>): Promise<LiveResource | undefined>;
  /** Returns whether a write can depend on the version of an object: the gateway rejects others, and no proxy removes the condition. */
  checksVersions(listed: LiveResource): Promise<boolean>;
  /** Returns the ids (`Kind/uid`, the gateway's own) that exist when read one by one, whatever its lists show. */
  confirm(ids: readonly ResourceId[]): Promise<readonly ResourceId[]>;
  /** Finds the parts of a plan that the gateway would reject or lose, at the lines of the manifests; writes nothing. */
  preflight(proposal: PreflightRequest): Promise<PreflightResult>;
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
  close(): Promise<void>;
}

/** Values that the gateway knows and Ostiary does not, by field, such as `Connection.subtype`. */
export type AllowedValues = Readonly<Record<string, readonly string[]>>;

/** Names the source of a token; it never holds the token itself. */
type TokenSource = { readonly env: string };

/** One gateway and the manifests that are applied to it. */
export type Target = {
  readonly name: string;
  readonly url: string;
  readonly dialect: DialectChoice;
  readonly auth: 'auto' | 'bearer' | 'api-key';
  readonly token: TokenSource;
  /** Environment variables named by `valueFrom.env` must start with one of these prefixes. */
  readonly secretPrefixes: readonly string[];
  /** Values without a warning. */
  readonly allowedValues: AllowedValues;
  /** Absolute paths of manifest folders and files. */
  readonly manifests: readonly string[];
  readonly overlays: readonly string[];
  readonly limits: Limits;
  readonly prune: boolean;
  /** Whether plans list live connections without a manifest and check their policies. */
  readonly reportUnmanaged: boolean;
  /** How many objects are read at the same time. */
  readonly readConcurrency: number;
  /** Removed objects that stay live on purpose, as `KIND/NAME`; they are unmanaged. */
  readonly released: readonly string[];
  /** The branch of origin whose commits are reviewed; `any`: every commit counts; the default branch of origin if undefined. */
  readonly reviewed?: string;
};

/** How many objects are read at the same time unless the config or an option says otherwise. */
export const defaultReadConcurrency = 16;

/** What a plan does with drift of a protection that cannot be compared with the manifest. */
export const incomparableDriftChoices = ['revert', 'hold', 'refuse'] as const;

/**
 * Limits on changes that no reviewer saw, without an override. Those on mass changes count from `from` objects on. The shares are 0
 * to 1: of the managed objects for updates and deletes, of the live connections for lost protections.
 */
export type Limits = {
  readonly from: number;
  readonly updates: number;
  readonly deletes: number;
  readonly protections: number;
  readonly incomparableDrift: (typeof incomparableDriftChoices)[number];
};

export const defaultLimits: Limits = { from: 10, updates: 0.3, deletes: 0.3, protections: 0.3, incomparableDrift: 'revert' };

export type Config = {
  /** The path of the config file; absent when the command line alone configures the run. */
  readonly file?: string;
  /** Returns the position at which the config file names a path; undefined for other paths. */
  readonly placeOf?: (path: string) => Pick<Diagnostic, 'at' | 'frame'> | undefined;
  /** Secret files and manifests must be inside this folder. */
  readonly root: string;
  readonly targets: readonly Target[];
  /** The public halves of the keys that sign records of applies; without any, records need no signature. */
  readonly recordKeys?: readonly string[];
  /** The random text that seals contents of secrets in digests; readers of the repository may know it. */
  readonly digestKey?: string;
  /** The rules for decisions in comments on a pull request; absent without a config file. */
  readonly approvals?: ApprovalRules;
};

/** The people whose comments on a pull request override refusals and agree to plans. */
export type ApprovalRules = {
  /** The logins and the teams (`ORGANIZATION/TEAM`) that may decide; all people with write access if empty. */
  readonly approvers: readonly string[];
  /** Whether the author of a pull request, or of its last commit, may decide about it. */
  readonly selfApproval: boolean;
};

/** The rules of a config that states none: any other person with write access decides. */
export const defaultApprovals: ApprovalRules = { approvers: [], selfApproval: false };
