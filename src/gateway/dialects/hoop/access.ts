import { createHash } from 'node:crypto';
import { asObject, asText, canonical, isObject, type Json, type JsonObject, objectsIn, textsIn } from '../../../model/json.ts';
import { readFederation, readRequestRule, readRunbookRule } from '../../../model/protection/access-objects.ts';
import type { ListRows, WireAccess, WireList, WirePluginRows, WireRows } from '../../dialect.ts';
import { groupsList, readIdAndName, restList } from '../rest.ts';

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

/** A flag has no id; its name is one. */
const flags: WireList = {
  path: '/feature-flags',
  rows(body): ListRows | undefined {
    if (!Array.isArray(body)) return undefined;
    return {
      rows: objectsIn(body).flatMap((row) => (enforcingFlags.has(asText(row['name'])) ? [{ ...row, id: row['name'] ?? null }] : [])),
    };
  },
};

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
      connections: textsIn(row['connection_names']),
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
  users: {
    list: restList('/users'),
    read: (row) => ({
      id: asText(row['id']),
      name: asText(row['email']),
      groups: textsIn(row['groups']),
      isActive: ['', 'active'].includes(asText(row['status'])),
    }),
  },
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
