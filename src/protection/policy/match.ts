import type { DesiredResource } from '../../model/desired.ts';
import { type Diagnostic, formatPosition, type Position } from '../../model/diagnostic.ts';
import { isObject } from '../../model/json.ts';
import { overlaps, pointer } from '../../model/pointer.ts';
import type { LeftMatch, MatchCondition, Policy, PolicyFinding, Waiver } from '../../model/protection/policy.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import { type KindNames, noNames, respellText } from '../../model/spec/spelling.ts';
import { matchesGlob } from '../pattern/glob.ts';
import type { CompiledPolicy } from './compile-policies.ts';
import type { ResourceSnapshot } from '../posture/protection-snapshot.ts';

/** Returns whether a policy applies to a connection; `unseen` when its tags cannot be read. */
export function policyMatches({ match }: Policy, name: string, { spec, unknown }: ResourceSnapshot): boolean | 'unseen' {
  if (!isOneOf(match.name, name) || !includesValue(match.type, spec['type']) || !includesValue(match.subtype, spec['subtype']))
    return false;
  const asked = Object.entries(match.tags);
  if (asked.length === 0) return true;
  const path = pointer('connection_tags');
  if (unknown.some((one) => overlaps(one, path))) return 'unseen';
  const tags = spec['connection_tags'];
  return asked.every(([key, values]) => isObject(tags) && includesValue(values, Object.hasOwn(tags, key) ? tags[key] : undefined));
}

function includesValue(values: readonly string[], value: unknown): boolean {
  return values.length === 0 || (typeof value === 'string' && values.includes(value));
}

function isOneOf(patterns: readonly string[], name: string): boolean {
  return patterns.length === 0 || patterns.some((pattern) => matchesGlob(pattern, name));
}

/** A connection before a plan, as far as a policy may match it. */
export type FormerConnection = { readonly id: ResourceId; readonly resource: ResourceSnapshot };

/** Returns what a connection was before the plan; undefined for a new one. */
export type FormerConnections = (desired: DesiredResource) => FormerConnection | undefined;

type LeavingConnection = {
  readonly desired: DesiredResource;
  readonly before: FormerConnection;
  readonly after: ResourceSnapshot;
  /** The results of the policy for the connection after the plan. */
  readonly findings: () => readonly PolicyFinding[];
  readonly waiver: Waiver | undefined;
};

/** Returns that a connection which a policy applied to before the plan leaves its match; undefined when it did not apply. */
export function findLeftMatch(
  { policy, shown = noNames }: Pick<CompiledPolicy, 'policy' | 'shown'>,
  { desired, before, after, findings, waiver }: LeavingConnection,
): LeftMatch | undefined {
  if (policyMatches(policy, nameOf(before.id), before.resource) !== true) return undefined;
  const all = findings();
  const [first] = all;
  const conditions = conditionsOf(policy, before, { id: desired.id, resource: after }).map((one) => respellCondition(one, shown));
  const failed = all.some(({ result }) => result === 'violated') ? 'violated' : 'unknown';
  const result = first === undefined ? 'passes' : waiver === undefined ? failed : 'waived';
  const at = conditionPosition(desired, conditions[0]);
  return {
    policy: policy.name,
    connection: desired.id,
    result,
    severity: result === 'passes' || result === 'waived' ? 'notice' : policy.severity,
    conditions,
    message: `policy "${policy.name}" no longer applies: ${conditions.map(conditionText).join(', ')}; ${resultText(result, first, waiver)}`,
    at,
    match: policy.match.at,
  };
}

/** Returns the diagnostic of a connection that leaves the match of a policy. */
export function leftMatchDiagnostic({ severity, message, connection, at, match }: LeftMatch): Diagnostic {
  const place = formatPosition(match);
  const hint =
    severity === 'notice'
      ? `later changes of the connection are not checked with this policy (${place})`
      : `keep the match (${place}), satisfy the policy, or waive it with an end date and a reason`;
  return { code: 'policy/left-match', severity, message, hint, resource: connection, at };
}

function resultText(result: LeftMatch['result'], first: PolicyFinding | undefined, waiver: Waiver | undefined): string {
  const reason = first?.message.replace(/^policy ".*?": /s, '') ?? '';
  if (result === 'passes') return 'the connection would still satisfy it';
  if (result === 'waived') return `the connection violates it, waived until ${waiver?.until ?? ''} (${waiver?.reason ?? ''})`;
  return result === 'violated' ? `the connection violates it: ${reason}` : reason;
}

function conditionText({ field, before, after }: MatchCondition): string {
  return `${field} was ${JSON.stringify(before)}, ${after === undefined ? 'now missing' : `is now ${JSON.stringify(after)}`}`;
}

function respellCondition({ field, before, after }: MatchCondition, names: KindNames): MatchCondition {
  const shown = (text: string): string => respellText(names, field, text);
  return { field, before: shown(before), ...(after === undefined ? {} : { after: shown(after) }) };
}

/** Lists the conditions of the match that held before the plan and do not hold after it. */
function conditionsOf(policy: Policy, before: FormerConnection, after: FormerConnection): readonly MatchCondition[] {
  const { match } = policy;
  const none = { tags: {}, type: [], subtype: [], name: [], at: match.at };
  const alone = [
    ...(['type', 'subtype', 'name'] as const).map((field) => ({ field, match: { ...none, [field]: match[field] } })),
    ...Object.entries(match.tags).map(([key, values]) => ({ field: `tags.${key}`, match: { ...none, tags: { [key]: values } } })),
  ];
  return alone.flatMap(({ field, match: one }) => {
    if (policyMatches({ ...policy, match: one }, nameOf(after.id), after.resource) !== false) return [];
    const [left, right] = [fieldText(field, before), fieldText(field, after)];
    return [{ field, before: left ?? '', ...(right === undefined ? {} : { after: right }) }];
  });
}

function fieldText(field: string, { id, resource: { spec } }: FormerConnection): string | undefined {
  if (field === 'name') return nameOf(id);
  const tags = spec['connection_tags'];
  const key = field.startsWith('tags.') ? field.slice('tags.'.length) : undefined;
  const value = key === undefined ? spec[field] : isObject(tags) && Object.hasOwn(tags, key) ? tags[key] : undefined;
  return typeof value === 'string' ? value : undefined;
}

function conditionPosition(desired: DesiredResource, condition: MatchCondition | undefined): Position {
  const field = condition?.field ?? '';
  const [name, key] = field.startsWith('tags.') ? ['connection_tags', field.slice('tags.'.length)] : [field];
  if (name === undefined || !desired.stated.has(name)) return desired.locate('');
  return desired.locate(key === undefined || condition?.after === undefined ? pointer(name) : pointer(name, key));
}
