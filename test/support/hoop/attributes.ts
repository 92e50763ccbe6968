import { readBody } from './body.ts';
import { created, empty, ok, param, type Call, type Reply, type Route } from './call.ts';
import { microTime } from './clock.ts';
import { duplicateKey, foreignKey, ModelError, tooLong } from './errors.ts';
import type { JsonObject } from './json.ts';
import { byName, matchesLike } from './like.ts';
import type { LinkTable } from './link-table.ts';
import { reconcileCredentials } from './machine-identities.ts';
import { cutToPage, envelope, readPage } from './paging.ts';
import type { AttributeRow } from './rows.ts';
import type { Store } from './store.ts';

export const attributeRoutes: readonly Route[] = [
  { method: 'GET', path: '/attributes', access: 'reader', answer: list },
  { method: 'POST', path: '/attributes', access: 'admin', answer: create },
  { method: 'GET', path: '/attributes/:name', access: 'auditor', answer: read },
  { method: 'PUT', path: '/attributes/:name', access: 'admin', answer: replace },
  { method: 'DELETE', path: '/attributes/:name', access: 'admin', answer: remove },
];

const sides = [
  'connection_names',
  'access_request_rule_names',
  'guardrail_rule_names',
  'datamasking_rule_names',
  'access_control_group_names',
] as const;

type Side = (typeof sides)[number];
type AttributeBody = {
  readonly name: string;
  readonly description: string | null;
  readonly names: Readonly<Record<Side, readonly string[] | null>>;
};

function linksOf(store: Store): Readonly<Record<Side, LinkTable>> {
  return {
    connection_names: store.connectionAttributes,
    access_request_rule_names: store.accessRuleAttributes,
    guardrail_rule_names: store.guardrailAttributes,
    datamasking_rule_names: store.maskingAttributes,
    access_control_group_names: store.groupAttributes,
  };
}

function allLinks(store: Store): readonly LinkTable[] {
  return [...Object.values(linksOf(store)), store.analyzerAttributes, store.machineAttributes];
}

function list(call: Call): Reply {
  const page = readPage(call);
  const search = call.query.get('search') ?? '';
  const rows = [...call.store.attributes.values()]
    .filter((row) => !row.hidden && (search === '' || matchesLike(row.name, `%${search}%`, 'i')))
    .toSorted(byName);
  return ok(
    envelope(
      rows,
      page,
      cutToPage(rows, page).map((row) => viewStored(call, row)),
    ),
  );
}

function read(call: Call): Reply {
  const row = call.store.attributes.get(param(call, 'name'));
  if (row === undefined) throw new ModelError(500, 'failed fetching attribute: record not found');
  return ok(viewStored(call, row));
}

function create(call: Call): Reply {
  const { store, context } = call;
  const body = readAttribute(call.text);
  const prefix = 'failed creating attribute: ';
  if (store.attributes.has(body.name)) throw new ModelError(500, `${prefix}${duplicateKey}`);
  checkNames(store, body, prefix);
  const row: AttributeRow = {
    id: context.random.uuid(),
    name: body.name,
    description: body.description,
    managedBy: null,
    hidden: false,
    createdAt: context.clock.now(),
  };
  store.attributes.set(row.name, row);
  writeSides(store, body);
  reconcileCredentials(context);
  return created(viewSent(call, row, body));
}

function replace(call: Call): Reply {
  const { store } = call;
  const body = readAttribute(call.text);
  const before = store.attributes.get(param(call, 'name'));
  if (before === undefined) throw new ModelError(404, 'resource not found');
  if (before.hidden) return { status: 200 };
  if (before.managedBy !== null) throw new ModelError(400, 'this attribute is managed by Hoop and cannot be modified directly');
  const prefix = 'failed updating attribute: ';
  if (before.name !== body.name && store.attributes.has(body.name)) throw new ModelError(500, `${prefix}${duplicateKey}`);
  checkNames(store, body, prefix);
  const row: AttributeRow = { ...before, name: body.name, description: body.description };
  store.attributes.set(row.name, row);
  if (before.name !== row.name) renameAttribute(store, before.name, row.name, row.description);
  writeSides(store, body);
  reconcileCredentials(call.context);
  return ok(viewSent(call, row, body));
}

function remove(call: Call): Reply {
  const { store } = call;
  const row = store.attributes.get(param(call, 'name'));
  if (row === undefined) throw new ModelError(404, 'resource not found');
  if (row.hidden) return { status: 200 };
  if (row.managedBy !== null) throw new ModelError(400, 'this attribute is managed by Hoop and cannot be deleted directly');
  deleteAttribute(store, row.name);
  return empty;
}

/** Removes an attribute from all objects that have it. */
export function deleteAttribute(store: Store, name: string): void {
  store.attributes.delete(name);
  for (const links of allLinks(store)) links.dropLeft(name);
}

/** Renames an attribute on all objects that have it. */
function renameAttribute(store: Store, before: string, after: string, description: string | null): void {
  const row = store.attributes.get(before);
  if (row === undefined) return;
  store.attributes.delete(before);
  store.attributes.set(after, { ...row, name: after, description });
  for (const links of allLinks(store)) links.renameLeft(before, after);
}

function readAttribute(text: string): AttributeBody {
  const body = readBody(text, 'AttributeRequest');
  const names = {
    connection_names: body.strings('connection_names'),
    access_request_rule_names: body.strings('access_request_rule_names'),
    guardrail_rule_names: body.strings('guardrail_rule_names'),
    datamasking_rule_names: body.strings('datamasking_rule_names'),
    access_control_group_names: body.strings('access_control_group_names'),
  };
  const result = { name: body.string('name'), description: body.text('description'), names };
  body.require({ Name: result.name });
  return result;
}

function checkNames(store: Store, { name, names }: AttributeBody, prefix: string): void {
  if (name.length > 255) throw new ModelError(500, `${prefix}${tooLong(255)}`);
  const known =
    (names.connection_names ?? []).every((item) => store.connections.has(item)) &&
    (names.access_request_rule_names ?? []).every((item) => store.accessRules.has(item)) &&
    (names.guardrail_rule_names ?? []).every((item) => store.guardrailNamed(item) !== undefined) &&
    (names.datamasking_rule_names ?? []).every((item) => store.maskingNamed(item) !== undefined);
  if (!known) throw new ModelError(500, `${prefix}${foreignKey}`);
}

/** Replaces the sides that the request names; null keeps. */
function writeSides(store: Store, { name, names }: AttributeBody): void {
  const links = linksOf(store);
  for (const side of sides) {
    const wanted = names[side];
    if (wanted !== null) links[side].setRights(name, wanted);
  }
}

function viewSent(call: Call, row: AttributeRow, { names }: AttributeBody): JsonObject {
  return { ...view(call, row), ...Object.fromEntries(sides.map((side) => [side, names[side] ?? []])) };
}

function viewStored(call: Call, row: AttributeRow): JsonObject {
  const links = linksOf(call.store);
  const lists = sides.map((side) => [side, call.context.random.shuffle(links[side].rightsOf(row.name))]);
  return { ...view(call, row), ...Object.fromEntries(lists) };
}

function view({ context }: Call, row: AttributeRow): JsonObject {
  return {
    id: row.id,
    org_id: context.organisation.id,
    name: row.name,
    description: row.description,
    managed_by: row.managedBy,
    created_at: microTime(row.createdAt),
  };
}
