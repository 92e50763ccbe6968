import { createHash } from 'node:crypto';
import type { AllowedValues } from '../../../model/config.ts';
import type { ListRows, ReadMode, SupplementList, SupplementRow, WireKind, WireList, TerraformPart } from '../../dialect.ts';
import { checkRequestRule } from './checks/access-request-rule.ts';
import { checkAttribute } from './checks/attribute.ts';
import { type CheckContext, type LicenseLimit, checkConnection } from './checks/connection.ts';
import {
  checkGuardrailRule,
  checkMaskingRule,
  checkRunbookConfiguration,
  limitGuardrailRule,
  limitMaskingRule,
} from './checks/data-masking-rule.ts';
import { accessRows, channelRows, connections } from './access.ts';
import { withoutRulePlaceholder, withRuleTarget } from './rule-targets.ts';
import { fieldNames, fromWire, readOnly, readOnlyElsewhere, secretEchoes, toWire, valueNames, differingPrefixes, types } from './fields.ts';
import { type ProposedWrite, objectPath, readUid, restList } from '../rest.ts';
import type { Diagnostic } from '../../../model/diagnostic.ts';
import { asArray, asText, type Json, type JsonObject, isObject, textsIn } from '../../../model/json.ts';

/** The fields that are reliable in both lists. */
const shared = [
  'name',
  'type',
  'subtype',
  'agent_id',
  'resource_name',
  'command',
  'access_mode_connect',
  'access_mode_exec',
  'access_mode_runbooks',
  'access_schema',
];

/** The fields that the list of connections omits. */
const added = [
  'force_approve_groups',
  'access_max_duration',
  'min_review_approvals',
  'mandatory_metadata_fields',
  'secrets_updated_at',
  'secrets_version',
];

const roleFields = ['id', ...shared, ...added];

/** Lists resources by page: without a page the gateway sends the first 50. */
export const resources: WireList = { ...restList('/resources'), paged: true };

/** Reads resources: their roles are the rows of connections. */
const connectionSupplement: SupplementList = {
  list: { ...resources, rows: readRoles },
  // The gateway takes the name as a pattern of SQL.
  listFor: (entry) => ({
    ...resources,
    path: `${resources.path}?name=${encodeURIComponent(asText(entry['resource_name']).replaceAll(/[\\%_]/g, '\\$&'))}`,
    rows: readRoles,
  }),
  uidOf: readUid,
  objectsIn: rolesIn,
  shared,
  added,
};

/** Returns the rows of a page with the fields of roles that are read: all pages of fifty thousand whole ones take a hundred megabytes. */
function readRoles(body: unknown): ListRows | undefined {
  const read = resources.rows(body);
  return (
    read && { ...read, rows: read.rows.map((row) => (isObject(row) ? { ...row, roles: asArray(row['roles']).map(partOfRole) } : row)) }
  );
}

function partOfRole(role: Json): Json {
  if (!isObject(role)) return role;
  const part: Record<string, Json> = {};
  for (const name of roleFields) {
    const value = role[name];
    if (value !== undefined) part[name] = value;
  }
  return part;
}

/** Returns the roles of a resource. The version of their secrets is reliable only where the resource adds no secrets of its own. */
function rolesIn(resource: JsonObject): readonly SupplementRow[] {
  const alone = !isObject(resource['env_vars']) || Object.keys(resource['env_vars']).length === 0;
  const parts: SupplementRow[] = [];
  for (const role of asArray(resource['roles'])) {
    const uid = isObject(role) ? readUid(role) : undefined;
    if (!isObject(role) || uid === undefined) continue;
    const version = role['secrets_updated_at'];
    parts.push({ uid, fields: alone && version ? { ...role, secrets_version: version } : role });
  }
  return parts;
}

/**
 * Returns a connection without unreliable fields. Lists blank the secrets of a connection that ever had some, and so does
 * every response to a caller without permission to see them. Attributes that the gateway manages are not part of a manifest.
 */
function stripUntrusted(entry: JsonObject, { bulk, seesSecrets }: ReadMode): JsonObject {
  // One copy: a second one of each of thousands of rows takes longer than to read them.
  const { secret, ...stripped }: Record<string, Json> = entry;
  const shown = entry['secrets_updated_at'] === undefined || (!bulk && seesSecrets);
  const managed = asArray(entry['managed_attributes']);
  stripped['attributes'] = asArray(entry['attributes']).filter((attribute) => !managed.includes(attribute));
  if (shown && isObject(secret)) stripped['secret'] = secret;
  return stripped;
}

/** Returns when the secrets were last changed. */
function secretsVersion(entry: JsonObject, { bulk }: ReadMode): string | undefined {
  const version = entry[bulk ? 'secrets_version' : 'secrets_updated_at'];
  return typeof version === 'string' ? version : undefined;
}

/**
 * Reads the one row that contains all runbook configurations of the organization; it may be absent. An entry without an
 * address, which only a write of the whole row can create, cannot be named or written alone.
 */
export const runbooks: WireList = {
  path: '/runbooks/configurations',
  rows(body): ListRows | undefined {
    if (body === null) return { rows: [] };
    const repositories = isObject(body) ? body['repositories'] : undefined;
    if (repositories === undefined) return undefined;
    return { rows: asArray(repositories).filter((entry) => !isObject(entry) || entry['git_url'] !== '') };
  },
  isEmpty: (body) => isObject(body) && body['message'] === 'runbook configuration not found',
};

/** Returns the id of a configuration, which follows from its address. */
function runbookUid(entry: JsonObject): string | undefined {
  const url = entry['git_url'];
  return typeof url === 'string' && url !== '' ? repositoryId(url) : undefined;
}

// RFC 9562, the namespace of URLs.
const namespace = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex');

/** Returns the id of a runbook configuration, which the gateway never sends: the UUIDv5 of its address exactly as written. */
function repositoryId(gitUrl: string): string {
  const bytes = createHash('sha1').update(namespace).update(gitUrl, 'utf8').digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) % 16) + 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) % 64) + 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Everything that this gateway needs to know of a kind. */
type HoopKind = {
  readonly wire: WireKind;
  /** The types of the gateway's own Terraform provider (`hoophq/hoop`). */
  readonly terraformTypes: readonly string[];
  /** Reports what the gateway rejects, or answers with an error of its database. */
  readonly check?: (write: ProposedWrite, context: CheckContext) => readonly Diagnostic[];
  /** Lists what the free license does not allow; it also allows only one object of such a kind. */
  readonly licenseLimits?: (write: ProposedWrite) => readonly LicenseLimit[];
  /** The gateway rejects every write while it has no data masking provider. */
  readonly needsMaskingProvider?: true;
};

const connection: WireKind = {
  list: connections,
  supplement: connectionSupplement,
  rows: accessRows,
  pluginRows: channelRows,
  fieldNames,
  valueNames,
  referenceNames: { secret: differingPrefixes },
  secretSpelling: { fromWire, toWire },
  readOnly,
  secretEchoes,
  uidOf: readUid,
  stripUntrusted,
  listsOmitSecrets: true,
  secretsVersion,
  detailPath: objectPath('/connections'),
  createPath: '/connections',
  updatePath: objectPath('/connections'),
  // The only route that takes the name alone.
  removePath: ({ name }) => `/connections/${encodeURIComponent(name)}`,
  completeBody: keepManagedAttributes,
  fixedName: true,
  readAfterWrite: true,
};

const runbookConfiguration: WireKind = {
  list: runbooks,
  fieldNames: {},
  readOnly: readOnlyElsewhere,
  secretEchoes: [],
  uidOf: runbookUid,
  detailPath: () => runbooks.path,
  detailIsList: true,
  createPath: runbooks.path,
  // The gateway expects the id of the address in the body, which may spell the same repository differently.
  updatePath: ({ uid }, { git_url: url }) => `${runbooks.path}/${typeof url === 'string' ? repositoryId(url) : uid}`,
  removePath: objectPath(runbooks.path),
  readAfterWrite: true,
};

/** The links of an attribute, which the objects at their other ends write. */
const attributeLinks = ['connection_names', 'access_request_rule_names', 'guardrail_rule_names', 'datamasking_rule_names'];

const requestRulePath = pathByName('/access-requests/rules');

const accessRequestRule: WireKind = {
  ...ruleKind('/access-requests/rules'),
  detailPath: requestRulePath,
  updatePath: requestRulePath,
  removePath: requestRulePath,
  stripUntrusted: withoutRulePlaceholder,
  // The gateway refuses a rule without these lists.
  completeBody: (body) => withRuleTarget({ connection_names: [], approval_required_groups: [], force_approval_groups: [], ...body }),
};

const attributePath = pathByName('/attributes');

const attribute: WireKind = {
  list: { ...restList('/attributes'), paged: true },
  fieldNames: { access_groups: 'access_control_group_names' },
  readOnly: new Set([...readOnlyElsewhere, ...attributeLinks]),
  secretEchoes: [],
  uidOf: readUid,
  linksOf: (entry) => textsIn(entry['connection_names']),
  isLabel: (entry) => asArray(entry['access_control_group_names']).length === 0 && (entry['description'] ?? '') === '',
  // A read of one attribute that does not exist is an error of the database.
  detailPath: attributePath,
  detailIsList: true,
  createPath: '/attributes',
  updatePath: attributePath,
  removePath: attributePath,
  // A list that is absent stays as it is; the response shows it empty.
  readAfterWrite: true,
};

const runbookRule: WireKind = {
  ...ruleKind('/runbooks/rules'),
  namesakes: true,
  // The gateway refuses a rule without these lists.
  completeBody: (body) => ({ runbooks: [], connections: [], user_groups: [], ...body }),
};

/** One row per kind. */
export const hoopKinds: Readonly<Record<string, HoopKind>> = {
  Connection: { wire: connection, terraformTypes: ['hoop_connection'], check: checkConnection },
  GuardrailRule: { wire: ruleKind('/guardrails'), terraformTypes: [], check: checkGuardrailRule, licenseLimits: limitGuardrailRule },
  DataMaskingRule: {
    wire: { ...ruleKind('/datamasking-rules'), fixedName: true },
    terraformTypes: ['hoop_datamasking_rules', 'hoop_datamasking_rule'],
    check: checkMaskingRule,
    licenseLimits: limitMaskingRule,
    needsMaskingProvider: true,
  },
  AccessRequestRule: {
    wire: accessRequestRule,
    terraformTypes: [],
    check: checkRequestRule,
    licenseLimits: () => [],
  },
  Attribute: { wire: attribute, terraformTypes: [], check: checkAttribute },
  RunbookRule: { wire: runbookRule, terraformTypes: ['hoop_runbook_rule'] },
  RunbookConfiguration: {
    wire: runbookConfiguration,
    terraformTypes: ['hoop_runbook_configuration'],
    check: checkRunbookConfiguration,
  },
};

/** The types of connections that the schema does not list. */
export const knownValues: AllowedValues = { 'Connection.type': types };

/** Returns the types of connections that a config allows. */
export function allowedTypes(allowed: AllowedValues): readonly string[] {
  return allowed['Connection.type'] ?? [];
}

/** How each kind travels. */
export const kinds: Readonly<Record<string, WireKind>> = Object.fromEntries(
  Object.entries(hoopKinds).map(([kind, { wire }]) => [kind, wire]),
);

/** The kind that each type of the Terraform provider maps to. */
export const terraformKinds: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(hoopKinds).flatMap(([kind, { terraformTypes }]) => terraformTypes.map((type) => [type, kind])),
);

/** Returns the path of an object that the gateway knows by its name. */
function pathByName(root: string): WireKind['detailPath'] {
  return ({ name }) => `${root}/${encodeURIComponent(name)}`;
}

/** The types of the Terraform provider that are fields here: a row of access control is the `access_groups` of its connection. */
export const terraformParts: Readonly<Record<string, TerraformPart>> = {
  hoop_plugin_connection: { kind: 'Connection', uid: 'connection_id', where: { plugin_name: 'access_control' } },
};

function ruleKind(root: string): WireKind {
  const path = objectPath(root);
  return {
    list: restList(root),
    fieldNames: {},
    readOnly: readOnlyElsewhere,
    secretEchoes,
    uidOf: readUid,
    detailPath: path,
    createPath: root,
    updatePath: path,
    removePath: path,
    readAfterWrite: true,
  };
}

/** Adds the managed attributes: a replacement detaches every attribute that it does not name, the managed ones too. */
function keepManagedAttributes(body: JsonObject, fresh: JsonObject): JsonObject {
  const managed = asArray(fresh['managed_attributes']);
  if (managed.length === 0) return body;
  return { ...body, attributes: [...new Set([...asArray(body['attributes']), ...managed])] };
}
