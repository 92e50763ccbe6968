import { join } from 'node:path';
import { cacheFolder } from '../disk/cache.ts';
import { registry } from '../kinds/index.ts';
import type { BaseState, DesiredState } from '../model/desired.ts';
import type { Target } from '../model/config.ts';
import { hasErrors, sortDiagnostics, type Diagnostic } from '../model/diagnostic.ts';
import { InputError, UsageError } from '../model/errors.ts';
import type { Gateway, GatewayIdentity } from '../model/gateway.ts';
import type { RequestEvent } from '../model/result/outcome.ts';
import type { LiveState } from '../model/live.ts';
import type { Allowance, Plan } from '../model/plan/plan.ts';
import { isSecureUrl } from '../manifest/read-config.ts';
import { forDialect } from '../reconcile/prepare/dialect.ts';
import { strangersOf } from '../reconcile/diff/edges.ts';
import { inherited } from '../reconcile/prepare/inherit.ts';
import { referenceRefusals, withReferences } from '../reconcile/guard/named-elsewhere.ts';
import { labelOwn, ownChanges } from '../reconcile/diff/own.ts';
import { plan } from '../reconcile/diff/plan.ts';
import { refuse } from '../reconcile/guard/refusals.ts';
import { joinedSpecs } from '../reconcile/schedule/joined-specs.ts';
import { scheduleSteps } from '../reconcile/schedule/schedule-steps.ts';
import { withExposureWindows } from '../reconcile/schedule/schedule-writes.ts';
import { verificationKey } from '../reconcile/prepare/verified.ts';
import { assess } from '../protection/assess.ts';
import { riskRefusals } from '../protection/risk/risk-refusals.ts';
import { checkRules } from './changed-rules.ts';
import { loadTarget, type LoadOptions } from '../project/manifests.ts';
import type { PlanFlags } from './flags.ts';
import { readPlanBase, type PlanBase } from '../project/plan-base.ts';
import { withFormers, withSecrets } from './known-secrets.ts';
import { connect, mayWrite, readLive } from './connect.ts';
import { judge, policiesFor } from './policies.ts';
import { resolveReviewedConfig } from '../project/reviewed-config.ts';
import { absolutePath, chooseTarget, type ResolvedConfig } from '../project/resolved-config.ts';
import { warnUnknownNames, type NamedByOption } from '../reconcile/guard/unknown-names.ts';
import type { CliContext } from './context/cli-context.ts';

/** A plan with everything it was made from; whoever asks for it closes the gateway. */
export type Planned = {
  readonly config: ResolvedConfig;
  readonly target: Target;
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly base: BaseState | undefined;
  readonly identity: GatewayIdentity;
  readonly gateway: Gateway;
  readonly plan: Plan;
  readonly warnings: readonly Diagnostic[];
};

/** `resource` is the one that `explain` asks for: of no other are secrets read; `looking` where nothing will be carried out. */
type PlanningFlags = Omit<PlanFlags, 'format' | 'report'> & { readonly resource?: string; readonly looking?: boolean };

/** Leaves out of a plan what is not asked for. */
export type Narrow = (whole: Plan, base: BaseState | undefined) => Plan;

/** The one way to a plan, for all that plan or apply: load, then read the gateway, then compare; `narrow` leaves out what is not asked for. */
export async function planned(
  flags: PlanningFlags,
  context: CliContext,
  onRequest?: (event: RequestEvent) => void,
  narrow: Narrow = (whole) => whole,
): Promise<Planned> {
  if (flags.prune && (flags.paths.length > 0 || flags.only.length > 0)) throw new UsageError('--prune goes with all manifests', wholeHint);
  const config = await resolveReviewedConfig(flags, context);
  const target = chooseTarget(config, flags);
  const loaded = loadTarget(config, target, { selection: flags, context, secrets: secretsToRead(flags) });
  if (loaded.value === undefined || hasErrors(loaded.diagnostics)) throw new InputError(loaded.diagnostics);
  const asking = await policiesFor({ config, target, desired: loaded.value, flags, context });
  const planBase = await readPlanBase({ config, target, desired: loaded.value, options: flags, context });
  if (flags.prune && planBase.base === undefined) throw new UsageError('--prune needs a base: nothing else proves what was ours', baseHint);
  const { gateway, identity } = await connect(target, { flags, context, onRequest });
  try {
    const { desired: declared, diagnostics: untold } = forDialect(loaded.value, identity, registry);
    const listed = await readLive(gateway, [...registry.keys()], { flags, context });
    const strangers = strangersOf({ desired: declared, live: listed, registry });
    const bulk = strangers.length === 0 ? listed : { ...listed, hidden: await gateway.confirm(strangers) };
    const { organisation, dialect, url } = identity;
    const key = verificationKey(context.env[target.token.env] ?? '', url, organisation);
    const folder = flags.cache === undefined ? join(config.root, cacheFolder) : absolutePath(flags.cache, context);
    const { live: known, unwritten } = await withSecrets(bulk, declared, { gateway, key, folder });
    const live = await withFormers(known, declared, gateway);
    const base = planBase.base && { ...planBase.base, desired: forDialect(planBase.base.desired, identity, registry).desired };
    const { desired, diagnostics: lost } = inherited(declared, live, { registry, base, onlyReads: !mayWrite(identity) });
    if (hasErrors(lost)) throw new InputError([...loaded.diagnostics, ...untold, ...lost]);
    const { name } = target;
    const checked = plan(
      {
        target: { name, url, dialect, ...(organisation === undefined ? {} : { organisation }) },
        desired,
        live,
        base,
        limits: target.limits,
        allowed: flags.allow,
        consent: { adopt: flags.adopt, revert: flags.revert, prune: flags.prune },
        looking: flags.looking === true,
      },
      registry,
    );
    const found = [...loaded.diagnostics, ...untold, ...lost, ...checked.diagnostics];
    if (checked.value === undefined) throw new InputError(found);
    const wanted = narrow(checked.value, base);
    const steps = scheduleSteps(wanted, live, registry);
    const joined = joinedSpecs(steps, wanted.changes, live);
    const { diagnostics: problems, refusals, indivisible, references } = await gateway.preflight({ plan: wanted, desired, live, joined });
    // What comes of writing is told where something is written, or shown to be.
    const foreseen = flags.looking === true ? [] : problems;
    if (hasErrors(foreseen)) throw new InputError(sortDiagnostics([...found, ...foreseen]));
    const { singleWrites } = withExposureWindows(wanted, steps, { live, registry, indivisible });
    const windowed = singleWrites.length === 0 ? wanted : { ...wanted, singleWrites };
    const applied = planBase.base?.desired === loaded.value ? desired : base?.desired;
    const judged = await judge(assess(windowed, { desired, live, base: applied, registry }), asking, { desired, live });
    const told = withReferences(judged.plan, references);
    const forbidden = [...refusals, ...referenceRefusals(told, desired), ...judged.refusals, ...riskRefusals(judged.plan, flags.maxRisk)];
    const refused = refuse(told, forbidden, flags.allow);
    const { plan: complete, warnings: unsound } = await checkRules(refused, { desired: loaded.value, base, live });
    const warnings = [
      ...judged.diagnostics,
      ...insecureOverride(flags.url),
      ...planBase.diagnostics,
      ...found,
      ...foreseen,
      ...unsound,
      ...unusedAllowances(flags.allow, complete),
      ...warnUnknownNames(consentsOf(flags), [...loaded.value.resources, ...loaded.value.unselected, ...live.resources]),
      ...unkept(flags.cache, unwritten),
    ];
    return { config, target, desired, live, base, identity, gateway, plan: labelled(complete, loaded.value, planBase), warnings };
  } catch (error) {
    await gateway.close();
    throw error;
  }
}

function secretsToRead({ secrets, resource }: PlanningFlags): LoadOptions['secrets'] {
  if (secrets === 'unresolved') return 'leave';
  return resource === undefined ? 'resolve' : new Set([resource]);
}

const wholeHint = 'leave out --only and the paths: with a selection nothing counts as removed';
const baseHint = 'apply once from a commit, so that what was applied is recorded; or name a commit with --base';

/** The plan, with the pull request's own changes told from others where that was asked. */
function labelled(made: Plan, desired: DesiredState, { own }: PlanBase): Plan {
  return own === undefined ? made : labelOwn(made, ownChanges(desired, own, registry));
}

/** A url of the command line is told of like one of the config file. */
function insecureOverride(text: string | undefined): readonly Diagnostic[] {
  const url = text === undefined || !URL.canParse(text) ? undefined : new URL(text);
  if (url === undefined || isSecureUrl(url)) return [];
  return [
    { code: 'config/insecure-url', severity: 'warning', message: `the token travels unencrypted to ${url.host}`, hint: 'use https://' },
  ];
}

/** A cache that was asked for and cannot be written is worth a word; the next plan is as right, and slower. */
function unkept(folder: string | undefined, reason: string | undefined): readonly Diagnostic[] {
  if (folder === undefined || reason === undefined) return [];
  const message = `what was verified cannot be kept in "${folder}": ${reason}`;
  return [{ code: 'cache/cannot-write', severity: 'warning', message, hint: 'the next plan reads the secrets again' }];
}

function unusedAllowances(allowed: readonly Allowance[], { allowed: used }: Plan): readonly Diagnostic[] {
  const unused = new Set(allowed.map(({ code }) => code).filter((code) => !used.some((one) => one.code === code)));
  return [...unused].map((code) => ({
    code: 'plan/allow-unused',
    severity: 'notice',
    message: `--allow ${code} overrides nothing in this plan`,
    hint: 'leave it out, or check the code',
  }));
}

function consentsOf({ adopt, revert }: Pick<PlanningFlags, 'adopt' | 'revert'>): readonly NamedByOption[] {
  return [...adopt.map((name) => ['--adopt', name] as const), ...revert.map((name) => ['--revert', name] as const)];
}
