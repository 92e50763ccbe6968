import { isDeletedOutside, liveKeyOf } from '../model/plan/plan.ts';
import type { PlanDraft, ReviewedPlan } from '../reconcile/reconcile.ts';
import type { AuditedChanges } from '../reconcile/accepted/assess-accepted.ts';
import { deletion } from '../reconcile/diff/missing-objects.ts';
import { findWriters } from '../reconcile/drift/find-writers.ts';

/** Adds who deleted each object that was deleted outside Ostiary to the reason why it is blocked, if the audit log has that. */
export async function nameDeleters(
  reviewed: ReviewedPlan,
  { prepared: { desired, live } }: PlanDraft,
  readLog: () => Promise<AuditedChanges | undefined>,
): Promise<ReviewedPlan> {
  const { plan } = reviewed;
  const deleted = plan.changes.filter(isDeletedOutside);
  const log = deleted.length === 0 ? undefined : await readLog();
  if (log === undefined) return reviewed;
  const writers = findWriters({ changes: deleted, edges: [] }, { desired, live, ...log });
  const changes = plan.changes.map((change) => {
    const { error } = change;
    const by = writers.get(liveKeyOf(change))?.find(({ method }) => method === 'DELETE')?.by ?? '';
    if (error === undefined || by === '') return change;
    return { ...change, error: { ...error, message: error.message.replace(deletion, () => `${deletion} by ${by}`) } };
  });
  return { ...reviewed, plan: { ...plan, changes } };
}
