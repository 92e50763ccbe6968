import { describe, expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { LiveState } from '../../../../src/model/live.ts';
import type { PolicyFinding } from '../../../../src/model/protection/policy.ts';
import { checkPolicies } from '../../../../src/protection/policy/check-policies.ts';
import { compilePolicies } from '../../../../src/protection/policy/compile-policies.ts';
import { desiredSnapshot, liveSnapshot } from '../../../../src/protection/posture/protection-snapshot.ts';
import { type AccessLists, withAccess, requestRule, runbookRule } from '../../../support/access-objects.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { loadText, policyDiagnostics, policyText, someConnection } from '../../../support/policies.ts';
import { connectionManifest, liveAs } from '../../../support/risks.ts';

const open = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'enabled' };

/** Returns the findings of an expression about the connection `db`, of a live state or, without one, of its manifest alone. */
function findingsOf(
  expression: string,
  {
    state,
    spec = {},
    hidden = [],
    dialect = 'hoop',
  }: {
    readonly state?: AccessLists;
    readonly spec?: JsonObject;
    readonly hidden?: readonly string[];
    readonly dialect?: string;
  },
): readonly PolicyFinding[] {
  const desired = desiredState([connectionManifest('db', { ...open, resource_name: 'db', min_review_approvals: null, ...spec })]);
  const { value } = loadText(`${someConnection}---\n${policyText(`    - '${expression}'`)}`);
  const { rules, diagnostics } = compilePolicies(value?.policies ?? [], registry);
  expect(diagnostics).toEqual([]);
  const same = liveAs(desired);
  const live: LiveState = { ...same, resources: same.resources.map((one) => ({ ...one, unknown: hidden })) };
  const snapshot =
    state === undefined ? desiredSnapshot(desired, registry, dialect) : liveSnapshot(withAccess(live, state), registry, dialect);
  return checkPolicies({ rules, snapshot, resources: desired.resources, registry, today: '2026-11-21' }).report.findings;
}

const row = (...groups: readonly string[]): AccessLists => ({ 'access-control': [{ id: 'uid', name: 'db', groups }] });
const rule = (given: Parameters<typeof requestRule>[1]): AccessLists => ({
  'access-request-rules': [requestRule('r', { connections: ['db'], ...given })],
});
const attribute = { id: 'a', connections: ['db'], access_request_rules: [], guardrail_rules: [], masking_rules: [], managed_by: 'gateway' };

/** A case: its name, an expression that is true, what the gateway has, and fields of the connection. */
type AccessCase = readonly [string, string, AccessLists, JsonObject?];

function cases(rows: readonly AccessCase[]): readonly Required<AccessCase>[] {
  return rows.map(([name, expression, state, spec = {}]) => [name, expression, state, spec]);
}

describe('who may use an access mode', () => {
  test.each(
    cases([
      ['everybody', 'access.exec.exists(p, size(p.groups) == 0 && !p.approval)', {}],
      ['everybody includes a group that the expression names', 'access.exec.exists(p, p.groups == ["contractors"])', {}],
      ['a closed mode has no people', 'size(access.exec) == 0 && size(access.connect) > 0', {}, { access_mode_exec: 'disabled' }],
      ['a row', 'access.connect.all(p, p.groups.exists(g, g in ["dev", "admin", "auditor"]))', row('dev')],
      ['admins alone run commands of a row without groups', 'access.exec.all(p, p.groups == ["admin"]) && size(access.exec) == 1', row()],
      ['another group is not there', '!access.exec.exists(p, "contractors" in p.groups)', row('dev')],
      [
        'an attribute of the gateway',
        'access.exec.exists(p, "ops" in p.groups)',
        { ...row(), attributes: [{ ...attribute, name: 'x', groups: ['ops'] }] },
      ],
      ['groups of equal rank are all there', '["a", "b"].all(g, access.exec.exists(p, p.groups == [g]))', row('a', 'b')],
      [
        'runbooks of a rule',
        'access.runbooks.exists(p, "ops" in p.groups) && !access.runbooks.exists(p, p.groups == ["dev"])',
        {
          ...row('dev', 'ops'),
          'runbook-rules': [runbookRule('r', { groups: ['ops'] })],
        },
      ],
      [
        'a group of a runbook rule that does not see the connection',
        'access.runbooks.exists(p, "night" in p.groups && "dev" in p.groups)',
        {
          ...row('dev'),
          'runbook-rules': [runbookRule('r', { groups: ['night'] })],
        },
      ],
      [
        'runbooks of nobody but admins',
        'access.runbooks.all(p, p.groups == ["admin"])',
        {
          'runbook-rules': [runbookRule('r', { connections: ['other'] })],
        },
      ],
    ]),
  )('%s', (_, expression, state, spec) => {
    expect(findingsOf(expression, { state, spec })).toEqual([]);
  });
});

describe('what they need', () => {
  const oncall = { approval_required_groups: [], skip_review_groups: ['oncall'] };
  test.each(
    cases([
      [
        'reviewers of a rule',
        'access.connect.all(p, p.approval && p.reviewers_groups == ["sec", "dba"] && p.min_approvals == 1)',
        rule({}),
      ],
      ['who forces it', 'access.exec.all(p, p.force_approval_groups == ["leads"])', rule({ force_approval_groups: ['leads'] })],
      ['for how long', 'access.connect.all(p, p.access_max_duration == 60)', rule({ access_max_duration: 60 })],
      ['no limit', 'access.connect.all(p, !has(p.access_max_duration))', {}],
      ['commands have no duration', 'access.exec.all(p, !has(p.access_max_duration))', rule({ access_max_duration: 60 })],
      [
        'a group that is asked',
        'access.exec.exists(p, p.groups == ["contractors"] && p.approval)',
        rule({ approval_required_groups: ['contractors'] }),
      ],
      [
        'a group that is not',
        'access.exec.exists(p, p.groups == ["dev"] && !p.approval)',
        rule({ approval_required_groups: ['contractors'] }),
      ],
      ['native access alone', 'access.connect.all(p, p.approval) && access.exec.all(p, !p.approval)', rule({ access_type: 'jit' })],
      [
        'people of two groups: one sees it, the other skips',
        'access.exec.exists(p, !p.approval && p.groups == ["dev", "oncall"])',
        {
          ...row('dev'),
          ...rule(oncall),
        },
      ],
      ['own reviewers', 'access.exec.all(p, p.approval && p.reviewers_groups == ["dba"])', {}, { reviewers: ['dba'] }],
    ]),
  )('%s', (_, expression, state, spec) => {
    expect(findingsOf(expression, { state, spec })).toEqual([]);
  });
});

describe('what a token cannot see', () => {
  test.each<readonly [string, AccessLists, readonly string[], readonly string[]]>([
    ['size(access.exec) == 0', { 'access-control': 'unreadable' }, [], ['access.exec cannot be seen']],
    ['size(access.exec) == 0', {}, ['/access_mode_exec'], ['access.exec cannot be seen']],
    ['size(access.runbooks) == 0', { 'runbook-rules': 'unreadable' }, [], ['access.runbooks cannot be seen']],
    ['access.exec.all(p, p.approval)', { 'access-request-rules': 'unreadable' }, [], ['approval of access.exec cannot be seen']],
    ['access.exec.all(p, p.approval)', {}, ['/reviewers'], ['approval of access.exec cannot be seen']],
    ['access.exec.all(p, size(p.groups) < 2)', { 'access-request-rules': 'unreadable' }, [], []],
  ])('%s of %j without %j', (expression, state, hidden, messages) => {
    expect(findingsOf(expression, { state, hidden }).map(({ message }) => message.replace(/^.*: /, ''))).toEqual(messages);
  });
});

describe('manifests alone', () => {
  const expressions = [
    'access.exec.all(p, p.approval)',
    'access.exec.exists(p, p.groups == ["dev"])',
    'access.connect.all(p, p.reviewers_groups == ["dba"] && p.min_approvals == 1)',
    'size(access.runbooks) == 0',
  ];
  const specs: readonly JsonObject[] = [
    { access_groups: null },
    { access_groups: ['dev'], reviewers: ['dba'] },
    { access_groups: [], access_mode_runbooks: 'disabled' },
  ];
  test.each(expressions.flatMap((expression) => specs.map((spec) => [expression, spec] as const)))(
    '%s with %j is what the plan finds where nothing else decides',
    (expression, spec) => {
      const offline = findingsOf(expression, { spec, dialect: 'interface' });
      expect(offline).toEqual(findingsOf(expression, { spec, dialect: 'interface', state: {} }));
    },
  );

  test('leave open what only the public gateway knows, but for a mode that they close', () => {
    expect(findingsOf('size(access.exec) == 0', { spec: { access_groups: [] } })).toMatchObject([{ result: 'unknown' }]);
    expect(findingsOf('size(access.exec) == 0', { spec: { access_mode_exec: 'disabled' } })).toEqual([]);
  });
});

test.each([
  ['access.native.all(p, p.approval)', 'type error: No such key: native'],
  ['access.exec.all(p, p.group == "a")', 'type error: No such key: group'],
  ['access.exec.all(p, has(p.duration))', 'type error: No such key: duration'],
])('%s is an error', (expression, message) => {
  expect(policyDiagnostics(policyText(`    - '${expression}'`)).map((one) => one.message)).toEqual([message]);
});
