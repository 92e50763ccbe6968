import { firstRule, overlappingTypes } from './access-links.ts';
import { writeAttributes } from './attribute-links.ts';
import { readBody } from './body.ts';
import { created, empty, ok, param, type Call, type Reply, type Route } from './call.ts';
import { microTime, nanoTime } from './clock.ts';
import { ModelError } from './errors.ts';
import type { JsonObject } from './json.ts';
import { nameProblem } from './like.ts';
import type { AccessRuleRow } from './rows.ts';
import type { Store } from './store.ts';

export const accessRuleRoutes: readonly Route[] = [
  { method: 'GET', path: '/access-requests/rules', access: 'auditor', answer: list },
  { method: 'POST', path: '/access-requests/rules', access: 'admin', answer: create },
  { method: 'GET', path: '/access-requests/rules/:name', access: 'auditor', answer: (call) => ok(view(call, find(call))) },
  { method: 'PUT', path: '/access-requests/rules/:name', access: 'admin', answer: replace },
  { method: 'DELETE', path: '/access-requests/rules/:name', access: 'admin', answer: remove },
];

type RuleBody = Omit<AccessRuleRow, 'id' | 'managedBy' | 'createdAt' | 'updatedAt'> & { readonly attributes: readonly string[] | null };

const overlap = 'an access request rule with the same connection names and access type already exists';
const attributeOverlap = 'an access request rule with the same attributes and access type already exists';

/** Lists the rules, newest first; a page size of 0, which is the default, gives all of them. */
function list(call: Call): Reply {
  const page = Number(call.query.get('page') || 1);
  const size = Number(call.query.get('page_size') || 0);
  const rows = [...call.store.accessRules.values()].toSorted((left, right) => (left.createdAt < right.createdAt ? 1 : -1));
  const shown = size === 0 ? rows : rows.slice((page - 1) * size, page * size);
  return ok({ pages: { total: rows.length, page, size }, data: shown.map((row) => view(call, row)) });
}

function create(call: Call): Reply {
  const { store, context, caller } = call;
  const body = readRule(call.text);
  if (caller.licence === 'oss' && store.accessRules.size > 0)
    throw new ModelError(403, 'access request rules are limited to 1 in the OSS version');
  const other = overlapping(call, body);
  if (other !== undefined) {
    const shared = other.connectionNames.find((name) => body.connectionNames.includes(name));
    throw new ModelError(422, `${overlap}, conflicting connection: ${shared ?? ''}`);
  }
  check(body);
  if (overlappingByAttribute(call, body) !== undefined) throw new ModelError(422, attributeOverlap);
  if (store.accessRules.has(body.name)) throw new ModelError(422, 'access request rule with the same name already exists');
  const now = context.clock.now();
  const { attributes, ...fields } = body;
  const row = {
    ...fields,
    id: context.random.uuidFor(`access-request rule ${fields.name}`),
    managedBy: null,
    createdAt: now,
    updatedAt: now,
  };
  store.accessRules.set(row.name, row);
  writeOwn(call, row.name, attributes);
  return created({ ...view(call, row), attributes: attributes ?? [], created_at: nanoTime(now), updated_at: nanoTime(now) });
}

/** Replaces a rule, then its attributes. An overlap is missed when this rule has the lowest id of the rules that overlap. */
function replace(call: Call): Reply {
  const { store, context } = call;
  const body = readRule(call.text);
  const before = find(call);
  if (before.managedBy !== null) throw new ModelError(400, 'this rule is managed by Hoop');
  const others = [overlapping(call, body), overlappingByAttribute(call, body)];
  for (const [index, other] of others.entries())
    if (other !== undefined && other.id !== before.id) throw new ModelError(422, index === 0 ? overlap : attributeOverlap);
  check(body);
  if (body.name !== before.name && store.accessRules.has(body.name)) throw new ModelError(500, 'failed to update access request rule');
  const { attributes, ...fields } = body;
  const row = { ...before, ...fields, updatedAt: context.clock.now() };
  store.accessRules.delete(before.name);
  store.accessRules.set(row.name, row);
  store.accessRuleAttributes.renameRight(before.name, row.name);
  writeOwn(call, row.name, attributes);
  return ok({ ...view(call, row), attributes: attributes ?? [], updated_at: nanoTime(row.updatedAt) });
}

function remove(call: Call): Reply {
  const row = find(call);
  if (row.managedBy !== null) throw new ModelError(400, 'this rule is managed by Hoop and cannot be deleted directly');
  deleteAccessRule(call.store, row.name);
  return empty;
}

/** Removes an access-request rule with its links. */
export function deleteAccessRule(store: Store, name: string): void {
  store.accessRules.delete(name);
  store.accessRuleAttributes.dropRight(name);
}

/** The one rule that the check for overlaps looks at: of all rules for the same connections and steps, the one with the lowest id. */
function overlapping({ store }: Call, { connectionNames, accessType }: RuleBody): AccessRuleRow | undefined {
  const types = overlappingTypes(accessType);
  return firstRule(store, (rule) => types.includes(rule.accessType) && rule.connectionNames.some((name) => connectionNames.includes(name)));
}

function overlappingByAttribute({ store }: Call, { attributes, accessType }: RuleBody): AccessRuleRow | undefined {
  const types = overlappingTypes(accessType);
  const shares = (name: string): boolean => (attributes ?? []).some((attribute) => store.accessRuleAttributes.has(attribute, name));
  return firstRule(store, (rule) => types.includes(rule.accessType) && shares(rule.name));
}

function find(call: Call): AccessRuleRow {
  const row = call.store.accessRules.get(param(call, 'name'));
  if (row === undefined) throw new ModelError(404, 'access request rule not found');
  return row;
}

function writeOwn(call: Call, owner: string, names: readonly string[] | null): void {
  writeAttributes(call, {
    links: call.store.accessRuleAttributes,
    owner,
    names,
    prefix: 'failed upserting access request rule attributes: ',
  });
}

function readRule(text: string): RuleBody {
  const body = readBody(text, 'AccessRequestRuleRequest');
  const connectionNames = body.strings('connection_names');
  const result = {
    name: body.string('name'),
    description: body.text('description'),
    accessType: body.string('access_type'),
    connectionNames,
    attributes: body.strings('attributes'),
    approvalRequiredGroups: body.strings('approval_required_groups'),
    allGroupsMustApprove: body.bool('all_groups_must_approve'),
    reviewersGroups: body.strings('reviewers_groups'),
    forceApprovalGroups: body.strings('force_approval_groups'),
    skipReviewGroups: body.strings('skip_review_groups'),
    accessMaxDuration: body.int('access_max_duration'),
    minApprovals: body.int('min_approvals'),
  };
  body.require({
    Name: result.name,
    AccessType: result.accessType,
    ConnectionNames: connectionNames,
    ApprovalRequiredGroups: result.approvalRequiredGroups,
    ReviewersGroups: result.reviewersGroups,
    ForceApprovalGroups: result.forceApprovalGroups,
  });
  return { ...result, connectionNames: connectionNames ?? [] };
}

function check(body: RuleBody): void {
  const problem = nameProblem(body.name);
  const limits: readonly (readonly [boolean, string])[] = [
    [problem !== undefined, problem ?? ''],
    [
      body.connectionNames.length === 0 && (body.attributes ?? []).length === 0,
      'either connection_names or attributes must have at least 1 entry',
    ],
    [!['jit', 'command', 'jit_command'].includes(body.accessType), "access_type must be one of 'jit', 'command' or 'jit_command'"],
  ];
  refuseFirst(limits);
  checkReviewers(body);
}

function checkReviewers(body: RuleBody): void {
  refuseFirst([
    [(body.reviewersGroups ?? []).length === 0, 'reviewers_groups must have at least 1 entry'],
    [!body.allGroupsMustApprove && (body.minApprovals ?? 0) < 1, 'min_approvals must be at least 1 when all_groups_must_approve is false'],
    [
      (body.skipReviewGroups ?? []).length > 0 && (body.approvalRequiredGroups ?? []).length > 0,
      'skip_review_groups can only be set when approval_required_groups is empty',
    ],
  ]);
}

function refuseFirst(limits: readonly (readonly [boolean, string])[]): void {
  const broken = limits.find(([over]) => over);
  if (broken !== undefined) throw new ModelError(422, broken[1]);
}

function view({ store, context }: Call, row: AccessRuleRow): JsonObject {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    access_type: row.accessType,
    connection_names: row.connectionNames,
    attributes: context.random.shuffle(store.accessRuleAttributes.leftsOf(row.name)),
    approval_required_groups: row.approvalRequiredGroups,
    all_groups_must_approve: row.allGroupsMustApprove,
    reviewers_groups: row.reviewersGroups,
    force_approval_groups: row.forceApprovalGroups,
    skip_review_groups: row.skipReviewGroups,
    access_max_duration: row.accessMaxDuration,
    min_approvals: row.minApprovals,
    managed_by: row.managedBy,
    created_at: microTime(row.createdAt),
    updated_at: microTime(row.updatedAt),
  };
}
