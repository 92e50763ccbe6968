import type { Diagnostic, Position } from '../diagnostic.ts';
import type { Pointer } from '../pointer.ts';
import type { ResourceId } from '../resource.ts';

/** What becomes of live secrets in pulled manifests: kept by key, named by variables, or not spoken of. */
export type PulledSecrets = 'keep' | 'stubs' | 'omit';

/** A manifest, and the file that it stands in. */
export type WrittenManifest = { readonly id: ResourceId; readonly file: string };

/** A live object that is in no manifest, and why. */
export type SkippedObject = { readonly id: ResourceId; readonly why: 'managed' | 'inexpressible'; readonly reason: string };

/** A manifest that does not say what is live, and the fields in which it differs. */
export type DifferingManifest = { readonly id: ResourceId; readonly at?: Position; readonly fields: readonly Pointer[] };

/** A part of a live object that its manifest leaves alone. */
export type UnstatedPart = { readonly id: ResourceId; readonly path: Pointer; readonly reason: string };

/** What a state of Terraform says of the gateway. */
export type TerraformHandover = {
  /** Objects that are ours now: Terraform may forget them. */
  readonly taken: readonly TerraformObject[];
  /** What the state names and the gateway has not. */
  readonly gone: readonly TerraformObject[];
  /** What Terraform keeps, and why. */
  readonly kept: readonly (TerraformObject & { readonly reason: string })[];
  /** Whether there is anything to forget. */
  readonly file?: string;
};

/** An object that a state of Terraform owns, by its address there. */
export type TerraformObject = { readonly address: string; readonly id?: ResourceId };

/** What a pull did. */
export type PullResult = {
  readonly target: { readonly name: string; readonly url: string; readonly dialect: string };
  /** The folder of the project as the user would name it. */
  readonly folder: string;
  readonly written: readonly WrittenManifest[];
  /** Manifests that say now what is live, and did not before. */
  readonly updated: readonly WrittenManifest[];
  /** The files that were edited for them. */
  readonly edited: readonly string[];
  /** How many manifests say what is live already. */
  readonly unchanged: number;
  readonly differing: readonly DifferingManifest[];
  /** Manifests of what is not live. */
  readonly gone: readonly DifferingManifest[];
  readonly leftOut: readonly SkippedObject[];
  readonly unstated: readonly UnstatedPart[];
  readonly secrets: { readonly form: PulledSecrets; readonly kept: number; readonly stubs: number; readonly unseen: number };
  /** Files beside the manifests. */
  readonly files: readonly string[];
  readonly terraform?: TerraformHandover;
  readonly diagnostics: readonly Diagnostic[];
};
