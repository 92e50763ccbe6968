import { expect } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { connectionRows, ruleItems, time, uuid } from './interface-bodies.ts';

const text: unknown = expect.any(String);

/** A request by a caller, and its response; `$name` stands for the id of what the test has made. */
export type RequestRow = {
  readonly row: string;
  readonly by?: 'owner' | 'reviewer' | 'forcer' | 'manager';
  readonly send: readonly [method: string, path: string, body?: JsonObject];
  readonly status: number;
  /** The whole body, or the fields named here; every error has a message. */
  readonly body?: unknown;
};

const group = { group: 'dba', status: 'PENDING', forced_review: false };
const signed = { ...group, status: 'APPROVED', review_date: time, reviewed_by: { id: uuid, name: 'reviewer', email: text, chat_id: text } };
const hours = { configuration: { start_time: '09:00', end_time: '18:00' } };
const reviewWords = {
  update: '| 1 | PUT | /reviews/{id} | Update review status |',
  type: '| type | enum | onetime (one time execution), jit (time based review). |',
  duration: '| access_duration (review) | Integer, nanoseconds; default 1800000000000; applies to jit reviews only. |',
  window:
    '| time_window | object | Time window in which the session can be executed. Shape: configuration object with start_time and end_time, each a string of the form HH:MM. |',
  revoked: '| revoke_at | string | RO. Time the review was revoked; empty string when it was not revoked. |',
  groups: '| review_groups_data | array of object | RO. The groups that must approve the review (see below). |',
  forced: '| forced_review | boolean | Whether the review was forced. |',
};

/** What a read returns, field by field: in the body, or in the first entry of a list in it. */
export type AnswerRows = {
  readonly path: string;
  readonly list?: string;
  readonly fields: readonly (readonly [row: string, value: unknown])[];
};

export const answerRows: readonly AnswerRows[] = [
  {
    path: '/reviews/$review',
    fields: [
      ['| id | string (uuid) | RO. Resource identifier. |', uuid],
      ['| created_at | string (timestamp) | RO. |', time],
      ['| session | string (uuid) | RO. Id of the session the review belongs to. |', uuid],
      [reviewWords.type, 'jit'],
      [
        '| status | enum | PENDING (waiting to be reviewed), APPROVED (fully approved), REJECTED (fully rejected), REVOKED (revoked after being approved), PROCESSING (being executed), EXECUTED (was executed), UNKNOWN (status cannot be determined). |',
        'PENDING',
      ],
      [
        '| access_duration | integer | RO. Nanoseconds of access allowed to the connection. Valid only for jit reviews. Default 1800000000000. |',
        1_800_000_000_000,
      ],
      [reviewWords.revoked, ''],
      [reviewWords.groups, [expect.any(Object)]],
      [reviewWords.window, null],
    ],
  },
  {
    path: '/reviews/$review',
    list: 'review_groups_data',
    fields: [
      ['| id | string (uuid) | Identifier of the entry. |', uuid],
      ['| group | string | Name of the reviewing group. |', 'dba'],
      ['| status | enum | Same value set as review status. |', 'PENDING'],
      [reviewWords.forced, false],
      ['| review_date | string (timestamp) | When the group reviewed. |', null],
      [
        "| reviewed_by | object | Fields: id (uuid string), name (string), email (string), chat_id (string, the reviewer's chat-system user id). |",
        null,
      ],
    ],
  },
  {
    path: '/resources?name=orders',
    list: 'data',
    fields: [
      ['| id | string (uuid) | |', uuid],
      ['| name | string | |', 'orders'],
      ['| type | string | Same kind of value as connection type (for example database). |', 'database'],
      ['| subtype | string | Same kind of value as connection subtype. |', 'postgres'],
      ['| agent_id | string (uuid) | |', uuid],
      ['| env_vars | object | Contents of this object: not shown. |', {}],
      ['| created_at | string (timestamp) | |', time],
      ['| updated_at | string (timestamp) | |', time],
    ],
  },
  {
    path: '/search?term=ORDERS',
    fields: [
      [
        '| connections | array of object | Each: id (uuid), name, type, subtype, resource_name (all strings). |',
        [expect.objectContaining({ id: uuid, name: 'orders', type: 'database', subtype: 'postgres', resource_name: 'orders' })],
      ],
      [
        '| resources | array of object | Each: id (uuid), name, type, subtype. |',
        [{ id: uuid, name: 'orders', type: 'database', subtype: 'postgres' }],
      ],
      ['| errors | array of string | Messages about parts of the search that failed. |', [expect.stringContaining('/ops/broken')]],
    ],
  },
  {
    path: '/search?term=A.Runbook',
    fields: [
      [
        '| runbooks | array of object | Each: name (string, path of the runbook), repository (string). |',
        [{ name: 'ops/a.runbook.sh', repository: 'git.example.com/ops/runbooks' }],
      ],
    ],
  },
  {
    path: '/plugins/runbooks/templates',
    fields: [
      ['| commit | string | Commit identifier. |', '0123abc'],
      ['| commit_author | string | Author of the commit. |', 'Ada <ada@example.com>'],
      ['| commit_message | string | |', 'Add a runbook'],
      [
        '| items | array of object | Each: name (string, file path of the runbook), connections (array of string, connection names), error (string), metadata (object; contents: not shown). |',
        [
          {
            name: 'ops/a.runbook.sh',
            connections: ['orders'],
            error: null,
            metadata: expect.objectContaining({ name: expect.any(Object) }),
          },
          { name: 'ops/b.runbook.sh', connections: ['orders'], error: text, metadata: {} },
        ],
      ],
    ],
  },
];

const managed =
  '| managed_by | string | RO | Who manages the resource; when set, the resource is immutable. Empty string when unmanaged. |';

/** The requests of the endpoints, in an order in which each finds what it needs. */
export const requestRows: readonly RequestRow[] = [
  { row: reviewWords.type, by: 'owner', send: ['POST', '/reviews', { connection: 'orders', type: 'twice' }], status: 422 },
  {
    row: reviewWords.duration,
    by: 'owner',
    send: ['POST', '/reviews', { connection: 'orders', type: 'jit', access_duration: 60_000_000_000 }],
    status: 201,
    body: { access_duration: 60_000_000_000 },
  },
  {
    row: reviewWords.duration,
    by: 'owner',
    send: ['POST', '/reviews', { connection: 'orders', type: 'onetime', access_duration: 1 }],
    status: 422,
  },
  { row: reviewWords.update, send: ['PUT', '/reviews/$unknown', { status: 'APPROVED' }], status: 404 },
  { row: reviewWords.update, by: 'reviewer', send: ['PUT', '/reviews/$review', { status: 'PENDING' }], status: 422 },
  { row: reviewWords.update, by: 'reviewer', send: ['PUT', '/reviews/$review', { force_review: false }], status: 422 },
  { row: reviewWords.update, by: 'reviewer', send: ['PUT', '/reviews/$review', { status: 'REVOKED' }], status: 409 },
  ...['9:00', '24:00', '09:60', '09:00:00', 9].map((start): RequestRow => ({
    row: reviewWords.window,
    by: 'reviewer',
    send: [
      'PUT',
      '/reviews/$review',
      { status: 'APPROVED', time_window: { configuration: { ...hours.configuration, start_time: start } } },
    ],
    status: 422,
  })),
  {
    row: reviewWords.window,
    by: 'reviewer',
    send: ['PUT', '/reviews/$review', { status: 'APPROVED', force_review: false, time_window: hours }],
    status: 200,
    body: { id: uuid, session: uuid, type: 'jit', status: 'APPROVED', revoke_at: '', review_groups_data: [signed], time_window: hours },
  },
  {
    row: reviewWords.revoked,
    by: 'reviewer',
    send: ['PUT', '/reviews/$review', { status: 'REVOKED' }],
    status: 200,
    body: { status: 'REVOKED', revoke_at: time },
  },
  {
    row: reviewWords.groups,
    by: 'reviewer',
    send: ['PUT', '/reviews/$second', { status: 'REJECTED' }],
    status: 200,
    body: { status: 'REJECTED', revoke_at: '', review_groups_data: [{ ...signed, status: 'REJECTED' }] },
  },
  {
    row: reviewWords.forced,
    by: 'forcer',
    send: ['PUT', '/reviews/$third', { status: 'APPROVED', force_review: true }],
    status: 200,
    body: {
      status: 'APPROVED',
      review_groups_data: [group, { ...signed, group: 'sre', forced_review: true, reviewed_by: { name: 'forcer' } }],
    },
  },
  { row: '| 2 | GET | /search | Search connections and runbooks |', send: ['GET', '/search'], status: 400 },
  {
    row: '| 3 | GET | /resources | List resources of the organization |',
    send: ['GET', '/resources?name=orders'],
    status: 200,
    body: { data: [{ name: 'orders' }], pages: { page: 1, size: expect.any(Number), total: 1 } },
  },
  { row: '| 4 | POST | /connections | Create connection |', send: ['POST', '/connections', { name: 'x' }], status: 422 },
  {
    row: '| status | enum | RO | online (agent connected and alive), offline (agent not connected). Present in the create response. |',
    send: ['POST', '/connections', { ...connectionRows.least, name: 'alive', agent_id: '$alive' }],
    status: 201,
    body: { id: uuid, managed_by: '', status: 'online' },
  },
  {
    row: '| default_database | string | O | Returns the configured value of the secret attribute DB. |',
    send: ['POST', '/connections', { ...connectionRows.least, name: 'with-db', secret: { 'envvar:DB': 'b3JkZXJz' } }],
    status: 201,
    body: { default_database: 'orders' },
  },
  {
    row: '| name | string | R | Immutable on update. |',
    send: ['PUT', '/connections/$connection', { ...connectionRows.least, name: 'renamed' }],
    status: 422,
  },
  {
    row: managed,
    by: 'manager',
    send: ['POST', '/connections', { ...connectionRows.least, name: 'managed' }],
    status: 201,
    body: { managed_by: 'platform' },
  },
  { row: managed, send: ['PUT', '/connections/managed', { ...connectionRows.least, name: 'managed' }], status: 409 },
  { row: managed, send: ['DELETE', '/connections/managed'], status: 409 },
  {
    row: '| 5 | PUT | /datamasking-rules/{id} | Update data masking rule |',
    send: ['PUT', '/datamasking-rules/$mask', { name: 'cards', description: 'changed', connection_ids: ['$connection'] }],
    status: 200,
    body: { id: uuid, name: 'cards', description: 'changed', updated_at: time },
  },
  {
    row: '| name | string | R | Unique; immutable after creation. |',
    send: ['PUT', '/datamasking-rules/$mask', { name: 'renamed' }],
    status: 422,
  },
  {
    row: '| name | string | R | Unique; immutable after creation. |',
    send: ['POST', '/datamasking-rules', { name: 'cards' }],
    status: 409,
  },
  {
    row: '| 6 | POST | /guardrails | Create guardrail rule |',
    send: [
      'POST',
      '/guardrails',
      { name: 'made', connection_ids: ['$connection'], description: 'd', input: ruleItems[0] ?? {}, output: ruleItems[1] ?? {} },
    ],
    status: 201,
    body: { id: uuid, name: 'made', created_at: time, updated_at: time },
  },
  { row: '| name | string | R | Unique name. |', send: ['POST', '/guardrails', { name: 'made' }], status: 409 },
  {
    row: '| 7 | PUT | /runbooks/configurations/{id} | Update runbook configuration entry |',
    send: [
      'PUT',
      '/runbooks/configurations/$configuration',
      { git_url: 'https://git.example.com/ops/runbooks', git_hook_ttl: 60, git_password: null },
    ],
    status: 200,
    body: { id: uuid, git_hook_ttl: 60, git_password: 'p', git_user: '', ssh_key: '' },
  },
  {
    row: '| 8 | POST | /runbooks/configurations | Create runbook configuration entry |',
    send: [
      'POST',
      '/runbooks/configurations',
      { git_url: 'git@git.example.com:ops/broken', git_hook_ttl: 0, git_user: 'u', git_password: 'p', ssh_key: 'k' },
    ],
    status: 409,
  },
  ...[
    {},
    { git_url: 1 },
    { git_url: 'https://a.example.com/r', git_hook_ttl: '1' },
    { git_url: 'https://a.example.com/r', ssh_key: 1 },
  ].map((body): RequestRow => ({
    row: '| 8 | POST | /runbooks/configurations | Create runbook configuration entry |',
    send: ['POST', '/runbooks/configurations', body],
    status: 422,
  })),
  {
    row: '| 9 | GET | /plugins/runbooks/templates | List runbooks |',
    send: ['GET', '/plugins/runbooks/templates'],
    status: 200,
    body: { items: [{}, {}] },
  },
];
