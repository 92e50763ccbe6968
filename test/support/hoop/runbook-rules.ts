import { readBody } from './body.ts';
import { created, empty, ok, param, type Call, type Reply, type Route } from './call.ts';
import { microTime, nanoTime } from './clock.ts';
import { checkUuid, ModelError } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { RunbookRuleRow } from './rows.ts';
import { withRunbookErrors } from './runbooks.ts';

export const runbookRuleRoutes: readonly Route[] = [
  { method: 'GET', path: '/runbooks/rules', access: 'reader', answer: list },
  { method: 'POST', path: '/runbooks/rules', access: 'admin', answer: create },
  { method: 'GET', path: '/runbooks/rules/:id', access: 'reader', answer: (call) => ok(view(call, find(call))) },
  { method: 'PUT', path: '/runbooks/rules/:id', access: 'admin', answer: replace },
  { method: 'DELETE', path: '/runbooks/rules/:id', access: 'admin', answer: remove },
];

type RuleBody = Omit<RunbookRuleRow, 'id' | 'createdAt' | 'updatedAt'>;

function list(call: Call): Reply {
  return ok(call.context.random.shuffle(call.store.runbookRules.values()).map((row) => view(call, row)));
}

function create(call: Call): Reply {
  const { store, context } = call;
  const now = context.clock.now();
  const row = { ...readRule(call.text), id: context.random.uuid(), createdAt: now, updatedAt: now };
  store.runbookRules.set(row.id, row);
  return created({ ...view(call, row), ...moments(now) });
}

/** Replaces a rule; the response has the current time as both times, which differ from the stored ones. */
function replace(call: Call): Reply {
  const body = readRule(call.text);
  const before = find(call);
  const updatedAt = call.context.clock.now();
  const row = { ...before, ...body, updatedAt };
  call.store.runbookRules.set(row.id, row);
  return ok({ ...view(call, row), ...moments(call.context.clock.now()) });
}

function moments(now: bigint): JsonObject {
  return { created_at: nanoTime(now), updated_at: nanoTime(now) };
}

function remove(call: Call): Reply {
  call.store.runbookRules.delete(find(call).id);
  return empty;
}

function find(call: Call): RunbookRuleRow {
  const id = param(call, 'id');
  checkUuid(id, 'failed fetching runbook rule: ');
  const row = call.store.runbookRules.get(id.toLowerCase());
  if (row === undefined) throw new ModelError(404, 'runbook rule not found');
  return row;
}

function readRule(text: string): RuleBody {
  return withRunbookErrors(400, () => {
    const body = readBody(text, 'RunbookRuleRequest');
    const runbooks = body.structs('runbooks', 'RunbookRuleFile');
    const connections = body.strings('connections');
    const userGroups = body.strings('user_groups');
    const name = body.string('name');
    const description = body.string('description');
    const files = (runbooks ?? []).map((file) => ({ repository: file.string('repository'), name: file.string('name') }));
    body.require({ Name: name, Runbooks: runbooks, Connections: connections, UserGroups: userGroups });
    return { name, description, runbooks: files, connections: connections ?? [], userGroups: userGroups ?? [] };
  });
}

function view({ context }: Call, row: RunbookRuleRow): JsonObject {
  return {
    id: row.id,
    org_id: context.organisation.id,
    name: row.name,
    description: row.description,
    user_groups: row.userGroups,
    connections: row.connections,
    runbooks: row.runbooks,
    created_at: microTime(row.createdAt),
    updated_at: microTime(row.updatedAt),
  };
}
