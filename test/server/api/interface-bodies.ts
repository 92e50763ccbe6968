import { expect } from 'vitest';
import type { Json, JsonObject } from '../../../src/model/json.ts';

/**
 * The rows of the interface, word for word, and what each of them asks of requests and responses. `$agent`, `$connection`, `$guardrail`,
 * `$review` and so on are ids that the test has made.
 */

export const uuid: unknown = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
export const time: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const unknownId = '00000000-0000-4000-8000-000000000000';

/** A field of a body: a row with `R` requires it, one with `RO` ignores what is sent. */
export type FieldRow = {
  readonly row: string;
  /** Values that a create and a read return as they were sent. */
  readonly accepts?: readonly Json[];
  /** Values that a create and a replacement refuse with 422, and the name of the field. */
  readonly refuses?: readonly Json[];
  /** What the field is when the body leaves it out; of a read-only field, what it always is. */
  readonly omitted?: unknown;
};

/** The fields of what an endpoint creates. */
export type BodyRows = { readonly path: string; readonly least: JsonObject; readonly fields: readonly FieldRow[] };

const modes = { accepts: ['enabled', 'disabled'], refuses: ['on', '', true, null] };
const names = { accepts: [['dba'], ['sre', 'dba']], refuses: ['dba', [1], { dba: true }], omitted: [] };
const ids = { refuses: ['$connection', ['orders'], [unknownId]], omitted: [] };
const rules = { rules: [] };

export const connectionRows: BodyRows = {
  path: '/connections',
  least: {
    name: '$new',
    type: 'custom',
    agent_id: '$agent',
    access_mode_connect: 'enabled',
    access_mode_exec: 'enabled',
    access_mode_runbooks: 'enabled',
    access_schema: 'enabled',
  },
  fields: [
    { row: '| name | string | R | Immutable on update. |', accepts: ['$new', 'Übersee 1.2_3'], refuses: ['', 1, null] },
    {
      row: '| type | enum | R | database (database protocols), application (custom applications), custom (shell applications). |',
      accepts: ['database', 'application', 'custom'],
      refuses: ['other', 'Database', '', 1, null],
    },
    {
      row: '| agent_id | string (uuid) | R | Agent associated with the connection. |',
      accepts: ['$agent'],
      refuses: [unknownId, 'default', '', 1, null],
    },
    { row: '| access_mode_connect | enum | R | enabled / disabled. Toggles port forwarding. |', ...modes },
    { row: '| access_mode_exec | enum | R | enabled / disabled. Toggles ad hoc executions. |', ...modes },
    { row: '| access_mode_runbooks | enum | R | enabled / disabled. Toggles ad hoc runbook executions. |', ...modes },
    { row: '| access_schema | enum | R | enabled / disabled. Toggles schema introspection in the web application. |', ...modes },
    {
      row: '| subtype | string | O | Underlying implementation; values listed below. |',
      accepts: ['postgres', 'mysql', 'mongodb', 'mssql', 'oracledb', 'tcp', 'ssh', 'httpproxy', 'keyvaluedb', 'cloudmonitor'],
      refuses: [1, ['ssh']],
      omitted: '',
    },
    {
      row: '| access_max_duration | integer | O | Maximum duration, in seconds, of JIT access sessions on this connection. |',
      accepts: [1, 3600, 2_147_483_647],
      refuses: [1.5, '60', true],
      omitted: null,
    },
    {
      row: '| command | array of string | O | Shell command executed when interacting with the connection. Required when the connection is used from the web application. |',
      accepts: [['bash'], ['psql', '-c', 'select 1']],
      refuses: ['bash', [1], { 0: 'bash' }],
      omitted: [],
    },
    {
      row: '| connection_tags | object (string to string) | O | Tags identifying the connection; key and value rules under Limits. |',
      accepts: [{ env: 'prod' }, { 'a-b_c/d.1': 'a b-c_d/e+f@g:h=i.j' }],
      refuses: ['env', ['env'], { env: 1 }],
      omitted: {},
    },
    {
      row: '| default_database | string | O | Returns the configured value of the secret attribute DB. |',
      omitted: '',
    },
    { row: '| force_approve_groups | array of string | O | Groups that can force-approve reviews for this connection. |', ...names },
    {
      row: '| guardrail_rules | array of string | O | Ids of guardrail associations/rules. |',
      ...ids,
      accepts: [['$guardrail']],
    },
    {
      row: '| issuetracker_issue_template_id | string | O | Id of the issue-tracker issue template associated with the connection. |',
      accepts: ['T-1'],
      refuses: [1, []],
      omitted: '',
    },
    { row: '| redact_enabled | boolean | O | When true, redact_types can be managed. |', refuses: ['yes', 1], omitted: false },
    {
      row: "| redact_types | array of string | O | Info types used to redact the connection output; values are info type names from a cloud data-loss-prevention service's info type reference. |",
      accepts: [['EMAIL_ADDRESS', 'PHONE_NUMBER']],
      refuses: ['EMAIL_ADDRESS', [1]],
      omitted: [],
    },
    {
      row: '| resource_name | string | O | Resource to which the connection belongs; created if it does not exist. |',
      accepts: ['$new'],
      refuses: [1, ['r']],
      omitted: '$new',
    },
    { row: '| reviewers | array of string | O | Groups that review before a user can execute. |', ...names },
    {
      row: '| secret | object | O | Environment secrets; format below. |',
      refuses: ['x', ['x'], { PASS: 'eA==' }, { 'env:PASS': 'eA==' }, { 'envvar:': 'eA==' }],
      omitted: {},
    },
    {
      row: '| <base64_value> | With key prefix envvar: exposed as an environment variable. With prefix filesystem: written to a temporary file whose path is exposed. |',
      accepts: [{ 'envvar:PASS': 'eA==' }, { 'filesystem:CA': 'LS0t' }],
      refuses: [{ 'envvar:PASS': 'x y' }],
    },
    {
      row: '| _cloudsecrets:<secret-name>:<secret-key> | With envvar: prefix, the value is fetched at runtime from a cloud secrets manager and exposed as an environment variable. |',
      accepts: [{ 'envvar:PASS': '_cloudsecrets:orders:pass' }],
      refuses: [{ 'envvar:PASS': '_cloudsecrets:orders' }],
    },
    {
      row: '| _envjson:<json-env-name>:<json-env-key> | With envvar: prefix, the value is read from a JSON-valued environment variable in the agent runtime. |',
      accepts: [{ 'envvar:PASS': '_envjson:ORDERS:pass' }],
      refuses: [{ 'envvar:PASS': '_envjson::pass' }],
    },
    { row: '| tags | array of string | O | Deprecated; classification tags. |', accepts: [['old']], refuses: ['old', [1]], omitted: [] },
    { row: '| id | string (uuid) | RO | Unique id. Present in responses. |', omitted: uuid },
    {
      row: '| managed_by | string | RO | Who manages the resource; when set, the resource is immutable. Empty string when unmanaged. |',
      omitted: '',
    },
    {
      row: '| status | enum | RO | online (agent connected and alive), offline (agent not connected). Present in the create response. |',
      omitted: 'offline',
    },
  ],
};

export const maskRows: BodyRows = {
  path: '/datamasking-rules',
  least: { name: '$new' },
  fields: [
    { row: '| name | string | R | Unique; immutable after creation. |', accepts: ['$new'], refuses: ['', 1, null] },
    { row: '| id | string (uuid) | RO | |', omitted: uuid },
    { row: '| description | string | O | |', accepts: ['cards'], refuses: [1], omitted: '' },
    { row: '| connection_ids | array of string | O | Connections the rule applies to. |', ...ids, accepts: [['$connection']] },
    {
      row: '| score_threshold | number | O | Minimal detection score for entities to be masked. |',
      accepts: [0, 0.5, 1],
      refuses: ['0.5', [0.5]],
      omitted: null,
    },
    {
      row: '| supported_entity_types | array of object | O | Registered entity types: each item has name (string, group label) and entity_types (array of string of entity type identifiers, such as EMAIL_ADDRESS, PERSON, PHONE_NUMBER, IP_ADDRESS). Full list of allowed entity type identifiers: not shown. |',
      accepts: [[{ name: 'people', entity_types: ['EMAIL_ADDRESS', 'PERSON', 'PHONE_NUMBER', 'IP_ADDRESS'] }]],
      refuses: ['PERSON', [{ name: 'people', entity_types: 'PERSON' }], [{ name: 1, entity_types: ['PERSON'] }]],
      omitted: [],
    },
    {
      row: '| custom_entity_types | array of object | O | Each item: name (string), score (number), deny_list (array of string), regex (string). |',
      accepts: [[{ name: 'ORDER', score: 0.5, deny_list: ['a'], regex: 'O-[0-9]+' }]],
      refuses: ['ORDER', [{ name: 'ORDER', score: 'high', regex: 'x' }], [{ name: 'ORDER', score: 1, deny_list: 'a' }]],
      omitted: [],
    },
    { row: '| updated_at | string (timestamp) | RO | |', omitted: time },
  ],
};

export const ruleItems: readonly Json[] = [
  { rules: [{ name: 'ddl', type: 'deny_words_list', words: ['DROP'], pattern_regex: '' }] },
  { rules: [{ type: 'pattern_match', words: [], pattern_regex: 'a+' }] },
];
const noItems: readonly Json[] = [
  'x',
  { rules: 'x' },
  { rules: [{ words: ['DROP'] }] },
  { rules: [{ type: 'pattern_match', words: 'x' }] },
];
const ofRules = { accepts: ruleItems, refuses: noItems, omitted: rules };

export const guardrailRows: BodyRows = {
  path: '/guardrails',
  least: { name: '$new' },
  fields: [
    { row: '| name | string | R | Unique name. |', accepts: ['$new'], refuses: ['', 1, null] },
    { row: '| id | string (uuid) | RO | |', omitted: uuid },
    { row: '| description | string | O | |', accepts: ['no drops'], refuses: [1], omitted: '' },
    { row: '| connection_ids | array of string | O | Connections the guardrail applies to. |', ...ids, accepts: [['$connection']] },
    { row: '| input | object | O | Rules applied to input. Shape: rules (array of rule). |', ...ofRules },
    { row: '| output | object | O | Rules applied to output. Same shape. |', ...ofRules },
    { row: '| created_at | string (timestamp) | RO | |', omitted: time },
    { row: '| updated_at | string (timestamp) | RO | |', omitted: time },
  ],
};

/** Limits of the form of a field: the texts that fit, and those that do not. */
export const limitRows: readonly { readonly row: string; readonly fits: readonly JsonObject[]; readonly exceeds: readonly JsonObject[] }[] =
  [
    {
      row: '| connection_tags key | 1 to 64 characters; alphanumerics plus - _ / . ; must not end with - or / (the list of disallowed final characters repeats the hyphen). |',
      fits: ['a', 'a'.repeat(64), 'A-b_c/d.0', 'a.', 'a_', '-a', '/a'].map((key) => ({ connection_tags: { [key]: 'v' } })),
      exceeds: ['', 'a'.repeat(65), 'a b', 'ä', 'a@b', 'a-', 'a/', 'a\n'].map((key) => ({ connection_tags: { [key]: 'v' } })),
    },
    {
      row: '| connection_tags value | 1 to 256 characters; alphanumerics plus space - _ / + @ : = . |',
      fits: ['a', 'a'.repeat(256), 'A b-c_d/e+f@g:h=i.0', '-', ' '].map((value) => ({ connection_tags: { k: value } })),
      exceeds: ['', 'a'.repeat(257), 'a,b', 'ä', 'a\tb', 'a#', 'a\n'].map((value) => ({ connection_tags: { k: value } })),
    },
    {
      row: '| access_max_duration | Integer, seconds. |',
      fits: [1, 86_400].map((value) => ({ access_max_duration: value })),
      exceeds: [0.5, '1', '1h'].map((value) => ({ access_max_duration: value })),
    },
  ];
