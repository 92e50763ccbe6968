import { BindError, readBody } from './body.ts';
import { created, empty, ok, param, type Call, type Reply, type Route } from './call.ts';
import { microTime, nanoTime } from './clock.ts';
import { checkUuid, ModelError } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { EventSubscriptionRow } from './rows.ts';

const audit = 'event-routing';

/**
 * Event subscriptions, as the gateway's source answers: each runs a runbook on a connection, which cannot be deleted meanwhile.
 * The mapping of parameters is not checked.
 */
export const eventSubscriptionRoutes: readonly Route[] = [
  { method: 'GET', path: '/event-routing/subscriptions', access: 'reader', answer: list },
  { method: 'POST', path: '/event-routing/subscriptions', access: 'admin', answer: create, audit },
  { method: 'GET', path: '/event-routing/subscriptions/:id', access: 'reader', answer: (call) => ok(view(find(call))) },
  { method: 'DELETE', path: '/event-routing/subscriptions/:id', access: 'admin', answer: remove, audit },
];

const eventTypes =
  'access.jit_approved access.jit_denied alert.data_masked alert.sensitive_data_detected session.anomaly_detected session.closed session.guardrail_violation session.pci_scope_entered session.started'.split(
    ' ',
  );

/** Newest first. */
function list({ store, query }: Call): Reply {
  const status = query.get('status') ?? '';
  const rows = [...store.eventSubscriptions.values()]
    .filter((row) => status === '' || row.status === status)
    .toSorted((left, right) => (left.createdAt < right.createdAt ? 1 : -1));
  return ok(rows.map(view));
}

function create(call: Call): Reply {
  const { store, context } = call;
  const body = readSubscription(call.text);
  const unknown = body.eventTypes.find((type) => !eventTypes.includes(type));
  if (unknown !== undefined) throw new ModelError(400, `unknown event type: ${unknown}`);
  const connection = store.findConnection(body.connectionName);
  if (connection === undefined) throw new ModelError(400, `connection not found: ${body.connectionName}`);
  if ([...store.eventSubscriptions.values()].some(({ name }) => name === body.name))
    throw new ModelError(409, 'subscription with this name already exists');
  const now = context.clock.now();
  const row = {
    ...body,
    connectionName: connection.name,
    id: context.random.uuid(),
    createdByEmail: call.caller.email,
    createdAt: now,
    updatedAt: now,
  };
  store.eventSubscriptions.set(row.id, row);
  return created({ ...view(row), created_at: nanoTime(now), updated_at: nanoTime(now) });
}

function remove(call: Call): Reply {
  call.store.eventSubscriptions.delete(find(call, 'deleting').id);
  return empty;
}

function find(call: Call, doing = 'getting'): EventSubscriptionRow {
  const id = param(call, 'id');
  checkUuid(id, `failed ${doing} event subscription: `);
  const row = call.store.eventSubscriptions.get(id.toLowerCase());
  if (row === undefined) throw new ModelError(404, 'resource not found');
  return row;
}

type SubscriptionBody = Omit<EventSubscriptionRow, 'id' | 'createdByEmail' | 'createdAt' | 'updatedAt'>;

function readSubscription(text: string): SubscriptionBody {
  const body = readBody(text, 'EventSubscriptionRequest');
  const found = {
    name: body.string('name'),
    description: body.string('description'),
    eventTypes: body.strings('event_types') ?? [],
    runbookRepository: body.string('runbook_repository'),
    runbookFile: body.string('runbook_file'),
    connectionName: body.string('connection_name'),
    parameterMapping: body.stringMap('parameter_mapping') ?? {},
    status: body.string('status') === 'paused' ? 'paused' : 'active',
  };
  body.require({
    Name: found.name,
    EventTypes: body.strings('event_types'),
    RunbookRepository: found.runbookRepository,
    RunbookFile: found.runbookFile,
    ConnectionName: found.connectionName,
    ParameterMapping: body.stringMap('parameter_mapping'),
  });
  if (found.eventTypes.length === 0)
    throw new BindError("Key: 'EventSubscriptionRequest.EventTypes' Error:Field validation for 'EventTypes' failed on the 'min' tag");
  return found;
}

function view(row: EventSubscriptionRow): JsonObject {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    event_types: row.eventTypes,
    runbook_repository: row.runbookRepository,
    runbook_file: row.runbookFile,
    connection_name: row.connectionName,
    parameter_mapping: row.parameterMapping,
    status: row.status,
    created_by_email: row.createdByEmail,
    created_at: microTime(row.createdAt),
    updated_at: microTime(row.updatedAt),
  };
}
