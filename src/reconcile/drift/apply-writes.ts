import type { AppliedRecord, RecordedApply } from '../../model/applied-record.ts';
import type { AuditedWrite } from '../../model/result/drift.ts';
import { timeKey } from '../../model/time-key.ts';
import { kindOf, nameOf } from '../../model/resource.ts';

/** What the record of applies knows of their writes. */
export type ApplyRecordOfWrites = Pick<AppliedRecord, 'applies' | 'pending' | 'lease'>;

/**
 * Returns the writes of an audit log that no apply of the target made. A write of the same caller before or after the applies was made
 * outside Ostiary; only writes before the oldest recorded apply may be those of forgotten applies.
 */
export function withoutApplyWrites(
  writes: readonly AuditedWrite[],
  record: ApplyRecordOfWrites | undefined,
): ReadonlyMap<AuditedWrite, AuditedWrite> {
  const applies = record?.applies ?? [];
  const oldest = applies[0];
  const covers = ({ at }: AuditedWrite): boolean => oldest !== undefined && timeKey(at) > timeKey(oldest.after);
  const others = record === undefined ? writes : writes.filter((write) => !applies.some((apply) => isWriteOf(apply, write, record)));
  return new Map(others.map((write) => [write, write.own && covers(write) ? { ...write, own: false } : write]));
}

function isWriteOf({ principal, after, until }: RecordedApply, write: AuditedWrite, record: ApplyRecordOfWrites): boolean {
  const at = timeKey(write.at);
  if (write.by !== principal || at <= timeKey(after)) return false;
  return until === undefined ? mayBeOfInterrupted(write, record) : at <= timeKey(until);
}

/** Returns whether an apply that has not ended may have made the write: its lease lasted, and it was about to write the object. */
function mayBeOfInterrupted({ at, kind, names }: AuditedWrite, { lease, pending }: ApplyRecordOfWrites): boolean {
  if (lease === undefined || timeKey(at) > timeKey(lease.until)) return false;
  const objects = pending
    .flatMap((one) => one.objects)
    .flatMap(({ id, key = id, uid }) => [{ kind: kindOf(id), texts: [nameOf(id), nameOf(key), ...(uid === undefined ? [] : [uid])] }]);
  return objects.some((object) => object.kind === kind && names.some((name) => object.texts.includes(name)));
}
