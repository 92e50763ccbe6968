import { expect, test } from 'vitest';
import type { Remembered } from '../../../../src/model/applied-record.ts';
import type { BaseState } from '../../../../src/model/desired.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import { registry } from '../../../../src/kinds/index.ts';
import type { LiveState } from '../../../../src/model/live.ts';
import type { AcceptedDrift, AssessedChange } from '../../../../src/model/plan/plan.ts';
import { leftFieldsAfter } from '../../../../src/reconcile/record-content/left-fields.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { connectionManifest as connection, guardrailManifest, liveAs, words } from '../../../support/risks.ts';
import type { Manifest } from '../../../support/scenario.ts';

const before = connection('db', { min_review_approvals: 2, access_groups: ['dba'] });
const [after, moved] = [connection('db'), connection('db', { min_review_approvals: 1, access_groups: ['dba'] })];

type Given = {
  readonly base?: readonly Manifest[];
  readonly desired?: readonly Manifest[];
  readonly live?: LiveState;
  readonly left?: JsonObject;
  readonly accepted?: readonly AcceptedDrift[];
  readonly changes?: readonly AssessedChange[];
  readonly remembered?: Remembered;
};

function leftAfter({
  base = [before],
  desired = [after],
  live = liveAs(desiredState([before])),
  left,
  accepted = [],
  changes = [],
  remembered,
}: Given): JsonObject {
  const recorded = left === undefined ? {} : { left: new Map([['Connection/db', left] as const]) };
  const applied: BaseState = { commit: 'a'.repeat(40), desired: desiredState(base), removedIn: new Map(), ...recorded };
  const found = leftFieldsAfter({ plan: { changes, accepted }, desired: desiredState(desired), live, base: applied, remembered, registry });
  return Object.fromEntries(found.map(({ id, fields }) => [id, fields]));
}

const named: AcceptedDrift = {
  id: 'Connection/db',
  action: 'update',
  fields: [{ path: '/min_review_approvals', before: { value: 2 }, after: { value: 1 } }],
  edges: [],
  risks: [],
};
const kept = { min_review_approvals: 2, access_groups: ['dba'] };

test('what a manifest leaves to the gateway is recorded as it is there, until a manifest states it again', () => {
  expect(leftAfter({})).toEqual({ 'Connection/db': kept });
  expect(leftAfter({ base: [after], left: kept })).toEqual({ 'Connection/db': kept });
  expect(leftAfter({ base: [after], left: kept, desired: [before] })).toEqual({});
  expect(leftAfter({ base: [after] })).toEqual({});
  expect(leftAfter({ base: [after], left: kept, desired: [connection('other')] })).toEqual({});
});

test('an attribute that the apply deletes is not recorded with what had it', () => {
  const having = connection('db', { attributes: ['ops', 'pii'] });
  const change = { id: 'Attribute/ops', action: 'delete', fields: [], needs: [], carried: [], risks: [], reasons: [] } as const;
  const given = { base: [having], live: liveAs(desiredState([having])) };
  expect(leftAfter({ ...given, changes: [change] })).toEqual({ 'Connection/db': { attributes: ['pii'] } });
  expect(leftAfter(given)).toEqual({ 'Connection/db': { attributes: ['ops', 'pii'] } });
  // An apply that was interrupted has deleted it.
  const remembered = {
    objects: [],
    edges: [],
    attached: [],
    begun: [],
    written: new Map([['Attribute/ops', [{ deletes: true }]]] as const),
  };
  const withAttribute = { base: [having, { kind: 'Attribute', metadata: { name: 'ops' }, spec: {} }], remembered } as const;
  expect(leftAfter({ ...given, ...withAttribute })).toEqual({ 'Connection/db': { attributes: ['pii'] } });
});

test('a change that the plan does not name, or that the token cannot read, is not recorded', () => {
  const live = liveAs(desiredState([moved]));
  expect(leftAfter({ live })).toEqual({ 'Connection/db': kept });
  expect(leftAfter({ live, accepted: [named] })).toEqual({ 'Connection/db': { ...kept, min_review_approvals: 1 } });
  const resources = live.resources.map((one) => ({ ...one, unknown: ['/min_review_approvals'] }));
  expect(leftAfter({ live: { ...live, resources }, accepted: [named] })).toEqual({ 'Connection/db': kept });
});

test('an object that the apply creates again has the initial value', () => {
  expect(leftAfter({ live: { resources: [], lookups: {} } })).toEqual({
    'Connection/db': { min_review_approvals: null, access_groups: null },
  });
});

test('fields of every kind are recorded', () => {
  const [rule, rest] = [{ attributes: ['ledger'] }, {}].map((more) => guardrailManifest('no-drop', [words('DROP')], more));
  if (rule === undefined || rest === undefined) throw new Error('no rule');
  expect(leftAfter({ base: [rule], desired: [rest], live: liveAs(desiredState([rule])) })).toEqual({
    'GuardrailRule/no-drop': { attributes: ['ledger'] },
  });
});
