import type { Diagnostic } from '../../../../model/diagnostic.ts';
import { addToGroup } from '../../../../model/collections.ts';
import { asText, type Json, textsIn } from '../../../../model/json.ts';
import type { BlockedMove, PreflightRequest } from '../../../../model/gateway.ts';
import { type EdgeChange, liveKeyOf, renamesOf, withNames, deletedKeys } from '../../../../model/plan/plan.ts';
import { pointer, type Pointer } from '../../../../model/pointer.ts';
import { kindOf, nameOf, type ResourceId, type Spec } from '../../../../model/resource.ts';
import { diagnosticAt, type ProposedWrite } from '../../rest.ts';
import { checkName } from './name.ts';

const kind = 'AccessRequestRule';

/** Reports what the gateway rejects of an access-request rule. */
export function checkRequestRule(write: ProposedWrite): readonly Diagnostic[] {
  return [...checkName(write), ...checkApprovals(write), ...checkIgnored(write)];
}

/** Reports groups that a manifest ignores and the gateway rejects beside those that it states. */
function checkIgnored(write: ProposedWrite): readonly Diagnostic[] {
  const lists = ['approval_required_groups', 'skip_review_groups'].filter((field) => textsIn(write.spec[field]).length > 0);
  if (lists.length < 2) return [];
  const message = `${lists.join(' and ')} exclude each other, and the manifest ignores one of them`;
  const hint = 'empty it on the gateway, or do not ignore it';
  return [diagnosticAt(write, '', { code: 'manifest/approval-contradiction', message, hint })];
}

/** Says what a number of approvals does beside `all_groups_must_approve`. */
function ignoredCount(type: Json | undefined, least: number): string {
  return type === 'command'
    ? 'min_approvals has no effect, because all groups must approve'
    : `all groups must approve a session, but the gateway gives a credential for a native client after ${least} approval${least === 1 ? '' : 's'}`;
}

/** Reports what the gateway accepts, although it does something else than it says. */
function checkApprovals(write: ProposedWrite): readonly Diagnostic[] {
  const { access_type: type, min_approvals: least, all_groups_must_approve: all, access_max_duration: longest } = write.spec;
  const count = textsIn(write.spec['reviewers_groups']).length;
  const problem = (at: Pointer, message: string, hint: string): Diagnostic =>
    diagnosticAt(write, at, { code: 'hoop/approval', message, hint });
  return [
    ...(all === true && typeof least === 'number'
      ? [problem('/min_approvals', ignoredCount(type, least), 'remove it, or all_groups_must_approve')]
      : []),
    ...(all !== true && typeof least === 'number' && least > count
      ? [
          problem(
            '/min_approvals',
            `min_approvals is ${least}, but only ${count} ${count === 1 ? 'group reviews' : 'groups review'}`,
            'lower it, or add groups to reviewers_groups',
          ),
        ]
      : []),
    ...(type === 'command' && typeof longest === 'number'
      ? [problem('/access_max_duration', 'access_max_duration has no effect on commands', 'remove it, or set access_type: jit_command')]
      : []),
  ];
}

/** An access-request rule as it is before or after a plan. */
type RequestRule = {
  readonly id: ResourceId;
  readonly type: string;
  readonly connections: ReadonlySet<string>;
  readonly attributes: readonly string[];
};

/**
 * Reports rules that would govern the same connection at the same step: the gateway refuses some of them, and decides at random between the others.
 * A connection moves from one rule to another only if the plan may close it: the second cannot take it before the first has let go, and then
 * nothing asks for approval.
 */
export function checkRequestRules(proposal: PreflightRequest, writes: readonly ProposedWrite[]): readonly Diagnostic[] {
  const written = writes.filter((write) => write.kind === kind);
  if (written.length === 0) return [];
  const before = liveRules(proposal);
  const after = rulesAfter(proposal, before, written);
  const having = attributesAfter(proposal, writes);
  const near = rulesNear([...after.values()], having);
  return written.flatMap((write) => {
    const own = after.get(write.resource.key) ?? after.get(write.resource.id);
    if (own === undefined) return [];
    if (own.connections.size + own.attributes.length === 0) return [noTarget(write)];
    const other = near(own).find((rule) => rule.id !== own.id && sharesStep(rule, own));
    const overlap = other && overlapOf(own, other, having);
    if (overlap !== undefined) return [overlapAt(write, overlap)];
    return (proposal.blockedMoves ?? []).filter(({ to }) => to === own.id).map((move) => moveAt(write, move));
  });
}

function liveRules({ live, plan }: PreflightRequest): ReadonlyMap<ResourceId, RequestRule> {
  const rules = withNames(live, renamesOf(plan.changes)).resources.filter(({ id }) => kindOf(id) === kind);
  return new Map(rules.map(({ id, spec, edges }) => [id, ruleOf(id, spec, edges['connection_names'] ?? [])]));
}

function ruleOf(id: ResourceId, spec: Spec, connections: readonly ResourceId[]): RequestRule {
  return { id, type: asText(spec['access_type']), connections: new Set(connections.map(nameOf)), attributes: textsIn(spec['attributes']) };
}

function rulesAfter(
  { plan }: PreflightRequest,
  before: ReadonlyMap<ResourceId, RequestRule>,
  written: readonly ProposedWrite[],
): ReadonlyMap<ResourceId, RequestRule> {
  const after = new Map(before);
  const writeOf = new Map(written.map((write) => [write.resource.id, write]));
  const edgesOf = new Map<ResourceId, EdgeChange[]>();
  for (const edge of plan.edges) addToGroup(edgesOf, edge.rule, edge);
  for (const change of plan.changes.filter(({ id }) => kindOf(id) === kind)) {
    const key = liveKeyOf(change);
    const write = writeOf.get(change.id);
    const connections = new Set(before.get(key)?.connections);
    for (const edge of edgesOf.get(key) ?? []) {
      if (edge.action === 'attach') connections.add(nameOf(edge.connection));
      if (edge.action === 'detach') connections.delete(nameOf(edge.connection));
    }
    if (change.action === 'delete' || write !== undefined) after.delete(key);
    if (write !== undefined) after.set(key, { ...ruleOf(change.id, write.spec, []), connections });
  }
  return after;
}

/** The attributes of connections. */
type AttributesOf = ReadonlyMap<ResourceId, readonly string[]>;

/** Returns the attributes of each connection after a plan. */
function attributesAfter({ live, plan }: PreflightRequest, writes: readonly ProposedWrite[]): AttributesOf {
  const deleted = deletedKeys(plan.changes);
  const all = new Map(live.resources.flatMap(({ id, spec }) => (deleted.has(id) ? [] : [[id, spec] as const])));
  for (const { resource, spec } of writes) all.set(resource.key, spec);
  return new Map([...all].flatMap(([id, spec]) => (kindOf(id) === 'Connection' ? [[id, textsIn(spec['attributes'])] as const] : [])));
}

function sharesStep({ type: one }: RequestRule, { type: other }: RequestRule): boolean {
  return one === other || one === 'jit_command' || other === 'jit_command';
}

/** Returns a lookup of the rules that share a connection with a rule, in their order. Each rule looks at its own connections alone. */
function rulesNear(rules: readonly RequestRule[], connections: AttributesOf): (own: RequestRule) => readonly RequestRule[] {
  const naming = new Map<string, RequestRule[]>();
  const having = new Map<string, RequestRule[]>();
  for (const rule of rules) {
    for (const name of rule.connections) addToGroup(naming, name, rule);
    for (const attribute of rule.attributes) addToGroup(having, attribute, rule);
  }
  const beside = new Map<string, Set<string>>();
  for (const all of connections.values()) {
    const attributes = all.filter((one) => having.has(one));
    for (const one of attributes) {
      const known = beside.get(one) ?? new Set<string>();
      beside.set(one, known);
      for (const other of attributes) known.add(other);
    }
  }
  return (own) => {
    const attributes = own.attributes.flatMap((one) => [one, ...(beside.get(one) ?? [])]);
    const named = [...own.connections].flatMap((name) => naming.get(name) ?? []);
    const found = new Set([...named, ...attributes.flatMap((one) => having.get(one) ?? [])]);
    return rules.filter((rule) => found.has(rule));
  };
}

type Overlap = { readonly at: Pointer; readonly what: string; readonly by: string };

/** Returns what two rules of one step share: a connection that both name, or one that has an attribute of each. */
function overlapOf(own: RequestRule, other: RequestRule, connections: AttributesOf): Overlap | undefined {
  const by = nameOf(other.id);
  const name = [...own.connections].find((one) => other.connections.has(one));
  if (name !== undefined) return { at: pointer('connection_names', name), what: name, by };
  const attribute = own.attributes.find((one) => other.attributes.includes(one));
  if (attribute !== undefined) return { at: pointer('attributes', attribute), what: `attribute ${attribute}`, by };
  const shared = [...connections].find(
    ([, all]) => all.some((one) => own.attributes.includes(one)) && all.some((one) => other.attributes.includes(one)),
  );
  return shared === undefined ? undefined : { at: '/attributes', what: nameOf(shared[0]), by };
}

function noTarget(write: ProposedWrite): Diagnostic {
  return diagnosticAt(write, '', {
    code: 'hoop/no-target',
    message: `the access-request rule ${write.name} would govern no connection, and the gateway refuses that`,
    hint: 'add connection_names, connection_selector or attributes, or delete the rule',
  });
}

function overlapAt(write: ProposedWrite, { at, what, by }: Overlap): Diagnostic {
  return diagnosticAt(write, at, {
    code: 'hoop/rule-overlap',
    message: `${what} would have two access-request rules of one type: ${write.name} and ${by}`,
    hint: `the gateway refuses them, or one of them decides at random; remove it from one of the rules`,
  });
}

function moveAt(write: ProposedWrite, { connection, from, why }: BlockedMove): Diagnostic {
  const name = nameOf(connection);
  return diagnosticAt(write, pointer('connection_names', name), {
    code: 'hoop/rule-move',
    message: `${name} would have no approval while it moves from the access-request rule ${nameOf(from)} to ${write.name}, and the plan cannot close it meanwhile: ${why}`,
    hint: `let the plan close ${name}; or change ${nameOf(from)} instead (renamedFrom renames it)`,
  });
}
