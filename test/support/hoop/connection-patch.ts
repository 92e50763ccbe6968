import { readBody } from './body.ts';
import type { Call } from './call.ts';
import { checkConnection } from './connection-body.ts';
import type { ConnectionRow } from './rows.ts';
import { overlaySecrets, toStored } from './secrets.ts';

export type PatchedConnection = {
  readonly row: Omit<ConnectionRow, 'status'>;
  readonly guardrails: readonly string[] | null;
  readonly attributes: readonly string[] | null;
};

/** A connection with a PATCH laid over it. What is laid under it is the merged view, so the resource's env_vars and agent become the connection's own. */
export function mergePatch({ text, store, context, caller }: Call, before: ConnectionRow): PatchedConnection {
  const body = readBody(text, 'ConnectionPatch');
  const resource = store.resources.get(before.resourceName);
  const stored = { ...resource?.envVars, ...before.secret };
  const secret = body.map('secret');
  const row: PatchedConnection['row'] = {
    ...before,
    command: body.strings('command') ?? before.command,
    type: body.text('type') ?? before.type,
    subtype: body.text('subtype') ?? before.subtype,
    agentId: body.text('agent_id') ?? before.agentId ?? resource?.agentId ?? null,
    secret: secret === null ? stored : caller.hidden ? overlaySecrets(secret, stored) : toStored(secret),
    secretsUpdatedAt: secret === null ? before.secretsUpdatedAt : context.clock.now(),
    reviewers: body.strings('reviewers') ?? before.reviewers,
    redactTypes: body.strings('redact_types') ?? before.redactTypes,
    tags: body.strings('tags') ?? before.tags,
    connectionTags: body.stringMap('connection_tags') ?? before.connectionTags,
    runbooks: body.text('access_mode_runbooks') ?? before.runbooks,
    exec: body.text('access_mode_exec') ?? before.exec,
    connect: body.text('access_mode_connect') ?? before.connect,
    schema: body.text('access_schema') ?? before.schema,
    jiraTemplate: body.text('jira_issue_template_id') ?? before.jiraTemplate,
    mandatoryMetadataFields: body.strings('mandatory_metadata_fields') ?? before.mandatoryMetadataFields,
    managedBy: null,
  };
  checkConnection({ tags: row.tags, connectionTags: row.connectionTags, minReviewApprovals: row.minReviewApprovals });
  return { row, guardrails: body.strings('guardrail_rules')?.filter((id) => id !== '') ?? null, attributes: body.strings('attributes') };
}
