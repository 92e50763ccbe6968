import type { Diagnostic, Finding, Position } from './diagnostic.ts';
import { indexer } from './memoize.ts';
import type { JsonObject } from './json.ts';
import type { Pointer } from './pointer.ts';
import type { Policy } from './protection/policy.ts';
import type { ResourceId, Spec } from './resource.ts';
import type { DesiredSecret } from './secret.ts';

/** How an edge came to be declared. */
export type Declaration = {
  /** The manifest that declares it. */
  readonly by: ResourceId;
  readonly how: 'listed' | 'selector';
  readonly path: Pointer;
};

/** An edge as manifests declare it; each end is a name, or an id of a live object that only the planner can resolve. */
export type DeclaredEdge = {
  readonly rule: { readonly kind: string; readonly text: string };
  readonly connection: { readonly kind: string; readonly text: string };
  readonly declarations: readonly Declaration[];
};

/** A text that a rule is tried on, and what becomes of it, as the manifest says it. */
export type Sample = { readonly given: JsonObject; readonly at: Position };

/** One resource as the manifests want it, normalised: every compared field has its value, without secrets and edges. */
export type DesiredResource = {
  /** `Kind/metadata.name`. */
  readonly id: ResourceId;
  /** `Kind/identity`: what the gateway knows it by; equals `id` for kinds that the gateway names. */
  readonly key: ResourceId;
  readonly spec: Spec;
  /** Top-level fields that the manifest states, null included. */
  readonly stated: ReadonlySet<string>;
  readonly secrets: Readonly<Record<Pointer, DesiredSecret>>;
  /** Secret maps that the manifest gives whole: live keys beside the given ones are to go. */
  readonly wholeSecrets: readonly Pointer[];
  readonly ignore: readonly Pointer[];
  /** What its selector asks for, by the field that holds it; absent where it has none. */
  readonly selector?: { readonly field: string; readonly value: JsonObject };
  readonly protect: boolean;
  /** A live object that was never applied may be taken over, whatever differs. */
  readonly adopt: boolean;
  /** The name of the object that this one takes the place of. */
  readonly replaces?: string;
  /** The name that the live object has so far. */
  readonly renamedFrom?: string;
  /** For kinds that are tried on samples: the spec as the manifest writes it, lists in their order. */
  readonly written?: JsonObject;
  /** What the rule is tried on; nothing that is compared or written. */
  readonly samples?: readonly Sample[];
  /**
   * The place of a value in spec (`/reviewers/0`, or a set's entry by its value), the nearest parent's where it has none of
   * its own; of the empty pointer the manifest's.
   */
  readonly locate: (path: Pointer) => Position;
};

/** Desired resources by their id. */
export const desiredById: (resources: readonly DesiredResource[]) => ReadonlyMap<ResourceId, DesiredResource> = indexer(({ id }) => id);

/** Desired resources by what the gateway knows them by. */
export const desiredByKey: (resources: readonly DesiredResource[]) => ReadonlyMap<ResourceId, DesiredResource> = indexer(({ key }) => key);

/** All that the manifests of one target want. */
export type DesiredState = {
  readonly resources: readonly DesiredResource[];
  readonly edges: readonly DeclaredEdge[];
  /** SHA-256 (hex) over the manifests' paths and bytes, whatever the order they were read in. */
  readonly tree: string;
  /** Resources of the target that a selection left out: never orphans, and their names still resolve. */
  readonly unselected: readonly Pick<DesiredResource, 'id' | 'key' | 'ignore'>[];
  readonly notices: readonly Diagnostic[];
  /** Makes a diagnostic of something found in a resource's manifest, with its place and the lines around it. */
  readonly diagnose?: (id: ResourceId, finding: Finding) => Diagnostic;
  /** What the manifests ask of connections besides; absent where they ask for nothing. */
  readonly policies?: readonly Policy[];
};

/** What the last commit that was wholly applied to a target wanted; of its secrets the sources count, resolved or not. */
export type Base = {
  readonly commit: string;
  readonly desired: DesiredState;
  /** The commit that took away each manifest that is gone since, as far as the history tells. */
  readonly removedIn: ReadonlyMap<ResourceId, Commit>;
};

/** A commit by its hash and the first line of its message. */
export type Commit = { readonly id: string; readonly subject: string };
