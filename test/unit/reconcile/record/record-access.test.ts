import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { RecordedAccess } from '../../../../src/model/applied-record.ts';
import type { LiveState } from '../../../../src/model/live.ts';
import type { AccessObjects, AccessState } from '../../../../src/model/protection/access-objects.ts';
import type { OutsideAccess, WatchedList } from '../../../../src/model/protection/outside-access.ts';
import { findOutsideAccess } from '../../../../src/reconcile/record/outside-access.ts';
import {
  longestList,
  recordAccess,
  restoredObject,
  watchedLists,
  watchScope,
  type WatchScope,
} from '../../../../src/reconcile/record/record-access.ts';
import { accessState, requestRule, runbookRule } from '../../../support/access-objects.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { connectionManifest as manifest } from '../../../support/risks.ts';
import { stateOf } from '../../../support/resources.ts';
import { connection } from '../../protection/protection-fixtures.ts';

const open = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'enabled' };

/** One object of each list, with a value in every field. */
const full: { readonly [List in WatchedList]: AccessObjects[List] } = {
  'access-control': { id: 'uid-orders-db', name: 'orders-db', groups: ['dba', 'sre'] },
  attributes: {
    id: 'a',
    name: 'pii',
    groups: ['interns'],
    connections: [],
    access_request_rules: [],
    guardrail_rules: [],
    masking_rules: [],
    managed_by: 'hoop',
  },
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
  rulepacks: {
    id: 'p',
    name: 'PCI',
    digest: '0123456789abcdef',
    guardrail_rules: ['no-drop'],
    masking_rules: ['cards'],
    connections: ['orders-db'],
    managed: true,
  },
  'analyzer-rules': {
    id: 'r',
    name: 'risky',
    connections: ['orders-db'],
    low_risk: 'allow_execution',
    medium_risk: 'require_access_request:jit',
    high_risk: 'block_execution',
    prompt: '1',
    managed_by: 'hoop',
  },
  'machine-identities': { id: 'm', name: 'deployer', connections: ['orders-db'], attributes: ['pii'] },
};

const fullState: AccessState = accessState(Object.fromEntries(watchedLists.map((list) => [list, [full[list]]])));

/** A connection whose manifest leaves attributes and access groups to the gateway. */
const left: WatchScope = { left: new Set(['orders-db']), granted: new Set(), declared: new Set(), isAccessStated: false };

function recordOf(access: AccessState, before?: RecordedAccess): RecordedAccess {
  return recordAccess(access, before, left);
}

/** Returns what is found from one state of a gateway to another with one open connection. */
function changesFrom(before: RecordedAccess | undefined, access: AccessState): OutsideAccess | undefined {
  const live = { ...stateOf(connection('orders-db', open)), access };
  return findOutsideAccess({
    recorded: before === undefined ? {} : { access: before },
    live,
    registry,
    dialect: 'hoop',
    role: 'admin',
    scope: left,
  });
}

test.each(watchedLists)('the record keeps every field of %s that decides access, in any order', (list) => {
  const recorded = recordOf(fullState, undefined)[list];
  const [object = {}] = typeof recorded === 'object' ? recorded : [];
  const { name, ...rest } = full[list];
  expect(restoredObject[list](object)).toEqual(list === 'access-control' ? { ...rest, name: '' } : { ...rest, name });
  const reversed = Object.fromEntries(
    Object.entries(full[list]).map(([field, value]) => [field, Array.isArray(value) ? value.toReversed() : value]),
  );
  expect(recordOf({ ...fullState, [list]: [reversed] }, undefined)).toEqual(recordOf(fullState, undefined));
});

test('a state is no change of itself; a list that is off or without objects is recorded as such', () => {
  for (const state of [fullState, accessState(), accessState({ 'access-control': [] })])
    expect(changesFrom(recordOf(state, undefined), state)).toBeUndefined();
  expect(recordOf(accessState(), undefined)).toMatchObject({ 'access-control': 'off', rulepacks: [] });
});

describe('an object that is created again', () => {
  test('is one change, of its id', () => {
    const again = { ...fullState, 'machine-identities': [{ ...full['machine-identities'], id: 'other' }] };
    expect(changesFrom(recordOf(fullState, undefined), again)?.changes).toEqual([
      {
        list: 'machine-identities',
        name: 'deployer',
        happened: 'changed',
        fields: [{ name: 'id', before: 'm', after: 'other' }],
      },
    ]);
  });

  test('under another name is a change of its name; namesakes differ by their ids', () => {
    const two = accessState({ 'runbook-rules': [runbookRule('a', { id: '1' }), runbookRule('a', { id: '2', groups: ['sre'] })] });
    const renamed = accessState({ 'runbook-rules': [runbookRule('b', { id: '1' }), runbookRule('a', { id: '2', groups: ['dba'] })] });
    expect(changesFrom(recordOf(two, undefined), renamed)?.changes).toMatchObject([
      { name: 'b', happened: 'changed', fields: [{ name: 'name', before: 'a', after: 'b' }] },
      { name: 'a', happened: 'changed', fields: [{ name: 'groups', before: ['sre'], after: ['dba'] }] },
    ]);
  });
});

describe('a list that the token cannot read', () => {
  const hidden: AccessState = { ...fullState, 'access-request-rules': 'unreadable' };
  const without = accessState({ ...fullState, 'access-request-rules': [] });

  test('is no change, now or at the last apply', () => {
    const [seen, unseen] = [recordOf(fullState, undefined), recordOf(hidden, undefined)];
    expect(changesFrom(seen, hidden)).toEqual({
      changes: [],
      headlines: [],
      unreadable: ['access-request-rules'],
      role: 'admin',
      unrecorded: [],
    });
    expect(changesFrom(unseen, fullState)).toMatchObject({ changes: [], headlines: [], unrecorded: ['access-request-rules'] });
    expect(changesFrom(unseen, without)).toBeUndefined();
  });

  test('stays as it was recorded', () => {
    const recorded = recordOf(hidden, recordOf(fullState, undefined));
    expect(recorded).toEqual(recordOf(fullState, undefined));
    expect(changesFrom(recorded, without)).toMatchObject({ changes: [{ list: 'access-request-rules', happened: 'deleted' }] });
  });
});

test('what a deleted connection takes with it is no change', () => {
  const rows = [full['access-control'], { id: 'uid-gone', name: 'gone', groups: ['dba'] }];
  const packs = [{ ...full.rulepacks, connections: ['gone', 'orders-db'] }];
  const before = recordOf({ ...fullState, 'access-control': rows, rulepacks: packs }, undefined);
  expect(changesFrom(before, fullState)).toBeUndefined();
});

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function uid(index: number): string {
  return hashOf(`id ${index}`).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5');
}

function teamOf(index: number, place: number): string {
  return `team-${Number.parseInt(hashOf(`${index} ${place}`).slice(0, 4), 16) % 60}-oncall`;
}

function manyRows(count: number): readonly AccessObjects['access-control'][] {
  return Array.from({ length: count }, (_, index) => ({
    id: uid(index),
    name: `orders-db-${index}`,
    groups: [0, 1, 2].map((place) => teamOf(index, place)),
  }));
}

describe('the size of the record', () => {
  test('is bounded: a longer list has hashes, and one that is longer even so is left out', () => {
    const live = manyRows(12_000);
    const { 'access-control': hashed } = recordOf(accessState({ 'access-control': live }), undefined);
    expect(hashed?.[0]).toEqual({ id: uid(0), hash: expect.stringMatching(/^[\w-]{16}$/) });
    expect(JSON.stringify(hashed).length).toBeLessThan(longestList);
    expect(recordOf(accessState({ 'access-control': manyRows(15_000) }), undefined)['access-control']).toBe('omitted');
  });

  test('a hash shows that an object changed, with an unknown effect', () => {
    const recorded = recordOf(fullState, undefined);
    const hashed = { id: 'id-jit', name: 'jit', hash: 'AAAAAAAAAAAAAAAA' };
    const headline = {
      direction: 'unknown',
      text: '1 change has an unknown effect: the record has only hashes of a long list',
      connections: [],
    };
    const changed = changesFrom({ ...recorded, 'access-request-rules': [hashed] }, fullState);
    expect(changed).toMatchObject({
      changes: [{ name: 'jit', happened: 'changed', fields: [], incomparable: true }],
      headlines: [headline],
    });
    const without = changesFrom({ ...recorded, 'runbook-rules': [hashed] }, { ...fullState, 'runbook-rules': [] });
    expect(without).toMatchObject({ changes: [{ name: 'jit', happened: 'deleted', incomparable: true }], headlines: [headline] });
  });
});

describe('a link of an attribute to a connection', () => {
  const attribute = { ...full.attributes, groups: [], managed_by: '' };
  const rule = {
    ...full['access-request-rules'],
    access_type: 'jit_command',
    connections: [],
    attributes: [attribute.name],
    approval_required_groups: [],
    skip_review_groups: [],
  };
  const state = (connections: readonly string[]): AccessState =>
    accessState({ attributes: [{ ...attribute, connections }], 'access-request-rules': [rule] });
  const liveWith = (connections: readonly string[]): LiveState => {
    const attributes = connections.includes('orders-db') ? [attribute.name] : [];
    return { ...stateOf(connection('orders-db', { ...open, attributes })), access: state(connections) };
  };
  const found = (before: readonly string[], after: readonly string[], counted: WatchScope): OutsideAccess | undefined => {
    const recorded = { access: recordAccess(state(before), undefined, counted) };
    return findOutsideAccess({ recorded, live: liveWith(after), registry, dialect: 'hoop', role: 'admin', scope: counted });
  };

  test('is a change with its effect where the manifest leaves attributes to the gateway', () => {
    expect(found([], ['orders-db'], left)?.headlines.map(({ text }) => text)).toEqual(['1 connection gains approval']);
    expect(found(['orders-db'], [], left)?.headlines.map(({ text }) => text)).toEqual(['1 connection loses approval']);
    expect(found(['orders-db'], [], left)?.changes).toMatchObject([
      { list: 'attributes', name: attribute.name, happened: 'changed', fields: [{ name: 'connections', before: ['orders-db'] }] },
    ]);
  });

  const stated = { ...left, left: new Set<string>() };

  test('is none where a manifest states the attributes, which Ostiary writes', () => {
    expect(found([], ['orders-db'], stated)).toBeUndefined();
    expect(found(['orders-db'], [], stated)).toBeUndefined();
  });

  test('counts only where the manifests left it when they were applied last, too', () => {
    const [stating, leaving] = [desiredState([manifest('orders-db', { attributes: ['pii'] })]), desiredState([manifest('orders-db')])];
    const successor = desiredState([manifest('orders-db', {}, { replaces: 'old-db' })]);
    expect([...watchScope(registry, leaving, leaving).left]).toEqual(['orders-db']);
    for (const other of [stating, successor]) expect([...watchScope(registry, leaving, other).left]).toEqual([]);
  });
});
