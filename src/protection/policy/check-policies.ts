import { appendAll } from '../../model/collections.ts';
import type { DesiredResource } from '../../model/desired.ts';
import { type Diagnostic, formatPosition, didYouMean } from '../../model/diagnostic.ts';
import type { Registry } from '../../model/kind.ts';
import type { LiveResource } from '../../model/live.ts';
import type { PolicyResult, PolicyFinding, PolicyReport, WaivedFinding, Policy, Waiver } from '../../model/protection/policy.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import { postureIn } from '../posture/posture.ts';
import type { ProtectionSnapshot } from '../posture/protection-snapshot.ts';
import { policyMatches } from './match.ts';
import { matchesGlob } from '../pattern/glob.ts';
import type { CompiledRequirement, CompiledPolicy } from './compile-policies.ts';
import {
  variablesOf,
  type VariableProvider,
  type PolicySubject,
  connectionFieldTypes,
  ExpressionError,
  UnavailableError,
} from './subject.ts';
import { hasEnded, nearEndText } from '../../model/time.ts';

/** Returns the diagnostic of a connection that fails a policy, or of a policy that could not be evaluated; `remedy` replaces the usual hint. */
export function policyDiagnostic(finding: PolicyFinding, remedy?: string): Diagnostic {
  const { result, severity, message, expression, connection, at, requirement, error } = finding;
  if (error !== undefined) return { ...error, resource: connection };
  const change = result === 'violated' ? 'change the manifest' : 'use a token that can read it, or check has(...) first';
  return {
    code: result === 'violated' ? 'policy/violated' : 'policy/unknown',
    severity,
    message: `${message} (${clipped(expression)})`,
    hint: remedy ?? `${change}, or waive it in the policy (${formatPosition(requirement)}), with an end date and a reason`,
    resource: connection,
    at,
  };
}

/** Returns a diagnostic whose message begins with its connection, for texts that show the position alone. */
export function namingConnection(diagnostic: Diagnostic): Diagnostic {
  const { resource, message } = diagnostic;
  return resource === undefined ? diagnostic : { ...diagnostic, message: `${resource}: ${message}` };
}

function clipped(expression: string): string {
  const line = expression.replaceAll(/\s+/g, ' ').trim();
  return line.length > 100 ? `${line.slice(0, 97)}...` : line;
}

/** Returns whether a report has a finding, also of another state of the connection. */
export function hasFinding({ findings }: PolicyReport, { policy, connection, expression }: PolicyFinding): boolean {
  return findings.some((one) => one.policy === policy && one.connection === connection && one.expression === expression);
}

/** The input of a policy check; waivers count by the day `today` (`YYYY-MM-DD`). */
export type PolicyCheckInput = {
  readonly rules: readonly CompiledPolicy[];
  readonly snapshot: ProtectionSnapshot;
  readonly resources: readonly DesiredResource[];
  /** Objects of manifests that are not selected: not checked, but known to waivers. */
  readonly unselected?: readonly { readonly id: ResourceId }[];
  /** The live objects; absent where the gateway was not read. */
  readonly live?: readonly LiveResource[];
  readonly registry: Registry;
  readonly today: string;
  /** Live connections without a manifest that are checked, too. */
  readonly unmanaged?: readonly ResourceId[] | undefined;
};

/** Checks all declared connections against all policies. An expression that cannot be evaluated does not pass. */
export function checkPolicies(checking: PolicyCheckInput): { readonly report: PolicyReport; readonly diagnostics: readonly Diagnostic[] } {
  const { rules, resources, live, today, unselected = [], unmanaged = [] } = checking;
  const liveResources = new Map(live?.map((resource) => [resource.id, resource]));
  const types = fieldTypesIn(checking);
  const findings: PolicyFinding[] = [];
  const waived: WaivedFinding[] = [];
  const reached = new Set<string>();
  const declared = resources.map((desired) => ({ id: desired.id, key: desired.key, desired }));
  const others = unmanaged.map((id) => ({ id, key: id, desired: undefined }));
  for (const { id, key, desired } of [...declared, ...others]) {
    const findingsOf = findingsOn(key, checking, { types, desired, live: liveResources.get(key) });
    for (const one of rules) {
      const results = findingsOf(one);
      if (results === undefined) continue;
      reached.add(id);
      const waiver = results.length === 0 ? undefined : waiverFor(one.policy, nameOf(id), today);
      if (waiver === undefined) appendAll(findings, results);
      else {
        const result = results.some((each) => each.result === 'violated') ? 'violated' : 'unknown';
        waived.push({ policy: one.policy.name, connection: id, result, until: waiver.until, reason: waiver.reason });
      }
    }
  }
  const names = [...[...resources, ...unselected].map(({ id }) => id), ...unmanaged]
    .filter((id) => kindOf(id) === 'Connection')
    .map(nameOf);
  const policies = rules.map(({ policy }) => policy);
  const report = { today, policies: rules.length, connections: reached.size, findings, waived };
  return { report, diagnostics: waiverDiagnostics(policies, names, today) };
}

/** Returns the result of every policy that applies to one connection, including those that pass. */
export function policiesOn(id: ResourceId, checking: PolicyCheckInput): readonly PolicyResult[] {
  const { rules, resources, live, today } = checking;
  const desired = resources.find((resource) => resource.key === id);
  if (desired === undefined) return [];
  const findingsOf = findingsOn(id, checking, {
    types: fieldTypesIn(checking),
    desired,
    live: live?.find((resource) => resource.id === id),
  });
  return rules.flatMap((one): readonly PolicyResult[] => {
    const results = findingsOf(one);
    if (results === undefined) return [];
    const { name: policy, at } = one.policy;
    const messages = results.map(({ message }) => message);
    if (results.length === 0) return [{ policy, at, result: 'passes', messages }];
    const waiver = waiverFor(one.policy, nameOf(id), today);
    if (waiver !== undefined) return [{ policy, at, result: 'waived', messages, until: waiver.until, reason: waiver.reason }];
    return [{ policy, at, result: results.some(({ result }) => result === 'violated') ? 'violated' : 'unknown', messages }];
  });
}

function fieldTypesIn({ registry }: PolicyCheckInput): PolicySubject['types'] {
  return connectionFieldTypes(registry.get('Connection')?.schema ?? {});
}

/** Returns what finds how a connection fails one policy; undefined when the policy does not apply to it. */
function findingsOn(
  id: ResourceId,
  { snapshot, live }: PolicyCheckInput,
  known: Pick<PolicySubject, 'types' | 'desired' | 'live'>,
): (compiled: CompiledPolicy) => readonly PolicyFinding[] | undefined {
  const posture = kindOf(id) === 'Connection' ? postureIn(snapshot, id) : undefined;
  if (posture === undefined) return () => undefined;
  const subject: PolicySubject = { id, snapshot, posture, ...known, isUnread: live === undefined };
  const asked = variablesOf(subject);
  const resource = snapshot.resources.get(id) ?? { spec: {}, unknown: [''] };
  return (compiled) => {
    const isAbout = policyMatches(compiled.policy, nameOf(id), resource);
    return isAbout === false ? undefined : requirementFindings(compiled, subject, isAbout === true ? asked : undefined);
  };
}

/** Returns the requirements of a policy that a connection does not meet; `asked` is undefined when its tags are hidden. */
function requirementFindings(
  { policy, require }: CompiledPolicy,
  subject: PolicySubject,
  asked: VariableProvider | undefined,
): readonly PolicyFinding[] {
  return require.flatMap((one): readonly PolicyFinding[] => {
    const result = asked === undefined ? { hidden: 'its tags cannot be seen' } : evaluateRequirement(one, asked);
    if (result === true) return [];
    const { expression, at: requirement, message: own = policy.message, diagnose } = one.requirement;
    const reason = result === false ? own : `could not be evaluated: ${'hidden' in result ? result.hidden : result.failure}`;
    const message = `policy "${policy.name}": ${reason}`;
    const place = firstStatedPosition(subject, one.fields);
    return [
      {
        policy: policy.name,
        connection: subject.desired?.id ?? subject.id,
        result: result === false ? 'violated' : 'unknown',
        severity: policy.severity,
        message,
        expression,
        ...(place === undefined ? {} : { at: place }),
        requirement,
        ...(result === false || 'hidden' in result
          ? {}
          : { error: diagnose({ code: 'policy/expression', severity: policy.severity, message, hint: result.hint }, result.start) }),
      },
    ];
  });
}

/** The reason why an expression has no result: a hidden value, or a failure at a character that no other token would avoid. */
type EvaluationProblem = { readonly hidden: string } | { readonly failure: string; readonly hint: string; readonly start: number };

function evaluateRequirement({ evaluate, texts }: CompiledRequirement, asked: VariableProvider): boolean | EvaluationProblem {
  try {
    const value = evaluate(asked(texts));
    return typeof value === 'boolean' ? value : { failure: 'the result is not a boolean', hint: 'compare it with a value', start: 0 };
  } catch (error) {
    if (error instanceof UnavailableError) return { hidden: error.message };
    if (error instanceof ExpressionError) return { failure: error.message, hint: error.hint, start: error.start };
    throw error;
  }
}

/** Returns the position of the first stated field that the expression names, else that of the manifest. */
function firstStatedPosition({ desired }: PolicySubject, fields: readonly string[]): PolicyFinding['at'] {
  const field = fields.find((name) => desired?.stated.has(name));
  return desired?.locate(field === undefined ? '' : `/${field}`);
}

/** Returns the first valid waiver of a policy for a connection. */
function waiverFor({ waivers }: Policy, name: string, today: string): Waiver | undefined {
  return waivers.find(({ connection, until }) => !hasEnded(until, today) && matchesGlob(connection, name));
}

/** Reports waivers: an ended one has the severity of its policy; one that ends soon or matches no connection is a warning. */
function waiverDiagnostics(policies: readonly Policy[], names: readonly string[], today: string): readonly Diagnostic[] {
  return policies.flatMap(({ name, severity, waivers }) =>
    waivers.flatMap((waiver): readonly Diagnostic[] => {
      const { connection, until, at } = waiver;
      const whose = `the waiver of "${name}" for ${connection}`;
      if (hasEnded(until, today)) {
        const hint = 'satisfy the policy or extend the waiver, then remove the expired waiver';
        return [{ code: 'policy/waiver-ended', severity, message: `${whose} ended on ${until} (today is ${today})`, hint, at }];
      }
      const ending = nearEndText(until, today);
      const hint = severity === 'error' ? 'after that date, the plan is refused' : 'after that date, the violation is a warning again';
      const soon: readonly Diagnostic[] =
        ending === undefined ? [] : [{ code: 'policy/waiver-ending', severity: 'warning', message: `${whose} ${ending}`, hint, at }];
      return [...soon, ...unusedWaiver(waiver, whose, names)];
    }),
  );
}

function unusedWaiver({ connection, at }: Waiver, whose: string, names: readonly string[]): readonly Diagnostic[] {
  if (names.some((name) => matchesGlob(connection, name))) return [];
  const hint = didYouMean(connection, names) ?? 'remove it';
  return [{ code: 'policy/waiver-unused', severity: 'warning', message: `${whose}: unknown connection`, hint, at }];
}
