import type { Diagnostic } from '../../model/diagnostic.ts';
import { type Change, isDeletedOutside, liveKeyOf, secretDeletedOutside } from '../../model/plan/plan.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { AuditedWrite } from '../../model/result/drift.ts';
import type { PlanDraft, ReviewedPlan } from '../../reconcile/reconcile.ts';
import type { AuditedChanges } from '../../reconcile/accepted/assess-accepted.ts';
import { deletion } from '../../reconcile/cells/missing-secrets.ts';
import { findWriters } from '../../reconcile/drift/find-writers.ts';

type WithDiagnostics = { readonly value: ReviewedPlan; readonly diagnostics: readonly Diagnostic[] };

/**
 * Adds who deleted each object that was deleted outside Ostiary to the reason why it is blocked, if the audit log has that. A deleted secret
 * is an update of its object: its author is known if only one user changed the object.
 */
export async function nameDeleters(
  reviewed: WithDiagnostics,
  { prepared: { desired, live } }: PlanDraft,
  readLog: () => Promise<AuditedChanges | undefined>,
): Promise<WithDiagnostics> {
  const { plan } = reviewed.value;
  const deleted = plan.changes.filter(isDeletedOutside);
  const lost = reviewed.diagnostics.flatMap(({ code, resource }) => (code === secretDeletedOutside ? (resource ?? []) : []));
  const log = deleted.length + lost.length === 0 ? undefined : await readLog();
  if (log === undefined) return reviewed;
  const losing = desired.resources.filter(({ id }) => lost.includes(id));
  const sought = [...deleted, ...losing.map(({ id, key }): Change => ({ id, key, action: 'update', fields: [], needs: [], carried: [] }))];
  const writers = findWriters({ changes: sought, edges: [] }, { desired, live, ...log });
  const changes = plan.changes.map((change) => {
    const { error } = change;
    const by = writers.get(liveKeyOf(change))?.find(({ method }) => method === 'DELETE')?.by ?? '';
    return error === undefined || !isDeletedOutside(change) ? change : { ...change, error: withDeleter(error, by) };
  });
  const updatesOf = (key: ResourceId | undefined): readonly AuditedWrite[] =>
    (key === undefined ? [] : (writers.get(key) ?? [])).filter(({ method }) => method !== 'POST');
  const diagnostics = reviewed.diagnostics.map((one) => {
    const key = one.code === secretDeletedOutside ? losing.find(({ id }) => id === one.resource)?.key : undefined;
    const [by = '', ...others] = new Set(updatesOf(key).map((write) => write.by));
    return others.length > 0 ? one : withDeleter(one, by);
  });
  return { value: { ...reviewed.value, plan: { ...plan, changes } }, diagnostics };
}

function withDeleter<T extends { readonly message: string }>(one: T, by: string): T {
  return by === '' ? one : { ...one, message: one.message.replace(deletion, () => `${deletion} by ${by}`) };
}
