import type { AppliedRecord, PendingWrites, RecordedOrphan } from '../model/applied-record.ts';
import type { ResourceId } from '../model/resource.ts';
import type { AuditMark } from '../model/gateway.ts';

/** The end of an apply. */
export type RecordedEnd = {
  /** Everything in the manifests is applied. */
  readonly complete: boolean;
  /** The versions of secrets, for the record. */
  readonly secrets?: string | undefined;
  /** What a complete apply leaves live although it was removed from the manifests. */
  readonly orphans: readonly RecordedOrphan[];
  /** What the apply wrote, or may have written. */
  readonly writes: PendingWrites;
  readonly deleted: ReadonlySet<ResourceId>;
};

/** Adds the writes to those of earlier applies of the same commit. */
export function withPending(record: AppliedRecord, writes: PendingWrites): AppliedRecord {
  if (writes.objects.length + writes.edges.length === 0) return record;
  const same = record.pending.find(({ commit }) => commit === writes.commit);
  const others = record.pending.filter((one) => one !== same);
  const ids = new Set(writes.objects.map(({ id }) => id));
  // What an earlier apply created stays ours.
  const wasOurs = new Map(same?.objects.filter(({ ours }) => ours).map((one) => [one.id, one]));
  const objects = [
    ...(same?.objects ?? []).filter(({ id }) => !ids.has(id)),
    ...writes.objects.map((one) => (one.ours ? one : (wasOurs.get(one.id) ?? one))),
  ];
  const edges = new Map([...(same?.edges ?? []), ...writes.edges].map((ends) => [`${ends.rule} ${ends.connection}`, ends]));
  return { ...record, pending: [...others, { ...writes, objects, edges: [...edges.values()] }] };
}

/** Returns the record after an apply that was complete. */
export function completeRecord({ applies }: AppliedRecord, { orphans, secrets }: RecordedEnd, commit: string): AppliedRecord {
  return { commit, ...(applies === undefined ? {} : { applies }), ...(secrets === undefined ? {} : { secrets }), orphans, pending: [] };
}

/** Adds the writes of an apply that was not complete. The base declares the writes of its own commit already. */
export function incompleteRecord(
  before: AppliedRecord,
  { writes, deleted, secrets }: RecordedEnd,
  commit: string | undefined,
): AppliedRecord {
  const { lease: _, secrets: __, ...record } = before;
  const isLive = ({ id, key = id }: { readonly id: ResourceId; readonly key?: ResourceId }): boolean => !deleted.has(key);
  const { pending, orphans, ...rest } = withPending(record, { ...(commit === undefined ? {} : { commit }), ...writes });
  const left = pending.map((one) => ({ ...one, objects: one.objects.filter(isLive) }));
  return {
    ...rest,
    ...(secrets === undefined ? {} : { secrets }),
    orphans: orphans.filter(isLive),
    pending: left.filter((one) => one.objects.length + one.edges.length > 0 && (one.commit === undefined || one.commit !== record.commit)),
  };
}

/** Older applies are forgotten: their writes are listed like those of any other caller. */
const maxApplies = 50;

/**
 * Adds an apply to a record: it writes after the newest entry of the audit log when it begins, and until the newest entry when it ends.
 * An earlier apply that did not end wrote nothing after that.
 */
export function withApply(record: AppliedRecord, begun: AuditMark | undefined, ended?: AuditMark): AppliedRecord {
  if (begun === undefined) return record;
  const { principal, at: after } = begun;
  const earlier = (record.applies ?? []).map((one) => ({ ...one, until: one.until ?? after }));
  const added = { principal, after, ...(ended === undefined ? {} : { until: ended.at }) };
  return { ...record, applies: [...earlier, added].slice(-maxApplies) };
}
