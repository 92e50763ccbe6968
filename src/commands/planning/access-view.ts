import { registry } from '../../kinds/index.ts';
import type { DesiredState } from '../../model/desired.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { requireValue } from '../../model/errors.ts';
import type { LiveState } from '../../model/live.ts';
import { deletedOutside } from '../../model/plan/plan.ts';
import { connect, readLive } from '../session/connect.ts';
import type { CliContext } from '../context/cli-context.ts';
import type { TargetFlags } from '../context/options.ts';
import { readWorkingTree } from '../../project/checkout.ts';
import { loadTarget } from '../../project/manifests.ts';
import type { PlanBaseOptions } from '../../project/plan-base.ts';
import type { OpenProject } from '../../project/project.ts';
import { type DeciderPosition, deciderPositions } from '../../protection/permission/decider-positions.ts';
import { grantEnds } from '../../protection/posture/grant-ends.ts';
import { liveSnapshot, plannedSnapshot, type ProtectionSnapshot } from '../../protection/posture/protection-snapshot.ts';
import { grantedAt } from '../../reconcile/prepare/ended-grants.ts';
import { declaredSnapshot } from './access-tests.ts';
import { createPlan } from './create-plan.ts';
import { timeOf } from './target-policies.ts';

/** The state of a gateway that is asked about: as the manifests declare it, as it is, or as the plan would leave it. */
export type AccessSource = 'manifests' | 'live' | 'plan';

/** A state of a gateway, and where the manifests state what decides it. */
export type AccessView = {
  readonly source: AccessSource;
  readonly snapshot: ProtectionSnapshot;
  /** Returns the line of a manifest; undefined for an object without one. */
  readonly placeOf: DeciderPosition;
  /** The manifests; undefined where they do not decide. */
  readonly desired?: DesiredState;
  /** The manifests of the working tree; undefined where none were read. */
  readonly declared?: DesiredState;
  /** The gateway as it is; undefined where it was not asked, or plans change it. */
  readonly live?: LiveState;
  readonly diagnostics: readonly Diagnostic[];
};

type ViewFlags = TargetFlags & PlanBaseOptions & { readonly source: AccessSource; readonly today?: string };

/** Reads the state that is asked about. Throws InputError for invalid manifests; only `manifests` needs no gateway. */
export async function readAccessView(project: OpenProject, flags: ViewFlags, context: CliContext): Promise<AccessView> {
  const { source } = flags;
  if (source === 'plan') {
    const planned = await createPlan(project, { ...flags, secrets: 'unresolved', allow: [], import: [], revert: [] }, context, {
      purpose: 'preview',
    });
    await planned.gateway.close();
    const { plan, live, desired, warnings } = planned;
    // A preview drafts what a plan leaves blocked.
    const gone = new Set(warnings.filter(({ code }) => code === deletedOutside).map(({ resource }) => resource));
    const changes = plan.changes.filter(({ id }) => !gone.has(id));
    const snapshot = { ...plannedSnapshot({ ...plan, changes }, live, registry), ends: grantEnds(desired) };
    return { source, snapshot, placeOf: deciderPositions(desired, snapshot), declared: desired, diagnostics: warnings };
  }
  if (source === 'live') {
    const { gateway, identity } = await connect(project.target, { flags, context });
    try {
      const live = await readLive(gateway, { flags, context });
      return { source, snapshot: liveSnapshot(live, registry, identity.dialect), placeOf: () => undefined, live, diagnostics: [] };
    } finally {
      await gateway.close();
    }
  }
  const now = timeOf(flags, context);
  const read = await readWorkingTree(project);
  const loaded = loadTarget(project, { secrets: 'leave', read, ends: { now, ended: 'warning' } });
  const desired = requireValue(loaded);
  const snapshot = grantedSnapshot(desired, now, project);
  return { source, snapshot, placeOf: deciderPositions(desired), desired, declared: desired, diagnostics: loaded.diagnostics };
}

/** Takes the snapshot of a gateway that has what the manifests declare, without the grants that have ended. */
export function grantedSnapshot(desired: DesiredState, now: string, project: Pick<OpenProject, 'target'>): ProtectionSnapshot {
  return declaredSnapshot(grantedAt(desired, now), project);
}
