import { describe, expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import { readableKinds } from '../../../../src/kinds/watched.ts';
import type { RecordedAccess } from '../../../../src/model/applied-record.ts';
import type { LiveResource, LiveState } from '../../../../src/model/live.ts';
import type { AccessObjects } from '../../../../src/model/protection/access-objects.ts';
import type { WatchedDrift } from '../../../../src/model/plan/plan.ts';
import { recordAccess } from '../../../../src/reconcile/record-content/record-watched.ts';
import {
  recordColumns,
  formOf,
  hasValues,
  watchedIn,
  watchScope,
  type WatchScope,
} from '../../../../src/reconcile/record-content/watched-columns.ts';
import { findWatchedDrift, gatewayAtRecord } from '../../../../src/reconcile/record-content/watched-drift.ts';
import {
  type AccessLists,
  analyzerRule,
  attributeObject,
  federation,
  requestRule,
  rulepack,
  runbookRule,
  withAccess,
} from '../../../support/access-objects.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { connectionManifest as manifest } from '../../../support/risks.ts';
import { stateOf } from '../../../support/resources.ts';
import { connection } from '../../protection/protection-fixtures.ts';

const open = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'enabled' };

/** One object of each list, with a value in every field. */
const full: { readonly [List in keyof AccessLists]-?: AccessObjects[List] } = {
  'access-control': { id: 'uid-orders-db', name: 'orders-db', groups: ['dba', 'sre'] },
  attributes: attributeObject('pii', { groups: ['interns'], managed_by: 'hoop' }),
  'access-request-rules': requestRule('jit', {
    connections: ['orders-db'],
    attributes: ['pii'],
    approval_required_groups: ['dev'],
    reviewers_groups: ['dba', 'sec'],
    approvals: 2,
    force_approval_groups: ['root'],
    skip_review_groups: ['oncall'],
    access_max_duration: 600,
    managed_by: 'hoop',
  }),
  'runbook-rules': runbookRule('nightly', {
    runbooks: [{ repository: 'git/ops', name: 'ops/' }],
    connections: ['orders-db'],
    groups: ['sre'],
  }),
  rulepacks: rulepack({ digest: '0123456789abcdef', guardrail_rules: ['no-drop'], masking_rules: ['cards'], managed: true }),
  'analyzer-rules': analyzerRule({ medium_risk: 'require_access_request:jit', prompt: '1', managed_by: 'hoop' }),
  'machine-identities': { id: 'm', name: 'deployer', connections: ['orders-db'], attributes: ['pii'] },
  users: { id: 'u', name: 'ana@orders.example', groups: ['admin'], isActive: true },
  'api-keys': { id: 'k', name: 'ci', groups: ['admin'], isActive: true },
  'ai-agents': { id: 'ai', name: 'assistant', groups: ['auditor'], isActive: true },
  'service-accounts': { id: 'sa', name: 'deployer', groups: ['admin', 'auditor'], isActive: true },
  'spiffe-mappings': {
    id: 's',
    name: 'spiffe://orders.example/',
    trust_domain: 'orders.example',
    agent: 'a',
    agent_template: '{name}',
    groups: ['agents'],
  },
  'auth-settings': { id: 'admin_role_name', name: 'admin_role_name', value: 'admin' },
  'organization-settings': { id: 'hide_role_info', name: 'hide_role_info', value: 'true' },
  'feature-flags': { id: 'ssh', name: 'ssh', enabled: true },
  federations: federation({ extra_config: '0123456789abcdef' }),
};

const fullState = Object.fromEntries(Object.entries(full).map(([list, object]) => [list, [object]])) satisfies AccessLists;

/** A connection whose manifest leaves attributes and access groups to the gateway. */
const left: WatchScope = {
  left: new Set(['orders-db']),
  granted: new Set(),
  declared: new Set(['Connection/orders-db']),
  isAccessStated: false,
};

/** A gateway with one open connection; its attribute is that of the lists. */
function liveWith(lists: AccessLists, connections: readonly LiveResource[] = [connection('orders-db', open)]): LiveState {
  return withAccess(stateOf(...connections), { 'access-control': 'off', ...lists });
}

function recordOf(lists: AccessLists, before?: RecordedAccess, live = liveWith(lists)): RecordedAccess {
  return recordAccess(live, before, { scope: left, registry: readableKinds });
}

/** Returns what is found from one state of a gateway to another with one open connection. */
function changesFrom(before: RecordedAccess | undefined, lists: AccessLists): WatchedDrift | undefined {
  return findWatchedDrift({
    recorded: before === undefined ? {} : { access: before },
    live: liveWith(lists),
    registry: readableKinds,
    dialect: 'hoop',
    role: 'admin',
    scope: left,
  });
}

test.each(recordColumns(readableKinds))('the record keeps every value of $name that decides access, in any order', ({ name }) => {
  const linked = [connection('orders-db', { ...open, attributes: ['pci', 'pii'] })];
  const recorded = recordOf(fullState, undefined, liveWith(fullState, linked));
  const none = liveWith({ 'access-control': [] });
  const columns = watchedIn(none, left, readableKinds).filter(({ column }) => column.name === name);
  const entries = recorded[name];
  const found = gatewayAtRecord(
    columns.map((one) => ({ ...one, entries: typeof entries === 'object' ? entries : [] })),
    { live: none, scope: left, registry: readableKinds },
  );
  const valuesIn = (live: LiveState): unknown =>
    watchedIn(live, left, readableKinds).flatMap(({ column, objects }) =>
      column.name === name && typeof objects === 'object'
        ? objects.filter((one) => hasValues(one, column)).map((one) => formOf(one, column))
        : [],
    );
  expect(entries).toHaveLength(1);
  expect(valuesIn(found)).toEqual(valuesIn(liveWith(fullState, linked)));
  const reversed = Object.entries(full).map(([list, object]) => [
    list,
    [Object.fromEntries(Object.entries(object).map(([field, value]) => [field, Array.isArray(value) ? value.toReversed() : value]))],
  ]);
  expect(recordOf({}, undefined, liveWith(Object.fromEntries(reversed), linked))).toEqual(recorded);
});

test('a state is no change of itself; a list that is off or without objects is recorded as such', () => {
  for (const lists of [fullState, {}, { 'access-control': [] }]) expect(changesFrom(recordOf(lists), lists)).toBeUndefined();
  expect(recordOf({})).toMatchObject({ 'access-control': 'off', Rulepack: [] });
});

describe('an object that is created again', () => {
  test('is one change, of its id', () => {
    const again = { ...fullState, 'machine-identities': [{ ...full['machine-identities'], id: 'other' }] };
    expect(changesFrom(recordOf(fullState), again)?.changes).toEqual([
      { id: 'MachineIdentity/deployer', happened: 'changed', fields: [{ path: '/id', before: { value: 'm' }, after: { value: 'other' } }] },
    ]);
  });

  test('under another name is a change of its name; namesakes differ by their ids', () => {
    const two = { 'runbook-rules': [runbookRule('a', { id: '1' }), runbookRule('a', { id: '2', groups: ['sre'] })] };
    const renamed = { 'runbook-rules': [runbookRule('b', { id: '1' }), runbookRule('a', { id: '2', groups: ['dba'] })] };
    expect(changesFrom(recordOf(two), renamed)?.changes).toMatchObject([
      {
        id: 'RunbookRule/a',
        happened: 'changed',
        fields: [
          { path: '/user_groups/dba', before: { absent: true }, after: { value: 'dba' } },
          { path: '/user_groups/sre', before: { value: 'sre' }, after: { absent: true } },
        ],
      },
      { id: 'RunbookRule/b', happened: 'changed', fields: [{ path: '/name', before: { value: 'a' }, after: { value: 'b' } }] },
    ]);
  });
});

function pathsFrom(before: AccessLists, after: AccessLists): unknown {
  return changesFrom(recordOf(before), after)?.changes.map(({ id, happened, fields }) => [id, happened, fields.map(({ path }) => path)]);
}

test('a connection that is given to groups, and a user who becomes an admin, change by elements', () => {
  const lists = { 'access-control': [full['access-control']], users: [full.users] };
  const changed = [
    ['Connection/orders-db', 'changed', ['/access_groups/dba', '/access_groups/sre']],
    ['User/ana@orders.example', 'changed', ['/roles/admin']],
  ];
  expect(pathsFrom({ 'access-control': [] }, lists)).toEqual(changed);
  expect(pathsFrom(lists, { 'access-control': [] })).toEqual(changed);
});

describe('a list that the token cannot read', () => {
  const hidden: AccessLists = { ...fullState, 'access-request-rules': 'unreadable' };
  const without = { ...fullState, 'access-request-rules': [] };

  test('is no change, now or at the last apply', () => {
    const [seen, unseen] = [recordOf(fullState), recordOf(hidden)];
    expect(changesFrom(seen, hidden)).toEqual({
      changes: [],
      headlines: [],
      unreadable: ['AccessRequestRule'],
      role: 'admin',
      unrecorded: [],
    });
    expect(changesFrom(unseen, fullState)).toMatchObject({ changes: [], headlines: [], unrecorded: ['AccessRequestRule'] });
    expect(changesFrom(unseen, without)).toBeUndefined();
  });

  test('stays as it was recorded', () => {
    const recorded = recordOf(hidden, recordOf(fullState));
    expect(recorded).toEqual(recordOf(fullState));
    expect(changesFrom(recorded, without)).toMatchObject({ changes: [{ id: 'AccessRequestRule/jit', happened: 'deleted' }] });
  });
});

test('what a deleted connection takes with it is no change', () => {
  const rows = [full['access-control'], { id: 'uid-gone', name: 'gone', groups: ['dba'] }];
  const packs = [{ ...full.rulepacks, connections: ['gone', 'orders-db'] }];
  const connections = [connection('orders-db', open), connection('gone', open)];
  const before = recordOf({}, undefined, liveWith({ ...fullState, 'access-control': rows, rulepacks: packs }, connections));
  expect(before).toMatchObject({
    'access-control': [{ id: 'uid-orders-db' }, { id: 'uid-gone' }],
    Rulepack: [{ connections: ['gone', 'orders-db'] }],
  });
  expect(changesFrom(before, fullState)).toBeUndefined();
});

/** A gateway with many connections that each are given to a thousand groups. */
function withRows(count: number): LiveState {
  const groups = Array.from({ length: 1000 }, (_, place) => `team-${place}-oncall-of-the-first-week`);
  const connections = Array.from({ length: count }, (_, index) => connection(`orders-db-${index}`, { access_groups: groups }));
  return liveWith({ ...fullState, 'access-control': [] }, connections);
}

test('the size of the record is bounded: the longest list is left out where all together are too long', () => {
  const recorded = recordOf({}, undefined, withRows(100));
  expect(recorded['access-control']).toHaveLength(100);
  expect(recordOf({}, undefined, withRows(130))).toEqual({ ...recorded, 'access-control': 'omitted' });
});

test('an attribute that loses its groups is changed, not deleted, also where it was created again', () => {
  const granting = attributeObject('pii', { groups: ['interns'] });
  const recorded = recordOf({ attributes: [granting] });
  const lost = { path: '/access_groups/interns', before: { value: 'interns' }, after: { absent: true } };
  const changesTo = (more: Partial<typeof granting>): unknown =>
    changesFrom(recorded, { attributes: [{ ...granting, groups: [], ...more }] })?.changes;
  expect(changesTo({})).toEqual([{ id: 'Attribute/pii', happened: 'changed', fields: [lost] }]);
  expect(changesTo({ id: 'new' })).toMatchObject([{ id: 'Attribute/pii', happened: 'changed', fields: [{ path: '/id' }, lost] }]);
  expect(changesTo({ id: 'new', name: 'label' })).toMatchObject([{ id: 'Attribute/pii', happened: 'deleted' }]);
});

describe('an attribute of a connection', () => {
  const attribute = { ...full.attributes, groups: [], managed_by: '' };
  const rule = {
    ...full['access-request-rules'],
    access_type: 'jit_command',
    connections: [],
    attributes: [attribute.name],
    approval_required_groups: [],
    skip_review_groups: [],
  };
  const linkedTo = (connections: readonly string[]): LiveState => {
    const attributes = connections.includes('orders-db') ? [attribute.name] : [];
    const lists = { attributes: [{ ...attribute, connections }], 'access-request-rules': [rule] };
    return liveWith(lists, [connection('orders-db', { ...open, attributes })]);
  };
  const found = (before: readonly string[], after: readonly string[], scope: WatchScope): WatchedDrift | undefined => {
    const recorded = { access: recordAccess(linkedTo(before), undefined, { scope, registry: readableKinds }) };
    return findWatchedDrift({ recorded, live: linkedTo(after), registry: readableKinds, dialect: 'hoop', role: 'admin', scope });
  };

  test('is a change with its effect where the manifest leaves attributes to the gateway', () => {
    expect(found([], ['orders-db'], left)?.headlines.map(({ text }) => text)).toEqual(['1 connection gains approval']);
    expect(found(['orders-db'], [], left)?.headlines.map(({ text }) => text)).toEqual(['1 connection loses approval']);
    expect(found(['orders-db'], [], left)?.changes).toMatchObject([
      {
        id: 'Connection/orders-db',
        happened: 'changed',
        fields: [{ path: `/attributes/${attribute.name}`, before: { value: attribute.name } }],
      },
    ]);
  });

  const stated = { ...left, left: new Set<string>() };

  test('is none where a manifest states the attributes, which Ostiary writes', () => {
    expect(found([], ['orders-db'], stated)).toBeUndefined();
    expect(found(['orders-db'], [], stated)).toBeUndefined();
  });

  test('of a connection without a manifest counts', () => {
    const unmanaged = { ...left, left: new Set<string>(), declared: new Set<never>() };
    expect(found([], ['orders-db'], unmanaged)?.changes).toHaveLength(1);
    expect(found(['orders-db'], [], unmanaged)?.changes).toHaveLength(1);
  });

  test('counts only where the manifests left it when they were applied last, too', () => {
    const [stating, leaving] = [desiredState([manifest('orders-db', { attributes: ['pii'] })]), desiredState([manifest('orders-db')])];
    const successor = desiredState([manifest('orders-db', {}, { replaces: 'old-db' })]);
    expect([...watchScope(registry, leaving, leaving).left]).toEqual(['orders-db']);
    for (const other of [stating, successor]) expect([...watchScope(registry, leaving, other).left]).toEqual([]);
  });
});
