import type { DesiredState } from './desired.ts';
import type { Checked, Diagnostic } from './diagnostic.ts';
import type { FieldRule } from './field.ts';
import type { LiveResource, LiveState } from './live.ts';
import type { Plan, Reference, Refusal } from './plan/plan.ts';
import type { Pointer } from './pointer.ts';
import type { ResourceId, Spec } from './resource.ts';
import type { Secret } from './secret.ts';

/** Who answers at the other end, and what the caller may do there. */
export type GatewayIdentity = {
  readonly url: string;
  readonly organisation?: string;
  readonly dialect: string;
  readonly version?: string;
  readonly role?: 'admin' | 'auditor' | 'standard';
  /** Fields of another dialect that it says it has, too: `Kind.field`. */
  readonly borrowed?: readonly string[];
};

/** How a gateway speaks: which fields it has. */
export type Speech = Pick<GatewayIdentity, 'dialect' | 'borrowed'>;

/** Tells whether a gateway has a field of a kind. */
export function hasField({ dialect, borrowed = [] }: Speech, kind: string, field: FieldRule): boolean {
  if (field.dialect === undefined || field.dialect === dialect) return true;
  return field.borrowed === dialect && borrowed.includes(`${kind}.${field.name}`);
}

/** A whole resource to write: references and edge ends as names, secrets sealed. */
export type WriteRequest = {
  readonly id: ResourceId;
  readonly spec: Spec;
  /** Secrets to set; on an update, secrets not named here and not in `dropped` stay as the fresh read has them. */
  readonly secrets: Readonly<Record<Pointer, Secret>>;
  readonly dropped: readonly Pointer[];
  /** All edges that the resource has after the write, by edge field. */
  readonly edges: Readonly<Record<string, readonly ResourceId[]>>;
};

/** A plan with what it was made from, for the gateway to look through before anything is written. */
export type Proposal = {
  readonly plan: Plan;
  readonly desired: DesiredState;
  readonly live: LiveState;
  /** What changed objects hold in between, where they are written twice. */
  readonly joined: ReadonlyMap<ResourceId, Spec>;
};

/** What a gateway makes of a proposal. */
export type PreflightResult = {
  /** What is wrong in the manifests for this gateway, whatever its state. */
  readonly diagnostics: readonly Diagnostic[];
  /** What the gateway refuses as it is now, however right the manifests are. */
  readonly refusals: readonly Refusal[];
  /** The changes that it does not take with live and desired joined, and why: they can only be written once. */
  readonly indivisible: ReadonlyMap<ResourceId, string>;
  /** What of the gateway's own names something that is replaced, and does not name what takes its place. */
  readonly references: readonly Reference[];
};

/** A gateway as everything above the wire sees it. Failures throw an ApiError; retries happen below. */
export interface Gateway {
  identify(): Promise<GatewayIdentity>;
  /** Reads all resources of the kinds in bulk; no value where a list could not be proven whole. */
  readAll(kinds: readonly string[]): Promise<Checked<LiveState>>;
  /** Reads one resource again; undefined where it is gone. */
  readOne(live: Pick<LiveResource, 'id' | 'uid'>): Promise<LiveResource | undefined>;
  /** Those of the ids (`Kind/uid`, the gateway's own) that it answers for one by one, whatever its lists show. */
  confirm(ids: readonly ResourceId[]): Promise<readonly ResourceId[]>;
  /** What this gateway would refuse or not keep of a plan, at the manifests' lines; sends nothing that writes. */
  preflight(proposal: Proposal): Promise<PreflightResult>;
  /** Creates it exactly once, also when the answer is lost on the way. */
  create(request: WriteRequest): Promise<LiveResource>;
  /** Replaces it whole; what the request does not speak of is carried from the fresh read. */
  update(fresh: LiveResource, request: WriteRequest): Promise<LiveResource>;
  remove(fresh: LiveResource): Promise<void>;
  close(): Promise<void>;
}
