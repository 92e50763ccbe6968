import { indexer } from './memoize.ts';
import type { Pointer } from './pointer.ts';
import type { ResourceId, Spec } from './resource.ts';
import type { LiveSecret } from './secret.ts';

/** One resource as the gateway has it, normalised like a desired one; references are names where the gateway tells them, else ids. */
export type LiveResource = {
  /** `Kind/identity`. */
  readonly id: ResourceId;
  /** The gateway's own id. */
  readonly uid: string;
  readonly spec: Spec;
  readonly secrets: Readonly<Record<Pointer, LiveSecret>>;
  /** Edge fields of this resource: the other ends, by field. An end nobody can name is `Kind/uid`. */
  readonly edges: Readonly<Record<string, readonly ResourceId[]>>;
  /** What the gateway sent, for the dialect alone to carry back. */
  readonly raw: unknown;
  /** Values that this read does not show. */
  readonly unknown: readonly Pointer[];
  /** Those of them that a read of this one object shows. */
  readonly leftOut?: readonly Pointer[];
  /** Moves whenever the stored secrets change; absent where the gateway tells none, or none to rely on. */
  readonly secretsVersion?: string;
  readonly managedBy?: string;
  /** Nobody wrote it since it was created, as far as the gateway tells. */
  readonly untouched?: boolean;
  /** The version to write against (an ETag), where the gateway has one. */
  readonly version?: string;
};

/** Live resources by their id. */
export const liveById: (resources: readonly LiveResource[]) => ReadonlyMap<ResourceId, LiveResource> = indexer(({ id }) => id);

/** A thing that manifests refer to but do not declare, such as an agent. */
export type Named = { readonly uid: string; readonly name: string };

/** A rule of the gateway's own that reviews or limits access to connections beside them; never ours to write. */
export type AccessRule = {
  readonly name: string;
  /** The names of the connections it is for. */
  readonly connections: readonly string[];
  /** It is also for all connections that have one of these. */
  readonly attributes: readonly string[];
  /** What it asks for. */
  readonly text: string;
};

/** All that was read of one gateway. */
export type LiveState = {
  readonly resources: readonly LiveResource[];
  /** What references of other kinds resolve to; a kind that is absent cannot be listed there, so only ids are taken. */
  readonly lookups: Readonly<Record<string, readonly Named[]>>;
  /** Groups the gateway knows, where it tells. */
  readonly groups?: readonly string[];
  /** Rules that review and limit beside connections; absent where the gateway has none, or does not show them. */
  readonly accessRules?: readonly AccessRule[];
  /** Objects that no list shows and the gateway answers for by its own id: `Kind/uid`. */
  readonly hidden?: readonly ResourceId[];
};
