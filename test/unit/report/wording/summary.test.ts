import { expect, test } from 'vitest';
import { emptyState } from '../../../../src/model/desired.ts';
import { seal } from '../../../../src/model/secret.ts';
import type { Headline } from '../../../../src/model/protection/protection.ts';
import { verdictText } from '../../../../src/report/wording/phrases.ts';
import { planVerdict, withEffect } from '../../../../src/report/subjects/verdict.ts';
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
    'Plan for test: reviewers are no longer watched (db). Nothing to write: 1 manifest that changes nothing on the gateway, 1 unchanged.',
  );
});

test('a change that is held in part names in the first line only what is written', () => {
  const before = desiredState([connectionManifest('db', { connection_tags: { env: 'prod' }, access_mode_exec: 'enabled' })]);
  const desired = desiredState([connectionManifest('db', { connection_tags: { env: 'test' }, access_mode_exec: 'enabled' })]);
  const live = liveAs(desiredState([connectionManifest('db', { connection_tags: { env: 'prod' }, access_mode_exec: 'disabled' })]));
  const { value: plan } = runReconcile({ desired, live, base: { commit: 'a'.repeat(40), desired: before, removedIn: new Map() } });
  expect(plan?.changes[0]?.fields).toMatchObject([{ path: '/access_mode_exec', held: true }, { path: '/connection_tags/env' }]);
  expect(plan && verdictText(planVerdict(plan))).toContain(': 1 to update: Connection/db (connection_tags.env: prod → test).');
});

test('the first line says why a secret differs, without its source', () => {
  const [before, desired] = ['prod', 'test'].map((env) => desiredState([connectionManifest('db', { connection_tags: { env } })]));
  const { value: plan } = runReconcile({ desired: desired ?? emptyState, live: liveAs(before ?? emptyState) });
  const side = { secret: 'env:OSTIARY_SECRET_OF_THE_ORDERS', state: 'differs' } as const;
  const field = { path: '/secret/envvar:PASS', before: side, after: side, cause: 'source' } as const;
  const rotated = plan && { ...plan, changes: plan.changes.map((change) => ({ ...change, fields: [field] })) };
  expect(rotated && verdictText(planVerdict(rotated))).toContain('Connection/db (secret envvar:PASS: rotated at its source).');
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
    'Plan for test: Nothing to write: 1 changed secret that the gateway has already, or keeps, 1 unchanged.',
  );
});

test('one or two headlines are the first line; of more, the worst one and the connections by effect', () => {
  const headline = { connections: ['Connection/a'], tags: { env: 'prod' }, causes: [] } as const;
  const lost: Headline = { ...headline, direction: 'weakens', text: '1 connection loses review' };
  const gained: Headline = { ...headline, direction: 'strengthens', text: '1 connection gains masking' };
  const sent: Headline = {
    ...headline,
    direction: 'reroutes',
    text: '2 connections run other code',
    connections: ['Connection/a', 'Connection/b'],
  };
  expect(withEffect('1 to update.', [lost])).toEqual(['a (env=prod) loses review.', '1 to update.']);
  expect(withEffect('1 to update.', [lost, gained])).toEqual(['a (env=prod) loses review and gains masking.', '1 to update.']);
  expect(withEffect('1 to update.', [gained])).toEqual(['1 to update.', 'a (env=prod) gains masking.']);
  expect(withEffect('3 to update.', [lost, sent, gained])[0]).toBe(
    'a (env=prod) loses review. Weakens protection of 1 connection, reroutes credentials or code of 2 connections, strengthens protection of 1 connection.',
  );
});

test('a certain reroute comes before an unknown effect, and a deletion that no headline names is a count', () => {
  const headline = { connections: ['Connection/a'], tags: {}, causes: [] } as const;
  const all: readonly Headline[] = [
    { ...headline, direction: 'unknown', text: 'cannot be compared' },
    { ...headline, direction: 'reroutes', text: '1 connection runs other code' },
    { ...headline, direction: 'strengthens', text: 'gains' },
  ];
  expect(withEffect('1 to update.', all, 'unknown')[0]).toMatch(/^a runs other code\./);
  expect(withEffect('1 to delete.', [], 'availability')).toEqual(['1 to delete.']);
});
