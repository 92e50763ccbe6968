import { describe, expect, it } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import { defaultLimits } from '../../../../src/model/config.ts';
import type { DesiredState } from '../../../../src/model/desired.ts';
import type { Checked } from '../../../../src/model/diagnostic.ts';
import type { Registry } from '../../../../src/model/kind.ts';
import type { LiveState } from '../../../../src/model/live.ts';
import type { Change, Plan } from '../../../../src/model/plan/plan.ts';
import { seal } from '../../../../src/model/secret.ts';
import { fieldOf } from '../../../support/field.ts';
import { desiredOf, edgeOf, fakeKind, liveOf, stateOf, wantedOf } from '../../../support/resources.ts';
import { runReconcile } from '../../../support/run-pipeline.ts';

function checked(desired: DesiredState, live: LiveState, kinds: Registry = registry): Checked<Plan> {
  return runReconcile({ desired, live, limits: defaultLimits, registry: kinds });
}

function planned(desired: DesiredState, live: LiveState, kinds: Registry = registry): Plan {
  const { value } = checked(desired, live, kinds);
  if (value === undefined) throw new Error('no plan');
  return value;
}

function words({ id, action, reasons, needs }: Change): string {
  return [action, id, ...reasons, ...needs.map((need) => `after ${need}`)].join(' ');
}

const [db, rule, mask] = ['Connection/db', 'GuardrailRule/rule', 'DataMaskingRule/mask'] as const;
const described = { spec: { description: 'why' } };
const managed = { managedBy: 'platform' };

describe('a change', () => {
  it.each<[string, DesiredState, LiveState, readonly string[]]>([
    ['is none where nothing differs', wantedOf([desiredOf(rule)]), stateOf(liveOf(rule)), []],
    ['creates', wantedOf([desiredOf(rule)]), stateOf(), [`create ${rule} not-live`]],
    ['updates', wantedOf([desiredOf(rule, described)]), stateOf(liveOf(rule)), [`update ${rule} differs`]],
    [
      'writes an edge only',
      wantedOf([desiredOf(rule)], [edgeOf(rule, db)]),
      stateOf(liveOf(rule), liveOf(db)),
      [`update ${rule} edge/attach`],
    ],
    [
      'writes both kinds of edges',
      wantedOf([desiredOf(rule), desiredOf(db)], [edgeOf(rule, 'Connection/other')]),
      stateOf(liveOf(rule, { edges: { connection_ids: [db] } }), liveOf(db), liveOf('Connection/other')),
      [`update ${rule} edge/attach edge/detach`],
    ],
    [
      'comes after what it needs',
      wantedOf([desiredOf(db), desiredOf(rule), desiredOf(mask)], [edgeOf(rule, db), edgeOf(mask, db)]),
      stateOf(),
      [`create ${rule} not-live`, `create ${db} not-live edge/attach after ${rule}`, `create ${mask} not-live edge/attach after ${db}`],
    ],
    [
      'is blocked by a manager',
      wantedOf([desiredOf(rule, described)]),
      stateOf(liveOf(rule, managed)),
      [`blocked ${rule} differs managed`],
    ],
    [
      'is none of what is managed, ignored in part and as it should be',
      wantedOf([desiredOf(rule, { ignore: ['/description'] })]),
      stateOf(liveOf(rule, managed)),
      [],
    ],
    ['is none of what is managed and as it should be', wantedOf([desiredOf(rule)]), stateOf(liveOf(rule, managed)), []],
    [
      'is blocked for an edge alone',
      wantedOf([desiredOf(db)], [edgeOf(rule, db, db)]),
      stateOf(liveOf(db, managed), liveOf(rule)),
      [`blocked ${db} edge/blocked managed`],
    ],
    [
      'is none of an end that could be written',
      wantedOf([desiredOf(rule)], [edgeOf(rule, db)]),
      stateOf(liveOf(db, managed), liveOf(rule)),
      [],
    ],
    [
      'needs no one where it is blocked',
      wantedOf([desiredOf(db), desiredOf(mask, described)], [edgeOf(mask, db)]),
      stateOf(liveOf(mask, managed)),
      [`create ${db} not-live`, `blocked ${mask} differs edge/blocked managed`],
    ],
  ])('%s', (_, desired, live, expected) => {
    expect(planned(desired, live).changes.map(words).toSorted()).toEqual(expected.toSorted());
  });
});

describe('a plan', () => {
  it('counts unchanged objects, lists unmanaged ones, and matches repositories by their address', () => {
    const books = desiredOf('RunbookConfiguration/books', { key: 'RunbookConfiguration/host/books' });
    const desired = wantedOf([desiredOf(rule), books], [], ['RunbookConfiguration/host/reports', db]);
    const live = stateOf(
      liveOf(rule),
      liveOf(books.key),
      liveOf('RunbookConfiguration/host/reports'),
      liveOf(db),
      liveOf(mask, managed),
      liveOf('Connection/old'),
    );
    expect(planned(desired, live)).toMatchObject({
      changes: [],
      unchanged: 2,
      unmanaged: ['Connection/old', mask],
      orphans: [],
      seals: { tree: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
  });

  it('measures limits against all managed live objects, selected or not', () => {
    const ids = Array.from({ length: 10 }, (_, index) => `GuardrailRule/${index}` as const);
    const four = ids.slice(0, 4).map((id) => desiredOf(id, described));
    const live = stateOf(...ids.map((id) => liveOf(id)));
    expect(planned(wantedOf(four), live).refusals).toEqual([]);
    expect(planned(wantedOf(four, [], ids.slice(4)), live).refusals).toMatchObject([{ code: 'plan/too-many-updates' }]);
    expect(planned(wantedOf(four, [], [...ids.slice(4), 'GuardrailRule/new']), stateOf(...live.resources.slice(1))).refusals).toEqual([]);
  });

  it('does not depend on the order of its input', () => {
    const resources = [
      desiredOf(db, { secrets: { '/secret/envvar:A': seal('inline', 'YQ==') } }),
      desiredOf(rule, { ...described, secrets: { '/x': seal('inline', 'YQ==') } }),
      desiredOf(mask, described),
    ];
    const edges = [edgeOf(rule, db), edgeOf(mask, db), edgeOf(rule, 'Connection/other')];
    const live = [liveOf(rule), liveOf(mask), liveOf('Connection/other'), liveOf('Connection/old')];
    const one = planned(wantedOf(resources, edges), stateOf(...live));
    expect(planned(wantedOf(resources.toReversed(), edges.toReversed()), stateOf(...live.toReversed()))).toEqual(one);
  });

  it('does not exist with errors; all of them are reported with positions', () => {
    const desired = wantedOf([desiredOf(db, { spec: { agent_id: 'none' } }), desiredOf(rule)], [edgeOf(rule, 'Connection/none')]);
    const { value, diagnostics } = checked(desired, stateOf());
    expect(value).toBeUndefined();
    expect(diagnostics.map(({ at }) => at?.file)).toEqual(['access/agent_id', 'access/connection_ids/none']);
  });

  it('exists with a warning', () => {
    const { value, diagnostics } = checked(wantedOf([desiredOf(db)], [edgeOf(mask, db)], [mask]), stateOf(liveOf(db), liveOf(mask)));
    expect(value?.changes).toEqual([]);
    expect(diagnostics.map(({ severity }) => severity)).toEqual(['warning']);
  });

  it('lists live protections that no manifest states', () => {
    const fields = [
      fieldOf('approvals', { shape: 'scalar' }, { omitted: 'kept', protects: 'higher' }),
      fieldOf('attributes', { shape: 'set' }, { omitted: 'kept', protects: 'entries' }),
      fieldOf('label', { shape: 'scalar' }, { omitted: 'kept' }),
      fieldOf('reviewers', { shape: 'set' }, { protects: 'entries' }),
    ];
    const kinds: Registry = new Map([['Thing', fakeKind('Thing', fields)]]);
    const live = stateOf(
      liveOf('Thing/a', { spec: { approvals: 2, attributes: [], label: 'x' } }),
      liveOf('Thing/b', { spec: { approvals: 2 } }),
      liveOf('Thing/c'),
    );
    const desired = wantedOf([
      desiredOf('Thing/a'),
      desiredOf('Thing/b', { spec: { approvals: 2 } }),
      desiredOf('Thing/c'),
      desiredOf('Thing/d'),
    ]);
    expect(planned(desired, live, kinds).unwatched).toEqual([{ id: 'Thing/a', path: '/approvals' }]);
  });

  it('never contains an unknown kind', () => {
    expect(() => checked(wantedOf([desiredOf('Other/x')]), stateOf())).toThrow('Other/x has an unknown kind');
  });
});
