import { registry } from '../../kinds/index.ts';
import { readableKinds } from '../../kinds/watched.ts';
import { isSecureUrl } from '../../manifest/read-config.ts';
import type { GrantCheck } from '../../manifest/validate/check-grants.ts';
import type { Gateway, GatewayIdentity } from '../../model/gateway.ts';
import type { DesiredState } from '../../model/desired.ts';
import type { LiveState } from '../../model/live.ts';
import type { Checked, Diagnostic } from '../../model/diagnostic.ts';
import { InputError, requireValue, UsageError } from '../../model/errors.ts';
import type { WatchedDrift } from '../../model/plan/plan.ts';
import { overriddenByEnds } from '../../model/plan/expired-access.ts';
import { type Allowance, deletedOutside, type Plan, type Refusal } from '../../model/plan/plan.ts';
import type { RequestEvent } from '../../model/result/outcome.ts';
import { withTrackedContents } from '../../project/committed-manifests.ts';
import { type CheckedSources, readWorkingTree } from '../../project/checkout.ts';
import { filesByPlace, type LoadOptions, loadTarget } from '../../project/manifests.ts';
import { findUncommittedRemovals, removalWarnings } from '../../project/uncommitted-removals.ts';
import type { PlanFlags } from '../context/options.ts';
import { findForgotten, type ForgottenObject } from '../../project/forgotten-objects.ts';
import { type PlanBase, readPlanBase } from '../../project/plan-base.ts';
import { mayWrite, withMissingToken, withSecretsHint } from '../session/connect.ts';
import { readAudit } from './audit-log.ts';
import { compileTargetPolicies, timeOf } from './target-policies.ts';
import type { OpenProject } from '../../project/project.ts';
import { isPartialSelection } from '../../project/resolved-config.ts';
import { type NamedByOption, refuseAgain, warnUnknownNames } from '../../reconcile/guard/refusals.ts';
import type { CliContext } from '../context/cli-context.ts';
import type { RuleChecks } from '../../protection/rule-inspector.ts';
import type { CompiledPolicies } from '../../reconcile/assess/assess.ts';
import { needsRuleChecks } from '../../reconcile/assess/check-rules.ts';
import type { ReconcileInput } from '../../reconcile/prepare/prepare.ts';
import {
  behindRefusals,
  forgottenRefusals,
  unprovenRecordCodes,
  unrecordedRefusals,
  unsignedRefusals,
} from '../../reconcile/guard/record-refusals.ts';
import { mergeBehind, rememberedState } from '../../reconcile/prepare/base-states.ts';
import { plural, shortList } from '../../report/wording/phrases.ts';
import { unplannableByErrors, type UnplannableObject } from '../../reconcile/prepare/omissions.ts';
import {
  compareStates,
  draftPart,
  draftPlan,
  type PlanDraft,
  type ReviewedPlan,
  type ReviewInput,
  reviewPlan,
} from '../../reconcile/reconcile.ts';
import { type DriftScope, filterDrift } from '../../reconcile/drift/filter-drift.ts';
import type { CreatedRun, DriftRun } from './planned-run.ts';
import { watchScope, withoutAccepted } from '../../reconcile/record-content/watched-columns.ts';
import { findWatchedDrift } from '../../reconcile/record-content/watched-drift.ts';
import { prepareSealing } from '../../reconcile/saved-plan/content-seal.ts';
import { planOfSnapshot, requireLastApply, type OpenedSnapshot } from './snapshot-file.ts';
import { nameDeleters } from './name-deleters.ts';
import { cacheWarning } from './read-secrets.ts';
import { type EnoughRead, type GatheredLive, gatherLive, planOfPart, readAfter, readUntilEnough, readWhile } from './read-gateway.ts';

/** `resource` limits the secrets that are read to those of one resource. */
type CreatePlanFlags = Omit<PlanFlags, 'format' | 'report'> & { readonly resource?: string };

type CreatePlanOptions = {
  readonly onRequest?: (event: RequestEvent) => void;
  readonly purpose?: PlanPurpose;
  /** Whether only what a selection needs is read, as far as that gives the same plan. */
  readonly followsSelection?: boolean;
  /** Whether a page or a replay looks at the states before and after, not only at what changes. */
  readonly showsStates?: boolean;
  /** The plan is made from it: the gateway is not asked, and the plan can neither be applied nor approve an apply. */
  readonly snapshot?: OpenedSnapshot | undefined;
};

/**
 * What a plan is made for. `show`: it also shows what apply would refuse; `apply`: it will be applied, so HEAD has to be reviewed; `preview`: nothing
 * follows from it, and what apply would refuse is a warning.
 */
type PlanPurpose = 'show' | 'apply' | 'preview';

/** Gathers the input of a plan and reconciles it: manifests, base, policies, live state, preflight. Throws InputError on errors in the manifests. */
export async function createPlan(
  project: OpenProject,
  flags: CreatePlanFlags,
  context: CliContext,
  options: CreatePlanOptions,
): Promise<CreatedRun> {
  return withInput(project, { flags, context, ...options }, async (gathered) => runOf(gathered, await draftAndReview(gathered), flags));
}

/** Creates a plan of the drift alone; `which` is that of `filterDrift`. Otherwise like `createPlan`. */
export async function createDriftPlan(
  project: OpenProject,
  flags: CreatePlanFlags,
  context: CliContext,
  { which, ...options }: CreatePlanOptions & { readonly which: DriftScope },
): Promise<DriftRun> {
  const allow = which === 'expired' ? [...flags.allow, ...overriddenByEnds] : flags.allow;
  return withInput(project, { flags: { ...flags, allow }, context, ended: 'warning', ...options }, async (gathered) => {
    const comparison = requireValue(compareStates(gathered.input));
    const whole = comparison.states.diff;
    const deleted = comparison.diagnostics.flatMap(({ code, resource }) => (code === deletedOutside ? (resource ?? []) : []));
    const { diff, pending, unfinished } = filterDrift(whole, { base: comparison.prepared.base, deleted, registry }, which);
    const draft = draftPart(comparison, diff);
    const found = await reviewDraft(draft, gathered);
    const checked = { draft, reviewed: requireValue(found), diagnostics: found.diagnostics };
    return { ...runOf(gathered, checked, flags), whole, pending, unfinished };
  });
}

/** Everything that a plan is made of. */
type Gathered = EnoughRead<GatheredLive> & {
  readonly loaded: PlanInput;
  readonly identity: GatewayIdentity;
  readonly gateway: Gateway;
  readonly input: ReconcileInput;
  /** What completes a draft, besides the answers of the gateway. */
  readonly review: Omit<ReviewInput, 'preflight' | 'rules' | 'audit'>;
  /** Reads who changed the gateway since a commit; without one, in the last 30 days. */
  readonly readAudit: (since: string | undefined) => Promise<ReviewInput['audit']>;
  readonly snapshot: OpenedSnapshot | undefined;
  /** Live objects that show that a record of applies is missing. */
  readonly forgotten: readonly ForgottenObject[];
};

/** `ended`: what access that has ended is; the drift reports it itself. */
type GatherOptions = CreatePlanOptions &
  Partial<Pick<GrantCheck, 'ended'>> & { readonly flags: CreatePlanFlags; readonly context: CliContext };

/** Gathers the input of a plan for the work, and closes the gateway if that fails. */
async function withInput<T>(
  project: OpenProject,
  {
    flags,
    context,
    onRequest,
    purpose = 'show',
    ended = purpose === 'preview' ? 'warning' : 'error',
    followsSelection = false,
    showsStates = false,
    snapshot,
  }: GatherOptions,
  work: (gathered: Gathered) => Promise<T>,
): Promise<T> {
  if (flags.prune === true && isPartialSelection(project.selection)) throw new UsageError('--prune requires all manifests', wholeHint);
  const load = async (): Promise<PlanInput> => {
    const input = await loadPlanInput(project, flags, context, { purpose, ended });
    // An apply always states its digest.
    if (purpose === 'apply') await prepareSealing(input.desired);
    if (snapshot !== undefined) requireLastApply(snapshot, input.planBase);
    return input;
  };
  const reading = { flags, context, onRequest, snapshot: snapshot?.gateway, showsStates };
  const { only = [], tag = [], paths = [] } = project.selection;
  // A plan that only leaves out some objects needs nearly everything.
  const isNarrow = followsSelection && (only.length + tag.length + paths.length > 0 || flags.own !== undefined);
  const { done: loaded, ...listing } = await (isNarrow ? readAfter : readWhile)(project, reading, load);
  const { desired, policies, planBase } = loaded;
  const { read } = listing;
  const { gateway, identity } = read;
  try {
    const base = planBase.base?.desired;
    const gather = (listed: LiveState): Promise<GatheredLive> =>
      gatherLive({ project, desired, base, record: planBase.read?.record, ...read, listed, flags, context });
    const given = inputOf(loaded, identity, flags);
    const enough = await readUntilEnough(listing, reading, { given, gather });
    const { live } = enough;
    const forgotten = planBase.isUnrecorded === true ? await findForgotten(project, { desired, live, planBase, origin: flags.origin }) : [];
    return await work({
      ...enough,
      loaded,
      forgotten,
      identity,
      gateway,
      input: { ...given, live },
      snapshot,
      review: {
        policies,
        maxRisk: flags.maxRisk,
        request: context.request,
        proposed: planBase.proposed,
      },
      readAudit: async (since) => (snapshot === undefined ? readAudit(loaded, since, { flags, context }) : undefined),
    });
  } catch (error) {
    await gateway.close();
    throw error;
  }
}

type DraftAndReview = { readonly draft: PlanDraft; readonly reviewed: ReviewedPlan; readonly diagnostics: readonly Diagnostic[] };

/** Returns the run with the reviewed plan: adds what the record of applies and uncommitted removals refuse, and the warnings. */
function runOf(
  { loaded, identity, gateway, input: { live }, unwritten, forgotten, part, snapshot }: Gathered,
  { draft, reviewed, diagnostics }: DraftAndReview,
  flags: CreatePlanFlags,
): CreatedRun {
  const { project, purpose, desired, policies, planBase, uncommitted } = loaded;
  const missing = forgottenRefusals({ target: project.target.name, forgotten });
  const refused = [...recordRefusals(reviewed.plan, { ...loaded, live }, flags), ...missing];
  const guarded = purpose === 'preview' ? reviewed.plan : refuseAgain(reviewed.plan, [...refused, ...uncommitted], flags.allow);
  const outside =
    (part?.lists ?? 'all') === 'all'
      ? readWatchedDrift({ project, planBase, live, identity, desired, accepted: guarded.accepted })
      : undefined;
  const shown = part === undefined ? guarded : planOfPart(guarded, part, draft.prepared);
  const found = { ...shown, ...(outside === undefined ? {} : { outside }) };
  const plan = snapshot === undefined ? found : planOfSnapshot(found, snapshot);
  const warnings = [
    ...insecureOverride(project),
    ...planBase.diagnostics,
    ...(purpose === 'preview' ? [...recordWarnings(refused), ...removalWarnings(uncommitted)] : []),
    ...diagnostics,
    ...unusedAllowances(flags.allow, plan),
    ...warnUnknownNames(consentNames(flags), [...desired.resources, ...desired.unselected, ...live.resources]),
    ...cacheWarning(flags.cache, unwritten),
  ];
  const { desired: prepared, base } = draft.prepared;
  const [unproven] = [...refused.filter(({ code }) => unprovenRecordCodes.has(code)), ...missing].map(({ message }) => message);
  return {
    is: 'created',
    project,
    policies,
    desired: prepared,
    live,
    base,
    planBase,
    identity,
    gateway,
    ...reviewed,
    plan,
    unproven,
    warnings,
  };
}

/**
 * Drafts a plan, asks the gateway about it, and completes it. With a list of unplannable objects, it starts again without the objects that
 * the gateway would reject. Throws InputError on errors in the manifests.
 */
async function draftAndReview(gathered: Gathered): Promise<DraftAndReview> {
  let { unplannable } = gathered.input;
  for (;;) {
    const draft = gathered.draft ?? requireValue(draftPlan({ ...gathered.input, unplannable }));
    const { value: reviewed, diagnostics } = await reviewDraft(draft, gathered);
    if (reviewed !== undefined) return { draft, reviewed, diagnostics };
    const known = unplannable && draft.prepared.input.unplannable;
    const more = known === undefined ? [] : unplannableByErrors(diagnostics, draft.prepared.desired);
    if (known === undefined || more.length === 0) throw new InputError(diagnostics);
    unplannable = [...known, ...more];
  }
}

/** Asks the gateway about a draft, and completes it. */
async function reviewDraft(draft: PlanDraft, { gateway, review, readAudit: readLog }: Gathered): Promise<Checked<ReviewedPlan>> {
  const preflight = await gateway.preflight(draft.preflightRequest);
  const rules = await loadRuleChecks(draft);
  const audit = draft.accepted?.isAudited === true ? await readLog(draft.prepared.base?.commit) : undefined;
  const { value, diagnostics } = reviewPlan(draft, { ...review, preflight, rules, audit });
  // A deletion may be older than the last apply, which left it.
  return value === undefined ? { diagnostics } : nameDeleters({ value, diagnostics }, draft, () => readLog(undefined));
}

type PlanInput = {
  readonly project: OpenProject;
  readonly purpose: PlanPurpose;
  /** When ends of waivers and of access are checked. */
  readonly now: string;
  readonly desired: DesiredState;
  readonly diagnostics: readonly Diagnostic[];
  /** Objects that cannot be planned; undefined if an error about one object is an error of the plan. */
  readonly unplannable: readonly UnplannableObject[] | undefined;
  readonly policies: CompiledPolicies;
  readonly planBase: PlanBase;
  /** Refusals of removals that are not committed. */
  readonly uncommitted: readonly Refusal[];
};

/** Reads everything that a plan needs from files and from git. */
async function loadPlanInput(
  project: OpenProject,
  flags: CreatePlanFlags,
  context: CliContext,
  { purpose, ended }: Required<Pick<GatherOptions, 'purpose' | 'ended'>>,
): Promise<PlanInput> {
  const read = await readWorkingTree(project);
  const now = timeOf(flags, context);
  const { loaded, diagnostics, unplannable } = loadPlannedManifests(project, flags, context, { read, purpose, ends: { now, ended } });
  const desired = await withTrackedContents(loaded, project);
  const files = filesByPlace(read.sources, project);
  const planBase = await readPlanBase({ ...project, desired, files, options: flags, applies: purpose === 'apply' });
  const uncommitted = await findUncommittedRemovals(project, { desired, planBase, deleted: read.deleted });
  const merged = withAppliedSince(desired, planBase, flags.own !== undefined);
  const policies = await compileTargetPolicies(project, merged.desired, now.slice(0, 10));
  if (flags.prune === true && planBase.base === undefined && planBase.remembered === undefined)
    throw new UsageError('--prune requires a base: only a recorded apply proves which objects Ostiary manages', baseHint);
  return { project, purpose, now, diagnostics, unplannable, policies, uncommitted, ...merged };
}

type PlannedManifests = Pick<PlanInput, 'diagnostics' | 'unplannable'> & { readonly loaded: DesiredState };

/** Loads the manifests. With `keepGoing`, secrets that cannot be read block their objects. Throws InputError on other errors. */
function loadPlannedManifests(
  project: OpenProject,
  flags: CreatePlanFlags,
  context: CliContext,
  { purpose, ...sources }: Required<Pick<LoadOptions, 'ends'>> & { readonly read: CheckedSources; readonly purpose: PlanPurpose },
): PlannedManifests {
  const load = (secrets: LoadOptions['secrets']): Checked<DesiredState> => loadTarget(project, { secrets, ...sources });
  const { value: loaded, diagnostics } = load(secretsToRead(flags));
  if (loaded !== undefined) return { loaded, diagnostics, unplannable: flags.keepGoing === true ? [] : undefined };
  const named = withMissingToken(diagnostics, project.target, context);
  const errors = purpose === 'apply' ? named : withSecretsHint(named);
  const unread = flags.keepGoing === true && errors.length === diagnostics.length ? load('leave').value : undefined;
  const unplannable = unread === undefined ? [] : unplannableByErrors(diagnostics, unread);
  const failed = new Set(unplannable.map(({ resource }) => resource.id));
  const rest = unplannable.length === 0 ? undefined : load(new Set(unread?.resources.flatMap(({ id }) => (failed.has(id) ? [] : [id]))));
  if (rest?.value === undefined) throw new InputError(errors);
  return { loaded: rest.value, diagnostics: rest.diagnostics, unplannable };
}

/** Returns the manifests of a pull request as they will be once it is merged, and a warning if the branch is behind what was applied. */
function withAppliedSince(desired: DesiredState, planBase: PlanBase, isProposal: boolean): Pick<PlanInput, 'desired' | 'planBase'> {
  const { behind: missing, base, own, proposed } = planBase;
  const fork = missing?.fork;
  if (fork === undefined || base === undefined || !isProposal) return { desired, planBase };
  const merged = mergeBehind(desired, fork, base.desired);
  if (merged.behind.length === 0) return { desired, planBase };
  const message = `this branch is behind by ${plural(merged.behind.length, 'merged change')}: ${shortList(merged.behind, 5).join(', ')}`;
  const hint = 'the plan shows the branch after the merge; update the branch to test the changes together';
  const behind: Diagnostic = { code: 'git/behind-applied', severity: 'warning', message, hint };
  const { behind: _, ...planBaseUpToDate } = planBase;
  return {
    desired: merged.desired,
    planBase: {
      ...planBaseUpToDate,
      own: own === undefined ? undefined : mergeBehind(own, fork, base.desired).desired,
      proposed: proposed && {
        ...proposed,
        reviewed: proposed.reviewed && mergeBehind(proposed.reviewed, fork, base.desired).desired,
      },
      diagnostics: [...planBase.diagnostics, behind],
    },
  };
}

/**
 * Finds the changes of unmanaged objects that decide access, since the last complete apply, without those that the plan accepts; undefined if the
 * config ignores them.
 */
export function readWatchedDrift({
  project,
  planBase,
  live,
  identity,
  desired,
  accepted,
}: Pick<CreatedRun, 'project' | 'planBase' | 'live' | 'identity' | 'desired'> & Pick<Plan, 'accepted'>): WatchedDrift | undefined {
  if (!project.target.watchAccess || live.watched === undefined) return undefined;
  const record = planBase.read?.record;
  const { dialect, role } = identity;
  const { base, remembered } = planBase;
  const known = remembered === undefined ? desired : rememberedState(remembered);
  return findWatchedDrift({
    recorded: record?.commit === undefined && record?.unmerged === undefined ? undefined : record,
    live,
    registry: readableKinds,
    dialect,
    role,
    scope: withoutAccepted(watchScope(registry, desired, base?.desired ?? desired, known), accepted),
    applied: base?.desired,
  });
}

/** Refuses what the record of applies does not justify: a HEAD without what was applied, and a record that is missing or not reviewed. */
export function recordRefusals(
  plan: Plan,
  { project, desired, planBase, live }: Pick<PlanInput, 'project' | 'desired' | 'planBase'> & Pick<CreatedRun, 'live'>,
  { import: imports }: Pick<CreatePlanFlags, 'import'>,
): readonly Refusal[] {
  const target = project.target.name;
  const { base, behind, isUnrecorded, remembered, refusals, proof } = planBase;
  const older = behind === undefined || base === undefined ? [] : behindRefusals(behind, { desired, base, target });
  if (proof?.isMissing === true) return [...refusals, ...older, ...unsignedRefusals({ target, desired, live })];
  const isMissing = isUnrecorded === true && !refusals.some(({ code }) => code === 'git/unmerged-base');
  return [...refusals, ...older, ...(isMissing ? unrecordedRefusals(plan, { target, desired, remembered, imports }) : [])];
}

/** Returns the refusals of an apply as warnings of a command that applies nothing; a missing record has its own notice. */
function recordWarnings(refusals: readonly Refusal[]): readonly Diagnostic[] {
  return refusals
    .filter(({ code }) => code !== 'git/no-record')
    .map(({ code, message, hint }) => ({ code, severity: 'warning', message, hint }));
}

function inputOf(loaded: PlanInput, identity: GatewayIdentity, flags: CreatePlanFlags): Omit<ReconcileInput, 'live'> {
  const { url, dialect, organisation, borrowed } = identity;
  const { project, purpose, now, desired, diagnostics, unplannable, planBase } = loaded;
  const { target } = project;
  return {
    registry,
    target: { name: target.name, url, dialect, ...(organisation === undefined ? {} : { organisation }) },
    borrowed,
    desired,
    diagnostics,
    base: planBase.base,
    start: planBase.own,
    remembered: planBase.remembered,
    now,
    limits: flags.newAccess === false ? { ...target.limits, newAccess: 'refuse' } : target.limits,
    allowed: flags.allow,
    consent: { imports: flags.import, revert: flags.revert, prune: flags.prune ?? target.prune },
    released: target.released,
    previewOnly: purpose === 'preview',
    readOnly: !mayWrite(identity),
    unplannable,
    reportUnmanaged: target.reportUnmanaged,
  };
}

/** Loads the pattern compiler for plans that write rules, change samples, or have access tests that simulate rules; others do without. */
async function loadRuleChecks({ prepared, diff }: PlanDraft): Promise<RuleChecks | undefined> {
  if (!needsRuleChecks(prepared, diff)) return undefined;
  const { ruleChecks } = await import('../../protection/rule-inspector.ts');
  return ruleChecks();
}

function secretsToRead({ secrets, resource }: CreatePlanFlags): LoadOptions['secrets'] {
  if (secrets === 'unresolved') return 'leave';
  return resource === undefined ? 'resolve' : new Set([resource]);
}

const wholeHint = 'remove --only, --tag, --exclude and the paths: with a selection, no object counts as removed';
const baseHint = 'apply once from a commit, which records it; or pass --base COMMIT';

/** Warns about a URL of the command line or the environment like about one of the config file. */
function insecureOverride({ config: { file, override }, target }: OpenProject): readonly Diagnostic[] {
  const isOverridden = file === undefined || override !== undefined;
  const url = isOverridden && URL.canParse(target.url) ? new URL(target.url) : undefined;
  if (url === undefined || isSecureUrl(url)) return [];
  return [
    { code: 'config/insecure-url', severity: 'warning', message: `the token travels unencrypted to ${url.host}`, hint: 'use https://' },
  ];
}

/** The codes of refusals that only an apply finds. */
const recordCodes: ReadonlySet<string> = new Set(['git/locked', 'git/not-recorded']);

function unusedAllowances(allowed: readonly Allowance[], { allowed: used, refusals }: Plan): readonly Diagnostic[] {
  const unused = new Set(
    allowed.map(({ code }) => code).filter((code) => !recordCodes.has(code) && !used.some((one) => one.code === code)),
  );
  const refused = new Set<string>(refusals.map(({ code }) => code));
  return [...unused].map((code) => ({
    code: 'plan/allow-unused',
    severity: 'notice',
    message: `--allow ${code} has no effect: ${refused.has(code) ? 'this refusal cannot be overridden' : 'the plan has no such refusal'}`,
    hint: refused.has(code) ? 'remove it' : 'remove it, or check the code',
  }));
}

function consentNames({ import: imports, revert }: Pick<CreatePlanFlags, 'import' | 'revert'>): readonly NamedByOption[] {
  return [...imports.map((name) => ['--import', name] as const), ...revert.map((name) => ['--revert', name] as const)];
}
