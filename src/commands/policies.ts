import { assumedDialect } from '../model/gateway.ts';
import { openRepository, resolveCommit } from '../git/repository.ts';
import { registry } from '../kinds/index.ts';
import type { Target } from '../model/config.ts';
import type { DesiredState } from '../model/desired.ts';
import { hasErrors, type Diagnostic } from '../model/diagnostic.ts';
import { InputError } from '../model/errors.ts';
import type { LiveState } from '../model/live.ts';
import type { Plan } from '../model/plan/plan.ts';
import type { Policy, PolicyResult, PolicyFinding } from '../model/protection/policy.ts';
import type { ResourceId } from '../model/resource.ts';
import type { CompiledPolicy } from '../protection/policy/compile-policies.ts';
import { policyDiagnostic } from '../protection/policy/check-policies.ts';
import { readCommittedPolicies, readCommittedTree } from '../project/committed-manifests.ts';
import type { TargetFlags } from './flags.ts';
import type { ResolvedConfig } from '../project/resolved-config.ts';
import type { CliContext } from './context/cli-context.ts';

/** Policies that can be checked, and what is to be told of them before anything else. */
export type PolicyInput = {
  readonly rules: readonly CompiledPolicy[];
  readonly today: string;
  readonly diagnostics: readonly Diagnostic[];
};

type Asked = {
  readonly config: ResolvedConfig;
  readonly target: Target;
  readonly desired: DesiredState;
  readonly flags: TargetFlags & { readonly today?: string };
  readonly context: CliContext;
};

/**
 * The policies that count: with `--config-ref` those of that commit, waivers and all; what differs since is told. Wrong
 * expressions are thrown. Without any policy nothing is loaded.
 */
export async function policiesFor({ config, target, desired, flags, context }: Asked): Promise<PolicyInput> {
  const proposed = desired.policies ?? [];
  const today = flags.today ?? context.now().toISOString().slice(0, 10);
  const reviewed = await reviewedPolicies(config, target, { flags, context });
  const policies = reviewed ?? proposed;
  if (policies.length + proposed.length === 0) return { rules: [], today, diagnostics: [] };
  const { compilePolicies } = await import('../protection/policy/compile-policies.ts');
  const { rules, diagnostics } = compilePolicies(policies, registry);
  const later = reviewed === undefined ? [] : compilePolicies(proposed, registry).diagnostics;
  if (hasErrors([...diagnostics, ...later])) throw new InputError([...diagnostics, ...later]);
  return { rules, today, diagnostics: reviewed === undefined ? [] : changedPolicies(reviewed, proposed) };
}

async function reviewedPolicies(
  config: ResolvedConfig,
  target: Target,
  { flags, context }: Pick<Asked, 'flags' | 'context'>,
): Promise<readonly Policy[] | undefined> {
  if (flags.configRef === undefined || config.file === undefined) return undefined;
  const repository = await openRepository({ folder: config.root, env: context.env });
  if (repository === undefined) return undefined;
  const tree = await readCommittedTree({ repository, config, target }, await resolveCommit(repository, flags.configRef));
  if (tree.value === undefined) {
    const unread = tree.diagnostics.filter(({ code, severity }) => severity === 'error' && !absences.has(code));
    if (unread.length > 0) throw new InputError(unread);
    return [];
  }
  const { value = [], diagnostics } = readCommittedPolicies(tree.value);
  if (hasErrors(diagnostics)) throw new InputError(diagnostics);
  return value;
}

/** Where there was no target yet, there were no policies for it. */
const absences: ReadonlySet<string> = new Set(['git/no-config', 'git/no-target', 'manifest/none']);

/** Who proposes a change does not choose what it is held against: what a proposal changes about policies counts later. */
function changedPolicies(reviewed: readonly Policy[], proposed: readonly Policy[]): readonly Diagnostic[] {
  const then = new Map(reviewed.map((policy) => [policy.name, policy]));
  const now = new Map(proposed.map((policy) => [policy.name, policy]));
  return [...new Set([...then.keys(), ...now.keys()])].toSorted().flatMap((name): readonly Diagnostic[] => {
    const [before, after] = [then.get(name), now.get(name)];
    if (before?.text === after?.text) return [];
    const what = after === undefined ? 'is taken away' : before === undefined ? 'is new' : 'is changed';
    return [
      {
        code: 'policy/after-merge',
        severity: 'warning',
        message: `the policy "${name}" ${what}`,
        hint: 'until the merge the policies and waivers of the target branch count',
        ...(after === undefined ? {} : { at: after.at }),
      },
    ];
  });
}

/** What the policies that count say of one connection once the plan is carried out. */
export async function policiesOf(
  id: ResourceId,
  plan: Plan,
  { config, target, desired, live, flags, context }: Asked & { readonly live: LiveState },
): Promise<readonly PolicyResult[]> {
  const { rules, today } = await policiesFor({ config, target, desired, flags, context });
  if (rules.length === 0) return [];
  const { policiesOn } = await import('../protection/policy/check-policies.ts');
  const { plannedSnapshot } = await import('../protection/posture/protection-snapshot.ts');
  const snapshot = plannedSnapshot(plan, live, registry);
  return policiesOn(id, { rules, snapshot, resources: desired.resources, live: live.resources, registry, today });
}

/** Holds what is live now against the policies that count: whoever changed it by hand was not asked. */
export async function judgeLive(
  plan: Plan,
  { config, target, desired, live, flags, context }: Asked & { readonly live: LiveState },
): Promise<{
  readonly diagnostics: readonly Diagnostic[];
  /** A connection does not do as a policy asks, or nobody can tell. */
  readonly fails: boolean;
}> {
  const { rules, today, diagnostics } = await policiesFor({ config, target, desired, flags, context });
  if (rules.length === 0) return { diagnostics, fails: false };
  const { checkPolicies } = await import('../protection/policy/check-policies.ts');
  const { liveSnapshot } = await import('../protection/posture/protection-snapshot.ts');
  const snapshot = liveSnapshot(live, registry, plan.target.dialect);
  const checked = checkPolicies({ rules, snapshot, resources: desired.resources, live: live.resources, registry, today });
  const told = [...checked.report.findings.map(policyDiagnostic), ...checked.diagnostics];
  return { diagnostics: [...diagnostics, ...told], fails: hasErrors(told) };
}

/** Holds what manifests say by themselves against their policies; what only a gateway can answer is put off. */
export async function judgeManifests(
  desired: DesiredState,
  target: Target,
  asked: Pick<Asked, 'flags' | 'context'>,
): Promise<readonly Diagnostic[]> {
  const policies = desired.policies ?? [];
  if (policies.length === 0) return [];
  const today = asked.flags.today ?? asked.context.now().toISOString().slice(0, 10);
  const { compilePolicies } = await import('../protection/policy/compile-policies.ts');
  const { rules, diagnostics } = compilePolicies(policies, registry);
  const { checkPolicies } = await import('../protection/policy/check-policies.ts');
  const { desiredSnapshot } = await import('../protection/posture/protection-snapshot.ts');
  const snapshot = desiredSnapshot(desired, registry, assumedDialect(target.dialect));
  const checked = checkPolicies({ rules, snapshot, resources: desired.resources, live: [], registry, today });
  const { findings } = checked.report;
  const open = findings.filter(({ result }) => result === 'unknown');
  return [
    ...diagnostics,
    ...findings.filter(({ result }) => result === 'violated').map(policyDiagnostic),
    ...checked.diagnostics,
    ...(open.length === 0 ? [] : [putOff(open)]),
  ];
}

function putOff(open: readonly PolicyFinding[]): Diagnostic {
  const connections = new Set(open.map(({ connection }) => connection)).size;
  const policies = [...new Set(open.map(({ policy }) => policy))];
  const shown = policies.length > 3 ? `${policies.slice(0, 3).join(', ')} and ${policies.length - 3} more` : policies.join(', ');
  const message = `only the gateway can tell whether ${connections} connection${connections === 1 ? ' does' : 's do'} as policies ask: ${shown}`;
  return { code: 'policy/deferred', severity: 'notice', message, hint: 'ostiary plan answers it' };
}
