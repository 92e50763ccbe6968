import { appendAll } from '../../model/append-all.ts';
import type { DesiredResource } from '../../model/desired.ts';
import { type Diagnostic, formatPosition, suggest } from '../../model/diagnostic.ts';
import type { Registry } from '../../model/kind.ts';
import type { LiveResource } from '../../model/live.ts';
import type { PolicyResult, PolicyFinding, PolicyReport, WaivedFinding, Policy, Waiver } from '../../model/protection/policy.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import { readPostures } from '../posture/posture.ts';
import type { ProtectionSnapshot, ResourceSnapshot } from '../posture/protection-snapshot.ts';
import type { CompiledRequirement, CompiledPolicy } from './compile-policies.ts';
import { variablesOf, type VariableProvider, type PolicySubject } from './subject.ts';
import { connectionFieldTypes, ExpressionError, UnavailableError } from './variables.ts';
import { dayNumber } from '../../model/day.ts';
import { isObject } from '../../model/json.ts';
import { isPointerWithin, pointer } from '../../model/pointer.ts';

/** Returns the diagnostic of a connection that fails a policy, or of a policy that could not be evaluated. */
export function policyDiagnostic(finding: PolicyFinding): Diagnostic {
  const { result, severity, message, expression, connection, at, requirement, error } = finding;
  if (error !== undefined) return { ...error, resource: connection };
  const change = result === 'violated' ? 'change the manifest' : 'use a token that reads it, or ask has(...) first';
  return {
    code: result === 'violated' ? 'policy/violated' : 'policy/unknown',
    severity,
    message: `${message} (${clipped(expression)})`,
    hint: `${change}; or waive it in the policy (${formatPosition(requirement)}), with an end date and a reason`,
    resource: connection,
    ...(at === undefined ? {} : { at }),
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

/** The input of a policy check; waivers count by the day `today` (`YYYY-MM-DD`). */
export type PolicyCheckInput = {
  readonly rules: readonly CompiledPolicy[];
  readonly snapshot: ProtectionSnapshot;
  readonly resources: readonly DesiredResource[];
  /** The live objects; absent where the gateway was not read. */
  readonly live?: readonly LiveResource[];
  readonly registry: Registry;
  readonly today: string;
  /** Live connections without a manifest that are checked, too. */
  readonly unmanaged?: readonly ResourceId[] | undefined;
};

/** Checks all declared connections against all policies. An expression that cannot be evaluated does not pass. */
export function checkPolicies(checking: PolicyCheckInput): { readonly report: PolicyReport; readonly diagnostics: readonly Diagnostic[] } {
  const { rules, snapshot, resources, live, registry, today, unmanaged = [] } = checking;
  const found = new Map(live?.map((resource) => [resource.id, resource]));
  const postures = readPostures(snapshot);
  const types = connectionFieldTypes(registry.get('Connection')?.schema ?? {});
  const findings: PolicyFinding[] = [];
  const waived: WaivedFinding[] = [];
  const reached = new Set<string>();
  const declared = resources.map((desired) => ({ id: desired.id, key: desired.key, desired }));
  const others = unmanaged.map((id) => ({ id, key: id, desired: undefined }));
  for (const { id, key, desired } of [...declared, ...others]) {
    const posture = kindOf(key) === 'Connection' ? postures(key) : undefined;
    if (posture === undefined) continue;
    const subject: PolicySubject = { id: key, snapshot, posture, types, desired, live: found.get(key), isUnread: live === undefined };
    const asked = variablesOf(subject);
    for (const one of rules) {
      const results = findingsOf(one, subject, asked);
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
  const names = [...resources.map(({ id }) => id), ...unmanaged].filter((id) => kindOf(id) === 'Connection').map(nameOf);
  const policies = rules.map(({ policy }) => policy);
  return {
    report: { today, policies: rules.length, connections: reached.size, findings, waived },
    diagnostics: waiverDiagnostics(policies, names, today),
  };
}

/** Returns the result of every policy that applies to one connection, including those that pass. */
export function policiesOn(
  id: ResourceId,
  { rules, snapshot, resources, live, registry, today }: PolicyCheckInput,
): readonly PolicyResult[] {
  const desired = resources.find((resource) => resource.key === id);
  const posture = kindOf(id) === 'Connection' && desired !== undefined ? readPostures(snapshot)(id) : undefined;
  if (posture === undefined || desired === undefined) return [];
  const types = connectionFieldTypes(registry.get('Connection')?.schema ?? {});
  const subject: PolicySubject = {
    id,
    snapshot,
    posture,
    types,
    desired,
    live: live?.find((resource) => resource.id === id),
    isUnread: live === undefined,
  };
  const asked = variablesOf(subject);
  return rules.flatMap((one): readonly PolicyResult[] => {
    const results = findingsOf(one, subject, asked);
    if (results === undefined) return [];
    const { name: policy, at } = one.policy;
    const messages = results.map(({ message }) => message);
    if (results.length === 0) return [{ policy, at, result: 'passes', messages }];
    const waiver = waiverFor(one.policy, nameOf(id), today);
    if (waiver !== undefined) return [{ policy, at, result: 'waived', messages, until: waiver.until, reason: waiver.reason }];
    return [{ policy, at, result: results.some(({ result }) => result === 'violated') ? 'violated' : 'unknown', messages }];
  });
}

/** Returns the findings of one policy for a connection; undefined when the policy does not apply to it. */
function findingsOf(
  { policy, require }: CompiledPolicy,
  subject: PolicySubject,
  asked: VariableProvider,
): readonly PolicyFinding[] | undefined {
  const { id, snapshot } = subject;
  const isAbout = policyMatches(policy, nameOf(id), snapshot.resources.get(id) ?? { spec: {}, unknown: [''] });
  if (isAbout === false) return undefined;
  return require.flatMap((one): readonly PolicyFinding[] => {
    const result = isAbout === true ? evaluateRequirement(one, asked) : { hidden: 'its tags cannot be seen' };
    if (result === true) return [];
    const { expression, at: requirement, message: own = policy.message, diagnose } = one.requirement;
    const reason = result === false ? own : `could not be evaluated: ${'hidden' in result ? result.hidden : result.failure}`;
    const message = `policy "${policy.name}": ${reason}`;
    const place = placeOf(subject, one.fields);
    return [
      {
        policy: policy.name,
        connection: subject.desired?.id ?? id,
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

/** Evaluates a requirement. */
function evaluateRequirement({ evaluate }: CompiledRequirement, asked: VariableProvider): boolean | EvaluationProblem {
  try {
    const value = evaluate(asked());
    return typeof value === 'boolean' ? value : { failure: 'it is neither true nor false', hint: 'compare it with something', start: 0 };
  } catch (error) {
    if (error instanceof UnavailableError) return { hidden: error.message };
    if (error instanceof ExpressionError) return { failure: error.message, hint: error.hint, start: error.start };
    throw error;
  }
}

/** Returns the position of the first stated field that the expression names, else that of the manifest. */
function placeOf({ desired }: PolicySubject, fields: readonly string[]): PolicyFinding['at'] {
  const field = fields.find((name) => desired?.stated.has(name));
  return desired?.locate(field === undefined ? '' : `/${field}`);
}

/** Returns whether a policy applies to a connection; `unseen` when its tags cannot be read. */
export function policyMatches({ match }: Policy, name: string, { spec, unknown }: ResourceSnapshot): boolean | 'unseen' {
  if (!isOneOf(match.name, name) || !includesValue(match.type, spec['type']) || !includesValue(match.subtype, spec['subtype']))
    return false;
  const asked = Object.entries(match.tags);
  if (asked.length === 0) return true;
  const path = pointer('connection_tags');
  if (unknown.some((one) => isPointerWithin(one, path) || isPointerWithin(path, one))) return 'unseen';
  const tags = spec['connection_tags'];
  return asked.every(([key, values]) => isObject(tags) && includesValue(values, Object.hasOwn(tags, key) ? tags[key] : undefined));
}

function includesValue(values: readonly string[], value: unknown): boolean {
  return values.length === 0 || (typeof value === 'string' && values.includes(value));
}

function isOneOf(patterns: readonly string[], name: string): boolean {
  return patterns.length === 0 || patterns.some((pattern) => matchesGlob(pattern, name));
}

/** Returns whether a name matches a glob: `*` stands for any characters, `?` for one. Backtracks only to the last star. */
export function matchesGlob(pattern: string, name: string): boolean {
  let [at, star, back] = [0, -1, 0];
  let index = 0;
  while (index < name.length) {
    if (pattern[at] === '*') {
      star = at;
      back = index;
      at += 1;
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === name[index])) {
      at += 1;
      index += 1;
    } else if (star === -1) {
      return false;
    } else {
      at = star + 1;
      back += 1;
      index = back;
    }
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}

/** A waiver is reported this many days before it ends. */
const noticeDays = 14;

/** Returns the first valid waiver of a policy for a connection. */
export function waiverFor({ waivers }: Policy, name: string, today: string): Waiver | undefined {
  return waivers.find(({ connection, until }) => until >= today && matchesGlob(connection, name));
}

/** Reports waivers: an ended one has the severity of its policy; one that ends soon or matches no connection is a warning. */
export function waiverDiagnostics(policies: readonly Policy[], names: readonly string[], today: string): readonly Diagnostic[] {
  return policies.flatMap(({ name, severity, waivers }) =>
    waivers.flatMap((waiver): readonly Diagnostic[] => {
      const { connection, until, at } = waiver;
      const whose = `the waiver of "${name}" for ${connection}`;
      if (until < today) {
        const hint = 'do as the policy asks, or agree on another day; then take the waiver out';
        return [{ code: 'policy/waiver-ended', severity, message: `${whose} ended on ${until} (today is ${today})`, hint, at }];
      }
      const left = dayNumber(until) - dayNumber(today);
      const soon: readonly Diagnostic[] =
        left > noticeDays
          ? []
          : [
              {
                code: 'policy/waiver-ending',
                severity: 'warning',
                message: `${whose} ends ${whenText(left)} (${until})`,
                hint: 'from the day after on the plan is refused',
                at,
              },
            ];
      return [...soon, ...unused(waiver, whose, names)];
    }),
  );
}

function whenText(left: number): string {
  return left === 0 ? 'today' : `in ${left} day${left === 1 ? '' : 's'}`;
}

function unused({ connection, at }: Waiver, whose: string, names: readonly string[]): readonly Diagnostic[] {
  if (names.some((name) => matchesGlob(connection, name))) return [];
  const near = suggest(connection, names);
  const hint = near === undefined ? 'take it out' : `did you mean "${near}"?`;
  return [{ code: 'policy/waiver-unused', severity: 'warning', message: `${whose}: there is no such connection`, hint, at }];
}
