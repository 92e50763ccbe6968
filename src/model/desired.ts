import type { Diagnostic, DocumentDiagnostic, Position } from './diagnostic.ts';
import { EdgeMap, memoizeByObject, memoizeIndex } from './collections.ts';
import { canonical, equal, type JsonObject } from './json.ts';
import { isWithinAny, type Pointer } from './pointer.ts';
import type { AccessTest } from './protection/access-test.ts';
import type { Policy } from './protection/policy.ts';
import { type EdgeEnds, type ResourceId, type Spec, kindOf, resourceId } from './resource.ts';
import { type DesiredSecret, isSameSecretSource } from './secret.ts';
import type { TimedGrant } from './protection/timed-grants.ts';

/** One place that declares an edge, and how. */
export type EdgeDeclaration = {
  /** The manifest that declares it. */
  readonly by: ResourceId;
  readonly how: 'listed' | 'selector';
  readonly path: Pointer;
};

/** An edge as manifests declare it. Each end is `Kind/name`, or `Kind/uid` of a live object until the planner has resolved it. */
export type DeclaredEdge = EdgeEnds & { readonly declarations: readonly EdgeDeclaration[] };

/** A sample of a rule as the manifest states it: a text and the expected result. */
export type Sample = { readonly given: JsonObject; readonly at: Position };

/** One resource that the manifests declare, normalized: every compared field has a value; secrets and edges are separate. */
export type DesiredResource = {
  /** `Kind/metadata.name`. */
  readonly id: ResourceId;
  /** `Kind/identity`: the identity on the gateway; equals `id` for kinds whose name the gateway stores. */
  readonly key: ResourceId;
  readonly spec: Spec;
  /** Top-level fields that the manifest states, including those set to null. */
  readonly stated: ReadonlySet<string>;
  readonly secrets: Readonly<Record<Pointer, DesiredSecret>>;
  /** Secret maps that the manifest states completely: apply removes other live keys. */
  readonly wholeSecrets: readonly Pointer[];
  readonly ignore: readonly Pointer[];
  /** The selector and the field that holds it; absent without a selector. */
  readonly selector?: { readonly field: string; readonly value: JsonObject };
  readonly protect: boolean;
  /** Allows importing a live object that was never applied, whatever differs. */
  readonly adopt: boolean;
  /** The name of the predecessor that this resource replaces. */
  readonly replaces?: string;
  /** The drift of the predecessor that the successor keeps, in place of what its manifest states. */
  readonly holds?: readonly Pointer[];
  /** The current name of the live object, before the rename. */
  readonly renamedFrom?: string;
  /** For kinds with samples: the spec as the manifest writes it, with lists in their written order. */
  readonly written?: JsonObject;
  /** The ends of groups that the manifest grants for a time. */
  readonly grants?: readonly TimedGrant[];
  /** The samples of the rule; they are neither compared nor written. */
  readonly samples?: readonly Sample[];
  /**
   * Returns the position of a value in spec (`/reviewers/0`, or a set's element by its value), or of its nearest parent that
   * has one. The empty pointer returns the position of the manifest.
   */
  readonly locate: (path: Pointer) => Position;
  /** Returns the position of `metadata.ignore`; that of the manifest's metadata without it. */
  readonly locateIgnore: () => Position;
};

/** Indexes desired resources by id. */
export const desiredById: (resources: readonly DesiredResource[]) => ReadonlyMap<ResourceId, DesiredResource> = memoizeIndex(
  ({ id }) => id,
);

/** Indexes desired resources by their identity on the gateway. */
export const desiredByKey: (resources: readonly DesiredResource[]) => ReadonlyMap<ResourceId, DesiredResource> = memoizeIndex(
  ({ key }) => key,
);

/** Declared edges by their ends. */
export type EdgesByEnds = Omit<EdgeMap<DeclaredEdge>, 'set'>;

/** Indexes declared edges by their ends; the last edge with the same ends wins. The list must not change. */
export const edgesByEnds: (edges: readonly DeclaredEdge[]) => EdgesByEnds = memoizeByObject((edges) => new EdgeMap(edges));

/** A text that only readers of the repository know: `random`, the key of the config; otherwise a hash of the manifests that contain secrets. */
export type DigestSecret = { readonly text: string; readonly random: boolean };

/** A finding that a comment accepts, and the reason that it states. */
export type Acknowledged = { readonly finding: Diagnostic; readonly reason: string };

/** A comment that accepts findings of a code: its text, and that of its line. */
export type Acknowledgment = { readonly code: string; readonly text: string };

/** The content of all manifests of one target. */
export type DesiredState = {
  readonly resources: readonly DesiredResource[];
  readonly edges: readonly DeclaredEdge[];
  /** SHA-256 (hex) over the paths and bytes of the manifests, independent of the order in which they were read. */
  readonly tree: string;
  /** A selection was given, even if it includes everything: nothing is an orphan. */
  readonly partial?: true;
  /** Resources that the selection excluded: they are never orphans, and their names still resolve. */
  readonly unselected: readonly Pick<DesiredResource, 'id' | 'key' | 'ignore'>[];
  readonly notices: readonly Diagnostic[];
  /** Findings that comments in the manifests accept; absent without any. */
  readonly acknowledged?: readonly Acknowledged[];
  /** Converts a finding in a resource's manifest to a diagnostic with position and code frame; undefined if a comment there accepts it. */
  readonly diagnose?: (id: ResourceId, finding: DocumentDiagnostic) => Diagnostic | undefined;
  /** Returns a finding of a whole load, with the reason if a comment at its place accepts it. */
  readonly acknowledge?: (finding: Diagnostic) => Pick<Acknowledged, 'finding'> & Partial<Acknowledged>;
  /** Returns the comments that accept findings, with the lines that they are about. */
  readonly acknowledgments?: () => readonly Acknowledgment[];
  /** Returns what seals contents of secrets in digests. */
  readonly digestSecret: () => DigestSecret;
  /** Policies about connections; absent when no manifest declares one. */
  readonly policies?: readonly Policy[];
  /** Expectations about access; absent when no manifest states one. */
  readonly accessTests?: readonly AccessTest[];
};

/** The desired state of no manifests. */
export const emptyState: DesiredState = {
  resources: [],
  edges: [],
  tree: '',
  unselected: [],
  notices: [],
  digestSecret: () => ({ text: '', random: true }),
};

/** Returns a manifest with the values of fields that it leaves to the gateway. */
export function withLeftFields(resource: DesiredResource, fields: JsonObject | undefined): DesiredResource {
  if (fields === undefined) return resource;
  const more = Object.entries(fields).filter(([name]) => resource.spec[name] === undefined);
  const stated = new Set([...resource.stated, ...more.map(([name]) => name)]);
  return { ...resource, spec: { ...resource.spec, ...Object.fromEntries(more) }, stated };
}

/** Returns the secrets that a manifest stated and leaves to the gateway now: it ignores or keeps them, or does not state them any more. */
export function leftSecrets(resource: DesiredResource, base: DesiredResource): readonly Pointer[] {
  return Object.keys(base.secrets).filter((path) => {
    if (base.secrets[path]?.state === 'keep' || isWithinAny(path, base.ignore)) return false;
    const secret = resource.secrets[path];
    const isUnstated = secret === undefined ? !isWithinAny(path, resource.wholeSecrets) : secret.state === 'keep';
    return isUnstated || isWithinAny(path, resource.ignore);
  });
}

/** Returns whether two manifests state the same, wherever and in whatever order; secrets count by their sources and committed contents. */
export function isSameManifest(one: DesiredResource, other: DesiredResource): boolean {
  return one === other || (equal(one.spec, other.spec) && haveSameSecrets(one, other) && termsText(one) === termsText(other));
}

/** Returns whether two manifests state the same secrets. */
export function haveSameSecrets(one: DesiredResource, other: DesiredResource): boolean {
  if (one === other || (one.secrets === other.secrets && one.wholeSecrets === other.wholeSecrets)) return true;
  if (one.wholeSecrets.join('\0') !== other.wholeSecrets.join('\0')) return false;
  for (const path in one.secrets) if (!isSameSecretSource(one.secrets[path], other.secrets[path])) return false;
  for (const path in other.secrets) if (one.secrets[path] === undefined) return false;
  return true;
}

/** Returns everything that a manifest states besides its fields and secrets. */
function termsText(resource: DesiredResource): string {
  const { key, stated, ignore, selector, protect, adopt, replaces = '', renamedFrom = '', samples = [] } = resource;
  const ends = (resource.grants ?? []).map(({ path, until, reason = '' }) => [path, until, reason]);
  const chosen = selector === undefined ? [] : [selector.field, selector.value];
  const lists = [[...stated].toSorted(), ignore.toSorted(), chosen];
  return canonical([key, ...lists, protect, adopt, replaces, renamedFrom, samples.map(({ given }) => given), ends]);
}

/** The desired state of the last commit that was completely applied to a target. Secrets count by source, resolved or not. */
export type BaseState = {
  readonly commit: string;
  readonly desired: DesiredState;
  /** The commit that removed each manifest since then, where the history shows it. */
  readonly removedIn: ReadonlyMap<ResourceId, Commit>;
  /** The recorded values of fields that manifests stated earlier and leave to the gateway since, by the key of the object; absent without a record. */
  readonly left?: ReadonlyMap<ResourceId, JsonObject>;
  /** The recorded names that objects had before, the last one first, by the key of the object; absent without a record. */
  readonly names?: ReadonlyMap<ResourceId, readonly ResourceId[]>;
};

/** A commit: its hash and the first line of its message. */
export type Commit = { readonly id: string; readonly subject: string };

/** Returns the id that a resource had before, or the id of its predecessor. */
export function formerIdOf({
  id,
  renamedFrom,
  replaces,
}: Pick<DesiredResource, 'id' | 'renamedFrom' | 'replaces'>): ResourceId | undefined {
  const name = renamedFrom ?? replaces;
  return name === undefined ? undefined : resourceId(kindOf(id), name);
}
