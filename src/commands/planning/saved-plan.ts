import { fingerprintsOf, plannedObjectsOf } from '../../apply/fingerprint.ts';
import { staleRefusals } from '../../apply/stale-refusals.ts';
import { readPlanFile } from '../../disk/journal.ts';
import { writePlan } from '../../disk/write.ts';
import { mayBeInRepository, rootsOf } from '../../git/repository.ts';
import { apiRoot } from '../../gateway/session.ts';
import { registry } from '../../kinds/index.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import { InputError, RefusedError, UsageError } from '../../model/errors.ts';
import type { WatchedDrift } from '../../model/plan/plan.ts';
import type { RequestEvent } from '../../model/result/outcome.ts';
import { isWritten, type Refusal, type SavedPlan } from '../../model/plan/plan.ts';
import { secretFactsOf } from '../../reconcile/saved-plan/plan-digest.ts';
import { sealedTree } from '../../reconcile/saved-plan/content-seal.ts';
import { longestPlan, openPlan, sealedPlan } from '../../reconcile/saved-plan/saved-plan.ts';
import { refuseAgain, withoutLimits } from '../../reconcile/guard/refusals.ts';
import { riskRefusals } from '../../protection/risk/risk-codes.ts';
import { onFirstUse } from '../../model/collections.ts';
import { snapshotPlan } from '../../protection/posture/diff-postures.ts';
import { rescheduleSteps } from '../../reconcile/reconcile.ts';
import { jsonPieces } from '../../report/serialize.ts';
import { documentJson } from '../../report/document-json.ts';
import { planDocument } from '../../report/subjects/plan.ts';
import type { ApplyFlags } from '../context/options.ts';
import { withTrackedContents } from '../../project/committed-manifests.ts';
import { readWorkingTree } from '../../project/checkout.ts';
import { loadTarget } from '../../project/manifests.ts';
import {
  differentPlan,
  otherContents,
  otherManifests,
  otherRepository,
  otherTarget,
  otherTool,
  otherVersion,
  undeclaredChanges,
} from '../../reconcile/saved-plan/saved-plan-checks.ts';
import { connect, readLive, withMissingToken } from '../session/connect.ts';
import { readPlanBase } from '../../project/plan-base.ts';
import { readWatchedDrift, recordRefusals } from './create-plan.ts';
import type { CreatedRun, ResumedRun } from './planned-run.ts';
import { openConfig } from '../../project/open-project.ts';
import { type OpenProject, readableRepository } from '../../project/project.ts';
import { absolutePath, chooseTarget, isPartialSelection, outputPath, type ResolvedConfig } from '../../project/resolved-config.ts';
import { timeOf } from './target-policies.ts';
import { secretLookup, readSavedSecrets } from './read-secrets.ts';
import { printerFor } from '../output/printer.ts';
import { emitPlan } from '../output/emit.ts';
import { version } from '../context/version.ts';
import type { CliContext } from '../context/cli-context.ts';

/** Saves a plan for `apply --plan`. Throws InputError, and writes nothing, when that command could not read the file. */
export async function savePlan(path: string, result: CreatedRun, context: CliContext): Promise<void> {
  const text = await savedPlanText(result, longestPlan);
  const { diagnostics } = openPlan(text, registry);
  if (hasErrors(diagnostics)) throw new InputError(diagnostics);
  const file = outputPath(path, context);
  writePlan(file, text);
  context.onEvent?.({ saved: file });
}

/** Returns the text of a saved plan; its document, which is larger, is not kept. Throws InputError for more than `most` bytes. */
export async function savedPlanText({ project, plan, desired, base, live }: CreatedRun, most: number): Promise<string> {
  const document = sealedPlan(planDocument([plan]).json(), {
    tool: version,
    whole: !isPartialSelection(project.selection),
    repository: await rootCommitsOf(project),
    live: fingerprintsOf(plan, { desired, live, registry }),
    ...secretFactsOf(desired, base?.desired),
  });
  const pieces: string[] = [];
  let length = 0;
  for (const piece of jsonPieces(document)) {
    length += Buffer.byteLength(piece);
    if (length <= most) pieces.push(piece);
  }
  if (length > most) throw new InputError([tooLarge(length, most)]);
  return pieces.join('');
}

/** Returns the root commits of the repository that contains the manifests. */
async function rootCommitsOf(project: OpenProject): Promise<readonly string[]> {
  if (!mayBeInRepository(project.config.root)) return [];
  const repository = readableRepository(project);
  return repository === undefined ? [] : rootsOf(repository);
}

function tooLarge(length: number, most: number): InputError['diagnostics'][number] {
  const message = `the saved plan would have ${length} bytes, more than the ${most} that apply reads`;
  return { code: 'plan/broken-file', severity: 'error', message, hint: 'plan and apply a part of it at a time, with --only' };
}

/** A plan of a file, and the project that it is applied to. */
export type OpenedPlan = { readonly saved: SavedPlan; readonly project: OpenProject };

/**
 * Reads a plan from a file, and opens the project with the target of the plan, unless an option names one. Throws RefusedError unless the
 * version, and the digest of `--digest`, are those of the plan.
 */
export async function openSavedPlan(path: string, flags: ApplyFlags, context: CliContext): Promise<OpenedPlan> {
  requireNoPlanOptions(flags);
  const saved = readSavedPlan(path, context);
  const other = flags.digest === undefined ? undefined : differentPlan(flags.digest, saved.plan);
  await requireNoRefusals(saved, [otherTool(saved.tool, version), other], flags, context);
  const { config, repository } = await openConfig(flags, context);
  requireNoPaths(config, flags);
  const selection = { ...flags, ...targetOf(saved, config, flags) };
  return { saved, project: { config, target: chooseTarget(config, selection), repository, selection, context } };
}

/**
 * Resumes a plan of a file instead of creating one, and reads its secrets again. Throws RefusedError unless target, manifests and
 * repository are those of the plan. The plan gets a refusal for each object that changed on the gateway since.
 */
export async function resumeSavedPlan(
  { saved, project }: OpenedPlan,
  flags: ApplyFlags,
  { context, onRequest }: { readonly context: CliContext; readonly onRequest: (event: RequestEvent) => void },
): Promise<ResumedRun> {
  const requireNone = (found: readonly (Refusal | undefined)[]): Promise<void> => requireNoRefusals(saved, found, flags, context);
  const { target } = project;
  const changed = saved.plan.changes.filter(setsSecrets);
  const secrets = new Set<string>(changed.map(({ id }) => id));
  const ends = { now: timeOf(flags, context), ended: 'error' } as const;
  const loaded = loadTarget(project, { secrets, ends, read: await readWorkingTree(project) });
  if (loaded.value === undefined) throw new InputError(withMissingToken(loaded.diagnostics, target, context));
  const manifests = await withTrackedContents(loaded.value, project);
  await requireNone([
    // Before the token is sent there: the config of this checkout may be another one than that of the plan.
    otherTarget(saved.plan.target, { ...saved.plan.target, name: target.name, url: apiRoot(target.url) }),
    otherManifests(saved.plan.seals.tree, sealedTree(manifests)),
    otherContents(saved.sources, manifests),
    otherRepository(saved.repository, await rootCommitsOf(project)),
    ...undeclaredChanges(saved.plan, manifests),
  ]);
  const { gateway, identity } = await connect(target, { flags, context, onRequest });
  try {
    const { url, dialect, organisation } = identity;
    const here = { name: target.name, url, dialect, ...(organisation === undefined ? {} : { organisation }) };
    await requireNone([otherTarget(saved.plan.target, here)]);
    const live = await readLive(gateway, { flags, context });
    const options = { origin: flags.origin, cache: flags.cache };
    const planBase = await readPlanBase({ ...project, desired: manifests, options, applies: true });
    const { desired, refusals } = await readSavedSecrets(saved.plan, manifests, { live, gateway });
    await requireNone(refusals);
    const { written = new Map(), objects = [] } = planBase.remembered ?? {};
    const begun = new Set([...written.keys(), ...objects.map(({ key }) => key)]);
    const seen = plannedObjectsOf(saved, { desired, registry, begun });
    const plan = withoutLimits(saved.plan);
    const snapshots = onFirstUse(() => snapshotPlan(plan, live, registry, { desired }));
    const steps = rescheduleSteps(plan, live, registry, snapshots);
    // Whether a record was missing was decided when the plan was made.
    const decided = new Set<string>(['git/no-record', ...plan.refusals.map(({ code }) => code)]);
    const recorded = recordRefusals(plan, { project, desired: manifests, planBase, live }, flags).filter(({ code }) => !decided.has(code));
    const stale = staleRefusals({ plan, live, steps, registry, seen, secretOf: secretLookup(desired) });
    return {
      is: 'resumed',
      project,
      desired,
      live,
      planBase,
      identity,
      gateway,
      seen,
      whole: saved.whole,
      reportsOutside: isSameOutside(
        saved.plan.outside,
        readWatchedDrift({ project, planBase, live, identity, desired, accepted: saved.plan.accepted }),
      ),
      steps,
      snapshots,
      plan: refuseAgain(plan, [...riskRefusals(plan, flags.maxRisk), ...recorded, ...stale], flags.allow),
      warnings: loaded.diagnostics,
    };
  } catch (error) {
    await gateway.close();
    throw error;
  }
}

/** Returns whether a plan reports the same changes outside Ostiary as another. */
function isSameOutside(left: WatchedDrift | undefined, right: WatchedDrift | undefined): boolean {
  const [one, other] = [left, right].map((outside) => JSON.stringify(documentJson(outside, 'plan#/$defs/outside')['changes'] ?? []));
  return one === other;
}

const planOptionNames = ['base', 'own', 'import', 'revert', 'prune', 'only', 'tag', 'exclude', 'keepGoing'] as const;

/** Throws UsageError for options that only affect how a plan is created. */
function requireNoPlanOptions(flags: ApplyFlags): void {
  const given = planOptionNames.find((name) => {
    const value = flags[name];
    return Array.isArray(value) ? value.length > 0 : value !== undefined;
  });
  if (flags.newAccess === false) throw new UsageError('--no-new-access cannot be combined with --plan', 'pass it to ostiary plan');
  if (given !== undefined) throw new UsageError(`--${given} cannot be combined with --plan`, `pass it to ostiary plan`);
}

/** Throws UsageError for paths that select manifests. Without a config file, paths name the folders of the manifests. */
function requireNoPaths({ file }: ResolvedConfig, { paths = [] }: ApplyFlags): void {
  if (file !== undefined && paths.length > 0) throw new UsageError('paths cannot be combined with --plan', 'pass them to ostiary plan');
}

function readSavedPlan(path: string, context: CliContext): SavedPlan {
  const { value, diagnostics } = openPlan(readPlanFile(absolutePath(path, context), longestPlan), registry);
  if (value === undefined) throw new InputError(diagnostics.map((one) => ({ ...one, at: { file: path, line: 1, column: 1 } })));
  if ('version' in value) throw new RefusedError([otherVersion(value.version)]);
  return value;
}

/** Throws RefusedError if there is a refusal, after printing the plan with it. */
async function requireNoRefusals(
  { plan }: SavedPlan,
  found: readonly (Refusal | undefined)[],
  flags: ApplyFlags,
  context: CliContext,
): Promise<void> {
  const refusals = found.flatMap((one) => one ?? []);
  if (refusals.length === 0) return;
  const refused = { ...plan, refusals: [...withoutLimits(plan).refusals, ...refusals] };
  await emitPlan({ plan: refused }, [], { flags, context, printer: printerFor(context, flags) });
  throw new RefusedError(refusals, flags.format === 'json' ? [] : refusals);
}

/** Returns the target of the plan, unless an option names one. */
function targetOf({ plan }: SavedPlan, { targets }: ResolvedConfig, { target }: ApplyFlags): { readonly target?: string } {
  const isThere = targets.some(({ name }) => name === plan.target.name);
  return target === undefined && isThere ? { target: plan.target.name } : {};
}

function setsSecrets(change: SavedPlan['plan']['changes'][number]): boolean {
  return isWritten(change) && change.fields.some(({ after }) => 'secret' in after);
}
