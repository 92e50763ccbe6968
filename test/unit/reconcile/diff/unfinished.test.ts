import { expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import { defaultLimits } from '../../../../src/model/config.ts';
import type { LiveResource, LiveState } from '../../../../src/model/live.ts';
import type { Plan } from '../../../../src/model/plan/plan.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { applyRecorded, type History, planHistory } from '../../../support/history.ts';
import { memoryGateway } from '../../../support/memory-gateway.ts';
import { applyPlan, planAgainst, runReconcile } from '../../../support/run-pipeline.ts';
import type { Manifest } from '../../../support/scenario.ts';

const names = Array.from({ length: 12 }, (_, index) => `c${index}`);
const open = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'disabled', access_schema: 'enabled' };
const masked = { supported_entity_types: [{ name: 'CONTACT', entity_types: ['PERSON'] }] };
const manifests: readonly Manifest[] = [
  ...names.map((name) => ({ kind: 'Connection', metadata: { name }, spec: { type: 'custom', agent_id: 'default', ...open } })),
  { kind: 'DataMaskingRule', metadata: { name: 'mask' }, spec: { ...masked, connection_ids: names } },
];
const desired = desiredState(manifests);

/** The state after an apply that crashed before it opened a connection. */
async function diedBeforeOpening(): Promise<LiveState> {
  const gateway = memoryGateway({ registry, agents: ['default'] });
  const { plan: first, live } = await planAgainst(gateway, desired);
  gateway.setFault(({ method }) => (method === 'PUT' ? 'before' : undefined));
  await applyPlan({ gateway, plan: first, live, desired });
  const { value } = await gateway.readAll([...registry.keys()]);
  if (value === undefined) throw new Error('incomplete listing');
  return value;
}

function planOver(live: LiveState, change: (resource: LiveResource) => LiveResource): Plan {
  const resources = live.resources.map(change);
  const checked = runReconcile({ desired, live: { ...live, resources }, limits: defaultLimits });
  if (checked.value === undefined) throw new Error('there is no plan');
  return checked.value;
}

test('connections that an apply created closed and never opened are unfinished, and no limit stops their opening', async () => {
  const live = await diedBeforeOpening();
  const result = planOver(live, (resource) => ({ ...resource, untouched: true }));
  expect(result.changes.filter((change) => change.unfinished === true)).toHaveLength(12);
  expect(result.refusals).toEqual([]);
});

test('connections that a user closed are not unfinished', async () => {
  const live = await diedBeforeOpening();
  const result = planOver(live, (resource) => resource);
  expect(result.changes.filter((change) => change.unfinished !== true)).toHaveLength(12);
  expect(result.refusals.map((refusal) => refusal.code)).toEqual(['plan/too-many-updates', 'plan/too-many-lose-protection']);
});

test('a connection with other differences is not unfinished', async () => {
  const live = await diedBeforeOpening();
  const result = planOver(live, (resource) => ({ ...resource, untouched: true, spec: { ...resource.spec, type: 'database' } }));
  expect(result.changes.filter((change) => change.unfinished === true)).toEqual([]);
});

function connectionWith(access: string): Manifest {
  const both = { access_mode_connect: access, access_mode_exec: access };
  return { kind: 'Connection', metadata: { name: 'one' }, spec: { type: 'custom', agent_id: 'default', ...open, ...both } };
}

test.each([
  ['closed, so that opening it is a change of the manifests', 'disabled', undefined, ['1 connection enables native access and exec']],
  ['open, so that opening it finishes an apply', 'enabled', true, []],
] as const)('a connection without a write since its creation was meant to be %s', async (_, mode, unfinished, lost) => {
  const gateway = memoryGateway({ registry, reportsUntouched: true, agents: ['default'] });
  const closed = desiredState([connectionWith('disabled')]);
  await applyPlan({ gateway, ...(await planAgainst(gateway, closed)), desired: closed });
  const base = { commit: 'a'.repeat(40), desired: desiredState([connectionWith(mode)]), removedIn: new Map() };
  const history = { desired: desiredState([connectionWith('enabled')]), base, consent: { imports: [], revert: [], prune: false } };
  const { plan: result } = await planHistory(gateway, history);
  expect(result.changes.map((change) => change.unfinished)).toEqual([unfinished]);
  expect(result.protection.headlines.filter(({ direction }) => direction === 'weakens').map(({ text }) => text)).toEqual(lost);
});

const modes = ['access_mode_connect', 'access_mode_exec', 'access_mode_runbooks'] as const;
const spec = { type: 'custom', agent_id: 'default', ...open };
const applied = desiredState([{ kind: 'Connection', metadata: { name: 'former' }, spec }]);
const past: Pick<History, 'desired' | 'base' | 'consent'> = {
  desired: desiredState([
    { kind: 'Connection', metadata: { name: 'successor', replaces: 'former' }, spec },
    { kind: 'DataMaskingRule', metadata: { name: 'mask' }, spec: { ...masked, connection_ids: ['successor'] } },
  ]),
  base: { commit: 'a'.repeat(40), desired: applied, removedIn: new Map() },
  consent: { imports: [], revert: [], prune: false },
};

test.each([
  ['opened', {}, ['enabled', 'enabled', 'disabled']],
  ['closed where the former one was closed by hand', { access_mode_exec: 'disabled' }, ['enabled', 'disabled', 'disabled']],
])('what takes a place and was not opened by an apply that died is, in the next one, %s', async (_, byHand, expected) => {
  const gateway = memoryGateway({ registry, agents: ['default'], resources: [{ id: 'Connection/former', spec: { ...spec, ...byHand } }] });
  gateway.setFault(({ method }) => (method === 'PUT' ? 'before' : undefined));
  const interrupted = { ...past, remembered: await applyRecorded(gateway, await planHistory(gateway, past), past) };
  expect(modes.map((mode) => gateway.state()['Connection/successor']?.spec?.[mode])).toEqual(['disabled', 'disabled', 'disabled']);
  gateway.setFault(undefined);
  const second = await planHistory(gateway, interrupted);
  expect(second.plan.changes.find(({ id }) => id === 'Connection/successor')?.unfinished).toBe(true);
  await applyPlan({ gateway, ...second });
  expect(modes.map((mode) => gateway.state()['Connection/successor']?.spec?.[mode])).toEqual(expected);
  expect(modes.map((mode) => gateway.state()['Connection/former']?.spec?.[mode])).toEqual(['disabled', 'disabled', 'disabled']);
  expect((await planHistory(gateway, interrupted)).plan.changes.filter(({ action }) => action !== 'held')).toEqual([]);
});

test.each([
  ['closed', false],
  ['deleted', true],
])('a connection closed by its manifest and by a user on its predecessor stays closed, with the predecessor %s', async (_, prune) => {
  const gateway = memoryGateway({
    registry,
    reportsUntouched: true,
    agents: ['default'],
    resources: [{ id: 'Connection/former', spec: { ...spec, access_mode_connect: 'disabled' } }],
  });
  const successor = {
    kind: 'Connection',
    metadata: { name: 'successor', replaces: 'former' },
    spec: { ...spec, access_mode_exec: 'disabled' },
  };
  const replaced = { ...past, desired: desiredState([successor]), consent: { ...past.consent, prune } };
  const remembered = await applyRecorded(gateway, await planHistory(gateway, replaced), replaced);
  expect(Object.keys(gateway.state()).includes('Connection/former')).toBe(!prune);
  for (const base of [past.base, { ...past.base, desired: replaced.desired }]) {
    const { changes } = (await planHistory(gateway, { ...replaced, base, remembered })).plan;
    expect(changes.map(({ id, action }) => [id, action])).toEqual([['Connection/successor', 'held']]);
  }
});

test('a connection that a user closed after a replacement stays closed', async () => {
  const gateway = memoryGateway({ registry, agents: ['default'], resources: [{ id: 'Connection/former', spec }] });
  const remembered = await applyRecorded(gateway, await planHistory(gateway, past), past);
  const closed = Object.fromEntries(modes.map((mode) => [mode, 'disabled']));
  gateway.put({ id: 'Connection/successor', spec: { ...spec, ...closed } });
  const { changes } = (await planHistory(gateway, { ...past, remembered })).plan;
  expect(changes.map(({ id, action }) => [id, action])).toEqual([['Connection/successor', 'held']]);
});

test('a removed name with a successor has no second successor', async () => {
  const gateway = memoryGateway({ registry, agents: ['default'], resources: [{ id: 'Connection/former', spec }] });
  const twin = { kind: 'Connection', metadata: { name: 'twin' }, spec };
  const successor = { ...twin, metadata: { name: 'successor', replaces: 'former' } };
  const { plan: planned } = await planHistory(gateway, { ...past, desired: desiredState([successor, twin]) });
  expect(planned.refusals).toEqual([]);
  const { plan: without } = await planHistory(gateway, { ...past, desired: desiredState([twin]) });
  expect(without.refusals.map(({ code }) => code)).toEqual(['plan/immutable-name']);
});

function rule(words: readonly string[]): Manifest {
  const input = { rules: [{ name: 'words', type: 'deny_words_list', words }] };
  return { kind: 'GuardrailRule', metadata: { name: 'rule' }, spec: { input } };
}

test('a duplicate entry of an interrupted apply does not count as a foreign one', async () => {
  const one = { name: 'words', type: 'deny_words_list', pattern_regex: '', message: '' };
  const [before, after] = [
    { ...one, words: ['DROP'] },
    { ...one, words: ['DELETE'] },
  ];
  const live = { id: 'GuardrailRule/rule', spec: { input: { rules: [before, after] } } } as const;
  const gateway = memoryGateway({ registry, resources: [live] });
  const base = { ...past.base, desired: desiredState([rule(['DROP'])]) };
  await applyPlan({ gateway, ...(await planHistory(gateway, { ...past, base, desired: desiredState([rule(['DELETE'])]) })) });
  expect(gateway.state()['GuardrailRule/rule']?.spec?.['input']).toEqual({ rules: [after] });
});
