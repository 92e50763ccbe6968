import { expect, test } from 'vitest';
import { emptyRecord, type Remembered } from '../../../../src/model/applied-record.ts';
import type { BaseState, DesiredState } from '../../../../src/model/desired.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { ResourceId } from '../../../../src/model/resource.ts';
import { recallObjects } from '../../../../src/project/remembered-objects.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { connectionManifest, guardrailManifest, liveAs } from '../../../support/risks.ts';
import { runReconcile } from '../../../support/run-pipeline.ts';

const [applied, written, other] = [{ reviewers: ['dba'] }, { reviewers: ['dba', 'sre'] }, { reviewers: ['dba', 'sre', 'ops'] }];

/** Returns the origins of the fields of a plan after an apply of the `written` manifest that ended before the rest of its commit. */
function originsOf(live: JsonObject, head: JsonObject, complete: boolean): readonly string[] {
  const [before, after] = [applied, written].map((spec) => desiredState([connectionManifest('db', spec)]));
  const resource = after?.resources[0];
  if (before === undefined || resource === undefined) throw new Error('no manifest');
  const base: BaseState = { commit: 'a'.repeat(40), desired: before, removedIn: new Map() };
  const forms = [{ resource, ...(complete ? { complete: true as const } : {}) }];
  const remembered: Remembered = { objects: [], edges: [], written: new Map([[resource.key, forms]]), attached: [], begun: [] };
  const state = liveAs(desiredState([connectionManifest('db', live)]));
  const { value } = runReconcile({ desired: desiredState([connectionManifest('db', head)]), live: state, base, remembered });
  return (value?.changes ?? []).flatMap(({ fields }) =>
    fields.map(({ path, origin, held }) => `${path} ${held === true ? 'held' : origin}`),
  );
}

test('what an apply has written completely is the base of its objects, whatever the gateway has since', () => {
  expect(originsOf(written, written, true)).toEqual([]);
  // Somebody took back what the apply wrote.
  expect(originsOf(applied, written, true)).toEqual(['/reviewers/sre drift']);
  expect(originsOf(written, other, true)).toEqual(['/reviewers/ops intent']);
  expect(originsOf(written, applied, true)).toEqual(['/reviewers/sre intent']);
});

test('what an apply may have written is the base as far as the gateway has it', () => {
  expect(originsOf(written, written, false)).toEqual([]);
  expect(originsOf(applied, written, false)).toEqual(['/reviewers/sre intent']);
  expect(originsOf(written, applied, false)).toEqual(['/reviewers/sre intent']);
});

function attachedTo(connections: readonly string[]): DesiredState {
  return desiredState([connectionManifest('db'), guardrailManifest('g', [], { connection_ids: [...connections] })]);
}

test('an attachment that an apply has made completely, and that is gone, was removed by something else', () => {
  const [before, after] = [attachedTo([]), attachedTo(['db'])];
  const ends = { rule: 'GuardrailRule/g', connection: 'Connection/db' } as const;
  const originsWith = (...done: readonly ResourceId[]): readonly (string | undefined)[] => {
    const begun = [{ keys: new Set([ends.rule]), done: new Map(done.map((key) => [key, []])), edges: after.edges }];
    const remembered: Remembered = { objects: [], edges: [], written: new Map(), attached: [ends], begun };
    const base: BaseState = { commit: 'a'.repeat(40), desired: before, removedIn: new Map() };
    const { value } = runReconcile({ desired: after, live: liveAs(before), base, remembered });
    return (value?.edges ?? []).map(({ origin }) => origin);
  };
  expect(originsWith(ends.rule)).toEqual(['drift']);
  expect(originsWith()).toEqual(['intent']);
});

test('an attachment that an apply has removed completely, and that is there, was made by something else', () => {
  const [before, after] = [attachedTo(['db']), attachedTo([])];
  const ends = { rule: 'GuardrailRule/g', connection: 'Connection/db' } as const;
  const outcomesWith = (...removed: readonly ResourceId[]): readonly string[] => {
    const begun = [{ keys: new Set([ends.rule]), done: new Map([[ends.rule, removed]]), edges: after.edges }];
    const remembered: Remembered = { objects: [], edges: [], written: new Map(), attached: [], begun };
    const base: BaseState = { commit: 'a'.repeat(40), desired: before, removedIn: new Map() };
    const { value } = runReconcile({ desired: after, live: liveAs(before), base, remembered });
    return (value?.edges ?? []).map(({ action, origin }) => `${action} ${origin}`);
  };
  expect(outcomesWith(ends.connection)).toEqual(['detach drift']);
  expect(outcomesWith()).toEqual(['detach intent']);
});

test('an object that has the name of one that an incomplete apply has deleted is not ours', () => {
  const before = attachedTo(['db']);
  const after = desiredState([connectionManifest('db')]);
  const key = 'GuardrailRule/g';
  const live = liveAs(before);
  const uid = live.resources.find(({ id }) => id === key)?.uid ?? '';
  const remembered = (deleted: string): Remembered => ({
    objects: [],
    edges: [],
    written: new Map([[key, [{ deletes: true, uid: deleted }]]]),
    attached: [],
    begun: [{ keys: new Set([key]), done: new Map([[key, []]]), edges: after.edges }],
  });
  const planAfter = (deleted: string): readonly unknown[] => {
    const base: BaseState = { commit: 'a'.repeat(40), desired: before, removedIn: new Map() };
    const consent = { imports: [], revert: [], prune: true };
    const { value } = runReconcile({ desired: after, live, base, remembered: remembered(deleted), consent });
    return [value?.changes.map(({ action, id }) => `${action} ${id}`), value?.edges.map(({ action }) => action), value?.unmanaged];
  };
  expect(planAfter('another id')).toEqual([[], ['foreign'], [key]]);
  expect(planAfter(uid)).toEqual([[`delete ${key}`], ['detach'], []]);
});

test('an object that an incomplete apply has created completely, and that is gone, was deleted by something else', () => {
  const before = desiredState([connectionManifest('db')]);
  const after = desiredState([
    connectionManifest('db'),
    guardrailManifest('g', [{ name: 'w', type: 'deny_words_list', words: ['DROP'] }], { connection_ids: ['db'] }),
  ]);
  const ends = { rule: 'GuardrailRule/g', connection: 'Connection/db' } as const;
  const resource = after.resources.find(({ id }) => id === ends.rule);
  const originsWith = (done: readonly ResourceId[]): ReadonlySet<string | undefined> => {
    const remembered: Remembered = {
      objects: [{ id: ends.rule, key: ends.rule, uid: 'the id of g', resource }],
      edges: after.edges,
      written: new Map(),
      attached: [ends],
      begun: [{ keys: new Set([ends.rule]), done: new Map(done.map((key) => [key, []])), edges: after.edges }],
    };
    const base: BaseState = { commit: 'a'.repeat(40), desired: before, removedIn: new Map() };
    const { value } = runReconcile({ desired: after, live: liveAs(before), base, remembered });
    const fields = value?.changes.flatMap((change) => change.fields) ?? [];
    return new Set([...fields, ...(value?.edges ?? [])].map(({ origin }) => origin));
  };
  expect([...originsWith([ends.rule])]).toEqual(['drift']);
  expect([...originsWith([])]).toEqual([undefined, 'intent']);
});

test.each([
  ['that object', ['update', '/description drift']],
  ['nothing', ['create', 'attach drift']],
  ['another object', ['update', '/description undefined']],
])('of an object that an apply has created again after another one had deleted it, %s is live', (found, expected) => {
  const desired = attachedTo(['db']);
  const key = 'GuardrailRule/g';
  const state = liveAs(desired);
  const isFound = { 'that object': true, nothing: false, 'another object': true }[found];
  const uid = found === 'another object' ? 'a third id' : (state.resources.find(({ id }) => id === key)?.uid ?? '');
  const resources = state.resources.flatMap((one) =>
    one.id !== key ? [one] : isFound ? [{ ...one, spec: { ...one.spec, description: 'changed' } }] : [],
  );
  const pending = [
    { commit: 'deletes', objects: [{ id: key, uid: 'the first id', ours: false }], edges: [] },
    { commit: 'creates', objects: [{ id: key, uid, ours: true }], edges: [{ rule: key, connection: 'Connection/db' }] },
  ] as const;
  const states = new Map([
    ['deletes', desiredState([connectionManifest('db')])],
    ['creates', desired],
  ]);
  const remembered = recallObjects({ ...emptyRecord, pending }, states);
  const base: BaseState = { commit: 'a'.repeat(40), desired, removedIn: new Map() };
  const { value } = runReconcile({ desired, live: { ...state, resources }, base, remembered });
  const changes = (value?.changes ?? []).flatMap(({ action, fields }) => [
    action,
    ...fields.map(({ path, origin }) => `${path} ${origin}`),
  ]);
  const edges = (value?.edges ?? []).map(({ action, origin }) => `${action} ${origin}`);
  expect([...changes, ...edges, ...(value?.unmanaged ?? [])]).toEqual(expected);
});

function namedRule(rule: string, renamedFrom?: string): DesiredState {
  const { metadata, ...manifest } = guardrailManifest(rule, [], { description: 'the rule' });
  return desiredState([{ ...manifest, metadata: { ...metadata, ...(renamedFrom === undefined ? {} : { renamedFrom }) } }]);
}

test.each([
  ['continues', 'third', 'second', []],
  ['is reverted', 'first', undefined, ['rename GuardrailRule/first']],
])(
  'an object that two incomplete applies have renamed one after the other is the same object when that %s',
  (_, name, former, expected) => {
    const [first, second, third] = [namedRule('first'), namedRule('second', 'first'), namedRule('third', 'second')];
    const live = liveAs(namedRule('third'));
    const uid = live.resources[0]?.uid ?? '';
    const pending = [
      { commit: 'one', objects: [{ id: 'GuardrailRule/second', uid, ours: true }], edges: [] },
      { commit: 'two', objects: [{ id: 'GuardrailRule/third', uid, ours: true }], edges: [] },
    ] as const;
    const states = new Map([
      ['one', second],
      ['two', third],
    ]);
    const remembered = recallObjects({ ...emptyRecord, pending }, states);
    const base: BaseState = { commit: 'a'.repeat(40), desired: first, removedIn: new Map() };
    const { value } = runReconcile({ desired: namedRule(name, former), live, base, remembered });
    expect(value?.changes.map(({ action, id }) => `${action} ${id}`)).toEqual(expected);
    expect([value?.accepted, value?.orphans, value?.unmanaged]).toEqual([[], [], []]);
  },
);
