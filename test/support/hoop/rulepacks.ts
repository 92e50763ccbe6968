import { readBody } from './body.ts';
import { created, empty, ok, param, type Call, type ModelContext, type Reply, type Route } from './call.ts';
import { microTime, nanoTime } from './clock.ts';
import catalogue from './default-rulepacks.json' with { type: 'json' };
import { isUuid, ModelError } from './errors.ts';
import { readGuardrail, viewGuardrail } from './guardrails.ts';
import type { Json, JsonObject } from './json.ts';
import { matchesLike } from './like.ts';
import { readMasking } from './masking-body.ts';
import { noProvider, viewMasking } from './maskings.ts';
import { cutToPage, readPage } from './paging.ts';
import type { GuardrailRow, MaskingRow, RulepackRow } from './rows.ts';

export const rulepackRoutes: readonly Route[] = [
  { method: 'GET', path: '/rulepacks', access: 'admin', answer: list },
  { method: 'POST', path: '/rulepacks', access: 'admin', answer: create },
  { method: 'GET', path: '/rulepacks/:id', access: 'admin', answer: (call) => ok(view(call, find(call))) },
  { method: 'POST', path: '/rulepacks/:id/apply', access: 'admin', answer: apply },
];

const noName = 'rulepack display_name cannot be converted to a valid attribute name (empty or contains only unsupported characters)';

type RulepackBody = Pick<RulepackRow, 'displayName' | 'description' | 'tags' | 'attribute'> & {
  readonly guardrails: readonly ReturnType<typeof readGuardrail>[];
  readonly maskings: readonly ReturnType<typeof readMasking>['body'][];
};

/** Adds the rulepacks of a fresh gateway. */
export function seedRulepacks(context: ModelContext): void {
  for (const { name, tags, guardrails } of catalogue) {
    const body = { displayName: name, description: null, tags, attribute: attributeOf(name) };
    const rules = guardrails.map((rule) => ({ ...rule, connections: [], attributes: null }));
    const row = save(context, { ...body, guardrails: rules, maskings: [] });
    context.store.rulepacks.set(row.id, { ...row, version: '0.1.0', isManaged: true });
  }
}

function list(call: Call): Reply {
  requireFlag(call);
  const page = readPage(call);
  const search = call.query.get('search') ?? '';
  const rows = [...call.store.rulepacks.values()]
    .filter((row) => search === '' || matchesLike(row.displayName, `%${search}%`, 'i'))
    .toSorted((left, right) => (left.displayName < right.displayName ? -1 : 1));
  const data = cutToPage(rows, page).map((row) => view(call, row));
  return ok({ pages: { total: rows.length, page: page.page, size: page.size }, data });
}

function create(call: Call): Reply {
  requireFlag(call);
  const { store, context } = call;
  const body = readRulepack(call.text);
  checkNames(call, body);
  const row = save(context, body);
  store.rulepacks.set(row.id, row);
  return created({ ...view(call, row), created_at: nanoTime(row.createdAt), updated_at: nanoTime(row.createdAt) });
}

/** Attaches a rulepack to exactly these connections. */
function apply(call: Call): Reply {
  requireFlag(call);
  const { store, context, caller } = call;
  if (caller.licence === 'oss') throw new ModelError(403, 'operation not allowed for OSS license');
  const id = readId(call);
  const body = readBody(call.text, 'RulepackApplyRequest');
  const names = body.strings('connection_names');
  body.require({ ConnectionNames: names });
  const row = store.rulepacks.get(id);
  const masks = row !== undefined && maskingsOf(call, row).length > 0;
  if ((names ?? []).length > 0 && masks && context.settings.provider === null)
    throw new ModelError(422, `this rulepack contains data masking rules and ${noProvider}`);
  if (row === undefined) throw new ModelError(404, 'rulepack not found');
  const missing = (names ?? []).filter((name) => !store.connections.has(name));
  if (missing.length > 0) return { status: 400, body: { message: `connections not found: ${missing.join(', ')}`, missing_names: missing } };
  store.connectionAttributes.setRights(row.attribute, names ?? []);
  return empty;
}

function requireFlag({ context }: Call): void {
  if (!context.settings.rulepacks) throw new ModelError(404, 'resource not found');
}

function readId(call: Call): string {
  const id = param(call, 'id');
  if (!isUuid(id)) throw new ModelError(400, 'invalid rulepack id');
  return id.toLowerCase();
}

function find(call: Call): RulepackRow {
  const row = call.store.rulepacks.get(readId(call));
  if (row === undefined) throw new ModelError(404, 'resource not found');
  return row;
}

/** The attribute of a rulepack: its name in lower case, with `_` for other characters. */
function attributeOf(displayName: string): string {
  const slug = displayName.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_');
  return `rulepack_${slug.replaceAll(/^_|_$/g, '')}`;
}

function readRulepack(text: string): RulepackBody {
  const body = readBody(text, 'RulepackRequest');
  const displayName = body.string('display_name');
  const result = { displayName, description: body.text('description'), tags: body.strings('tags') ?? [] };
  const guardrails = (body.list('guardrail_rules', '[]openapi.GuardRailRuleRequest') ?? []).map((rule) => readGuardrail(toText(rule)));
  const maskings = (body.list('data_masking_rules', '[]openapi.DataMaskingRuleRequest') ?? []).map(
    (rule) => readMasking(toText(rule)).body,
  );
  body.require({ DisplayName: displayName });
  const attribute = attributeOf(displayName);
  if (attribute === 'rulepack_') throw new ModelError(400, noName);
  return { ...result, attribute, guardrails, maskings };
}

function toText(value: Json): string {
  return JSON.stringify(value);
}

function checkNames({ store }: Call, { displayName, attribute, guardrails, maskings }: RulepackBody): void {
  const repeats = [guardrails, maskings].some((rules) => new Set(rules.map(({ name }) => name)).size < rules.length);
  const taken = store.attributes.has(attribute) || [...store.rulepacks.values()].some((row) => row.displayName === displayName);
  if (repeats || taken) throw new ModelError(409, 'resource already exists');
}

function prefixOf({ id }: Pick<RulepackRow, 'id'>): string {
  return `rp_${id.slice(0, 8)}__`;
}

/** Saves the rules and the attribute of a rulepack; lists of rules and attributes hide them. */
function save({ store, random, clock }: ModelContext, body: RulepackBody): RulepackRow {
  const { guardrails, maskings, ...fields } = body;
  const now = clock.now();
  const row = { version: null, isManaged: false, ...fields, id: random.uuid(), createdAt: now, updatedAt: now };
  const owned = (name: string): Pick<GuardrailRow, 'id' | 'name' | 'managedBy' | 'hidden' | 'updatedAt'> => ({
    id: random.uuid(),
    name: `${prefixOf(row)}${name}`,
    managedBy: null,
    hidden: true,
    updatedAt: clock.now(),
  });
  if (!store.attributes.has(row.attribute)) {
    const { updatedAt: createdAt, ...attribute } = owned('');
    store.attributes.set(row.attribute, { ...attribute, name: row.attribute, description: row.description, createdAt });
  }
  for (const { connections, attributes: _, ...rule } of guardrails) {
    const own = owned(rule.name);
    store.guardrails.set(own.id, { ...rule, ...own, createdAt: own.updatedAt });
    store.guardrailLinks.setRights(
      own.id,
      connections.filter((id) => store.connectionNames.has(id)),
    );
    store.guardrailAttributes.add(row.attribute, own.name);
  }
  for (const { connections, attributes: _, ...rule } of maskings) {
    const own = owned(rule.name);
    store.maskings.set(own.id, { ...rule, ...own });
    for (const connectionId of connections ?? []) store.linkMasking({ id: random.uuid(), ruleId: own.id, connectionId, status: 'active' });
    store.maskingAttributes.add(row.attribute, own.name);
  }
  return row;
}

/** The guardrails of a rulepack, in descending order of their names. */
function guardrailsOf({ store }: Call, row: RulepackRow): readonly GuardrailRow[] {
  const own = [...store.guardrails.values()].filter(({ hidden, name }) => hidden && name.startsWith(prefixOf(row)));
  return own.toSorted((left, right) => (left.name < right.name ? 1 : -1));
}

function maskingsOf({ store }: Call, row: RulepackRow): readonly MaskingRow[] {
  return [...store.maskings.values()].filter(({ hidden, name }) => hidden && name.startsWith(prefixOf(row)));
}

function view(call: Call, row: RulepackRow): JsonObject {
  const { store, context } = call;
  const shown = (name: string): JsonObject => ({
    name: name.slice(prefixOf(row).length),
    attributes: [row.attribute],
    connection_ids: null,
  });
  return {
    id: row.id,
    org_id: context.organisation.id,
    display_name: row.displayName,
    ...(row.description === null ? {} : { description: row.description }),
    ...(row.version === null ? {} : { version: row.version }),
    tags: row.tags,
    is_managed: row.isManaged,
    data_masking_rules: maskingsOf(call, row).map((rule) => ({
      ...viewMasking(rule),
      ...shown(rule.name),
      updated_at: microTime(rule.updatedAt),
    })),
    guardrail_rules: guardrailsOf(call, row).map((rule) => ({ ...viewGuardrail(rule), ...shown(rule.name) })),
    connection_names: [...store.connectionAttributes.rightsOf(row.attribute)].toSorted(),
    created_at: microTime(row.createdAt),
    updated_at: microTime(row.updatedAt),
  };
}
