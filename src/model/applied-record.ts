import type { DeclaredEdge, DesiredResource } from './desired.ts';
import type { JsonObject } from './json.ts';
import type { Pointer } from './pointer.ts';
import type { EdgeEnds, ResourceId } from './resource.ts';

/** A live object that was removed from the manifests, with the last applied commit that declares it. */
export type RecordedOrphan = {
  readonly id: ResourceId;
  /** The identity on the gateway, if that is not `id`. */
  readonly key?: ResourceId;
  readonly uid?: string;
  /** Absent if the manifest was never committed. */
  readonly commit?: string;
  /** `file:line` of the manifest at that commit. */
  readonly at?: string;
  readonly removedIn?: string;
  readonly subject?: string;
};

/** An object that an incomplete apply writes. */
export type PendingObject = {
  readonly id: ResourceId;
  readonly key?: ResourceId;
  /** The gateway's id, once the write is complete: of a deleted object, the one that it had. */
  readonly uid?: string;
  /** The other ends of the attachments that the write removed, once it is complete. */
  readonly detached?: readonly ResourceId[];
  /** The apply reverted its drift alone: what its manifest changes is not written. */
  readonly onlyReverted?: true;
  /** The apply creates or imports the object. */
  readonly ours: boolean;
  /** The drift that the apply reverts, until the write is complete. */
  readonly reverts?: readonly Pointer[];
  /** The drift that the apply leaves in place, until the write is complete. */
  readonly holds?: readonly Pointer[];
};

/** Returns the identity on the gateway of an object that a record names. */
export function recordedKeyOf({ id, key = id }: { readonly id: ResourceId; readonly key?: ResourceId }): ResourceId {
  return key;
}

/** What an incomplete apply writes; without a commit its manifests are not committed. */
export type PendingWrites = {
  readonly commit?: string;
  readonly objects: readonly PendingObject[];
  readonly edges: readonly EdgeEnds[];
};

/** The run that may write, until an ISO 8601 time. */
export type ApplyLease = { readonly run: string; readonly until: string };

/** An apply in the gateway's audit log: its writes are those of a caller after one entry and until another one; all times are the gateway's. */
export type RecordedApply = {
  readonly principal: string;
  /** RFC 3339; empty for an empty log. */
  readonly after: string;
  /** Absent until the apply has ended. */
  readonly until?: string;
};

/**
 * The objects that decide access and that no manifest declares, as the last complete apply has read them: by kind, each with its id, its name
 * and the fields that decide access; `access-control` has the groups of connections by their ids, `attributes` their attributes by their names.
 * `omitted`: there are too many.
 */
export type RecordedAccess = Readonly<Record<string, readonly JsonObject[] | 'off' | 'unreadable' | 'omitted'>>;

/** Fields of an object that manifests stated once and leave to the gateway now, by the identity of the object there. */
export type RecordedFields = { readonly id: ResourceId; readonly fields: JsonObject };

/** The names that an object had before, the last one first, by its identity on the gateway. */
export type RecordedNames = { readonly id: ResourceId; readonly former: readonly ResourceId[] };

/** What is known of the applies to one target. */
export type AppliedRecord = {
  /** The last completely applied commit. */
  readonly commit?: string;
  /** A commit that was completely applied since, but not reviewed; `commit` is then the last reviewed one that it contains. */
  readonly unmerged?: string;
  /** The refusals that the last complete apply overrode. */
  readonly overrides?: readonly { readonly code: string; readonly reason: string }[];
  /** The last applies that wrote, the oldest first. */
  readonly applies?: readonly RecordedApply[];
  /** The versions of secrets on the gateway when they were equal to those of the manifests, as hashes. */
  readonly secrets?: string;
  /** Which secrets were equal to those of the manifests, as keyed hashes that only the same token can compare. */
  readonly verified?: string;
  readonly access?: RecordedAccess;
  /** Fields that the manifests leave to the gateway, as the last complete apply left them. */
  readonly left?: readonly RecordedFields[];
  /** The objects that had other names before. */
  readonly names?: readonly RecordedNames[];
  readonly orphans: readonly RecordedOrphan[];
  readonly pending: readonly PendingWrites[];
  /** The approved plan that the last apply with a digest began; encrypted, absent after a complete apply. */
  readonly approved?: string;
  /** The digest of the approved plan that the last complete apply applied; absent if it had none. */
  readonly digest?: string;
  readonly lease?: ApplyLease;
};

/** The signature of a record: the public half of its key, a counter that grows with each record, and the signature in base64. */
export type RecordSignature = { readonly key: string; readonly counter: number; readonly value: string };

export const emptyRecord: AppliedRecord = { orphans: [], pending: [] };

/** An object that is ours although the base does not declare it: an orphan, or one that an incomplete apply created. */
export type RememberedObject = {
  readonly id: ResourceId;
  /** The identity on the gateway. */
  readonly key: ResourceId;
  /** The gateway's id; an object with another one is unmanaged. */
  readonly uid?: string;
  /** The last applied commit that declares it, and the place there. */
  readonly commit?: string;
  readonly at?: string;
  readonly removedIn?: string;
  readonly subject?: string;
  /** Its last applied manifest; undefined if that cannot be read. */
  readonly resource: DesiredResource | undefined;
  /** The apply that created it may have been interrupted before it was complete. */
  readonly unfinished?: true;
  /** The drift of its predecessor that the apply gave it. */
  readonly holds?: readonly Pointer[];
};

/** What an incomplete apply wrote to an applied object: its manifest, absent where the apply closed the object. */
export type WrittenForm = Pick<PendingObject, 'reverts' | 'holds'> & {
  readonly resource?: DesiredResource;
  /** No manifest of the apply is known to declare the object: it may have deleted it. With a `uid`, it has deleted the object with that id. */
  readonly deletes?: true;
  readonly uid?: string;
  /** The apply created the object, and may not have completed it. */
  readonly unfinished?: true;
  /** The apply has written the object completely. */
  readonly complete?: true;
};

/** The objects that an incomplete apply writes, and the edges that its manifests declare: it may have removed any other edge there. */
export type BegunEdges = {
  readonly keys: ReadonlySet<ResourceId>;
  /** Those that it has written completely, each with the other ends of the attachments that it removed. */
  readonly done: ReadonlyMap<ResourceId, readonly ResourceId[]>;
  /** Undefined if the manifests are not known. */
  readonly edges: readonly DeclaredEdge[] | undefined;
};

/** What is known of applies beyond the last complete one. */
export type Remembered = {
  readonly objects: readonly RememberedObject[];
  /** The edges that the last manifests of these objects declare. */
  readonly edges: readonly DeclaredEdge[];
  /** What incomplete applies wrote to applied objects, by key. */
  readonly written: ReadonlyMap<ResourceId, readonly WrittenForm[]>;
  /** The edges that incomplete applies attached. */
  readonly attached: readonly EdgeEnds[];
  readonly begun: readonly BegunEdges[];
};
