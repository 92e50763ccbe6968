import { plannedObjectsOf, type PlannedObject } from '../apply/fingerprint.ts';
import { staleRefusals } from '../apply/stale-refusals.ts';
import { readPlanFile } from '../disk/journal.ts';
import { registry } from '../kinds/index.ts';
import { hasErrors } from '../model/diagnostic.ts';
import { InputError, RefusedError, UsageError } from '../model/errors.ts';
import type { RequestEvent } from '../model/result/outcome.ts';
import { isWritten, type Refusal, type SavedPlan } from '../model/plan/plan.ts';
import type { ResourceId } from '../model/resource.ts';
import { longestPlan, openPlan } from '../reconcile/saved-plan/saved-plan.ts';
import { refuseAgain, withoutLimits } from '../reconcile/guard/refusals.ts';
import { riskRefusals } from '../protection/risk/risk-refusals.ts';
import { rescheduleSteps } from '../reconcile/schedule/schedule-writes.ts';
import type { ApplyFlags } from './flags.ts';
import { loadTarget } from '../project/manifests.ts';
import {
  differentPlan,
  otherManifests,
  otherRepository,
  otherTarget,
  otherTool,
  otherVersion,
  strangeChanges,
} from './saved-plan-checks.ts';
import { connect, readLive } from './connect.ts';
import type { PlanResult } from './create-plan.ts';
import { rootCommitsOf } from './saving.ts';
import { absolutePath, chooseTarget, resolveConfig, type ResolvedConfig } from '../project/resolved-config.ts';
import { secretOf, secretsFor } from './saved-secrets.ts';
import { printerFor } from './output/printer.ts';
import { emitPlan } from './output/emit.ts';
import { version } from './context/version.ts';
import type { CliContext } from './context/cli-context.ts';

/** A plan that was saved, with what is live by now and what objects were then. */
export type ResumedPlan = PlanResult & { readonly seen: ReadonlyMap<ResourceId, PlannedObject>; readonly whole: boolean };

/**
 * Takes a plan from a file instead of making one. It must be for this target, these manifests, this repository and this
 * version; secrets are read anew, and what somebody else changed on the gateway since is a refusal of the plan.
 */
export async function resumePlan(
  path: string,
  flags: ApplyFlags,
  { context, onRequest }: { readonly context: CliContext; readonly onRequest: (event: RequestEvent) => void },
): Promise<ResumedPlan> {
  refuseShaping(flags);
  const saved = readSaved(path, context);
  const fit = (found: readonly (Refusal | undefined)[]): Promise<void> => refuseUnfit(saved, found, flags, context);
  await fit([otherTool(saved.tool, version), flags.digest === undefined ? undefined : differentPlan(flags.digest, saved.plan)]);
  const config = resolveConfig(flags, context);
  requireNoPaths(config, flags);
  const target = chooseTarget(config, { ...flags, ...targetOf(saved, config, flags) });
  const changed = saved.plan.changes.filter(setsSecrets);
  const secrets = new Set<string>(changed.map(({ id }) => id));
  const loaded = loadTarget(config, target, { selection: flags, context, secrets });
  if (loaded.value === undefined || hasErrors(loaded.diagnostics)) throw new InputError(loaded.diagnostics);
  await fit([
    otherTarget(saved.plan.target, { ...saved.plan.target, name: target.name }),
    otherManifests(saved.plan.tree, loaded.value.tree),
    otherRepository(saved.repository, await rootCommitsOf(config, context)),
    ...strangeChanges(saved.plan, loaded.value),
  ]);
  const { gateway, identity } = await connect(target, { flags, context, onRequest });
  try {
    const { url, dialect, organisation } = identity;
    const here = { name: target.name, url, dialect, ...(organisation === undefined ? {} : { organisation }) };
    await fit([otherTarget(saved.plan.target, here)]);
    const live = await readLive(gateway, [...registry.keys()], { flags, context });
    const { desired, unfit } = await secretsFor(saved.plan, loaded.value, { live, gateway });
    await fit(unfit);
    const seen = plannedObjectsOf(saved, desired, registry);
    const plan = withoutLimits(saved.plan);
    const steps = rescheduleSteps(plan, live, registry);
    const stale = staleRefusals({ plan, live, steps, registry, seen, secretOf: secretOf(desired) });
    return {
      config,
      target,
      desired,
      live,
      base: undefined,
      identity,
      gateway,
      seen,
      whole: saved.whole,
      steps,
      plan: refuseAgain(plan, [...riskRefusals(plan, flags.maxRisk), ...stale], flags.allow),
      warnings: loaded.diagnostics,
    };
  } catch (error) {
    await gateway.close();
    throw error;
  }
}

const shaping = ['base', 'own', 'adopt', 'revert', 'prune', 'only'] as const;

/** What decides what a plan does was decided when it was made. */
function refuseShaping(flags: ApplyFlags): void {
  const given = shaping.find((name) => {
    const value = flags[name];
    return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
  });
  if (given !== undefined)
    throw new UsageError(`--${given} does not go with --plan: the plan says what is done`, `give it to ostiary plan`);
}

/** Without a config file paths say where the manifests lie; with one they select. */
function requireNoPaths({ file }: ResolvedConfig, { paths }: ApplyFlags): void {
  if (file !== undefined && paths.length > 0)
    throw new UsageError('paths do not go with --plan: the plan says what is done', 'give them to ostiary plan');
}

function readSaved(path: string, context: CliContext): SavedPlan {
  const { value, diagnostics } = openPlan(readPlanFile(absolutePath(path, context), longestPlan), registry);
  if (value === undefined) throw new InputError(diagnostics.map((one) => ({ ...one, at: { file: path, line: 1, column: 1 } })));
  if ('version' in value) throw new RefusedError([otherVersion(value.version)]);
  return value;
}

/** Throws where something does not fit, the plan being told first. */
async function refuseUnfit(
  { plan }: SavedPlan,
  found: readonly (Refusal | undefined)[],
  flags: ApplyFlags,
  context: CliContext,
): Promise<void> {
  const refusals = found.flatMap((one) => one ?? []);
  if (refusals.length === 0) return;
  const refused = { ...plan, refusals: [...withoutLimits(plan).refusals, ...refusals] };
  await emitPlan({ plan: refused }, [], { flags, context, printer: printerFor(context, flags) });
  throw new RefusedError(refusals);
}

/** A plan names its target, so nobody has to. */
function targetOf({ plan }: SavedPlan, { targets }: ResolvedConfig, { target }: ApplyFlags): { readonly target?: string } {
  const isThere = targets.some(({ name }) => name === plan.target.name);
  return target === undefined && isThere ? { target: plan.target.name } : {};
}

function setsSecrets(change: SavedPlan['plan']['changes'][number]): boolean {
  return isWritten(change) && change.fields.some(({ after }) => 'secret' in after);
}
