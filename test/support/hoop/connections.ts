import { mayUse } from './auth.ts';
import { attributesOf } from './attribute-links.ts';
import { created, empty, ok, param, type Call, type Reply, type Route } from './call.ts';
import { readConnection, type ConnectionBody } from './connection-body.ts';
import { fillDefaults } from './connection-defaults.ts';
import { listConnections } from './connection-list.ts';
import { mergePatch } from './connection-patch.ts';
import { viewOne, viewWritten } from './connection-view.ts';
import { saveAttributes, saveConnection } from './connection-write.ts';
import { ModelError } from './errors.ts';
import type { ConnectionRow } from './rows.ts';
import { overlaySecrets, sameMap, toStored } from './secrets.ts';

const audit = 'connections';

export const connectionRoutes: readonly Route[] = [
  { method: 'GET', path: '/connections', access: 'reader', answer: listConnections },
  { method: 'POST', path: '/connections', access: 'admin', answer: create, audit },
  { method: 'GET', path: '/connections/:nameOrID', access: 'reader', answer: (call) => ok(viewOne(call, visible(call))) },
  { method: 'PUT', path: '/connections/:nameOrID', access: 'admin', answer: replace, audit },
  { method: 'PATCH', path: '/connections/:nameOrID', access: 'admin', answer: patch, audit },
  { method: 'DELETE', path: '/connections/:nameOrID', access: 'admin', answer: remove, audit },
];

function visible(call: Call): ConnectionRow {
  const row = call.store.findConnection(param(call, 'nameOrID'));
  if (row === undefined || !mayUse(call.context, call.caller, row.name)) throw new ModelError(404, 'not found');
  return row;
}

function create(call: Call): Reply {
  const { store, context } = call;
  const body = readConnection(call.text);
  if (store.findConnection(body.name) !== undefined) throw new ModelError(409, 'Connection already exists.');
  const row = toRow(body, { id: context.random.uuid(), name: body.name, secret: body.secret });
  const stamped = { ...row, secretsUpdatedAt: Object.keys(row.secret).length === 0 ? null : context.clock.now() };
  const saved = saveConnection(call, { row: stamped, guardrails: body.guardrails, prefix: 'failed creating connection: ' });
  saveAttributes(call, saved.name, body.attributes);
  return created(viewWritten(call, saved, body.attributes));
}

function replace(call: Call): Reply {
  const before = writable(call);
  const body = readConnection(call.text);
  const secret = call.caller.hidden ? overlaySecrets(body.secret, before.secret) : body.secret;
  const row = toRow(body, { id: before.id, name: before.name, secret });
  const secretsUpdatedAt = restamp(call, before, row.secret);
  const write = { row: { ...row, secretsUpdatedAt }, guardrails: body.guardrails, prefix: 'failed updating connection: ' };
  const saved = saveConnection(call, write);
  saveAttributes(call, saved.name, body.attributes);
  return ok(viewWritten(call, saved, body.attributes));
}

function patch(call: Call): Reply {
  const before = writable(call);
  const merged = mergePatch(call, before);
  const saved = saveConnection(call, { row: merged.row, guardrails: merged.guardrails, prefix: 'failed patching connection: ' });
  if (merged.attributes !== null) saveAttributes(call, saved.name, merged.attributes);
  const { user, managed } = attributesOf(call.context, saved.name);
  return ok(viewWritten(call, saved, merged.attributes ?? [...user, ...managed]));
}

function remove({ store, params }: Call): Reply {
  const row = store.connections.get(params['nameOrID'] ?? '');
  if (row === undefined) throw new ModelError(404, 'not found');
  const isReferenced = [...store.eventSubscriptions.values()].some(({ connectionName }) => connectionName === row.name);
  if (isReferenced) throw new ModelError(500, 'failed removing connection');
  store.dropConnection(row);
  return empty;
}

function writable(call: Call): ConnectionRow {
  const row = call.store.findConnection(param(call, 'nameOrID'));
  if (row === undefined) throw new ModelError(404, 'not found');
  if (row.managedBy !== null) throw new ModelError(400, 'unable to update a connection managed by its agent');
  return row;
}

/** The moment of the secrets after a PUT: it moves when they differ from the stored ones, seen merged with the resource's. */
function restamp({ store, context }: Call, before: ConnectionRow, secret: Readonly<Record<string, string>>): bigint | null {
  const merged = { ...store.resources.get(before.resourceName)?.envVars, ...before.secret };
  return sameMap(merged, secret) ? before.secretsUpdatedAt : context.clock.now();
}

type Kept = { readonly id: string; readonly name: string; readonly secret: ConnectionBody['secret'] };

function toRow(body: ConnectionBody, { id, name, secret }: Kept): Omit<ConnectionRow, 'status'> {
  const filled = fillDefaults(body.type, body.subtype, { command: body.command, secret });
  return {
    id,
    name,
    resourceName: body.resourceName === '' ? name : body.resourceName,
    type: body.type,
    subtype: body.subtype,
    agentId: body.agentId,
    command: filled.command,
    secret: toStored(filled.secret),
    secretsUpdatedAt: null,
    reviewers: body.reviewers,
    redactTypes: body.redactTypes,
    tags: body.tags,
    connectionTags: body.connectionTags,
    runbooks: body.runbooks,
    exec: body.exec,
    connect: body.connect,
    schema: body.schema,
    jiraTemplate: body.jiraTemplate,
    forceApproveGroups: body.forceApproveGroups,
    accessMaxDuration: body.accessMaxDuration,
    minReviewApprovals: body.minReviewApprovals,
    mandatoryMetadataFields: body.mandatoryMetadataFields,
    managedBy: null,
  };
}
