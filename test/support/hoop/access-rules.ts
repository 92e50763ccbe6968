import { writeAttributes } from './attribute-links.ts';
import { readBody } from './body.ts';
import { created, empty, ok, param, type Call, type Reply, type Route } from './call.ts';
import { microTime, nanoTime } from './clock.ts';
import { ModelError } from './errors.ts';
import type { JsonObject } from './json.ts';
import { nameProblem } from './like.ts';
import type { AccessRuleRow } from './rows.ts';

const audit = 'access_request_rules';

export const accessRuleRoutes: readonly Route[] = [
  { method: 'GET', path: '/access-requests/rules', access: 'auditor', answer: list },
  { method: 'POST', path: '/access-requests/rules', access: 'admin', answer: create, audit },
  { method: 'GET', path: '/access-requests/rules/:name', access: 'auditor', answer: (call) => ok(view(call, find(call))) },
  { method: 'PUT', path: '/access-requests/rules/:name', access: 'admin', answer: replace, audit },
  { method: 'DELETE', path: '/access-requests/rules/:name', access: 'admin', answer: remove, audit },
];

type RuleBody = Omit<AccessRuleRow, 'id' | 'managedBy' | 'createdAt' | 'updatedAt'> & { readonly attributes: readonly string[] | null };

/** A page size of 0, which is the default, gives all of them. */
function list(call: Call): Reply {
  const page = Number(call.query.get('page') || 1);
  const size = Number(call.query.get('page_size') || 0);
  const rows = [...call.store.accessRules.values()];
  const shown = size === 0 ? rows : rows.slice((page - 1) * size, page * size);
  return ok({ pages: { total: rows.length, page, size }, data: shown.map((row) => view(call, row)) });
}

function create(call: Call): Reply {
  const { store, context, caller } = call;
  const body = readRule(call.text);
  if (caller.licence === 'oss' && store.accessRules.size > 0)
    throw new ModelError(403, 'access request rules are limited to 1 in the OSS version');
  check(call, body);
  if (store.accessRules.has(body.name)) throw new ModelError(422, 'access request rule with the same name already exists');
  const now = context.clock.now();
  const { attributes, ...fields } = body;
  const row = { ...fields, id: context.random.uuid(), managedBy: null, createdAt: now, updatedAt: now };
  store.accessRules.set(row.name, row);
  writeOwn(call, row.name, attributes);
  return created({ ...view(call, row), created_at: nanoTime(now), updated_at: nanoTime(now) });
}

function replace(call: Call): Reply {
  const { store, context } = call;
  const body = readRule(call.text);
  const before = find(call);
  if (before.managedBy !== null) throw new ModelError(400, 'this rule is managed by Hoop and cannot be modified directly');
  check(call, body, before);
  const { attributes, ...fields } = body;
  const row = { ...before, ...fields, updatedAt: context.clock.now() };
  store.accessRules.delete(before.name);
  store.accessRules.set(row.name, row);
  store.accessRuleAttributes.renameRight(before.name, row.name);
  writeOwn(call, row.name, attributes);
  return ok(view(call, row));
}

function remove(call: Call): Reply {
  const row = find(call);
  if (row.managedBy !== null) throw new ModelError(400, 'this rule is managed by Hoop and cannot be deleted directly');
  call.store.accessRules.delete(row.name);
  call.store.accessRuleAttributes.dropRight(row.name);
  return empty;
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
  const result = {
    name: body.string('name'),
    description: body.text('description'),
    accessType: body.string('access_type'),
    connectionNames: body.strings('connection_names') ?? [],
    attributes: body.strings('attributes'),
    approvalRequiredGroups: body.strings('approval_required_groups'),
    allGroupsMustApprove: body.bool('all_groups_must_approve'),
    reviewersGroups: body.strings('reviewers_groups'),
    forceApprovalGroups: body.strings('force_approval_groups'),
    skipReviewGroups: body.strings('skip_review_groups'),
    accessMaxDuration: body.int('access_max_duration'),
    minApprovals: body.int('min_approvals'),
  };
  body.require({ Name: result.name, AccessType: result.accessType });
  return result;
}

function check({ store }: Call, body: RuleBody, before?: AccessRuleRow): void {
  const conflict = [...store.accessRules.values()]
    .filter((row) => row.id !== before?.id && row.accessType === body.accessType)
    .flatMap((row) => row.connectionNames.find((name) => body.connectionNames.includes(name)) ?? [])[0];
  const problem = nameProblem(body.name);
  const limits: readonly (readonly [boolean, string])[] = [
    [
      conflict !== undefined,
      `an access request rule with the same connection names and access type already exists, conflicting connection: ${conflict ?? ''}`,
    ],
    [problem !== undefined, problem ?? ''],
    [!['jit', 'command', 'jit_command'].includes(body.accessType), "access_type must be either 'jit' or 'command'"],
    [(body.reviewersGroups ?? []).length === 0, 'reviewers_groups must have at least 1 entry'],
    [!body.allGroupsMustApprove && (body.minApprovals ?? 0) < 1, 'min_approvals must be at least 1 when all_groups_must_approve is false'],
  ];
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
