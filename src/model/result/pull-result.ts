import type { Diagnostic, Position } from '../diagnostic.ts';
import type { Pointer } from '../pointer.ts';
import type { ResourceId } from '../resource.ts';

/** How pulled manifests represent live secrets: `keep` by key, `stubs` for environment variables, or `omit`. */
export type PulledSecrets = 'keep' | 'stubs' | 'omit';

/** A manifest and its file. */
export type WrittenManifest = { readonly id: ResourceId; readonly file: string };

/** A live object without a manifest, and the reason. */
export type SkippedObject = { readonly id: ResourceId; readonly why: 'managed' | 'inexpressible'; readonly reason: string };

/** A manifest that differs from the live object, and the fields. */
export type DifferingManifest = { readonly id: ResourceId; readonly at?: Position; readonly fields: readonly Pointer[] };

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
  readonly terraform?: TerraformHandover;
  readonly diagnostics: readonly Diagnostic[];
};
