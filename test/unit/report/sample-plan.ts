import type { AssessedChange, Plan } from '../../../src/model/plan/plan.ts';
import { sampleProtection } from './sample-protection.ts';

const absent = { absent: true } as const;

function changeOf(given: Pick<AssessedChange, 'id' | 'action' | 'fields' | 'touched'> & Partial<AssessedChange>): AssessedChange {
  return { needs: [], carried: [], risks: [], ...given };
}

const ordersDb = changeOf({
  id: 'Connection/orders-db',
  action: 'create',
  at: { file: 'manifests/orders.yaml', line: 1, column: 1 },
  needs: ['GuardrailRule/no-drop'],
  fields: [
    { path: '/type', before: absent, after: { value: 'database' } },
    { path: '/subtype', before: absent, after: { value: 'postgres' } },
    { path: '/agent_id', before: absent, after: { value: 'prod-agent' } },
    { path: '/access_mode_connect', before: absent, after: { value: 'enabled' } },
    { path: '/access_mode_runbooks', before: absent, after: { value: 'disabled' } },
    { path: '/access_max_duration', before: absent, after: { value: null } },
    {
      path: '/command',
      before: absent,
      after: { value: ['psql', '-v', 'ON_ERROR_STOP=1', '-A', '-F\t', '-P', 'pager=off', '-h', '$HOST', '-U', '$USER'] },
    },
    { path: '/connection_tags', before: absent, after: { value: { env: 'prod', team: 'orders' } } },
    { path: '/redact_types', before: absent, after: { value: [] } },
    { path: '/reviewers', before: absent, after: { value: ['dba-team', 'sre'] } },
    { path: '/secret/envvar:PASS', before: absent, after: { secret: 'env:OSTIARY_SECRET_ORDERS', state: 'set' } },
    { path: '/secret/envvar:TOKEN', before: absent, after: { secret: 'reference:_cloudsecrets:orders/db:token', state: 'set' } },
  ],
  touched: { before: {}, after: { type: 'database', subtype: 'postgres', reviewers: ['dba-team', 'sre'] } },
});

const billingDb = changeOf({
  id: 'Connection/billing-db',
  action: 'update',
  uid: '0f8e0a52-3a6c-4f4e-9f50-6a1e7f2d3c4b',
  at: { file: 'manifests/billing.yaml', line: 12, column: 1 },
  carried: ['/secret/envvar:HOST', '/secret/envvar:USER'],
  fields: [
    { path: '/access_mode_exec', before: { value: 'enabled' }, after: { value: 'disabled' } },
    { path: '/access_max_duration', before: { value: null }, after: { value: 3600 } },
    { path: '/connection_tags/env', before: { value: 'prod' }, after: { value: 'staging' } },
    { path: '/connection_tags/app.kubernetes.io~1name', before: absent, after: { value: 'billing' } },
    { path: '/reviewers/dba-team', before: absent, after: { value: 'dba-team' } },
    { path: '/reviewers/interns', before: { value: 'interns' }, after: absent },
    { path: '/min_review_approvals', before: { unknown: 'this role may not see it' }, after: { value: 2 } },
    {
      path: '/secret/envvar:PASS',
      before: { secret: 'live', state: 'differs' },
      after: { secret: 'env:OSTIARY_SECRET_X', state: 'differs' },
    },
    { path: '/secret/envvar:STALE', before: { secret: 'live', state: 'removed' }, after: absent },
  ],
  touched: {
    before: { access_mode_exec: 'enabled', access_max_duration: null, reviewers: ['interns'], connection_tags: { env: 'prod' } },
    after: {
      access_mode_exec: 'disabled',
      access_max_duration: 3600,
      reviewers: ['dba-team'],
      connection_tags: { env: 'staging', 'app.kubernetes.io/name': 'billing' },
    },
  },
});

const longBefore = String.raw`(?i)\b(drop|truncate)\s+(table|schema|database)\b.*`;

const noDrop = changeOf({
  id: 'GuardrailRule/no-drop',
  action: 'update',
  uid: '9a3d6f10-1111-4222-8333-444455556666',
  at: { file: 'manifests/rules.yaml', line: 3, column: 1 },
  fields: [
    {
      path: '/description',
      before: { value: '' },
      after: { value: 'No statement that destroys a table, a schema or a whole database gets through, whoever sends it.' },
    },
    { path: '/input/rules/destructive/words/GRANT', before: absent, after: { value: 'GRANT' } },
    { path: '/input/rules/pattern/pattern_regex', before: { value: longBefore }, after: { value: `${longBefore}(;|$)` } },
    {
      path: '/input/rules/{"name":"","pattern_regex":"","type":"deny_words_list","words":["ALTER"]}',
      before: absent,
      after: { value: { type: 'deny_words_list', words: ['ALTER'] } },
    },
  ],
  touched: { before: { description: '' }, after: { description: 'No statement that destroys a table gets through.' } },
});

/** Returns a plan with every part that a plan can have. */
export function samplePlan(): Plan {
  return {
    target: { name: 'prod', url: 'https://gateway.example.com', dialect: 'interface', organisation: 'acme' },
    changes: [
      noDrop,
      ordersDb,
      billingDb,
      changeOf({
        id: 'GuardrailRule/no-export',
        key: 'GuardrailRule/exports',
        action: 'rename',
        uid: '77777777-1111-4222-8333-444455556666',
        at: { file: 'manifests/rules.yaml', line: 40, column: 1 },
        fields: [{ path: '/name', before: { value: 'exports' }, after: { value: 'no-export' } }],
        touched: { before: { name: 'exports' }, after: { name: 'no-export' } },
      }),
      changeOf({
        id: 'Connection/payroll-db',
        action: 'blocked',
        uid: '88888888-1111-4222-8333-444455556666',
        managedBy: 'terraform',
        at: { file: 'manifests/payroll.yaml', line: 1, column: 1 },
        fields: [{ path: '/reviewers/hr', before: absent, after: { value: 'hr' } }],
        touched: { before: { reviewers: [] }, after: { reviewers: ['hr'] } },
      }),
      changeOf({
        id: 'DataMaskingRule/legacy-mask',
        action: 'delete',
        uid: '99999999-1111-4222-8333-444455556666',
        fields: [{ path: '/description', before: { value: 'Masks what no one reads.' }, after: absent }],
        touched: { before: { description: 'Masks what no one reads.' }, after: {} },
      }),
    ],
    edges: [
      {
        rule: 'GuardrailRule/no-drop',
        connection: 'Connection/orders-db',
        action: 'attach',
        declared: ['manifests/orders.yaml:14:22'],
        by: 'Connection/orders-db',
      },
      {
        rule: 'GuardrailRule/no-drop',
        connection: 'Connection/billing-db',
        action: 'attach',
        declared: ['manifests/rules.yaml:8:7'],
        by: 'GuardrailRule/no-drop',
      },
      { rule: 'GuardrailRule/no-drop', connection: 'Connection/sandbox', action: 'detach', declared: [], by: 'GuardrailRule/no-drop' },
      { rule: 'GuardrailRule/no-drop', connection: 'Connection/night-shift', action: 'foreign', declared: [] },
      { rule: 'DataMaskingRule/pii', connection: 'Connection/payroll-db', action: 'blocked', declared: ['manifests/masks.yaml:4:5'] },
    ],
    unchanged: 40,
    orphans: [{ id: 'Connection/old-reports' }],
    unmanaged: ['Connection/a', 'Connection/b', 'Connection/c', 'Connection/d', 'Connection/e', 'GuardrailRule/f', 'GuardrailRule/g'],
    unwatched: [{ id: 'Connection/billing-db', path: '/mandatory_metadata_fields' }],
    protection: sampleProtection,
    refusals: [
      {
        code: 'plan/too-many-updates',
        message: '37 % of 12 objects would be updated, more than the limit of 30 %',
        hint: 'look at the changes above once more',
        allowable: true,
      },
      {
        code: 'plan/would-lose-secret',
        message: 'the live value of envvar:KEY cannot be seen, and the write would wipe it',
        hint: 'write { keep: true }, or plan with a role that may see it',
        allowable: false,
        resource: 'Connection/billing-db',
        at: { file: 'manifests/billing.yaml', line: 19, column: 5 },
      },
    ],
    allowed: [
      { code: 'plan/too-many-deletes', reason: 'quarterly clean-up, agreed in #412' },
      { code: 'plan/window', reason: 'at night' },
    ],
    notCompared: [],
    unwrittenSecrets: [],
    references: [],
    unwritten: [],
    accepted: [],
    singleWrites: [
      {
        id: 'GuardrailRule/no-drop',
        why: 'the free license allows one entry of input rules, but there are 2',
        windows: [
          {
            from: 'GuardrailRule/no-drop',
            lost: ['/connection_ids'],
            until: 'Connection/billing-db',
            missing: ['/reviewers/dba-team'],
            connections: ['Connection/orders-db', 'Connection/a', 'Connection/b', 'Connection/c', 'Connection/d'],
          },
        ],
      },
    ],
    seals: {
      tree: '5d41402abc4b2a76b9719d911017c592ae1f3f6c3b0c1d2e3f405162738495a6',
      digest: '3f9a0c1b2d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8',
    },
  };
}
