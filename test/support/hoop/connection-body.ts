import { readBody, type Body } from './body.ts';
import { ModelError } from './errors.ts';
import { nameProblem } from './like.ts';
import type { JsonObject } from './json.ts';

type Text = Readonly<Record<string, string>>;

/** A connection as a request describes it, whole (POST, PUT). */
export type ConnectionBody = {
  readonly name: string;
  readonly type: string;
  readonly subtype: string;
  readonly agentId: string;
  readonly resourceName: string;
  readonly runbooks: string;
  readonly exec: string;
  readonly connect: string;
  readonly schema: string;
  readonly command: readonly string[] | null;
  readonly secret: JsonObject;
  readonly reviewers: readonly string[];
  readonly redactTypes: readonly string[];
  readonly tags: readonly string[];
  readonly connectionTags: Text;
  readonly guardrails: readonly string[];
  readonly jiraTemplate: string;
  readonly forceApproveGroups: readonly string[] | null;
  readonly accessMaxDuration: number | null;
  readonly minReviewApprovals: number | null;
  readonly mandatoryMetadataFields: readonly string[] | null;
  readonly attributes: readonly string[] | null;
};

/** Reads and checks the body of a POST or PUT: 400 for its form, 422 for its values. */
export function readConnection(text: string): ConnectionBody {
  const body = readBody(text, 'Connection');
  checkIgnored(body);
  const result: ConnectionBody = {
    name: body.string('name'),
    type: body.string('type'),
    subtype: body.string('subtype'),
    agentId: body.string('agent_id'),
    resourceName: body.string('resource_name'),
    runbooks: body.string('access_mode_runbooks'),
    exec: body.string('access_mode_exec'),
    connect: body.string('access_mode_connect'),
    schema: body.string('access_schema'),
    command: body.strings('command'),
    secret: body.map('secret') ?? {},
    reviewers: body.strings('reviewers') ?? [],
    redactTypes: body.strings('redact_types') ?? [],
    tags: body.strings('tags') ?? [],
    connectionTags: body.stringMap('connection_tags') ?? {},
    guardrails: (body.strings('guardrail_rules') ?? []).filter((id) => id !== ''),
    jiraTemplate: body.string('jira_issue_template_id'),
    forceApproveGroups: body.strings('force_approve_groups'),
    accessMaxDuration: body.int('access_max_duration'),
    minReviewApprovals: body.int('min_review_approvals'),
    mandatoryMetadataFields: body.strings('mandatory_metadata_fields'),
    attributes: body.strings('attributes'),
  };
  body.require({
    Name: result.name,
    Type: result.type,
    AgentId: result.agentId,
    AccessModeRunbooks: result.runbooks,
    AccessModeExec: result.exec,
    AccessModeConnect: result.connect,
    AccessSchema: result.schema,
  });
  checkConnection(result);
  return result;
}

/** Reads the fields that are accepted and ignored: they still must have the right type. */
function checkIgnored(body: Body): void {
  for (const key of ['id', 'status', 'default_database']) body.string(key);
  for (const key of ['managed_by', 'secrets_updated_at', 'mcp_oauth_warning', 'mcp_oauth_flow_id']) body.text(key);
  for (const key of ['redact_enabled', 'mcp_oauth_granted']) body.bool(key);
  body.strings('managed_attributes');
  body.map('effective_features');
  body.int('jit_access_duration_sec');
}

const legacyTag = /^\w+(?:[-.]\w+){0,128}$/;
const tagKey = /^\w+(?:[-./]\w+)*$/;
const tagValue = /^[a-zA-Z0-9_+=@/:\s-]+$/;

/** Refuses invalid values with 422, one group of checks at a time. */
export function checkConnection(
  body: Pick<ConnectionBody, 'tags' | 'connectionTags' | 'minReviewApprovals'> & { readonly name?: string },
): void {
  const name = body.name === undefined ? undefined : nameProblem(body.name);
  const legacy = body.tags.filter((tag) => !legacyTag.test(tag));
  const first = [
    ...(name === undefined ? [] : [name]),
    ...legacy.map(() => 'tags: values must contain between 1 and 128 alphanumeric characters, it may include (-), (_) or (.) characters'),
  ];
  refuse(first);
  if (Object.keys(body.connectionTags).length > 10) throw new ModelError(422, 'max tag association reached (10)');
  if (body.minReviewApprovals !== null && body.minReviewApprovals <= 0)
    throw new ModelError(422, 'min review approvals must be greater than 0 or null');
  refuse(Object.entries(body.connectionTags).flatMap(([key, value]) => tagProblems(key, value)));
}

function refuse(texts: readonly string[]): void {
  if (texts.length > 0) throw new ModelError(422, texts.join('; '));
}

function tagProblems(key: string, value: string): readonly string[] {
  const problems: string[] = [];
  if (Buffer.byteLength(key) > 64 || !tagKey.test(key))
    problems.push(
      `connection_tags (${key}), keys must contain between 1 and 64 alphanumeric characters, it may include (-), (_), (/), or (.) characters and it must not end with (-), (/) or (-)`,
    );
  if (Buffer.byteLength(value) > 256 || !tagValue.test(value))
    problems.push(
      `connection_tags (${key}), values must contain between 1 and 256 alphanumeric characters, it may include space, (-), (_), (/), (+), (@), (:), (=) or (.) characters`,
    );
  return problems;
}
