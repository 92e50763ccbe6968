import { attributesOf } from './attribute-links.ts';
import { accessLinksOf, analyzerRuleOf } from './access-links.ts';
import type { Call, ModelContext } from './call.ts';
import { microTime } from './clock.ts';
import type { Json, JsonObject } from './json.ts';
import type { ConnectionRow } from './rows.ts';
import { defaultDatabase, showSecrets } from './secrets.ts';

/** Returns the fields that every endpoint shows of a connection. */
function common(row: ConnectionRow): JsonObject {
  return {
    id: row.id,
    name: row.name,
    command: row.command,
    resource_name: row.resourceName,
    type: row.type,
    subtype: row.subtype,
    agent_id: row.agentId ?? '',
    status: row.status,
    managed_by: row.managedBy,
    access_mode_runbooks: row.runbooks,
    access_mode_exec: row.exec,
    access_mode_connect: row.connect,
    access_schema: row.schema,
    jira_issue_template_id: row.jiraTemplate,
  };
}

function edges({ store, random }: ModelContext, row: ConnectionRow): JsonObject {
  return {
    reviewers: row.reviewers,
    redact_enabled: row.redactTypes.length > 0,
    redact_types: row.redactTypes,
    tags: row.tags,
    connection_tags: row.connectionTags,
    guardrail_rules: random.shuffle(store.guardrailLinks.leftsOf(row.id)),
  };
}

function rules(row: ConnectionRow): JsonObject {
  return {
    force_approve_groups: row.forceApproveGroups,
    access_max_duration: row.accessMaxDuration,
    min_review_approvals: row.minReviewApprovals,
    mandatory_metadata_fields: row.mandatoryMetadataFields ?? [],
  };
}

const noRules: JsonObject = { force_approve_groups: null, access_max_duration: null, min_review_approvals: null };

function stamp(row: ConnectionRow): JsonObject {
  return row.secretsUpdatedAt === null ? {} : { secrets_updated_at: microTime(row.secretsUpdatedAt) };
}

function managed(names: readonly string[]): JsonObject {
  return names.length === 0 ? {} : { managed_attributes: names };
}

/** The answer to a read of one connection. */
export function viewOne({ context, caller }: Call, row: ConnectionRow): Json {
  const attributes = attributesOf(context, row.name);
  const admin = caller.role === 'admin';
  return {
    ...common(row),
    ...edges(context, row),
    ...rules(row),
    ...stamp(row),
    ...managed(attributes.managed),
    ...accessLinksOf(context, row).jit,
    secret: admin ? showSecrets(row.secret, caller.hidden) : {},
    default_database: admin && !caller.hidden ? defaultDatabase(row.secret) : '',
    attributes: [...attributes.user, ...attributes.managed],
    effective_features: features(context, row, [...attributes.user, ...attributes.managed]),
  };
}

/** The answer to a write: secrets merged over those of the resource, attributes as the request had them. */
export function viewWritten({ context, caller }: Call, row: ConnectionRow, attributes: readonly string[] | null): Json {
  const resource = context.store.resources.get(row.resourceName);
  const merged = { ...resource?.envVars, ...row.secret };
  return {
    ...common(row),
    ...edges(context, row),
    ...rules(row),
    ...stamp(row),
    agent_id: row.agentId ?? resource?.agentId ?? '',
    secret: showSecrets(merged, caller.hidden),
    default_database: caller.hidden ? '' : defaultDatabase(merged),
    attributes,
    effective_features: null,
  };
}

/** The entry of a list; its two forms, array and page, leave out different things. */
export function viewListed(context: ModelContext, row: ConnectionRow, paged: boolean): Json {
  const attributes = attributesOf(context, row.name);
  return {
    ...common(row),
    ...edges(context, row),
    ...noRules,
    ...managed(attributes.managed),
    ...(paged ? { jira_issue_template_id: '' } : {}),
    mandatory_metadata_fields: paged ? (row.mandatoryMetadataFields ?? []) : null,
    secret: {},
    default_database: '',
    attributes: attributes.user,
    effective_features: null,
  };
}

/** The entry of `roles[]` of a resource: the raw row. */
export function viewRole({ caller }: Call, row: ConnectionRow): Json {
  return {
    ...common(row),
    ...rules(row),
    ...stamp(row),
    reviewers: null,
    redact_enabled: false,
    redact_types: null,
    tags: row.tags.length === 0 ? null : row.tags,
    connection_tags: null,
    guardrail_rules: null,
    mandatory_metadata_fields: row.mandatoryMetadataFields,
    secret: caller.hidden ? null : {},
    default_database: '',
    attributes: null,
    effective_features: null,
  };
}

function features(context: ModelContext, row: ConnectionRow, attributes: readonly string[]): Json {
  const { store, settings } = context;
  const carried = store.connectionAttributes.leftsOf(row.name);
  const access = accessLinksOf(context, row);
  const guardrails =
    store.guardrailLinks.leftsOf(row.id).length > 0 || carried.some((name) => store.guardrailAttributes.rightsOf(name).length > 0);
  const masked =
    store.maskingLinks.leftsOf(row.id).length > 0 || attributes.some((name) => store.maskingAttributes.rightsOf(name).length > 0);
  return {
    guardrails,
    data_masking: settings.provider === 'mspresidio' && masked,
    ai_session_analyzer: analyzerRuleOf(store, row.name) !== undefined,
    jira_templates: row.jiraTemplate !== '',
    mandatory_metadata: (row.mandatoryMetadataFields ?? []).length > 0,
    access_request: { command: access.command, jit: access.hasJit, legacy_reviewers: row.reviewers.length > 0 },
  };
}
