import { expect, test } from 'vitest';
import { disturbableHoop } from '../support/disturbable-gateways.ts';
import { type DisturbableGateway, interruptedHistory, type InterruptedHistory } from '../support/interrupted-apply.ts';
import type { Succession } from '../support/interrupted-changes.ts';
import { everyNth } from '../support/property-runs.ts';
import type { Manifest } from '../support/scenario.ts';

const open = {
  type: 'database',
  subtype: 'postgres',
  agent_id: 'default',
  access_schema: 'disabled',
  access_mode_connect: 'enabled',
  access_mode_exec: 'enabled',
  access_mode_runbooks: 'enabled',
};

const connection = (name: string, replaces?: string, spec: Manifest['spec'] = {}): Manifest => ({
  kind: 'Connection',
  metadata: { name, ...(replaces === undefined ? {} : { replaces }) },
  spec: { ...open, ...spec },
});

const connections = ['keep-db', 'spare-db', 'two-db'].map((name) => connection(name));

const rule = (name: string, on: string | readonly string[], spec: object = {}, renamedFrom?: string): Manifest => ({
  kind: 'AccessRequestRule',
  metadata: { name, ...(renamedFrom === undefined ? {} : { renamedFrom }) },
  spec: { access_type: 'jit', reviewers_groups: ['dba'], min_approvals: 1, connection_names: [on].flat(), ...spec },
});

/** Runs the work on a gateway to which the first manifests are applied. */
async function onApplied<T>(
  manifests: Succession,
  work: (history: InterruptedHistory, world: DisturbableGateway) => Promise<T>,
): Promise<T> {
  const world = await disturbableHoop();
  try {
    const history = interruptedHistory(world, manifests);
    expect(await history.apply('before')).toEqual([]);
    return await work(history, world);
  } finally {
    await world.close();
  }
}

/** Applies the first manifests, then both sides in turn, of which none leaves anything to do. */
async function expectThereAndBack(
  had: readonly Manifest[],
  has: readonly Manifest[],
  sides: readonly ('before' | 'after')[] = ['after', 'before'],
): Promise<void> {
  await onApplied({ before: [...connections, ...had], after: [...connections, ...has] }, async (history) => {
    expect(await history.rest('before')).toEqual([]);
    for (const side of sides) expect([side, await history.apply(side), await history.rest(side)]).toEqual([side, [], []]);
  });
}

const before = [rule('asks', 'keep-db'), rule('asks-too', 'two-db')];

test.each([
  ['takes what another rule leaves', [rule('new-asks', 'two-db', {}, 'asks'), rule('asks-too', 'spare-db')]],
  ['exchanges its only connection', [rule('new-asks', 'two-db', {}, 'asks'), rule('asks-too', 'keep-db')]],
  ['exchanges it with a renamed one', [rule('new-asks', 'two-db', {}, 'asks'), rule('new-too', 'keep-db', {}, 'asks-too')]],
])('a renamed access-request rule that %s is written under its new name', async (_, after) => {
  await expectThereAndBack(before, after);
});

const pii: Manifest = { kind: 'Attribute', metadata: { name: 'pii' }, spec: {} };
const attributed = (name: string, spec: object): Manifest => rule(name, [], { attributes: ['pii'], ...spec });

const both = { access_type: 'jit_command' };

test.each([
  ['takes both', [rule('asks', 'keep-db'), rule('asks-too', ['new-db', 'two-db'])]],
  ['takes both beside its own', [rule('asks', 'keep-db'), rule('asks-too', ['new-db', 'two-db', 'spare-db'])]],
  ['takes the successor', [rule('asks', 'two-db'), rule('asks-too', ['new-db', 'spare-db'])]],
  ['leaves the successor', [rule('asks', 'new-db'), rule('asks-too', ['two-db', 'spare-db'])]],
  ['takes both from one that is deleted', [rule('asks-too', ['new-db', 'two-db', 'spare-db'])]],
  ['takes one from one that is deleted', [rule('asks-too', ['two-db', 'spare-db']), rule('asks-new', 'new-db')]],
  ['changes its type and leaves one', [rule('asks', 'new-db', { access_type: 'command' }), rule('asks-too', ['two-db', 'spare-db'])]],
  ['changes its type beside', [rule('asks', 'new-db', both), rule('asks-too', ['two-db', 'spare-db'], { access_type: 'command' })]],
])('a connection that is replaced does not keep its rule from letting go of another: a rule %s', async (_, after) => {
  for (const spec of [{}, both]) {
    const governed = [rule('asks', ['old-db', 'two-db'], spec), rule('asks-too', 'spare-db')];
    await expectThereAndBack([connection('old-db'), ...governed], [connection('new-db', 'old-db'), ...after]);
  }
});

test.each([
  ['needs more groups', {}, { reviewers_groups: ['dba', 'sre'], min_approvals: 2 }],
  ['asks other groups', { reviewers_groups: ['dba', 'ops'] }, { reviewers_groups: ['sre'] }],
  ['asks all of other groups', {}, { reviewers_groups: ['ops', 'sre'], min_approvals: null, all_groups_must_approve: true }],
])('a rule whose connection is replaced %s', async (_, had, has) => {
  await expectThereAndBack(
    [connection('old-db'), rule('asks', 'old-db', had)],
    [connection('new-db', 'old-db'), rule('asks', 'new-db', has)],
  );
});

const command = { access_type: 'command' };

const strict = { reviewers_groups: ['dba', 'sre'], min_approvals: 2 };

test.each([
  [
    'of which one is created again',
    [connection('old-db'), rule('asks', ['old-db', 'two-db'], strict), rule('asks-too', 'old-db', command)],
    [connection('new-db', 'old-db'), rule('asks-too', ['two-db', 'new-db'], strict)],
  ],
  [
    'in a circle',
    [connection('old-db'), rule('asks', 'old-db'), rule('asks-too', 'two-db'), rule('third', 'spare-db', command)],
    [connection('new-db', 'old-db'), rule('asks', 'two-db', strict), rule('asks-too', 'spare-db'), rule('third', 'new-db', command)],
  ],
  [
    'in a circle of steps',
    [connection('old-db'), rule('asks', ['old-db', 'two-db']), rule('asks-too', 'old-db', command), rule('third', 'spare-db', both)],
    [
      connection('new-db', 'old-db'),
      rule('asks', 'spare-db', command),
      rule('asks-too', ['new-db', 'two-db']),
      rule('third', 'keep-db', both),
    ],
  ],
  [
    'of which one is deleted and one has an attribute',
    [connection('old-db'), attributed('asks', both), rule('asks-too', ['old-db', 'two-db'])],
    [connection('new-db', 'old-db'), attributed('asks-too', { ...both, connection_names: ['new-db'] })],
  ],
  [
    'of which one has a former name that another one gets',
    [connection('old-db'), rule('asks', ['old-db', 'two-db']), rule('asks-too', 'spare-db', command)],
    [connection('new-db', 'old-db'), rule('new-asks', 'spare-db', command, 'asks'), rule('third', ['new-db', 'two-db'], strict)],
  ],
  [
    'one of which has let go of its attribute',
    [connection('old-db', undefined, { attributes: ['pii'] }), attributed('asks', {}), rule('asks-too', 'old-db', both)],
    [connection('new-db', 'old-db', { attributes: ['pii'] }), rule('asks', 'spare-db', { ...both, ...strict })],
  ],
  [
    'one of which has its attribute until it is deleted',
    [connection('old-db', undefined, { attributes: ['pii'] }), attributed('asks', {})],
    [connection('new-db', 'old-db', { attributes: ['pii'] }), rule('third', 'new-db', strict)],
  ],
  [
    'one of which lets go of both',
    [connection('old-db'), rule('asks', ['old-db', 'two-db'], both)],
    [connection('new-db', 'old-db'), rule('third', ['new-db', 'two-db'], strict)],
  ],
])('rules that exchange steps of a connection that is replaced, %s, are written there and back', async (_, had, has) => {
  await expectThereAndBack([pii, ...had], [pii, ...has], ['after', 'before', 'after']);
});

test.each([
  [
    'a connection',
    [rule('asks', 'two-db'), rule('asks-too', 'two-db', command)],
    [rule('asks', 'two-db', command), rule('asks-too', 'two-db')],
  ],
  [
    'a connection that is replaced',
    [connection('old-db'), rule('asks', 'old-db'), rule('asks-too', 'old-db', command)],
    [connection('new-db', 'old-db'), rule('asks', 'new-db', command), rule('asks-too', 'new-db', { reviewers_groups: ['sre'] })],
  ],
  [
    'a connection that is replaced, of which one leaves it',
    [connection('old-db'), rule('asks', 'old-db'), rule('asks-too', 'old-db', command)],
    [connection('new-db', 'old-db'), rule('asks', 'new-db', { ...both, reviewers_groups: ['sre'] }), rule('asks-too', 'spare-db')],
  ],
  ['attribute', [attributed('asks', {}), attributed('asks-too', command)], [attributed('asks', command), attributed('asks-too', {})]],
])('an apply that is killed while two rules swap the steps of %s blames nobody', async (_, had, has) => {
  const manifests = { before: [...connections, pii, ...had], after: [...connections, pii, ...has] };
  const whole = await onApplied(manifests, async (history, world) => {
    const begun = world.requests();
    expect([await history.apply('after'), await history.rest('after')]).toEqual([[], []]);
    return { requests: world.requests() - begun, state: world.state() };
  });
  const kills = Array.from({ length: whole.requests }, (__, index) => index + 1);
  for (const at of everyNth(kills, 2))
    await onApplied(manifests, async (history, world) => {
      await history.apply('after', { at, when: 'after', how: 'killed' });
      expect([at, await history.findBlame('after'), await history.findBlame('before')]).toEqual([at, [], []]);
      expect([at, await history.apply('after'), world.state()]).toEqual([at, [], whole.state]);
    });
});
