import { memoizeIndex } from './collections.ts';
import { equal } from './json.ts';
import { isPointerWithin, type Pointer, pointer } from './pointer.ts';
import { type EdgeEnds, type ResourceId, type Spec, kindOf, nameOf } from './resource.ts';
import type { LiveSecret } from './secret.ts';
import type { Registry } from './kind.ts';

const knownEdges = new WeakMap<readonly LiveResource[], { readonly registry: Registry; readonly edges: readonly EdgeEnds[] }>();

/** Lists all live edges, each once, whichever end shows it. The list of resources must not change: every stage of a plan asks for its edges. */
export function liveEdges({ resources }: Pick<LiveState, 'resources'>, registry: Registry): readonly EdgeEnds[] {
  const known = knownEdges.get(resources);
  if (known?.registry === registry) return known.edges;
  const edges = readEdges(resources, registry);
  knownEdges.set(resources, { registry, edges });
  return edges;
}

function readEdges(resources: readonly LiveResource[], registry: Registry): readonly EdgeEnds[] {
  const seen = new Map<ResourceId, Set<ResourceId>>();
  const edges: EdgeEnds[] = [];
  const fields = new Map([...registry].map(([name, kind]) => [name, kind.fields.filter((field) => field.edge !== undefined)]));
  for (const resource of resources) {
    for (const field of fields.get(kindOf(resource.id)) ?? []) {
      for (const other of resource.edges[field.name] ?? []) {
        const ends = field.edge === 'rule' ? { rule: resource.id, connection: other } : { rule: other, connection: resource.id };
        const connections = seen.get(ends.rule) ?? new Set<ResourceId>();
        seen.set(ends.rule, connections);
        if (connections.has(ends.connection)) continue;
        connections.add(ends.connection);
        edges.push(ends);
      }
    }
  }
  return edges;
}

/** One resource on the gateway, normalized like a desired one. References are names where the gateway lists them, else ids. */
export type LiveResource = {
  /** `Kind/identity`. */
  readonly id: ResourceId;
  /** The gateway's own id. */
  readonly uid: string;
  readonly spec: Spec;
  readonly secrets: Readonly<Record<Pointer, LiveSecret>>;
  /** The other ends of edges, by edge field of this resource. An end without a known name is `Kind/uid`. */
  readonly edges: Readonly<Record<string, readonly ResourceId[]>>;
  /** The names of the connections that have it, where the gateway lists them with an attribute. */
  readonly links?: readonly string[];
  /** The original response; only the dialect reads it, to send unchanged values back. */
  readonly raw: unknown;
  /** Values that this read does not contain. */
  readonly unknown: readonly Pointer[];
  /** Those of them that a read of the single object contains. */
  readonly leftOut?: readonly Pointer[];
  /** Changes whenever the stored secrets change; absent when the gateway reports no reliable version. */
  readonly secretsVersion?: string;
  /** The secrets come from a read or a write of this one object: lists leave them out. */
  readonly secretsApart?: true;
  /** The side that differs if the secrets do: it is proven to have changed since both were last equal, and for `source` the gateway has not. */
  readonly changedSecrets?: 'gateway' | 'source';
  readonly managedBy?: string;
  /** The gateway reports no write since the creation. */
  readonly untouched?: boolean;
  /** It states nothing: the gateway creates such an object where others name it. */
  readonly isLabel?: true;
  /** The version for conditional writes (an ETag), if the gateway has one. */
  readonly version?: string;
};

/** Lists the names of the connections that an object names, or that have it as their attribute. */
export function connectionsOf({ edges, links = [] }: Pick<LiveResource, 'edges' | 'links'>): readonly string[] {
  return [...Object.values(edges).flatMap((ends) => ends.map(nameOf)), ...links];
}

/** Indexes live resources by id. */
export const liveById: (resources: readonly LiveResource[]) => ReadonlyMap<ResourceId, LiveResource> = memoizeIndex(({ id }) => id);

/** Returns the fields of an object that the gateway keeps in rows, with their paths. */
export function rowFieldsOf(
  { rowFields }: Pick<LiveState, 'rowFields'>,
  kind: string,
): readonly { readonly name: string; readonly path: Pointer }[] {
  const names = Object.keys(rowFields ?? {}).filter((field) => field.startsWith(`${kind}.`));
  return names.map((field) => field.slice(kind.length + 1)).map((name) => ({ name, path: pointer(name) }));
}

/** Returns whether a path is in a row that an object does not have yet: the gateway writes rows after it has created their objects. */
export function isMissingRow(path: Pointer, { id, spec }: Pick<LiveResource, 'id' | 'spec'>, state: Pick<LiveState, 'rowFields'>): boolean {
  return rowFieldsOf(state, kindOf(id)).some(({ name, path: field }) => isPointerWithin(path, field) && equal(spec[name], []));
}

/** An object that manifests refer to but cannot declare, such as an agent. */
export type LookupEntry = { readonly uid: string; readonly name: string };

/** The connections that a gateway limits to their own longest access: `reviewed`, those whose reviewers approve native access; `none`. */
export type AccessLimits = 'reviewed' | 'none';

/**
 * The keys of the secrets that connections inherit, by the name of their resource; `hidden` where the gateway does not show them. A
 * resource that is not listed does not exist.
 */
export type InheritedKeys = ReadonlyMap<string, readonly string[]> | 'hidden';

/** The groups in the row that a gateway keeps beside an object, by the gateway's id of the object. */
export type GrantRow = { readonly uid: string; readonly groups: readonly string[] };

/** Whether a gateway keeps the rows of a field now: `off` is a field of a feature that is off. */
export type RowFieldState = 'on' | 'off' | 'unreadable';

/** Returns the objects that decide access and that no plan writes: those of watched kinds, and those that share their name. */
export function fixedObjects({ watched = [], namesakes = [] }: Pick<LiveState, 'watched' | 'namesakes'>): readonly LiveResource[] {
  return namesakes.length === 0 ? watched : [...watched, ...namesakes];
}

/** A kind that decides access and was not listed. */
export type UnreadKind = {
  readonly kind: string;
  /** The request and what is wrong with its answer; absent where this token may not list the kind, or it was not asked for. */
  readonly failure?: { readonly message: string; readonly hint?: string | undefined } | undefined;
};

/** The version of a gateway, and the provider that finds what it masks: '' where none is configured. Absent: it does not report it. */
export type ServerFacts = { readonly version?: string; readonly provider?: string };

/** The complete state that was read from one gateway. */
export type LiveState = {
  readonly resources: readonly LiveResource[];
  /** Lookup tables for references. A missing kind cannot be listed on this gateway; references to it must be ids. */
  readonly lookups: Readonly<Record<string, readonly LookupEntry[]>>;
  /** The groups on the gateway; `unreadable` where it does not show its list of them, absent where it has none. */
  readonly groups?: readonly string[] | 'unreadable';
  /** The objects of watched kinds, which no manifest declares, sorted by name; absent where the gateway has no such kind, or none was asked for. */
  readonly watched?: readonly LiveResource[];
  /** The longest access in seconds where a connection sets no limit; absent when the gateway does not report it. */
  readonly longestAccess?: number;
  /** The connections for which the gateway enforces their own limit, if not all. */
  readonly accessLimits?: AccessLimits;
  /** What the gateway reports of itself that decides which rules it enforces. */
  readonly server?: ServerFacts;
  /** The fields that the gateway keeps in a row beside each object, and writes by a request of their own: `Kind.field`. */
  readonly rowFields?: Readonly<Record<string, RowFieldState>>;
  /** Kinds of the gateway that decide access and were not listed. */
  readonly unread?: readonly UnreadKind[];
  /** How many objects are only as their list has them, because a read of a part did not need them; absent if there are none. */
  readonly partly?: number;
  /** Objects that share their name with another one of their kind: no manifest can mean one of them. `resources` has none of them. */
  readonly namesakes?: readonly LiveResource[];
  /** Objects that no list contains but that exist when read by id: `Kind/uid`. */
  readonly hidden?: readonly ResourceId[];
};
