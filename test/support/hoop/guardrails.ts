import { writeAttributes } from './attribute-links.ts';
import { readBody } from './body.ts';
import { created, empty, ok, param, type Call, type Reply, type Route } from './call.ts';
import { microTime, nanoTime } from './clock.ts';
import { badUuid, checkUuid, duplicateKey, isUuid, ModelError, tooLong } from './errors.ts';
import { isList, sortKeys, type Json, type JsonObject } from './json.ts';
import { byName } from './like.ts';
import type { GuardrailRow } from './rows.ts';

const audit = 'guardrails';

export const guardrailRoutes: readonly Route[] = [
  { method: 'GET', path: '/guardrails', access: 'auditor', answer: list },
  { method: 'POST', path: '/guardrails', access: 'admin', answer: create, audit },
  { method: 'GET', path: '/guardrails/:id', access: 'auditor', answer: read },
  { method: 'PUT', path: '/guardrails/:id', access: 'admin', answer: replace, audit },
  { method: 'DELETE', path: '/guardrails/:id', access: 'admin', answer: remove, audit },
];

type GuardrailBody = Pick<GuardrailRow, 'name' | 'description' | 'input' | 'output'> & {
  readonly connections: readonly string[];
  readonly attributes: readonly string[] | null;
};

function list({ store, context }: Call): Reply {
  const rows = [...store.guardrails.values()].filter((row) => !row.hidden).toSorted((left, right) => byName(right, left));
  return ok(
    rows.map((row) => ({
      ...viewGuardrail(row),
      connection_ids: orNull(context.random.shuffle(store.guardrailLinks.rightsOf(row.id))),
      attributes: orNull(context.random.shuffle(store.guardrailAttributes.leftsOf(row.name))),
    })),
  );
}

function read(call: Call): Reply {
  const { store, context } = call;
  const row = find(call, 'failed listing guard rail rules: ');
  return ok({
    ...viewGuardrail(row),
    connection_ids: context.random.shuffle(store.guardrailLinks.rightsOf(row.id)),
    attributes: context.random.shuffle(store.guardrailAttributes.leftsOf(row.name)),
  });
}

function create(call: Call): Reply {
  const { store, context, caller } = call;
  const body = readGuardrail(call.text);
  if (caller.licence === 'oss') {
    if ([...store.guardrails.values()].some((row) => !row.hidden))
      throw new ModelError(403, 'guardrail rules are limited to 1 rule in OSS version');
    checkEntries(body);
  }
  if (store.guardrailNamed(body.name) !== undefined) throw new ModelError(409, 'resource already exists');
  const now = context.clock.now();
  const { connections, attributes, ...fields } = body;
  const row: GuardrailRow = { ...fields, id: context.random.uuid(), managedBy: null, hidden: false, createdAt: now, updatedAt: now };
  const linked = save(call, row, connections, 'Failed creating guard rail rule: ');
  writeOwn(call, row.name, attributes);
  return created({
    ...viewGuardrail(row),
    connection_ids: orNull(linked),
    attributes,
    created_at: nanoTime(now),
    updated_at: nanoTime(now + 49n),
  });
}

function replace(call: Call): Reply {
  const { store, context, caller } = call;
  const body = readGuardrail(call.text);
  const before = find(call, 'failed fetching guardrail rule: ');
  checkOwner(call, before, 'modified');
  if (caller.licence === 'oss') checkEntries(body);
  const prefix = 'Failed updating guard rail rule: ';
  const { connections, attributes, ...fields } = body;
  const taken = store.guardrailNamed(body.name);
  if (taken !== undefined && taken.id !== before.id) throw new ModelError(500, `${prefix}${duplicateKey}`);
  const row: GuardrailRow = { ...before, ...fields, updatedAt: context.clock.now() };
  const linked = save(call, row, connections, prefix);
  store.guardrailAttributes.renameRight(before.name, row.name);
  writeOwn(call, row.name, attributes);
  return ok({ ...viewGuardrail(row), managed_by: null, connection_ids: orNull(linked), attributes });
}

function remove(call: Call): Reply {
  const row = find(call, 'failed fetching guardrail rule: ');
  checkOwner(call, row, 'deleted');
  deleteGuardrail(call, row);
  return empty;
}

/** Removes a guardrail with its links. */
export function deleteGuardrail({ store }: Pick<Call, 'store'>, row: GuardrailRow): void {
  store.guardrails.delete(row.id);
  store.guardrailLinks.dropLeft(row.id);
  store.guardrailAttributes.dropRight(row.name);
}

function find(call: Call, prefix: string): GuardrailRow {
  const id = param(call, 'id');
  checkUuid(id, prefix);
  const row = call.store.guardrails.get(id.toLowerCase());
  if (row === undefined) throw new ModelError(404, 'resource not found');
  return row;
}

/** Refuses to change a rule that the gateway or a rulepack owns. */
export function checkOwner(
  { context }: Pick<Call, 'context'>,
  row: { readonly managedBy: string | null; readonly hidden: boolean },
  done: string,
): void {
  if (row.managedBy !== null) throw new ModelError(400, `this rule is managed by Hoop and cannot be ${done} directly`);
  if (row.hidden && context.settings.rulepacks)
    throw new ModelError(400, `this rule is owned by a rulepack and cannot be ${done} directly`);
}

/** Saves the rule and all its connections in one transaction; returns the connections that exist. */
function save({ store }: Call, row: GuardrailRow, wanted: readonly string[], prefix: string): readonly string[] {
  if (row.name.length > 128) throw new ModelError(500, `${prefix}${tooLong(128)}`);
  const broken = wanted.find((id) => !isUuid(id));
  if (broken !== undefined) throw new ModelError(500, `${prefix}${badUuid(broken)}`);
  const found = wanted.map((id) => id.toLowerCase()).filter((id) => store.connectionNames.has(id));
  if (new Set(found).size < found.length) throw new ModelError(500, `${prefix}${duplicateKey}`);
  store.guardrails.set(row.id, row);
  store.guardrailLinks.setRights(row.id, found);
  return found;
}

function writeOwn(call: Call, owner: string, names: readonly string[] | null): void {
  const prefix = 'Failed upserting guard rail rule attributes: ';
  writeAttributes(call, { links: call.store.guardrailAttributes, owner, names, prefix });
}

/** Reads a guardrail as a request describes it. */
export function readGuardrail(text: string): GuardrailBody {
  const body = readBody(text, 'GuardRailRuleRequest');
  const result: GuardrailBody = {
    name: body.string('name'),
    description: body.string('description'),
    input: body.map('input'),
    output: body.map('output'),
    connections: (body.strings('connection_ids') ?? []).filter((id) => id !== ''),
    attributes: body.strings('attributes'),
  };
  body.require({ Name: result.name });
  return result;
}

function checkEntries({ input, output }: GuardrailBody): void {
  for (const [side, rules] of Object.entries({ input, output })) {
    const entries = rules?.['rules'];
    if (isList(entries) && entries.length > 1) throw new ModelError(403, `${side} rules are limited to 1 rule in OSS version`);
  }
}

/** Returns the fields of a guardrail that are its own. */
export function viewGuardrail(row: GuardrailRow): JsonObject {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    managed_by: row.managedBy,
    input: sortKeys(row.input),
    output: sortKeys(row.output),
    created_at: microTime(row.createdAt),
    updated_at: microTime(row.updatedAt),
  };
}

/** Returns a list, or null for an empty one, as some endpoints do. */
export function orNull(items: readonly string[]): Json {
  return items.length === 0 ? null : items;
}
