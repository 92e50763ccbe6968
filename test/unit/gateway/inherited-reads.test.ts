import { expect, test } from 'vitest';
import { mayRerouteInherited } from '../../../src/gateway/dialects/rest.ts';
import type { PreflightRequest } from '../../../src/model/gateway.ts';
import { desiredState } from '../../support/desired-state.ts';
import { connectionManifest, liveAs } from '../../support/risks.ts';
import { runReconcile } from '../../support/run-pipeline.ts';

const desired = desiredState([connectionManifest('db', {})]);
const live = liveAs(desired);
const plan = runReconcile({ desired, live }).value;

function isRead(accepted: PreflightRequest['accepted']): boolean {
  if (plan === undefined) throw new Error('there is no plan');
  return mayRerouteInherited({ plan, accepted, desired, live, joined: new Map() });
}

function field(path: string): PreflightRequest['accepted'][number]['fields'] {
  return [{ path, before: { absent: true }, after: { value: ['sh'] } }];
}

test('the secrets of resources are read for drift that the manifests accept, if it may redirect them', () => {
  expect(isRead([])).toBe(false);
  expect(isRead([{ id: 'Connection/db', action: 'update', fields: field('/command') }])).toBe(true);
  expect(isRead([{ id: 'Connection/db', action: 'update', fields: field('/reviewers/dba') }])).toBe(false);
  expect(isRead([{ id: 'Connection/db', action: 'create', fields: [] }])).toBe(true);
  expect(isRead([{ id: 'Connection/db', action: 'delete', fields: field('/command') }])).toBe(false);
});
