import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { LiveState } from '../../../../src/model/live.ts';
import { highestPlanRisk, type Plan } from '../../../../src/model/plan/plan.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { connectionManifest, liveAs } from '../../../support/risks.ts';
import { runReconcile } from '../../../support/run-pipeline.ts';
import type { Manifest } from '../../../support/scenario.ts';

const fields = { reviewers: ['dba'], command: ['psql'], access_max_duration: 600 };

function connection(secret: JsonObject | undefined, metadata: JsonObject = {}, more: JsonObject = {}): Manifest {
  return connectionManifest('db', { ...fields, ...(secret === undefined ? {} : { secret }), ...more }, metadata);
}

const pass = { 'envvar:PASS': { value: 'x' } };
const before = connection({ 'envvar:HOST': { value: 'good' }, ...pass });

/** Pull requests that leave the host to the gateway. */
const leaving: Readonly<Record<string, Manifest>> = {
  'keeps it': connection({ 'envvar:HOST': { keep: true }, ...pass }),
  'states no secrets': connection(undefined),
  'ignores it': connection({ 'envvar:HOST': { value: 'good' }, ...pass }, { ignore: ['/secret/envvar:HOST'] }),
  'ignores it, and states another': connection({ 'envvar:HOST': { value: 'better' }, ...pass }, { ignore: ['/secret/envvar:HOST'] }),
  'ignores all secrets': connection({ 'envvar:HOST': { value: 'good' }, ...pass }, { ignore: ['/secret'] }),
};

type Sides = { readonly base: Manifest; readonly live: LiveState; readonly head: Manifest };

function planOf({ base, live, head }: Sides): Plan {
  const applied = { commit: 'a'.repeat(40), desired: desiredState([base]), removedIn: new Map() };
  const { value, diagnostics } = runReconcile({ desired: desiredState([head]), live, base: applied });
  if (value === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return value;
}

function liveWith(manifest: Manifest): LiveState {
  return liveAs(desiredState([manifest]));
}

/** Hides the values of secrets, as from a token that may not read them. */
function hideSecrets(live: LiveState): LiveState {
  return { ...live, resources: live.resources.map((one) => ({ ...one, secrets: {}, unknown: ['/secret'] })) };
}

const moved = liveWith(connection({ 'envvar:HOST': { value: 'evil' }, ...pass }));

describe('a host that was moved outside Ostiary, and that the pull request leaves to the gateway', () => {
  it.each(Object.entries(leaving))('is accepted drift that redirects the password: it %s', (_, head) => {
    const plan = planOf({ base: before, live: moved, head });
    expect(plan.accepted.map(({ id, fields: changed }) => [id, changed.map(({ path }) => path)])).toEqual([
      ['Connection/db', ['/secret/envvar:HOST']],
    ]);
    expect(highestPlanRisk(plan)).toBe('reroutes');
    expect(plan.changes).toEqual([]);
  });

  it.each(Object.entries(leaving))('is unknown to a token that may not read it: it %s', (_, head) => {
    const plan = planOf({ base: before, live: hideSecrets(moved), head });
    expect([plan.accepted, highestPlanRisk(plan)]).toEqual([[], 'unknown']);
    expect(plan.unwrittenSecrets.length).toBeGreaterThan(0);
  });
});

it.each(Object.entries(leaving))('a host that stayed the same is named, and no risk: the pull request %s', (_, head) => {
  const plan = planOf({ base: before, live: liveWith(before), head });
  expect([plan.accepted, highestPlanRisk(plan)]).toEqual([[], undefined]);
  expect(plan.unwrittenSecrets.map(({ path }) => path)).toContain('/secret/envvar:HOST');
});

it('a command that was changed outside and is ignored now redirects the password', () => {
  const live = liveWith(connection({ 'envvar:HOST': { value: 'good' }, ...pass }, {}, { command: ['sh'] }));
  const head = connection({ 'envvar:HOST': { value: 'good' }, ...pass }, { ignore: ['/command'] });
  const plan = planOf({ base: before, live, head });
  expect([plan.accepted.length, highestPlanRisk(plan)]).toEqual([1, 'reroutes']);
});

it.each<[string, Manifest]>([
  ['ignores tags', connection({ 'envvar:HOST': { value: 'good' }, ...pass }, { ignore: ['/connection_tags'] })],
  ['may be deleted', connection({ 'envvar:HOST': { value: 'good' }, ...pass }, { protect: true })],
])('a manifest that %s is counted although nothing is written', (_, head) => {
  const plan = planOf({ base: before, live: liveWith(before), head });
  expect(plan.unwritten).toEqual([{ id: 'Connection/db', risks: [] }]);
  expect(plan.changes).toEqual([]);
});
