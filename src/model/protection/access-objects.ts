import { asText, type JsonObject, objectsIn, textsIn } from '../json.ts';
import { kindOf, type ResourceId } from '../resource.ts';

/** A way to use a connection, which a field `access_mode_…` opens. */
export type AccessMode = 'connect' | 'exec' | 'runbooks';

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
  readonly connections: readonly string[];
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
  readonly managed_by: string;
};

/** An object, and the connections that it names. */
export type NamedObject = { readonly id: string; readonly name: string; readonly connections: readonly string[] };

/** Reads an access-request rule; its fields have the same names in manifests and on the public gateway. */
export function readRequestRule(rule: JsonObject, { id, name, connections }: NamedObject): AccessRequestRule {
  const { min_approvals: least, access_max_duration: longest } = rule;
  const reviewers = textsIn(rule['reviewers_groups']).filter((group) => group.trim() !== '');
  const stated = typeof least === 'number' ? Math.min(reviewers.length, least) : reviewers.length;
  const fewer = stated < reviewers.length ? { credential_approvals: stated } : {};
  return {
    id,
    name,
    access_type: asText(rule['access_type']),
    connections,
    attributes: textsIn(rule['attributes']),
    approval_required_groups: textsIn(rule['approval_required_groups']),
    reviewers_groups: reviewers,
    ...(rule['all_groups_must_approve'] === true ? { approvals: reviewers.length, ...fewer } : { approvals: stated }),
    force_approval_groups: textsIn(rule['force_approval_groups']),
    skip_review_groups: textsIn(rule['skip_review_groups']),
    access_max_duration: typeof longest === 'number' ? longest : null,
    managed_by: asText(rule['managed_by']),
  };
}

/** A rule about which groups run which runbooks on which connections; an empty list includes everything. */
export type RunbookRule = {
  readonly id: string;
  readonly name: string;
  /** The files that it allows; a name is the start of the names of files. */
  readonly runbooks: readonly { readonly repository: string; readonly name: string }[];
  readonly connections: readonly string[];
  readonly groups: readonly string[];
};

/** Reads a runbook rule; its fields have the same names in manifests and on the public gateway. */
export function readRunbookRule(rule: JsonObject, { id, name, connections }: NamedObject): RunbookRule {
  return {
    id,
    name,
    runbooks: objectsIn(rule['runbooks']).map((file) => ({ repository: asText(file['repository']), name: asText(file['name']) })),
    connections,
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
  readonly connections: readonly string[];
  readonly managed: boolean;
};

/** What happens to a run by the risk that an analyzer finds in it. */
export type AnalyzerRule = {
  readonly id: string;
  readonly name: string;
  readonly connections: readonly string[];
  /** `allow_execution`, `block_execution` or `require_access_request`, with the rule that then decides. */
  readonly low_risk: string;
  readonly medium_risk: string;
  readonly high_risk: string;
  /** Changes with the prompt of the analyzer; absent without one. */
  readonly prompt?: string;
  readonly managed_by: string;
};

/** A machine that gets a credential for each of its connections. */
export type MachineIdentity = {
  readonly id: string;
  readonly name: string;
  readonly connections: readonly string[];
  readonly attributes: readonly string[];
};

/** A group of users. */
export type AccessGroup = { readonly id: string; readonly name: string };

/** A user by the email address, the groups that the user is in, and whether the user may sign in. */
export type AccessUser = { readonly id: string; readonly name: string; readonly groups: readonly string[]; readonly isActive: boolean };

/** The objects of a gateway that decide access to connections, by the name of their list. */
export type AccessObjects = {
  readonly 'access-control': AccessGrant;
  readonly attributes: Attribute;
  readonly 'access-request-rules': AccessRequestRule;
  readonly 'runbook-rules': RunbookRule;
  readonly rulepacks: Rulepack;
  readonly 'analyzer-rules': AnalyzerRule;
  readonly 'machine-identities': MachineIdentity;
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

/** Returns whether an object is an attribute, which the gateway also knows where others name it. */
export function isAttribute(id: ResourceId): boolean {
  return decidingLists[kindOf(id)] === 'attributes';
}

/** Returns whether an object is an access-request rule. */
export function isRequestRule(id: ResourceId): boolean {
  return decidingLists[kindOf(id)] === 'access-request-rules';
}

/** Returns whether an object is a runbook rule. */
export function isRunbookRule(id: ResourceId): boolean {
  return decidingLists[kindOf(id)] === 'runbook-rules';
}

/** Returns the id of an attribute. */
export function attributeId(name: string): ResourceId {
  return `Attribute/${name}`;
}

/** Returns the id of an access-request rule. */
export function requestRuleId(name: string): ResourceId {
  return `AccessRequestRule/${name}`;
}

/** Returns the id of a runbook rule. */
export function runbookRuleId(name: string): ResourceId {
  return `RunbookRule/${name}`;
}

/** One of the lists of what decides access. */
export type AccessList = keyof AccessObjects;

/** The lists of people: they decide nothing about a connection by themselves. */
export type PeopleList = 'groups' | 'users';

/**
 * What decides access on a gateway, besides its connections, by list. A list that is absent does not exist there; `off` is a list of a
 * feature that is off; `unreadable` is one that the token may not read, or that could not be proven complete.
 */
export type AccessState = { readonly [List in Exclude<AccessList, PeopleList>]?: readonly AccessObjects[List][] | 'off' | 'unreadable' };
