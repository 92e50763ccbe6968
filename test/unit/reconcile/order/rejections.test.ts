import { expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { LiveResource } from '../../../../src/model/live.ts';
import type { ResourceId } from '../../../../src/model/resource.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { connection } from '../../../support/manifests.ts';
import { memoryGateway } from '../../../support/memory-gateway.ts';
import { liveOf as watchedOf } from '../../../support/resources.ts';
import { applyPlan, runReconcile, testTarget } from '../../../support/run-pipeline.ts';
import type { Manifest } from '../../../support/scenario.ts';
import { storedAs } from '../../../support/small-plans.ts';

const dialect = { dialect: 'hoop' } as const;

function runbooks(name: string, groups: readonly string[], connections: readonly string[], file = 'ops'): Manifest {
  return {
    kind: 'RunbookRule',
    metadata: { name },
    spec: { user_groups: groups, connections, runbooks: [{ repository: 'books', name: file }] },
  };
}

function guardrail(connections: readonly string[], attributes: readonly string[]): Manifest {
  const input = { rules: [{ name: 'words', type: 'deny_words_list', words: ['DROP'] }] };
  return { kind: 'GuardrailRule', metadata: { name: 'guard' }, spec: { input, connection_ids: connections, attributes } };
}

function approval(name: string, spec: JsonObject): Manifest {
  return { kind: 'AccessRequestRule', metadata: { name }, spec: { min_approvals: 1, ...spec } };
}

function approved(...reviewers: readonly string[]): Manifest {
  const named = { access_type: 'command', connection_names: ['next'] };
  return approval('asked', { ...named, reviewers_groups: reviewers, min_approvals: reviewers.length });
}

function exchanging(first: string, second: string, groups: readonly string[]): readonly Manifest[] {
  return [
    approval('one', { access_type: 'command', connection_names: [first], reviewers_groups: groups }),
    approval('two', { access_type: 'command', connection_names: [second], reviewers_groups: [...new Set(['dba', ...groups])] }),
  ];
}

function attribute(groups: readonly string[]): Manifest {
  return { kind: 'Attribute', metadata: { name: 'ops' }, spec: { access_groups: groups } };
}

function reviewed(name: string, reviewers: readonly string[]): Manifest {
  return connection(name, { reviewers, access_groups: ['dba', 'sre'], access_mode_runbooks: 'enabled' });
}

/** Applies manifests to a public gateway that rejects all writes of one object; returns the writes that it accepts, in their order. */
async function accepted(
  before: readonly Manifest[],
  after: readonly Manifest[],
  rejected?: ResourceId,
  watched: readonly LiveResource[] = [],
): Promise<readonly string[]> {
  const gateway = memoryGateway({
    registry,
    agents: ['default'],
    resources: before.map(storedAs),
    dialect,
    fault: ({ id, method }) => (['POST', 'PUT', 'DELETE'].includes(method) && id === rejected ? 'before' : undefined),
  });
  const { value: read } = await gateway.readAll([...registry.keys()]);
  if (read === undefined) throw new Error('incomplete listing');
  const live = { ...read, rowFields: { 'Connection.access_groups': 'on' }, watched } as const;
  const desired = desiredState(after);
  const base = { commit: 'base', desired: desiredState(before), removedIn: new Map() };
  const consent = { imports: [], revert: [], prune: true };
  const { value: plan } = runReconcile({ desired, live, base, consent, target: { ...testTarget, ...dialect } });
  if (plan === undefined) throw new Error('there is no plan');
  expect(plan.singleWrites).toEqual([]);
  await applyPlan({ gateway, desired, plan, live });
  return gateway.writes.map(({ method, id }) => `${method} ${id}`);
}

test('a rule that names a connection lets go of it only after it has its attribute, which the gateway saves later', async () => {
  const db = connection('db', { attributes: ['ops'] });
  const writes = await accepted([db, attribute([]), guardrail(['db'], [])], [db, attribute([]), guardrail([], ['ops'])]);
  expect(writes).toEqual(['PUT GuardrailRule/guard', 'PUT GuardrailRule/guard']);
});

test('a runbook rule is not attached to a connection before it has the groups of the plan', async () => {
  const writes = await accepted(
    [reviewed('db', ['dba']), reviewed('next', []), runbooks('books', ['dba'], ['db'])],
    [reviewed('db', ['sre']), reviewed('next', []), runbooks('books', ['sre'], ['db', 'next'])],
  );
  expect(writes).toEqual(['PUT Connection/db', 'PUT RunbookRule/books', 'PUT Connection/db']);
});

test('the only runbook rule is not deleted where the connection could not be closed before', async () => {
  const open = { access_groups: ['dba'], access_mode_runbooks: 'enabled' };
  const before = [connection('db', open), runbooks('first', [], [], 'one')];
  const after = [reviewed('db', []), runbooks('second', [], [], 'two')];
  expect(await accepted(before, after)).toContain('DELETE RunbookRule/first');
  expect(await accepted(before, after, 'Connection/db')).toEqual([]);
});

test('a connection whose type opens it to commands gets the type after the rule that makes them easier has let go of it', async () => {
  const spec = { access_groups: ['dba'], reviewers: ['sre'] };
  const ssh = connection('db', { ...spec, type: 'application', subtype: 'ssh' });
  const easy = { access_type: 'command', reviewers_groups: ['dba'], force_approval_groups: ['dba'] };
  const next = connection('next', spec);
  const before = [ssh, next, approval('easy', { ...easy, connection_names: ['db'] })];
  const opened = connection('db', { ...spec, type: 'database', subtype: 'postgres' });
  const after = [opened, next, approval('easy', { ...easy, connection_names: ['next'] })];
  expect(await accepted(before, after)).toEqual(['PUT AccessRequestRule/easy', 'PUT Connection/db']);
  expect(await accepted(before, after, 'AccessRequestRule/easy')).toEqual([]);
});

test('an attribute grants nothing where a connection may have been opened without letting go of it', async () => {
  const closed = { access_mode_connect: 'disabled', access_mode_exec: 'disabled', reviewers: ['dba'], attributes: ['ops'] };
  const before = [connection('db', { ...closed, access_groups: ['dba'] }), attribute([])];
  const after = [connection('db', { access_groups: ['dba'], attributes: [] }), attribute(['sre'])];
  expect(await accepted(before, after)).toEqual(['PUT Connection/db', 'PUT Attribute/ops']);
  expect(await accepted(before, after, 'Connection/db')).toEqual([]);
});

test('the rule that an analyzer asks for by its name gets easier only after the connection, to which it is not attached, gets stricter', async () => {
  const spec = { low_risk: 'allow_execution', medium_risk: 'allow_execution', high_risk: 'require_access_request:asked' };
  const analyzers = [watchedOf('AnalyzerRule/risky', { spec, links: ['db'] })];
  const next = connection('next', { access_groups: ['dba'] });
  const before = [connection('db', { access_groups: ['dba'] }), next, approved('dba', 'sre')];
  const after = [connection('db', { access_groups: ['dba'], redact_types: ['EMAIL_ADDRESS'] }), next, approved('dba')];
  expect(await accepted(before, after, undefined, analyzers)).toEqual(['PUT Connection/db', 'PUT AccessRequestRule/asked']);
  expect(await accepted(before, after, 'Connection/db', analyzers)).toEqual([]);
});

test('a connection that a rule keeps stays open while another rule takes from it: that rule is written once', async () => {
  const [db, next] = ['db', 'next'].map((name) => connection(name, { access_groups: ['dba'] }));
  if (db === undefined || next === undefined) throw new Error('there are two connections');
  const before = [
    db,
    next,
    approval('giving', { access_type: 'jit_command', connection_names: ['db', 'next'], reviewers_groups: ['dba'] }),
  ];
  const after = [
    db,
    next,
    approval('giving', { access_type: 'command', connection_names: ['db'], reviewers_groups: ['sre'] }),
    approval('taking', { access_type: 'command', connection_names: ['next'], reviewers_groups: ['sre'] }),
  ];
  const moved = 'PUT Connection/next';
  expect(await accepted(before, after)).toEqual([moved, 'PUT AccessRequestRule/giving', 'POST AccessRequestRule/taking', moved]);
});

test('of two rules that exchange their connections, one lets go of the connection that is closed where the other one could not be closed', async () => {
  const closing = ['db', 'next'].map((name) => connection(name, { access_groups: ['dba'] }));
  const [before, after] = [
    [...closing, ...exchanging('db', 'next', ['dba'])],
    [...closing, ...exchanging('next', 'db', ['sre'])],
  ];
  expect(await accepted(before, after, 'Connection/db')).toEqual(['PUT Connection/next']);
  expect(await accepted(before, after, 'Connection/next')).toEqual(['PUT Connection/db', 'PUT AccessRequestRule/one']);
});
