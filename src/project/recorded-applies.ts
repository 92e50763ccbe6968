import type { AppliedRecord } from '../model/applied-record.ts';
import type { AuditMark } from '../model/gateway.ts';

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
