import type { Json, JsonObject } from './json.ts';

type Text = Readonly<Record<string, string>>;
type Texts<Field extends string> = Readonly<Record<Field, string>>;
type Lists<Field extends string> = Readonly<Record<Field, readonly string[]>>;
type OrNull<Fields> = { readonly [Field in keyof Fields]: Fields[Field] | null };
type Numbers<Field extends string> = Readonly<Record<Field, number>>;
type Created = { readonly createdAt: bigint };
type Dated = Created & { readonly updatedAt: bigint };

export type ConnectionRow = Texts<
  'id' | 'name' | 'resourceName' | 'type' | 'subtype' | 'runbooks' | 'exec' | 'connect' | 'schema' | 'jiraTemplate' | 'status'
> &
  Lists<'reviewers' | 'redactTypes' | 'tags'> &
  OrNull<Texts<'agentId' | 'managedBy'>> &
  OrNull<Lists<'command' | 'forceApproveGroups' | 'mandatoryMetadataFields'>> &
  OrNull<Numbers<'accessMaxDuration' | 'minReviewApprovals'>> & {
    /** The connection's own secrets; those of its resource are apart. */
    readonly secret: Text;
    readonly secretsUpdatedAt: bigint | null;
    readonly connectionTags: Text;
  };

export type ResourceRow = Texts<'id' | 'name' | 'type' | 'subtype'> &
  OrNull<Texts<'agentId'>> &
  Dated & {
    readonly envVars: Text;
  };

export type GuardrailRow = Texts<'id' | 'name' | 'description'> &
  OrNull<Texts<'managedBy'>> &
  Dated & {
    readonly input: JsonObject | null;
    readonly output: JsonObject | null;
    /** Whether a rulepack owns it, which hides it from lists. */
    readonly hidden: boolean;
  };

export type MaskingRow = Texts<'id' | 'name' | 'description'> &
  OrNull<Texts<'managedBy'>> &
  OrNull<Numbers<'score'>> & {
    readonly supported: readonly Json[];
    readonly custom: readonly Json[];
    readonly hidden: boolean;
    readonly updatedAt: bigint;
  };

export type MaskingLink = { readonly id: string; readonly ruleId: string; readonly connectionId: string; readonly status: string };

export type AttributeRow = Texts<'id' | 'name'> &
  OrNull<Texts<'description' | 'managedBy'>> &
  Created & {
    readonly hidden: boolean;
  };

export type AgentRow = Texts<'id' | 'name' | 'mode'> & {
  readonly online: boolean;
};

/** A repository as its configuration stores it; `branch` has no field in the API. */
export type RepositoryRow = Texts<'gitUrl' | 'gitUser' | 'gitPassword' | 'sshKey' | 'sshUser' | 'sshKeypass' | 'sshKnownHosts'> & {
  readonly gitHookTtl: number;
  readonly branch?: string;
};

export type RunbooksRow = Texts<'id'> &
  Dated & {
    readonly repositories: ReadonlyMap<string, RepositoryRow>;
  };

export type RunbookRuleRow = Texts<'id' | 'name' | 'description'> &
  Lists<'connections' | 'userGroups'> &
  Dated & {
    readonly runbooks: readonly { readonly repository: string; readonly name: string }[];
  };

export type ReviewGroup = Texts<'id' | 'group' | 'status'> & {
  readonly reviewedBy: { readonly id: string; readonly name: string; readonly email: string } | null;
  readonly reviewedAt: bigint | null;
};

export type ReviewRow = Texts<'id' | 'session' | 'status' | 'connection' | 'ownerId' | 'input'> &
  OrNull<Texts<'ruleName' | 'rejectionReason'>> &
  OrNull<Lists<'forceApprovalGroups'>> &
  OrNull<Numbers<'minApprovals'>> &
  Created & {
    readonly type: 'onetime' | 'jit';
    /** In nanoseconds. */
    readonly accessDuration: number;
    /** The email address of the user that asks, and what the session executes. */
    readonly ownerEmail: string;
    readonly revokeAt: bigint | null;
    readonly groups: readonly ReviewGroup[];
    readonly timeWindow: JsonObject | null;
  };

/** A session as the gateway records it; a native one has no script. */
export type SessionRow = Texts<'id' | 'connection' | 'userId' | 'userEmail' | 'userName' | 'input'> &
  Created & {
    readonly verb: 'exec' | 'connect';
    readonly labels: JsonObject | null;
    readonly guardrails: readonly JsonObject[] | null;
    /** What the connection was when the session began. */
    readonly of?: Pick<ConnectionRow, 'type' | 'subtype' | 'connectionTags'>;
  };

export type AccessRuleRow = Texts<'id' | 'name' | 'accessType'> &
  Lists<'connectionNames'> &
  OrNull<Texts<'description' | 'managedBy'>> &
  OrNull<Lists<'approvalRequiredGroups' | 'reviewersGroups' | 'forceApprovalGroups' | 'skipReviewGroups'>> &
  OrNull<Numbers<'accessMaxDuration' | 'minApprovals'>> &
  Dated & {
    readonly allGroupsMustApprove: boolean;
  };

export type RulepackRow = Texts<'id' | 'displayName'> &
  Lists<'tags'> &
  OrNull<Texts<'description' | 'version'>> &
  Dated & {
    readonly isManaged: boolean;
    /** The name of the attribute that attaches the rules of the rulepack to connections. */
    readonly attribute: string;
  };

/** A runbook that runs on a connection at events. */
export type EventSubscriptionRow = Texts<
  'id' | 'name' | 'description' | 'runbookRepository' | 'runbookFile' | 'connectionName' | 'status' | 'createdByEmail'
> &
  Lists<'eventTypes'> &
  Dated & {
    readonly parameterMapping: Text;
  };

/** What an analyzer does at one level of risk; `rule` is the access-request rule that it asks. */
export type RiskTier = { readonly action: string; readonly rule: string | null };

export type AnalyzerRuleRow = Texts<'id' | 'name'> &
  Lists<'connectionNames'> &
  OrNull<Texts<'description' | 'customPrompt' | 'managedBy'>> &
  Dated & {
    readonly risk: { readonly low: RiskTier; readonly medium: RiskTier; readonly high: RiskTier };
    readonly agentic: boolean;
  };

export type MachineIdentityRow = Texts<'id' | 'name' | 'description'> & Lists<'connectionNames'> & Dated;

/** As whom people work in the cloud through a connection; the credential that issues the identities is not kept. */
export type FederationRow = Texts<
  'id' | 'connectionId' | 'hookSource' | 'builtinProvider' | 'identitySource' | 'identityTarget' | 'fallbackPolicy'
> &
  Dated & {
    readonly hasCredentials: boolean;
    readonly tokenSeconds: number;
    readonly extra: JsonObject;
  };

export type MachineCredentialRow = { readonly identityId: string; readonly connection: string; readonly secretKey: string };

export type TagRow = Texts<'id' | 'key' | 'value'> & Dated;

export type PluginRow = Texts<'id' | 'name'> & {
  readonly envVars: Text;
};

/** The settings of a plugin for one connection; of the plugin `access_control` the groups that see it. */
export type PluginConnectionRow = Texts<'id' | 'plugin' | 'connectionId'> &
  OrNull<Lists<'config'>> & {
    readonly updatedAt: bigint;
  };

/** A caller: a key (`hpk_…`) or a signed-in user; only a user's secrets can be hidden. */
export type IdentityRow = Texts<'id' | 'name' | 'email' | 'token' | 'picture' | 'slackId'> &
  Lists<'groups'> & {
    readonly kind: 'key' | 'agent' | 'account' | 'user';
    /** Only active callers are admitted. */
    readonly status: string;
    /** Of a key: who made it and when, and who revoked it and when. */
    readonly made?: { readonly by: string; readonly at: bigint };
    readonly revoked?: { readonly by: string; readonly at: bigint };
  };

/** The workloads that are an agent; null is what a mapping does not state. */
export type SpiffeMappingRow = Texts<'id' | 'trustDomain'> &
  Lists<'groups'> &
  OrNull<Texts<'spiffeId' | 'prefix' | 'agentId' | 'template'>> &
  Dated;

export type AuditRow = Texts<'id' | 'resourceType' | 'action' | 'method' | 'path' | 'error'> &
  Created & {
    readonly actor: { readonly id: string; readonly name: string; readonly email: string };
    readonly status: number;
    readonly payload: Json;
  };
