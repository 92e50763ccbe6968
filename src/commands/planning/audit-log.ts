import { committedAt } from '../../git/repository.ts';
import type { Target } from '../../model/config.ts';
import { ApiError } from '../../model/errors.ts';
import type { AuditedWrite } from '../../model/result/drift.ts';
import { withService } from '../session/connect.ts';
import type { CliContext } from '../context/cli-context.ts';
import type { TargetFlags } from '../context/options.ts';
import type { PlanBase } from '../../project/plan-base.ts';
import type { AuditedChanges } from '../../reconcile/accepted/assess-accepted.ts';
import { type OpenProject, readableRepository } from '../../project/project.ts';

const maxWrites = 1000;
const defaultDays = 30;

/** Returns when the base was committed, because drift is younger; without a base, or outside a repository, it is 30 days ago. */
export async function timeOfBase(base: string | undefined, project: OpenProject, { now }: Pick<CliContext, 'now'>): Promise<Date> {
  const repository = base === undefined ? undefined : readableRepository(project);
  if (base !== undefined && repository !== undefined) return committedAt(repository, base);
  return new Date(now().getTime() - defaultDays * 86_400_000);
}

/** Reads the audited writes since a time; undefined if the gateway provides none, so that reports go without them. */
export async function readAuditedWrites(
  since: Date,
  target: Target,
  { flags, context }: { readonly flags: TargetFlags; readonly context: CliContext },
): Promise<readonly AuditedWrite[] | undefined> {
  try {
    return await withService(target, { flags, context }, (service) => service.writesSince(since, maxWrites));
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** Reads who changed the gateway since a commit; undefined if its audit log cannot be read, or no record separates the writes of applies. */
export async function readAudit(
  { project, planBase }: { readonly project: OpenProject; readonly planBase: PlanBase },
  since: string | undefined,
  { flags, context }: { readonly flags: TargetFlags; readonly context: CliContext },
): Promise<AuditedChanges | undefined> {
  const record = planBase.read?.record;
  // An import that writes nothing records its commit alone.
  if (record === undefined || (record.commit === undefined && (record.applies ?? []).length === 0)) return undefined;
  const writes = await readAuditedWrites(await timeOfBase(since, project, context), project.target, { flags, context });
  return writes === undefined ? undefined : { writes, record };
}
