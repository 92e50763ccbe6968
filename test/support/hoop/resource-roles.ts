import type { Body } from './body.ts';
import type { Call } from './call.ts';
import { fillDefaults } from './connection-defaults.ts';
import { saveAttributes, saveConnection } from './connection-write.ts';
import { ModelError } from './errors.ts';
import type { JsonObject } from './json.ts';
import { toStored } from './secrets.ts';

/** A role of a new resource: the connection that is created with it. */
export type Role = {
  readonly name: string;
  readonly type: string;
  readonly subtype: string;
  readonly command: readonly string[] | null;
  readonly secret: JsonObject | null;
  readonly agentId: string;
  readonly attributes: readonly string[] | null;
};

export function readRole(body: Body): Role {
  const role: Role = {
    name: body.string('name'),
    type: body.string('type'),
    subtype: body.string('subtype'),
    command: body.strings('command'),
    secret: body.map('secret'),
    agentId: body.string('agent_id'),
    attributes: body.strings('attributes'),
  };
  body.require({ Name: role.name, Type: role.type });
  return role;
}

/** Creates the connection of a role; the gateway panics on a mssql role without secrets. */
export function saveRole(call: Call, resource: string, role: Role): void {
  const { context } = call;
  if (role.subtype === 'mssql' && role.secret === null) throw new ModelError(500, '');
  const filled = fillDefaults(role.type, role.subtype, { command: role.command, secret: role.secret ?? {} });
  const secret = toStored(filled.secret);
  const row = {
    id: context.random.uuid(),
    name: role.name,
    resourceName: resource,
    type: role.type,
    subtype: role.subtype,
    agentId: role.agentId,
    command: filled.command,
    secret,
    secretsUpdatedAt: Object.keys(secret).length === 0 ? null : context.clock.now(),
    reviewers: [],
    redactTypes: [],
    tags: [],
    connectionTags: {},
    runbooks: 'enabled',
    exec: 'enabled',
    connect: 'enabled',
    schema: role.type === 'database' ? 'enabled' : 'disabled',
    jiraTemplate: '',
    forceApproveGroups: null,
    accessMaxDuration: null,
    minReviewApprovals: null,
    mandatoryMetadataFields: null,
    managedBy: null,
  };
  saveConnection(call, { row, guardrails: [], prefix: 'failed creating resource: ' });
  saveAttributes(call, role.name, role.attributes);
}
