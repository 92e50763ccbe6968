import { expect, test } from 'vitest';
import { seal } from '../../../../src/model/secret.ts';
import type { Headline, HeadlineVerdict, RerouteTarget } from '../../../../src/model/protection/protection.ts';
import { planSummaryText, planVerdict, policiesText, verdictText, withEffect } from '../../../../src/report/wording/summary.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { connectionManifest, liveAs } from '../../../support/risks.ts';
import { runReconcile } from '../../../support/run-pipeline.ts';
import { quietPlan } from '../quiet-plan.ts';

test('a manifest that gives up a field is in the first line, where nothing is written', () => {
  const { metadata, ...rest } = connectionManifest('db', { reviewers: ['dba'] });
  const before = desiredState([{ metadata, ...rest }]);
  const desired = desiredState([{ ...rest, metadata: { ...metadata, ignore: ['/reviewers'] } }]);
  const base = { commit: 'a'.repeat(40), desired: before, removedIn: new Map() };
  const { value: plan } = runReconcile({ desired, live: liveAs(before), base });
  expect(plan?.changes).toEqual([]);
  expect(plan && verdictText(planVerdict(plan))).toBe(
    'Plan for test: Weakens protection of 1 connection. Nothing to write: 1 manifest changed without a write, 1 unchanged.',
  );
});

test('a secret that the manifests state and the gateway has already is in the first line', () => {
  const before = desiredState([connectionManifest('db', {})]);
  const desired = desiredState([connectionManifest('db', { secret: { 'envvar:HOST': { value: 'a' } } })]);
  const live = {
    ...liveAs(before),
    resources: liveAs(before).resources.map((one) => ({ ...one, secrets: { '/secret/envvar:HOST': seal('live', 'YQ==') } })),
  };
  const { value: plan } = runReconcile({ desired, live, base: { commit: 'a'.repeat(40), desired: before, removedIn: new Map() } });
  expect(plan?.changes).toEqual([]);
  expect(plan && verdictText(planVerdict(plan))).toBe(
    'Plan for test: Nothing to write: 1 secret changed in the manifests without a write, 1 unchanged.',
  );
});

test.each<readonly [HeadlineVerdict, number, string]>([
  ['weakens', 2, 'Weakens protection of 2 connections. 1 to update.'],
  ['unknown', 1, 'Unknown effect on protection of 1 connection. 1 to update.'],
  ['exposes', 1, 'Gives access without review to 1 connection. 1 to update.'],
  ['reroutes', 0, 'Reroutes credentials or code. 1 to update.'],
  ['availability', 1, 'Blocks users of 1 connection. 1 to update.'],
  ['strengthens', 3, '1 to update. Strengthens protection of 3 connections.'],
  ['strengthens', 0, '1 to update.'],
])('the first line of a plan that %s protection of %i connections', (direction, count, line) => {
  const connections = Array.from({ length: count }, (_, index) => `Connection/${index}` as const);
  const headline: Headline = { direction, text: 'changes', connections, tags: {}, causes: [] };
  expect(withEffect('1 to update.', [headline], direction).join(' ')).toBe(line);
});

test.each<readonly [readonly RerouteTarget[], string]>([
  [['endpoint'], 'Sends credentials of 2 connections to another endpoint.'],
  [['agent'], 'Sends credentials of 2 connections to another agent.'],
  [['command'], 'Passes credentials of 2 connections to another command.'],
  [['code'], 'Runs code from another repository on 2 connections.'],
  [['other'], 'Reroutes credentials or code of 2 connections.'],
  [['endpoint', 'code'], 'Reroutes credentials or code of 2 connections.'],
])('the first line of a reroute to %j', (targets, line) => {
  const connections = ['Connection/a', 'Connection/b'] as const;
  const headlines = targets.map((target): Headline => ({ direction: 'reroutes', text: '', connections, tags: {}, causes: [], target }));
  expect(withEffect('1 to update.', headlines, 'reroutes')[0]).toBe(line);
});

test('a certain reroute comes before an unknown effect, and a deletion that no headline names is a count', () => {
  const headline = { text: 'changes', connections: ['Connection/a'], tags: {}, causes: [] } as const;
  const both: readonly Headline[] = [
    { ...headline, direction: 'unknown' },
    { ...headline, direction: 'reroutes' },
  ];
  expect(withEffect('1 to update.', both, 'unknown')[0]).toBe('Reroutes credentials or code of 1 connection.');
  expect(withEffect('1 to delete.', [], 'availability')).toEqual(['1 to delete.']);
});

test('a plan without changes that leaves an attachment as it is says that the gateway is not in sync', () => {
  const edge = { rule: 'GuardrailRule/a', connection: 'Connection/b', declared: [] } as const;
  expect(planSummaryText({ ...quietPlan(), edges: [{ ...edge, action: 'held' }] })).toBe(
    'Nothing to apply, but not in sync: 46 unchanged. 1 attachment held.',
  );
});

test('the results of policies are counted by their severity', () => {
  const at = { file: 'policies.yaml', line: 1, column: 1 };
  const finding = {
    policy: 'p',
    connection: 'Connection/a',
    severity: 'error',
    message: 'm',
    expression: 'e',
    at,
    requirement: at,
  } as const;
  const waiver = { policy: 'p', connection: 'Connection/a', result: 'violated', until: '2026-12-01', reason: 'r' } as const;
  const left = { ...finding, result: 'violated', conditions: [], match: at } as const;
  const none = { today: '2026-11-21', policies: 1, connections: 1, findings: [], waived: [], baseline: [], left: [] } as const;
  expect(policiesText(none)).toBe('1 policy on 1 connection as of 2026-11-21: all satisfied');
  const findings = [
    { ...finding, result: 'violated' },
    { ...finding, result: 'violated', severity: 'warning' },
    { ...finding, result: 'unknown' },
  ] as const;
  expect(policiesText({ ...none, policies: 5, connections: 31, findings, waived: [waiver], left: [left] })).toBe(
    '5 policies on 31 connections as of 2026-11-21: 2 violated (1 error, 1 warning), 1 unknown, 1 waived, 1 no longer applies to a connection',
  );
  const baseline = [{ policy: 'p', connection: 'Connection/b', expression: 'e' }] as const;
  expect(policiesText({ ...none, baseline })).toBe('1 policy on 1 connection as of 2026-11-21: 1 in the baseline');
  expect(policiesText({ ...none, findings: findings.slice(1, 2), left: [left, left] })).toBe(
    '1 policy on 1 connection as of 2026-11-21: 1 violated (1 warning), 2 no longer apply to a connection',
  );
});
