import type { Position } from '../diagnostic.ts';
import type { LiveResource } from '../live.ts';
import type { Action, Allowance, TargetIdentity } from '../plan/plan.ts';
import type { Pointer } from '../pointer.ts';
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
  readonly hint?: string | undefined;
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

/** How pulled manifests represent live secrets: `keep` by key, `stubs` for environment variables, or `omit`. */
export type PulledSecrets = 'keep' | 'stubs' | 'omit';

/** A manifest and its file. */
export type WrittenManifest = { readonly id: ResourceId; readonly file: string };

/** A live object without a manifest, and the reason. */
export type SkippedObject = { readonly id: ResourceId; readonly why: 'managed' | 'inexpressible'; readonly reason: string };

/** A manifest that differs from the live object, and the fields. */
export type DifferingManifest = { readonly id: ResourceId; readonly at?: Position | undefined; readonly fields: readonly Pointer[] };

/** A part of a live object that its manifest does not state. */
export type UnstatedPart = { readonly id: ResourceId; readonly path: Pointer; readonly reason: string };

/** The handover of objects from a Terraform state. */
export type TerraformHandover = {
  /** Objects that Ostiary manages now; Terraform can forget them. */
  readonly taken: readonly TerraformObject[];
  /** Objects in the state that do not exist on the gateway. */
  readonly gone: readonly TerraformObject[];
  /** Objects that stay with Terraform, and the reason. */
  readonly kept: readonly (TerraformObject & { readonly reason: string })[];
  /** The file with the removal blocks, if any. */
  readonly file?: string;
};

/** An object in a Terraform state, by its address. */
export type TerraformObject = { readonly address: string; readonly id?: ResourceId };

/** The result of a pull. */
export type PullResult = {
  readonly target: { readonly name: string; readonly url: string; readonly dialect: string };
  /** Set if nothing was written: the rest is what a pull would write. */
  readonly preview?: true;
  /** The project folder, as a path for the user. */
  readonly folder: string;
  readonly written: readonly WrittenManifest[];
  /** Manifests that were updated to the live state. */
  readonly updated: readonly WrittenManifest[];
  /** The files edited for the updates. */
  readonly edited: readonly string[];
  /** The number of manifests in sync. */
  readonly unchanged: number;
  readonly differing: readonly DifferingManifest[];
  /** Manifests whose object is not live. */
  readonly gone: readonly DifferingManifest[];
  readonly leftOut: readonly SkippedObject[];
  readonly unstated: readonly UnstatedPart[];
  readonly secrets: { readonly form: PulledSecrets; readonly kept: number; readonly stubs: number; readonly unseen: number };
  /** Other files next to the manifests. */
  readonly files: readonly string[];
  readonly terraform?: TerraformHandover | undefined;
};
