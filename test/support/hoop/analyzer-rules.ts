import { analyzerRuleOf } from './access-links.ts';
import { readBody, type Body } from './body.ts';
import { created, empty, ok, param, type Call, type Reply, type Route } from './call.ts';
import { microTime, nanoTime } from './clock.ts';
import { ModelError } from './errors.ts';
import type { Json, JsonObject } from './json.ts';
import { byName, nameProblem } from './like.ts';
import type { AnalyzerRuleRow, RiskTier } from './rows.ts';

export const analyzerRuleRoutes: readonly Route[] = [
  { method: 'GET', path: '/ai/session-analyzer/rules', access: 'auditor', answer: list },
  { method: 'POST', path: '/ai/session-analyzer/rules', access: 'admin', answer: create },
  { method: 'GET', path: '/ai/session-analyzer/rules/:name', access: 'auditor', answer: (call) => ok(view(find(call))) },
  { method: 'PUT', path: '/ai/session-analyzer/rules/:name', access: 'admin', answer: replace },
  { method: 'DELETE', path: '/ai/session-analyzer/rules/:name', access: 'admin', answer: remove },
  { method: 'GET', path: '/connections/:nameOrID/ai-session-analyzer-rule', access: 'reader', answer: readByConnection },
];

const levels = ['low', 'medium', 'high'] as const;
const actions = ['allow_execution', 'block_execution', 'require_access_request'];

type RuleBody = Omit<AnalyzerRuleRow, 'id' | 'managedBy' | 'createdAt' | 'updatedAt'>;

/** Lists the rules in name order: all of them where the page size is 0, as by default. */
function list({ store, query }: Call): Reply {
  const names = query.getAll('connection_names');
  const page = Number.parseInt(query.get('page') ?? '', 10) || 1;
  const size = Math.min(Number.parseInt(query.get('page_size') ?? '', 10) || 0, 100);
  const rows = [...store.analyzerRules.values()]
    .filter((row) => names.length === 0 || row.connectionNames.some((name) => names.includes(name)))
    .toSorted(byName);
  const shown = size > 0 ? rows.slice((page - 1) * size, page * size) : rows;
  return ok({ pages: { total: rows.length, page, size }, data: shown.map(view) });
}

/** Finds the rule of a connection by its name, even a name that no connection has. */
function readByConnection({ store, params }: Call): Reply {
  const row = analyzerRuleOf(store, params['nameOrID'] ?? '');
  if (row === undefined) throw new ModelError(404, 'resource not found');
  return ok(view(row));
}

function create(call: Call): Reply {
  const { store, context } = call;
  const body = readRule(call);
  if (overlapping(call, body) !== undefined) throw new ModelError(400, 'another rule with the same connection names already exists');
  if (store.analyzerRules.has(body.name)) throw new ModelError(409, 'resource already exists');
  const now = context.clock.now();
  const row = { ...body, id: context.random.uuid(), managedBy: null, createdAt: now, updatedAt: now };
  store.analyzerRules.set(row.name, row);
  return created({ ...view(row), created_at: nanoTime(now), updated_at: nanoTime(now) });
}

/** Replaces a rule; the name in the body only counts when another rule is found for its connections. */
function replace(call: Call): Reply {
  const { store, context } = call;
  const name = param(call, 'name');
  const body = readRule(call, 'modified');
  const other = overlapping(call, body);
  if (other !== undefined && other.name !== body.name)
    throw new ModelError(400, 'another rule with the same connection names already exists');
  const before = find(call);
  const row = { ...before, ...body, name, updatedAt: context.clock.now() };
  store.analyzerRules.set(name, row);
  return ok(view(row));
}

function remove(call: Call): Reply {
  checkManaged(call, 'deleted');
  const row = find(call);
  call.store.analyzerRules.delete(row.name);
  call.store.analyzerAttributes.dropRight(row.name);
  return empty;
}

function find(call: Call): AnalyzerRuleRow {
  const row = call.store.analyzerRules.get(param(call, 'name'));
  if (row === undefined) throw new ModelError(404, 'resource not found');
  return row;
}

function checkManaged({ store, params }: Call, done: string): void {
  const managedBy = store.analyzerRules.get(params['name'] ?? '')?.managedBy ?? null;
  if (managedBy !== null) throw new ModelError(400, `this rule is managed by Hoop and cannot be ${done} directly`);
}

/** The rule with the lowest id that names one of the connections. */
function overlapping({ store }: Call, { connectionNames }: RuleBody): AnalyzerRuleRow | undefined {
  return [...store.analyzerRules.values()]
    .filter((row) => row.connectionNames.some((name) => connectionNames.includes(name)))
    .toSorted((left, right) => (left.id < right.id ? -1 : 1))[0];
}

function readRule(call: Call, done?: string): RuleBody {
  const body = readBody(call.text, 'AISessionAnalyzerRuleRequest');
  const name = body.string('name');
  const connectionNames = body.strings('connection_names');
  const evaluation = readBody(JSON.stringify(body.map('risk_evaluation') ?? {}), 'AISessionAnalyzerRiskEvaluation');
  const rest = { description: body.text('description'), customPrompt: body.text('custom_prompt'), agentic: body.bool('agentic') };
  body.require({ Name: name, ConnectionNames: connectionNames, RiskEvaluation: body.map('risk_evaluation') });
  const problem = nameProblem(name);
  if (problem !== undefined) throw new ModelError(400, problem);
  if (done !== undefined) checkManaged(call, done);
  const [low, medium, high] = [readTier(evaluation, 'low'), readTier(evaluation, 'medium'), readTier(evaluation, 'high')];
  for (const [index, tier] of [low, medium, high].entries()) checkTier(call, levels[index] ?? 'low', tier);
  return { ...rest, name, connectionNames: connectionNames ?? [], risk: { low, medium, high } };
}

function readTier(evaluation: Body, level: string): RiskTier {
  const tier = readBody(JSON.stringify(evaluation.map(`${level}_risk`) ?? {}), 'AISessionAnalyzerRiskTier');
  const action = tier.string('action');
  if (action !== '') return { action, rule: tier.text('access_request_rule_name') };
  const legacy = evaluation.string(`${level}_risk_action`);
  if (legacy !== '') return { action: legacy, rule: null };
  throw new ModelError(400, `${level}_risk: action is required (set either ${level}_risk.action or the legacy ${level}_risk_action field)`);
}

function checkTier({ store }: Call, level: string, { action, rule }: RiskTier): void {
  const problems: readonly (readonly [boolean, string])[] = [
    [!actions.includes(action), `invalid action "${action}"`],
    [
      action === 'require_access_request' && (rule ?? '') === '',
      'access_request_rule_name is required when action is require_access_request',
    ],
    [action === 'require_access_request' && !store.accessRules.has(rule ?? ''), `access request rule "${rule ?? ''}" not found`],
    [
      action !== 'require_access_request' && (rule ?? '') !== '',
      'access_request_rule_name is only allowed when action is require_access_request',
    ],
  ];
  const broken = problems.find(([found]) => found);
  if (broken !== undefined) throw new ModelError(400, `${level}_risk: ${broken[1]}`);
}

function view(row: AnalyzerRuleRow): JsonObject {
  const { low, medium, high } = row.risk;
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    connection_names: row.connectionNames,
    risk_evaluation: {
      low_risk_action: low.action,
      medium_risk_action: medium.action,
      high_risk_action: high.action,
      low_risk: viewTier(low),
      medium_risk: viewTier(medium),
      high_risk: viewTier(high),
    },
    ...(row.customPrompt === null ? {} : { custom_prompt: row.customPrompt }),
    agentic: row.agentic,
    managed_by: row.managedBy,
    created_at: microTime(row.createdAt),
    updated_at: microTime(row.updatedAt),
  };
}

function viewTier({ action, rule }: RiskTier): Json {
  return { action, ...(rule === null ? {} : { access_request_rule_name: rule }) };
}
