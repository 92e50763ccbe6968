import { asText, type JsonObject, objectsIn, textsIn } from '../json.ts';
import { kindOf, nameOf, type ResourceId } from '../resource.ts';

/** The ways to use a connection, which a field `access_mode_…` opens each. */
export const accessModes = ['connect', 'exec', 'runbooks'] as const;

export type AccessMode = (typeof accessModes)[number];

/** The groups that access control gives a connection to. */
export type AccessGrant = { readonly id: string; readonly name: string; readonly groups: readonly string[] };

/** An attribute: what it grants to the connections that have it, and which rules it attaches to them. */
export type Attribute = {
  readonly id: string;
  readonly name: string;
  readonly connections: readonly string[];
  readonly groups: readonly string[];
  readonly access_request_rules: readonly string[];
  readonly guardrail_rules: readonly string[];
  readonly masking_rules: readonly string[];
  /** Empty if nothing manages it. */
  readonly managed_by: string;
};

/** A rule about who needs an approval, and of whom. */
export type AccessRequestRule = {
  readonly id: string;
  readonly name: string;
  /** `jit`, `command` or `jit_command`. */
  readonly access_type: string;
  readonly attributes: readonly string[];
  /** The groups that need an approval; empty: everybody. */
  readonly approval_required_groups: readonly string[];
  readonly reviewers_groups: readonly string[];
  /** How many of the reviewing groups must approve a session. */
  readonly approvals: number;
  /** How many of them must approve a credential for a native client, if fewer: its number counts also where all of them must approve a session. */
  readonly credential_approvals?: number;
  readonly force_approval_groups: readonly string[];
  readonly skip_review_groups: readonly string[];
  /** The longest access in seconds; null if the rule sets none. */
  readonly access_max_duration: number | null;
};

/** What the gateway calls an object: its id, empty before it has one, and its name. */
export type ObjectIdentity = { readonly id: string; readonly name: string };

/** Reads an access-request rule; its fields have the same names in manifests and on the public gateway. */
export function readRequestRule(rule: JsonObject, { id, name }: ObjectIdentity): AccessRequestRule {
  const { min_approvals: least, access_max_duration: longest } = rule;
  const reviewers = textsIn(rule['reviewers_groups']).filter((group) => group.trim() !== '');
  const stated = typeof least === 'number' ? Math.min(reviewers.length, least) : reviewers.length;
  const fewer = stated < reviewers.length ? { credential_approvals: stated } : {};
  return {
    id,
    name,
    access_type: asText(rule['access_type']),
    attributes: textsIn(rule['attributes']),
    approval_required_groups: textsIn(rule['approval_required_groups']),
    reviewers_groups: reviewers,
    ...(rule['all_groups_must_approve'] === true ? { approvals: reviewers.length, ...fewer } : { approvals: stated }),
    force_approval_groups: textsIn(rule['force_approval_groups']),
    skip_review_groups: textsIn(rule['skip_review_groups']),
    access_max_duration: typeof longest === 'number' ? longest : null,
  };
}

/** A rule about which groups run which runbooks on which connections; an empty list includes everything. */
export type RunbookRule = {
  readonly id: string;
  readonly name: string;
  /** The files that it allows; a name is the start of the names of files. */
  readonly runbooks: readonly { readonly repository: string; readonly name: string }[];
  readonly groups: readonly string[];
};

/** Reads a runbook rule; its fields have the same names in manifests and on the public gateway. */
export function readRunbookRule(rule: JsonObject, { id, name }: ObjectIdentity): RunbookRule {
  return {
    id,
    name,
    runbooks: objectsIn(rule['runbooks']).map((file) => ({ repository: asText(file['repository']), name: asText(file['name']) })),
    groups: textsIn(rule['user_groups']),
  };
}

/** Rules that a package brings, and the connections that it is applied to. No other list contains these rules. */
export type Rulepack = {
  readonly id: string;
  readonly name: string;
  /** Changes with the content of its rules. */
  readonly digest: string;
  readonly guardrail_rules: readonly string[];
  readonly masking_rules: readonly string[];
  readonly managed: boolean;
};

/** Reads a rulepack. */
export function readRulepack(pack: JsonObject, { id, name }: ObjectIdentity): Rulepack {
  return {
    id,
    name,
    digest: asText(pack['digest']),
    guardrail_rules: textsIn(pack['guardrail_rules']),
    masking_rules: textsIn(pack['masking_rules']),
    managed: pack['managed'] === true,
  };
}

/** What happens to a run by the risk that an analyzer finds in it. */
export type AnalyzerRule = {
  readonly id: string;
  readonly name: string;
  /** `allow_execution`, `block_execution` or `require_access_request`, with the rule that then decides. */
  readonly low_risk: string;
  readonly medium_risk: string;
  readonly high_risk: string;
  /** Changes with the prompt of the analyzer; absent without one. */
  readonly prompt?: string;
};

/** Reads an analyzer rule. */
export function readAnalyzerRule(rule: JsonObject, { id, name }: ObjectIdentity): AnalyzerRule {
  const prompt = asText(rule['prompt']);
  return {
    id,
    name,
    low_risk: asText(rule['low_risk']),
    medium_risk: asText(rule['medium_risk']),
    high_risk: asText(rule['high_risk']),
    ...(prompt === '' ? {} : { prompt }),
  };
}

/** A machine that gets a credential for each of its connections. */
export type MachineIdentity = { readonly id: string; readonly name: string; readonly attributes: readonly string[] };

/** Reads a machine identity. */
export function readMachineIdentity(machine: JsonObject, { id, name }: ObjectIdentity): MachineIdentity {
  return { id, name, attributes: textsIn(machine['attributes']) };
}

/** A switch of the gateway that decides whether it enforces rules. */
export type FeatureFlag = ObjectIdentity & { readonly enabled: boolean };

/** As whom people work in the cloud through a connection, and what happens to those whom it gives no identity there. */
export type Federation = ObjectIdentity & {
  /** `deny` or `static`, the shared credential of the connection. */
  readonly fallback_policy: string;
  readonly hook_source: string;
  readonly builtin_provider: string;
  readonly identity_source_attribute: string;
  readonly identity_target_template: string;
  readonly token_ttl_seconds: number;
  /** Changes with the project and the scopes; empty without them. */
  readonly extra_config: string;
};

/** Reads a federation; its fields have the same names on the public gateway. */
export function readFederation(federation: JsonObject, { id, name }: ObjectIdentity): Federation {
  const { token_ttl_seconds: seconds } = federation;
  return {
    id,
    name,
    fallback_policy: asText(federation['fallback_policy']),
    hook_source: asText(federation['hook_source']),
    builtin_provider: asText(federation['builtin_provider']),
    identity_source_attribute: asText(federation['identity_source_attribute']),
    identity_target_template: asText(federation['identity_target_template']),
    token_ttl_seconds: typeof seconds === 'number' ? seconds : 0,
    extra_config: asText(federation['extra_config']),
  };
}

/** The names of the groups whose members are admins, and auditors, on a gateway. */
export type RoleNames = { readonly admin: string; readonly auditor: string };

/** The names of these groups where a gateway sets no others. */
export const defaultRoles: RoleNames = { admin: 'admin', auditor: 'auditor' };

/** What reports call these groups where the gateway does not show their names. */
export const hiddenRoles: RoleNames = { admin: 'admins (group not known)', auditor: 'auditors (group not known)' };

/** A setting of the gateway about who signs in as whom, or about what it shows to whom; never a secret. */
export type Setting = ObjectIdentity & { readonly value: string };

/** The workloads that are an agent. */
export type SpiffeMapping = ObjectIdentity & {
  readonly trust_domain: string;
  readonly agent: string;
  readonly agent_template: string;
  readonly groups: readonly string[];
};

/** A group of users. */
export type AccessGroup = { readonly id: string; readonly name: string };

/** A user by the email address, or a key; its groups, and whether it may sign in. */
export type AccessUser = { readonly id: string; readonly name: string; readonly groups: readonly string[]; readonly isActive: boolean };

/** The connections that a listed object names. */
export type NamingConnections = { readonly connections: readonly string[] };

/** The objects of a gateway that decide access to connections, by the name of their list. */
export type AccessObjects = {
  readonly 'access-control': AccessGrant;
  readonly attributes: Attribute;
  readonly 'access-request-rules': AccessRequestRule & NamingConnections & { readonly managed_by: string };
  readonly 'runbook-rules': RunbookRule & NamingConnections;
  readonly rulepacks: Rulepack & NamingConnections;
  readonly 'analyzer-rules': AnalyzerRule & NamingConnections & { readonly managed_by: string };
  readonly 'machine-identities': MachineIdentity & NamingConnections;
  readonly 'feature-flags': FeatureFlag;
  readonly federations: Federation & NamingConnections;
  readonly 'api-keys': AccessUser;
  readonly 'ai-agents': AccessUser;
  readonly 'service-accounts': AccessUser;
  readonly 'spiffe-mappings': SpiffeMapping;
  readonly 'auth-settings': Setting;
  readonly 'organization-settings': Setting;
  readonly groups: AccessGroup;
  readonly users: AccessUser;
};

/** The lists whose objects manifests can declare. */
export type DecidingList = 'access-request-rules' | 'attributes' | 'runbook-rules';

/** The list of the objects of each kind that decides access. */
export const decidingLists: Readonly<Record<string, DecidingList>> = {
  AccessRequestRule: 'access-request-rules',
  Attribute: 'attributes',
  RunbookRule: 'runbook-rules',
};

/** The lists whose objects no manifest declares. */
export type WatchedList = Exclude<AccessList, DecidingList | 'access-control' | 'groups'>;

/** The list of the objects of each watched kind. */
export const watchedLists: Readonly<Record<string, WatchedList>> = {
  Rulepack: 'rulepacks',
  AnalyzerRule: 'analyzer-rules',
  MachineIdentity: 'machine-identities',
  FeatureFlag: 'feature-flags',
  Federation: 'federations',
  User: 'users',
  ApiKey: 'api-keys',
  AiAgent: 'ai-agents',
  ServiceAccount: 'service-accounts',
  SpiffeMapping: 'spiffe-mappings',
  AuthSetting: 'auth-settings',
  OrganizationSetting: 'organization-settings',
};

/** By kind, what the gateway does with an object when it deletes a connection of it; absent: nothing. */
export const onDeletedConnection: Readonly<Record<string, 'unlinks' | 'deletes'>> = {
  Attribute: 'unlinks',
  Rulepack: 'unlinks',
  Federation: 'deletes',
};

const listsByKind: Readonly<Record<string, DecidingList | WatchedList>> = { ...decidingLists, ...watchedLists };

/** Returns a check whether an object is one of a list. */
function isOfList(list: DecidingList | WatchedList): (id: ResourceId) => boolean {
  return (id) => listsByKind[kindOf(id)] === list;
}

/** Returns whether an object is an attribute, which the gateway also knows where others name it. */
export const isAttribute: (id: ResourceId) => boolean = isOfList('attributes');

/** Returns whether an object is an access-request rule. */
export const isRequestRule: (id: ResourceId) => boolean = isOfList('access-request-rules');

/** Returns whether an object is a runbook rule. */
export const isRunbookRule: (id: ResourceId) => boolean = isOfList('runbook-rules');

/** Returns whether an object is a rulepack. */
export const isRulepack: (id: ResourceId) => boolean = isOfList('rulepacks');

/** Returns whether an object is an analyzer rule. */
export const isAnalyzerRule: (id: ResourceId) => boolean = isOfList('analyzer-rules');

/** Returns whether an object is a machine identity. */
export const isMachineIdentity: (id: ResourceId) => boolean = isOfList('machine-identities');

/** Returns whether an object is a feature flag, by which the gateway enforces rules or does not. */
export const isFeatureFlag: (id: ResourceId) => boolean = isOfList('feature-flags');

/** Returns whether an object is a federation, which a connection has alone. */
export const isFederation: (id: ResourceId) => boolean = isOfList('federations');

/** Returns whether an object is a setting about who signs in as whom. */
export const isAuthSetting: (id: ResourceId) => boolean = isOfList('auth-settings');

/** Returns whether an object is a setting of the whole organization. */
export const isOrganizationSetting: (id: ResourceId) => boolean = isOfList('organization-settings');

const roleLists: ReadonlySet<string> = new Set<WatchedList>(['users', 'api-keys', 'ai-agents', 'service-accounts']);

/** Returns whether a kind is one of those who sign in: of these, only admins and auditors are watched. */
export function bearsRoles(kind: string): boolean {
  return roleLists.has(watchedLists[kind] ?? '');
}

/** Returns whether a kind decides no access to a connection: changes of its objects are only reported. */
export function isOnlyReported(kind: string): boolean {
  return bearsRoles(kind) || watchedLists[kind] === 'spiffe-mappings';
}

/** Returns the names of the groups of admins and auditors by the settings of a gateway. */
export function roleNamesIn(objects: readonly { readonly id: ResourceId; readonly spec: JsonObject }[]): RoleNames {
  const settings = objects.filter(({ id }) => isAuthSetting(id));
  const valueOf = (name: string): string => asText(settings.find(({ id }) => nameOf(id) === name)?.spec['value']);
  return { admin: valueOf('admin_role_name') || defaultRoles.admin, auditor: valueOf('auditor_role_name') || defaultRoles.auditor };
}

/** Returns the roles that the members of some groups have. */
export function rolesOf(groups: readonly string[], names: RoleNames): readonly (keyof RoleNames)[] {
  return (['admin', 'auditor'] as const).filter((role) => groups.includes(names[role]));
}

/** The access control of a gateway, which is on or off. */
export const accessControlId: ResourceId = 'Gateway/access-control';

/** Returns the id of an attribute. */
export function attributeId(name: string): ResourceId {
  return `Attribute/${name}`;
}

/** Returns the id of an access-request rule. */
export function requestRuleId(name: string): ResourceId {
  return `AccessRequestRule/${name}`;
}

/** One of the lists of what decides access. */
export type AccessList = keyof AccessObjects;

/** All lists of what decides access. */
export const accessLists: readonly AccessList[] = [
  'access-control',
  ...Object.values(decidingLists),
  ...Object.values(watchedLists),
  'groups',
];
