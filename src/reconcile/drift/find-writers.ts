import { addToGroup } from '../../model/collections.ts';
import { desiredByKey, type DesiredState } from '../../model/desired.ts';
import type { AuditedWrite } from '../../model/result/drift.ts';
import type { LiveState } from '../../model/live.ts';
import { isPointerWithin, type Pointer } from '../../model/pointer.ts';
import { type Change, liveKeyOf, type Diff, renamesOf, withNames } from '../../model/plan/plan.ts';
import { isUuid, kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import type { AppliedRecord, RecordedApply } from '../../model/applied-record.ts';
import { timeKey } from '../../model/time.ts';

type WriterContext = {
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly writes: readonly AuditedWrite[];
  /** What is known of the writes of applies. */
  readonly record?: ApplyRecordOfWrites | undefined;
};

/**
 * Finds the audited writes to each object that a plan changes, and to both ends of each edge, in the order of the log. The gateway
 * id of a deleted object is known only if the log has it next to the name. Writes before the last creation are left out: they
 * belong to an earlier object with the same name, and so are the writes of applies. Attributes can be attached from their own side, and channels are
 * rows of a plugin, which no audit log has: a change of nothing else has no known writer.
 */
export function findWriters(
  { changes, edges }: Pick<Diff, 'changes' | 'edges'>,
  { desired, live: read, writes, record }: WriterContext,
): ReadonlyMap<ResourceId, readonly AuditedWrite[]> {
  const live = withNames(read, renamesOf(changes));
  const uids = new Map(live.resources.map(({ id, uid }) => [id, uid]));
  const ids = new Set([
    ...changes.filter((change) => !changesUnauditedAlone(change)).map(liveKeyOf),
    ...edges.flatMap(({ rule, connection }) => [rule, connection]),
  ]);
  const byName = new Map<string, AuditedWrite[]>();
  for (const write of writes) {
    for (const name of new Set(write.names)) {
      const key = `${write.kind}/${name}`;
      addToGroup(byName, key, write);
    }
  }
  const named = (kind: string, names: readonly string[]): ReadonlySet<AuditedWrite> =>
    new Set(names.flatMap((name) => byName.get(`${kind}/${name}`) ?? []));
  const found = new Map(
    [...ids].map((id): readonly [ResourceId, ReadonlySet<AuditedWrite>] => {
      const [kind, name, uid] = [kindOf(id), nameOf(id), uids.get(id)];
      const knownUids = uid === undefined ? [...named(kind, [name])].flatMap(({ names }) => names.filter(isUuid)) : [uid];
      return [id, sinceCreated(named(kind, [name, ...knownUids]), writes)];
    }),
  );
  const missing = [...ids].filter((id) => !uids.has(id));
  for (const id of missing) {
    const deletion = loneDeletion(id, missing, { desired, live, writes });
    if (deletion !== undefined) found.set(id, new Set([...(found.get(id) ?? []), deletion]));
  }
  const others = withoutApplyWrites(writes, record);
  const listed = [...found].map(([id, own]) => [id, writes.flatMap((write) => (own.has(write) ? (others.get(write) ?? []) : []))] as const);
  return new Map(listed.filter(([, own]) => own.length > 0));
}

/** Fields that are written otherwise than with their object, by writes that no audit log has. */
const unaudited: readonly Pointer[] = ['/attributes', '/slack_channels'];

function changesUnauditedAlone({ action, fields }: Pick<Change, 'action' | 'fields'>): boolean {
  return action === 'update' && fields.length > 0 && fields.every(({ path }) => unaudited.some((field) => isPointerWithin(path, field)));
}

/** Returns the writes since the last creation. */
function sinceCreated(own: ReadonlySet<AuditedWrite>, writes: readonly AuditedWrite[]): ReadonlySet<AuditedWrite> {
  const newestFirst = writes.filter((write) => own.has(write));
  const creation = newestFirst.findIndex(({ method }) => method === 'POST');
  return creation < 0 ? own : new Set(newestFirst.slice(0, creation + 1));
}

/** Returns the only deletion in the log that can be that of a missing object. */
function loneDeletion(id: ResourceId, missing: readonly ResourceId[], { desired, live, writes }: WriterContext): AuditedWrite | undefined {
  const kind = kindOf(id);
  // It may have been renamed instead.
  if (missing.some((one) => one !== id && kindOf(one) === kind)) return undefined;
  const present = live.resources.filter((one) => kindOf(one.id) === kind);
  const declared = desiredByKey(desired.resources);
  if (present.some((one) => !declared.has(one.id))) return undefined;
  const known = new Set(present.map(({ uid }) => uid));
  const isOfUnknown = (name: string): boolean => isUuid(name) && !known.has(name);
  const deletions = writes.filter((write) => write.kind === kind && write.method === 'DELETE' && write.names.every(isOfUnknown));
  return deletions.length === 1 ? deletions[0] : undefined;
}

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
