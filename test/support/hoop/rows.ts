import type { Json, JsonObject } from './json.ts';

type Text = Readonly<Record<string, string>>;

export type ConnectionRow = {
  readonly id: string;
  readonly name: string;
  readonly resourceName: string;
  readonly type: string;
  readonly subtype: string;
  readonly agentId: string | null;
  readonly command: readonly string[] | null;
  /** The connection's own secrets; those of its resource are apart. */
  readonly secret: Text;
  readonly secretsUpdatedAt: bigint | null;
  readonly reviewers: readonly string[];
  readonly redactTypes: readonly string[];
  readonly tags: readonly string[];
  readonly connectionTags: Text;
  readonly runbooks: string;
  readonly exec: string;
  readonly connect: string;
  readonly schema: string;
  readonly jiraTemplate: string;
  readonly forceApproveGroups: readonly string[] | null;
  readonly accessMaxDuration: number | null;
  readonly minReviewApprovals: number | null;
  readonly mandatoryMetadataFields: readonly string[] | null;
  readonly managedBy: string | null;
  readonly status: string;
};

export type ResourceRow = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly subtype: string;
  readonly agentId: string | null;
  readonly envVars: Text;
  readonly createdAt: bigint;
  readonly updatedAt: bigint;
};

export type GuardrailRow = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly input: JsonObject | null;
  readonly output: JsonObject | null;
  readonly managedBy: string | null;
  /** Whether a rulepack owns it, which hides it from lists. */
  readonly hidden: boolean;
  readonly createdAt: bigint;
  readonly updatedAt: bigint;
};

export type MaskingRow = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly supported: readonly Json[];
  readonly custom: readonly Json[];
  readonly score: number | null;
  readonly managedBy: string | null;
  readonly hidden: boolean;
  readonly updatedAt: bigint;
};

export type MaskingLink = { readonly id: string; readonly ruleId: string; readonly connectionId: string; readonly status: string };

export type AttributeRow = {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly managedBy: string | null;
  readonly hidden: boolean;
  readonly createdAt: bigint;
};

export type AgentRow = {
  readonly id: string;
  readonly name: string;
  readonly mode: string;
  readonly online: boolean;
};

/** A repository as its configuration stores it; `branch` has no field in the API. */
export type RepositoryRow = {
  readonly gitUrl: string;
  readonly gitUser: string;
  readonly gitPassword: string;
  readonly sshKey: string;
  readonly sshUser: string;
  readonly sshKeypass: string;
  readonly sshKnownHosts: string;
  readonly gitHookTtl: number;
  readonly branch?: string;
};

export type RunbooksRow = {
  readonly id: string;
  readonly repositories: ReadonlyMap<string, RepositoryRow>;
  readonly createdAt: bigint;
  readonly updatedAt: bigint;
};

export type RunbookRuleRow = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly runbooks: readonly { readonly repository: string; readonly name: string }[];
  readonly connections: readonly string[];
  readonly userGroups: readonly string[];
  readonly createdAt: bigint;
  readonly updatedAt: bigint;
};

export type ReviewGroup = {
  readonly id: string;
  readonly group: string;
  readonly status: string;
  readonly reviewedBy: { readonly id: string; readonly name: string; readonly email: string } | null;
  readonly reviewedAt: bigint | null;
};

export type ReviewRow = {
  readonly id: string;
  readonly session: string;
  readonly type: 'onetime' | 'jit';
  /** In nanoseconds. */
  readonly accessDuration: number;
  readonly status: string;
  readonly connection: string;
  readonly ownerId: string;
  /** The email address of the user that asks, and what the session executes. */
  readonly ownerEmail: string;
  readonly input: string;
  readonly revokeAt: bigint | null;
  readonly createdAt: bigint;
  readonly groups: readonly ReviewGroup[];
  readonly timeWindow: JsonObject | null;
  readonly ruleName: string | null;
  readonly minApprovals: number | null;
  readonly forceApprovalGroups: readonly string[] | null;
  readonly rejectionReason: string | null;
};

export type AccessRuleRow = {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly accessType: string;
  readonly connectionNames: readonly string[];
  readonly approvalRequiredGroups: readonly string[] | null;
  readonly allGroupsMustApprove: boolean;
  readonly reviewersGroups: readonly string[] | null;
  readonly forceApprovalGroups: readonly string[] | null;
  readonly skipReviewGroups: readonly string[] | null;
  readonly accessMaxDuration: number | null;
  readonly minApprovals: number | null;
  readonly managedBy: string | null;
  readonly createdAt: bigint;
  readonly updatedAt: bigint;
};

export type RulepackRow = {
  readonly id: string;
  readonly displayName: string;
  readonly description: string | null;
  readonly version: string | null;
  readonly tags: readonly string[];
  readonly isManaged: boolean;
  /** The name of the attribute that attaches the rules of the rulepack to connections. */
  readonly attribute: string;
  readonly createdAt: bigint;
  readonly updatedAt: bigint;
};

/** A runbook that runs on a connection at events. */
export type EventSubscriptionRow = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly eventTypes: readonly string[];
  readonly runbookRepository: string;
  readonly runbookFile: string;
  readonly connectionName: string;
  readonly parameterMapping: Text;
  readonly status: string;
  readonly createdByEmail: string;
  readonly createdAt: bigint;
  readonly updatedAt: bigint;
};

/** What an analyzer does at one level of risk; `rule` is the access-request rule that it asks. */
export type RiskTier = { readonly action: string; readonly rule: string | null };

export type AnalyzerRuleRow = {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly connectionNames: readonly string[];
  readonly risk: { readonly low: RiskTier; readonly medium: RiskTier; readonly high: RiskTier };
  readonly customPrompt: string | null;
  readonly agentic: boolean;
  readonly managedBy: string | null;
  readonly createdAt: bigint;
  readonly updatedAt: bigint;
};

export type MachineIdentityRow = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly connectionNames: readonly string[];
  readonly createdAt: bigint;
  readonly updatedAt: bigint;
};

/** As whom people work in the cloud through a connection; the credential that issues the identities is not kept. */
export type FederationRow = {
  readonly id: string;
  readonly connectionId: string;
  readonly hookSource: string;
  readonly builtinProvider: string;
  readonly hasCredentials: boolean;
  readonly identitySource: string;
  readonly identityTarget: string;
  readonly fallbackPolicy: string;
  readonly tokenSeconds: number;
  readonly extra: JsonObject;
  readonly createdAt: bigint;
  readonly updatedAt: bigint;
};

export type MachineCredentialRow = { readonly identityId: string; readonly connection: string; readonly secretKey: string };

export type TagRow = {
  readonly id: string;
  readonly key: string;
  readonly value: string;
  readonly createdAt: bigint;
  readonly updatedAt: bigint;
};

export type PluginRow = {
  readonly id: string;
  readonly name: string;
  readonly envVars: Text;
};

/** The settings of a plugin for one connection; of the plugin `access_control` the groups that see it. */
export type PluginConnectionRow = {
  readonly id: string;
  readonly plugin: string;
  readonly connectionId: string;
  readonly config: readonly string[] | null;
  readonly updatedAt: bigint;
};

/** A caller: a key (`hpk_…`) or a signed-in user; only a user's secrets can be hidden. */
export type IdentityRow = {
  readonly id: string;
  readonly kind: 'key' | 'agent' | 'account' | 'user';
  readonly name: string;
  readonly email: string;
  readonly token: string;
  readonly groups: readonly string[];
  /** Only active callers are admitted. */
  readonly status: string;
  readonly picture: string;
  readonly slackId: string;
  /** Of a key: who made it and when, and who revoked it and when. */
  readonly made?: { readonly by: string; readonly at: bigint };
  readonly revoked?: { readonly by: string; readonly at: bigint };
};

/** The workloads that are an agent; null is what a mapping does not state. */
export type SpiffeMappingRow = {
  readonly id: string;
  readonly trustDomain: string;
  readonly spiffeId: string | null;
  readonly prefix: string | null;
  readonly agentId: string | null;
  readonly template: string | null;
  readonly groups: readonly string[];
  readonly createdAt: bigint;
  readonly updatedAt: bigint;
};

export type AuditRow = {
  readonly id: string;
  readonly actor: { readonly id: string; readonly name: string; readonly email: string };
  readonly createdAt: bigint;
  readonly resourceType: string;
  readonly action: string;
  readonly method: string;
  readonly status: number;
  readonly path: string;
  readonly payload: Json;
  readonly error: string;
};
