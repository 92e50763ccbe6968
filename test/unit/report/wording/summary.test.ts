import { expect, test } from 'vitest';
import { seal } from '../../../../src/model/secret.ts';
import type { Headline } from '../../../../src/model/protection/protection.ts';
import { planVerdict, verdictText, withEffect } from '../../../../src/report/wording/summary.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { connectionManifest, liveAs } from '../../../support/risks.ts';
import { runReconcile } from '../../../support/run-pipeline.ts';

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

test('a certain reroute comes before an unknown effect, and a deletion that no headline names is a count', () => {
  const headline = { text: 'changes', connections: ['Connection/a'], tags: {}, causes: [] } as const;
  const both: readonly Headline[] = [
    { ...headline, direction: 'unknown' },
    { ...headline, direction: 'reroutes' },
  ];
  expect(withEffect('1 to update.', both, 'unknown')[0]).toBe('Reroutes credentials or code of 1 connection.');
  expect(withEffect('1 to delete.', [], 'availability')).toEqual(['1 to delete.']);
});
