import type { DesiredState } from '../../model/desired.ts';
import { AppError } from '../../model/errors.ts';
import { definedFields, type JsonObject } from '../../model/json.ts';
import type { Permission } from '../../model/protection/permission.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import type { CliContext } from '../context/cli-context.ts';
import { grantedSnapshot } from '../planning/access-view.ts';
import { timeOf } from '../planning/target-policies.ts';
import { type PlanBase, readPlanBase } from '../../project/plan-base.ts';
import { groupsDeciding, groupsIn, permissionTerms } from '../../protection/permission/permission.ts';
import { allConnections } from '../../protection/posture/protection-snapshot.ts';
import type { AccessFlags, Asked } from '../can.ts';
import { termsText } from './answer-origins.ts';

/** What the record of applies says about access. */
export type AppliedAccess = {
  /** The recorded apply, or why none is known. */
  readonly summary: JsonObject;
  /** Returns whether people could do the same after that apply; undefined if none is known. */
  readonly isApplied: (permissions: readonly Permission[]) => boolean | undefined;
  /** Lists the groups that the manifests of that apply name for a connection, if these are not the manifests of the report. */
  readonly groupsOf: (connection: ResourceId) => readonly string[];
};

/** Reads what was last applied completely, and compares it with the manifests; undefined if these do not decide the report. */
export async function readAppliedAccess(asked: Asked, flags: AccessFlags, context: CliContext): Promise<AppliedAccess | undefined> {
  const { project, printer, view } = asked;
  const { desired } = view;
  if (desired === undefined || flags.base !== undefined) return undefined;
  const based = await readRecorded(project, desired, flags);
  if (based instanceof AppError) {
    const { code, message, hint } = based;
    printer.diagnostics([{ code, severity: 'warning', message, hint }]);
    return unknown('unreadable');
  }
  printer.diagnostics(based.diagnostics.filter(({ severity }) => severity === 'warning'));
  if (based.refusals.length > 0) return unknown('not proven');
  const { base, read } = based;
  const { repository } = project;
  if (base === undefined || read === undefined || repository === undefined || repository instanceof AppError) return unknown('none');
  const snapshot = grantedSnapshot(base.desired, timeOf({}, context), project);
  const declared = new Set(asked.connections);
  const removed = base.desired === desired ? [] : allConnections(snapshot).filter((id) => !declared.has(id));
  const { pending, unmerged } = read.record;
  const summary = definedFields({
    commit: base.commit,
    time: recordedAt(read),
    unmerged,
    isIncomplete: pending.length > 0 ? true : undefined,
    removed: removed.length === 0 ? undefined : removed.map(nameOf).toSorted(),
  });
  if (base.desired === desired) return { summary, isApplied: () => true, groupsOf: () => [] };
  const groups = groupsIn(snapshot);
  return {
    summary,
    groupsOf(id) {
      if (!snapshot.resources.has(id)) return [];
      const deciding = groupsDeciding({ id, snapshot });
      return groups.filter((group) => deciding.has(group));
    },
    isApplied: (permissions) =>
      permissions.every((now) => {
        if (!snapshot.resources.has(now.connection)) return false;
        const then = permissionTerms({ id: now.connection, snapshot }, now);
        return termsText(then) === termsText(now);
      }),
  };
}

function unknown(reason: string): AppliedAccess {
  return { summary: { unknown: reason }, isApplied: () => undefined, groupsOf: () => [] };
}

/** Reads the base of plans. Without access to origin, and without a record in this clone, none is known. */
async function readRecorded(project: Asked['project'], desired: DesiredState, flags: AccessFlags): Promise<PlanBase | AppError> {
  try {
    return await readPlanBase({ ...project, desired, options: flags });
  } catch (error) {
    if (error instanceof AppError && error.code === 'git/origin-unreachable') return error;
    throw error;
  }
}

/** Returns when the record was written: what it names was live by then. An apply that has not ended has no such time. */
function recordedAt({ record, at }: NonNullable<PlanBase['read']>): string | undefined {
  return record.pending.length > 0 || record.lease !== undefined ? undefined : at?.toISOString();
}
