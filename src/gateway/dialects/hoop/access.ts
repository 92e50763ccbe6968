import { createHash } from 'node:crypto';
import { asObject, asText, canonical, isObject, type Json, type JsonObject, objectsIn, textsIn } from '../../../model/json.ts';
import {
  type AccessUser,
  readFederation,
  readRequestRule,
  readRunbookRule,
  type Setting,
} from '../../../model/protection/access-objects.ts';
import { type ListRows, serverInfoPath, type WireAccess, type WireList, type WirePluginRows, type WireRows } from '../../dialect.ts';
import { groupsList, readIdAndName, restList } from '../rest.ts';
import { readProvider } from './handshake.ts';
import { withoutRulePlaceholder } from './rule-targets.ts';

/** The rows of a plugin. While it is off, its list does not exist. */
function pluginList(name: string): WireList {
  return {
    path: `/plugins/${name}`,
    rows(body): ListRows | undefined {
      if (body === null) return { rows: [] };
      return isObject(body) && Array.isArray(body['connections']) ? { rows: body['connections'] } : undefined;
    },
    isEmpty: (body) => isObject(body) && body['message'] === 'plugin not found',
  };
}

const accessControl: WireList = pluginList('access_control');

/** The groups of a connection: a row of the plugin of access control, which the API cannot switch off again. */
export const accessRows: WireRows = {
  field: 'access_groups',
  rowPath: (uid) => `${accessControl.path}/conn/${encodeURIComponent(uid)}`,
  groupsIn: (body) => (isObject(body) && 'config' in body ? textsIn(body['config']) : undefined),
  rowBody: (groups) => ({ config: groups }),
  switchPath: '/plugins',
  // One transaction; a write of the whole plugin later would replace the rows of everything else.
  switchBody: (rows) => ({ name: 'access_control', connections: rows.map(({ uid, groups }) => ({ id: uid, config: groups })) }),
};

/** The channels that hear of the reviews of a connection: every connection has a row of the chat plugin, with or without channels. */
export const channelRows: WirePluginRows = {
  field: 'slack_channels',
  list: pluginList('slack'),
  rowPath: (uid) => `/plugins/slack/conn/${encodeURIComponent(uid)}`,
  textsIn: ({ config }) => textsIn(config),
  rowBody: (texts) => ({ config: texts }),
};

/** Lists that the gateway cuts to 50 entries without a page. */
function pagedList(path: string): WireList {
  return { ...restList(path), paged: true };
}

/** The switches that decide whether rules are enforced; the others switch features that protect nothing. */
const enforcingFlags: ReadonlySet<string> = new Set([
  // Guardrails of commands and output, and of what people type, in native SSH sessions.
  'experimental.ssh_guardrails',
  'experimental.ssh_input_guardrails',
  // What is found, and stopped, in RDP sessions.
  'experimental.rdp_pii_detection',
  'experimental.rdp_pii_guard',
  // The analyzer of HTTP sessions.
  'experimental.http_session_analyzer',
]);

/** A flag has no id; its name is one. The server info, which is read anyway, has them all. */
const flags: WireList = {
  path: serverInfoPath,
  rows(body): ListRows | undefined {
    const all = isObject(body) ? body['feature_flags'] : undefined;
    if (!isObject(all)) return undefined;
    const rows = Object.entries(all).map(([name, enabled]) => ({ id: name, name, enabled }));
    return { rows: rows.filter(({ name }) => enforcingFlags.has(name)) };
  },
};

/** A list that is null while it is empty. */
function nullableList(path: string): WireList {
  const { rows } = restList(path);
  return { path, rows: (body) => (body === null ? { rows: [] } : rows(body)) };
}

/** Reads one who signs in, under a name of the list: `off` are the states in which it may not. */
function readBearer(row: JsonObject, nameField: 'name' | 'email' | 'subject', off: readonly string[]): AccessUser {
  return {
    id: asText(row['id']),
    name: asText(row[nameField]),
    groups: textsIn(row['groups']),
    isActive: !off.includes(asText(row['status'])),
  };
}

/** Settings of one route, each a row. */
function settingsList(path: string, settingsIn: (body: JsonObject) => JsonObject): WireList {
  return {
    path,
    rows(body): ListRows | undefined {
      if (!isObject(body)) return undefined;
      const settings = Object.entries(settingsIn(body));
      return { rows: settings.map(([name, value]) => ({ id: name, name, value: settingText(value) })) };
    },
  };
}

/** Settings that a gateway without their route does not have. */
function laterSettings(path: string, settingsIn: (body: JsonObject) => JsonObject): WireList {
  return { ...settingsList(path, settingsIn), isEmpty: () => true };
}

function settingText(value: Json | undefined): string {
  if (Array.isArray(value)) return textsIn(value).join(' ');
  return typeof value === 'boolean' || typeof value === 'number' ? String(value) : asText(value);
}

/** Returns an address without its query, in which some providers have a token. */
function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/, '');
}

/** Who signs in as whom. Without the route (before 1.38.3, or where a proxy hides it), variables decide what no route shows. Of the keys and secrets of a response, only whether there are some is read. */
const authSettings: WireList = settingsList('/serverconfig/auth', (body) => {
  const [oidc, saml] = [asObject(body['oidc_config']), asObject(body['saml_config'])];
  const hasKey = [body['api_key'], body['rollout_api_key']].some((key) => asText(key) !== '');
  return {
    admin_role_name: body['admin_role_name'] ?? null,
    auditor_role_name: body['auditor_role_name'] ?? null,
    auth_method: body['auth_method'] ?? null,
    identity_provider: asText(oidc['issuer_url']) || withoutQuery(asText(saml['idp_metadata_url'])),
    client_id: oidc['client_id'] ?? null,
    audience: oidc['audience'] ?? null,
    scopes: oidc['scopes'] ?? null,
    groups_claim: asText(oidc['groups_claim']) || asText(saml['groups_claim']),
    organization_key: hasKey,
    users_management: body['webapp_users_management_status'] ?? null,
  };
});

/** Who signs in as whom through the interface for MCP clients. */
const mcpSettings: WireList = laterSettings('/serverconfig/mcp-auth', (body) =>
  Object.fromEntries(
    ['enabled', 'resource_uri', 'groups_claim', 'client_id'].map((field) => [`mcp_${field}`, body[field] ?? null] as const),
  ),
);

const roleInfo: WireList = laterSettings('/orgs/hide-role-info', (body) => ({ hide_role_info: body['hide_role_info'] ?? null }));
// The account of the caller, which is read anyway, has it, too.
const profile: WireList = settingsList('/userinfo', (body) => ({ protection_profile: body['default_protection_profile'] ?? null }));
/** The provider that finds what is masked; without one, nothing is. The server info, which is read anyway, has it. */
const maskingProvider: WireList = settingsList(serverInfoPath, (body) => {
  const { provider } = readProvider(body);
  return provider === undefined ? {} : { masking_provider: provider };
});

const readSetting = (row: JsonObject): Setting => ({ ...readIdAndName(row), value: asText(row['value']) });

/** Contains every field of a connection except the secrets and what its supplement adds; the array form is complete. */
export const connections: WireList = restList('/connections');

const noFederation: ReadonlySet<string> = new Set(['federation not configured for this connection', 'connection not found']);

/**
 * Returns where the federation of a connection is, which no list contains. The gateway gives the identities to the tool of BigQuery alone, and its
 * interface offers them for no other subtype.
 */
function federationOf({ id, name, subtype }: JsonObject): WireList | undefined {
  if (subtype !== 'bigquery') return undefined;
  return {
    path: `/connections/${encodeURIComponent(asText(id))}/federation`,
    rows(body): ListRows | undefined {
      if (body === null) return { rows: [] };
      return isObject(body) && typeof body['fallback_policy'] === 'string' ? { rows: [{ ...body, name: name ?? null }] } : undefined;
    },
    // A connection that was deleted meanwhile has none, either.
    isEmpty: (body) => isObject(body) && noFederation.has(asText(body['message'])),
  };
}

/** The lists of what decides access on the public gateway, as version 1.148 answers them. */
export const access: WireAccess = {
  'access-control': { list: accessControl, read: (row) => ({ ...readIdAndName(row), groups: textsIn(row['config']) }) },
  attributes: {
    list: pagedList('/attributes'),
    read: (row) => ({
      ...readIdAndName(row),
      connections: textsIn(row['connection_names']),
      groups: textsIn(row['access_control_group_names']),
      access_request_rules: textsIn(row['access_request_rule_names']),
      guardrail_rules: textsIn(row['guardrail_rule_names']),
      masking_rules: textsIn(row['datamasking_rule_names']),
      managed_by: asText(row['managed_by']),
    }),
  },
  'access-request-rules': {
    list: restList('/access-requests/rules'),
    read: (row) => ({
      ...readRequestRule(row, readIdAndName(row)),
      connections: textsIn(withoutRulePlaceholder(row)['connection_names']),
      managed_by: asText(row['managed_by']),
    }),
  },
  'runbook-rules': {
    list: restList('/runbooks/rules'),
    read: (row) => ({ ...readRunbookRule(row, readIdAndName(row)), connections: textsIn(row['connections']) }),
  },
  rulepacks: {
    list: pagedList('/rulepacks'),
    read: (row) => ({
      id: asText(row['id']),
      name: asText(row['display_name']),
      digest: digestOf(row),
      guardrail_rules: objectsIn(row['guardrail_rules']).map(({ name }) => asText(name)),
      masking_rules: objectsIn(row['data_masking_rules']).map(({ name }) => asText(name)),
      connections: textsIn(row['connection_names']),
      managed: row['is_managed'] === true,
    }),
  },
  'analyzer-rules': {
    list: restList('/ai/session-analyzer/rules'),
    read: (row) => {
      const risks = asObject(row['risk_evaluation']);
      return {
        ...readIdAndName(row),
        connections: textsIn(row['connection_names']),
        low_risk: actionOf(risks, 'low'),
        medium_risk: actionOf(risks, 'medium'),
        high_risk: actionOf(risks, 'high'),
        ...promptOf(row),
        managed_by: asText(row['managed_by']),
      };
    },
  },
  'feature-flags': {
    list: flags,
    read: (row) => ({ ...readIdAndName(row), enabled: row['enabled'] === true }),
  },
  federations: {
    list: connections,
    ownedBy: federationOf,
    // No credential is read: the gateway reports only whether it has one.
    read: (row) => {
      const extra = asObject(row['extra_config']);
      const digest = Object.keys(extra).length === 0 ? '' : shortDigest(extra);
      return { ...readFederation({ ...row, extra_config: digest }, readIdAndName(row)), connections: [asText(row['name'])] };
    },
  },
  'machine-identities': {
    list: restList('/machineidentities'),
    read: (row) => ({ ...readIdAndName(row), connections: textsIn(row['connection_names']), attributes: textsIn(row['attributes']) }),
  },
  groups: { list: groupsList({ rows: [] }), read: readIdAndName },
  users: { list: restList('/users'), read: (row) => readBearer(row, 'email', ['inactive', 'reviewing']) },
  'api-keys': { list: nullableList('/api-keys'), read: (row) => readBearer(row, 'name', ['revoked']) },
  'ai-agents': { list: nullableList('/ai-agents'), read: (row) => readBearer(row, 'name', ['revoked']) },
  'service-accounts': { list: nullableList('/serviceaccounts'), read: (row) => readBearer(row, 'subject', ['inactive']) },
  'spiffe-mappings': {
    list: nullableList('/spiffe-mappings'),
    read: (row) => ({
      id: asText(row['id']),
      name: asText(row['spiffe_id']) || `${asText(row['spiffe_prefix'])}*`,
      trust_domain: asText(row['trust_domain']),
      agent: asText(row['agent_id']),
      agent_template: asText(row['agent_template']),
      groups: textsIn(row['groups']),
    }),
  },
  'auth-settings': {
    list: authSettings,
    // It lets in those whom an identity provider knows.
    others: (rows) => (rows.some(({ name, value }) => name === 'auth_method' && value === 'local') ? [] : [mcpSettings]),
    read: readSetting,
  },
  'organization-settings': { list: maskingProvider, others: () => [profile, roleInfo], read: readSetting },
};

/** The fields of a rule that change with each write of its rulepack, or with its name. */
const changingFields: ReadonlySet<string> = new Set(['id', 'attributes', 'created_at', 'updated_at']);

/** Returns a digest of the rules of a rulepack. */
function digestOf(row: JsonObject): string {
  const rules = [...objectsIn(row['guardrail_rules']), ...objectsIn(row['data_masking_rules'])].map((rule) =>
    Object.fromEntries(Object.entries(rule).filter(([field]) => !changingFields.has(field))),
  );
  return shortDigest(rules);
}

/** Returns a digest of the prompt of an analyzer; nothing without one. */
function promptOf({ custom_prompt: prompt, agentic }: JsonObject): { readonly prompt?: string } {
  if (asText(prompt) === '' && agentic !== true) return {};
  return { prompt: shortDigest([asText(prompt), agentic === true]) };
}

function shortDigest(value: Json): string {
  return createHash('sha256').update(canonical(value)).digest('hex').slice(0, 16);
}

/** Returns what happens to a run of a level of risk: an action, and the access-request rule that then asks for a review. */
function actionOf(risks: JsonObject, level: 'low' | 'medium' | 'high'): string {
  const rule = asText(asObject(risks[`${level}_risk`])['access_request_rule_name']);
  return [asText(risks[`${level}_risk_action`]), rule].filter((text) => text !== '').join(':');
}
