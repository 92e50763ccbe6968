import { writeAttributes } from './attribute-links.ts';
import { created, empty, ok, param, type Call, type Reply, type Route } from './call.ts';
import { microTime, nanoTime } from './clock.ts';
import { checkUuid, duplicateKey, foreignKey, ModelError, tooLong } from './errors.ts';
import { checkOwner, orNull } from './guardrails.ts';
import type { JsonObject } from './json.ts';
import { readMasking, type MaskingBody } from './masking-body.ts';
import type { MaskingRow } from './rows.ts';

const audit = 'data_masking';

export const maskingRoutes: readonly Route[] = [
  { method: 'GET', path: '/datamasking-rules', access: 'auditor', answer: list },
  { method: 'POST', path: '/datamasking-rules', access: 'admin', answer: create, audit },
  { method: 'GET', path: '/datamasking-rules/:id', access: 'auditor', answer: (call) => ok(viewStored(call, find(call))) },
  { method: 'PUT', path: '/datamasking-rules/:id', access: 'admin', answer: replace, audit },
  { method: 'DELETE', path: '/datamasking-rules/:id', access: 'admin', answer: remove, audit },
];

export const noProvider =
  'no data masking provider is configured: data masking requires a DLP provider (set DLP_PROVIDER=mspresidio with MSPRESIDIO_ANALYZER_URL and MSPRESIDIO_ANONYMIZER_URL, DLP_PROVIDER=gcp with GOOGLE_APPLICATION_CREDENTIALS_JSON, or DLP_PROVIDER=alcatraz which needs no credentials); rules configured without one are not enforced';

/** Refuses with 422, before the body is read, if there is no masking provider. */
export function requireProvider({ context }: Call): void {
  if (context.settings.provider === null) throw new ModelError(422, noProvider);
}

function list(call: Call): Reply {
  const rows = [...call.store.maskings.values()].filter((row) => !row.hidden);
  return ok(call.context.random.shuffle(rows).map((row) => viewStored(call, row)));
}

function create(call: Call): Reply {
  const { store, context, caller } = call;
  requireProvider(call);
  const { body, checkFree } = readMasking(call.text);
  if (caller.licence === 'oss') {
    if ([...store.maskings.values()].some((row) => !row.hidden))
      throw new ModelError(403, 'data masking rules are limited to 1 rule in OSS version');
    checkFree();
  }
  const unknown = body.connections?.some((id) => !store.connectionNames.has(id.toLowerCase())) === true;
  if (unknown) throw new ModelError(400, 'connection not found: a connection reference in the connection_ids field does not exist');
  if (store.maskingNamed(body.name) !== undefined) throw new ModelError(409, 'resource already exists');
  const now = context.clock.now();
  const row: MaskingRow = { ...fields(body), name: body.name, id: context.random.uuid(), managedBy: null, hidden: false, updatedAt: now };
  save(call, row, body, 'Failed creating data masking rule: ');
  writeOwn(call, body);
  return created(viewWritten(row, body, nanoTime(now)));
}

function replace(call: Call): Reply {
  const { caller, context } = call;
  requireProvider(call);
  const { body, checkFree } = readMasking(call.text);
  const before = find(call);
  checkOwner(call, before, 'modified');
  if (caller.licence === 'oss') checkFree();
  const now = context.clock.now();
  const row: MaskingRow = { ...before, ...fields(body), updatedAt: context.clock.now() };
  save(call, row, body, 'Failed updating data masking rule: ');
  writeOwn(call, body);
  return ok(viewWritten({ ...row, managedBy: null }, body, nanoTime(now)));
}

function remove(call: Call): Reply {
  const row = find(call);
  checkOwner(call, row, 'deleted');
  deleteMasking(call, row);
  return empty;
}

/** Removes a masking rule with its links. */
export function deleteMasking({ store }: Pick<Call, 'store'>, row: MaskingRow): void {
  store.maskings.delete(row.id);
  for (const connection of store.maskingLinks.rightsOf(row.id)) store.unlinkMasking(row.id, connection);
  store.maskingAttributes.dropRight(row.name);
}

function find(call: Call): MaskingRow {
  const id = param(call, 'id');
  checkUuid(id, 'failed fetching data masking rule: ');
  const row = call.store.maskings.get(id.toLowerCase());
  if (row === undefined) throw new ModelError(404, 'resource not found');
  return row;
}

function fields(body: MaskingBody): Pick<MaskingRow, 'description' | 'supported' | 'custom' | 'score'> {
  return { description: body.description, supported: body.supported, custom: body.custom, score: body.score };
}

/** Saves the rule and replaces all its connections in one transaction; the name of an existing rule never changes. */
function save({ store, context }: Call, row: MaskingRow, body: MaskingBody, prefix: string): void {
  if (row.name.length > 128) throw new ModelError(500, `${prefix}${tooLong(128)}`);
  if (row.description.length > 512) throw new ModelError(500, `${prefix}${tooLong(512)}`);
  const wanted = (body.connections ?? []).map((id) => id.toLowerCase());
  for (const [index, id] of wanted.entries()) {
    const problem = store.connectionNames.has(id) ? wanted.indexOf(id) < index && duplicateKey : foreignKey;
    if (problem !== false) throw new ModelError(500, `${prefix}failed creating data masking association ${id}: ${problem}`);
  }
  store.maskings.set(row.id, row);
  for (const connection of store.maskingLinks.rightsOf(row.id)) store.unlinkMasking(row.id, connection);
  for (const connectionId of wanted) store.linkMasking({ id: context.random.uuid(), ruleId: row.id, connectionId, status: 'active' });
}

/** Writes the attributes under the name in the request: another name reaches another rule, or none. */
function writeOwn(call: Call, { name, attributes }: MaskingBody): void {
  const { store } = call;
  const prefix = 'Failed upserting data masking rule attributes: ';
  if ((attributes ?? []).length > 0 && store.maskingNamed(name) === undefined) throw new ModelError(500, `${prefix}${foreignKey}`);
  writeAttributes(call, { links: store.maskingAttributes, owner: name, names: attributes, prefix });
}

function viewWritten(row: MaskingRow, body: MaskingBody, updatedAt: string): JsonObject {
  return {
    ...viewMasking(row),
    name: body.name,
    connection_ids: body.connections,
    attributes: body.attributes,
    updated_at: updatedAt,
  };
}

function viewStored({ store, context }: Call, row: MaskingRow): JsonObject {
  const active = store.maskingLinks.rightsOf(row.id).filter((id) => store.maskingPair(row.id, id)?.status === 'active');
  return {
    ...viewMasking(row),
    connection_ids: orNull(context.random.shuffle(active)),
    attributes: context.random.shuffle(store.maskingAttributes.leftsOf(row.name)),
    updated_at: microTime(row.updatedAt),
  };
}

/** Returns the fields of a masking rule that are its own. */
export function viewMasking(row: MaskingRow): JsonObject {
  return {
    id: row.id,
    managed_by: row.managedBy,
    name: row.name,
    description: row.description,
    supported_entity_types: row.supported,
    score_threshold: row.score,
    custom_entity_types: row.custom,
  };
}
