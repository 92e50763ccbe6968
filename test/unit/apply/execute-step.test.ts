import { rescheduleSteps } from '../../../src/reconcile/reconcile.ts';
import { describe, expect, it } from 'vitest';
import { apply } from '../../../src/apply/apply.ts';
import { registry } from '../../../src/kinds/index.ts';
import type { LiveResource } from '../../../src/model/live.ts';
import { desiredState } from '../../support/desired-state.ts';
import { memoryGateway, type MemoryGateway } from '../../support/memory-gateway.ts';
import type { MemoryResource } from '../../support/memory-store.ts';
import { planAgainst } from '../../support/run-pipeline.ts';
import type { Manifest } from '../../support/scenario.ts';
import {
  connection,
  db,
  guardrail,
  liveDb,
  liveRule,
  mask,
  masking,
  password,
  plain,
  rule,
  run,
  withSecret,
  words,
  type Run,
} from './apply-fixtures.ts';

function omitSecrets(live: LiveResource): LiveResource {
  return { ...live, secrets: {}, leftOut: Object.keys(live.secrets) };
}

/** Lists objects as a gateway does whose lists omit secrets. */
function withoutListedSecrets(gateway: MemoryGateway): Partial<MemoryGateway> {
  return {
    readAll: async (kinds) => {
      const { value, diagnostics } = await gateway.readAll(kinds);
      return value === undefined ? { diagnostics } : { value: { ...value, resources: value.resources.map(omitSecrets) }, diagnostics };
    },
  };
}

describe('an object that changed since the plan', () => {
  it.each<[string, Run, readonly string[]]>([
    ['has vanished', { manifests: [connection], live: [liveDb], meanwhile: (gateway) => gateway.drop(db) }, [`${db} failed apply/gone`]],
    [
      'is managed by now',
      { manifests: [connection], live: [liveDb], meanwhile: (gateway) => gateway.put({ ...liveDb, managedBy: 'platform' }) },
      [`${db} failed plan/managed`],
    ],
    [
      'has moved',
      {
        manifests: [guardrail, connection],
        live: [liveDb, liveRule],
        meanwhile: (gateway) => gateway.put({ ...liveRule, spec: { description: 'theirs' } }),
      },
      [`${db} done`, `${rule} failed apply/moved`],
    ],
    [
      'is there already',
      { manifests: [connection], live: [liveDb], meanwhile: (gateway) => gateway.put({ id: db, spec: connection.spec }) },
      [`${db} already`],
    ],
    [
      'was changed elsewhere',
      {
        manifests: [connection],
        live: [liveDb],
        meanwhile: (gateway) => gateway.put({ id: db, spec: { ...plain, force_approve_groups: ['x'] } }),
      },
      [`${db} done`],
    ],
  ])('%s', async (_, given, expected) => {
    expect(words(await run(given))).toEqual(expected);
  });

  it('reports the field, and does not write the object', async () => {
    const ran = await run({
      manifests: [guardrail],
      live: [liveDb, liveRule],
      meanwhile: (gateway) => gateway.put({ ...liveRule, spec: { description: 'theirs' } }),
    });
    expect(ran.outcomes[0]).toMatchObject({ message: expect.stringContaining('/description'), hint: 'plan again' });
    expect(ran.gateway.writes).toEqual([]);
  });
});

describe('a deletion of an object that changed since the plan', () => {
  const removed: Manifest = { ...guardrail, spec: { description: 'why' } };
  const live: MemoryResource = { id: rule, spec: { description: 'why' } };

  it.each<[string, MemoryResource, string]>([
    ['did not change', live, 'done'],
    ['is managed by now', { ...live, managedBy: 'platform' }, 'failed plan/managed'],
    ['has another value', { ...live, spec: { description: 'theirs' } }, 'failed apply/moved'],
  ])('%s', async (_, now, expected) => {
    const ran = await run({
      manifests: [connection],
      before: [connection, removed],
      live: [{ ...liveDb, spec: connection.spec }, live],
      meanwhile: (gateway) => gateway.put(now),
    });
    expect(words(ran)).toEqual([`${rule} ${expected}`]);
    expect(ran.gateway.writes).toHaveLength(expected === 'done' ? 1 : 0);
  });
});

describe('a create that meets an object', () => {
  const made: MemoryResource = { id: db, spec: connection.spec };

  it.each<[string, readonly Manifest[], MemoryResource, string]>([
    ['as it would make it', [connection], made, 'already'],
    ['with the same secret', [withSecret], { ...made, secrets: password }, 'already'],
    ['with another secret', [withSecret], { ...made, secrets: { '/secret/envvar:PASS': 'b3RoZXI=' } }, 'failed apply/moved'],
    ['with a secret more', [connection], { ...made, secrets: password }, 'failed apply/moved'],
    ['that differs', [connection], liveDb, 'failed apply/moved'],
    ['that has more', [connection], { ...made, spec: { ...connection.spec, force_approve_groups: ['x'] } }, 'failed apply/moved'],
    ['that is managed', [connection], { ...made, managedBy: 'platform' }, 'failed plan/managed'],
  ])('%s', async (_, manifests, there, expected) => {
    const ran = await run({ manifests, meanwhile: (gateway) => gateway.put(there) });
    expect(words(ran)).toEqual([`${db} ${expected}`]);
    expect(ran.gateway.writes).toEqual([]);
  });

  it('stops where the token cannot read whether its secrets are the same', async () => {
    const there: MemoryResource = { ...made, secrets: { '/secret/envvar:PASS': 'b3RoZXI=' } };
    const ran = await run({ manifests: [withSecret], options: { secrets: 'hidden' }, meanwhile: (gateway) => gateway.put(there) });
    expect(words(ran)).toEqual([`${db} failed apply/moved`]);
    expect(ran.outcomes[0]?.message).toContain('its secrets cannot be compared: /secret/envvar:PASS');
    expect(ran.gateway.writes).toEqual([]);
  });

  it('reads the existing object, if lists omit its secrets, before it compares them', async () => {
    const there: MemoryResource = { ...made, secrets: password };
    const ran = await run({ manifests: [withSecret], meanwhile: (gateway) => gateway.put(there), wrap: withoutListedSecrets });
    expect(words(ran)).toEqual([`${db} already`]);
    expect(ran.gateway.requests.some(({ method, id }) => method === 'GET' && id === db)).toBe(true);
    expect(ran.gateway.writes).toEqual([]);
  });

  it('continues with a connection that an earlier run created closed', async () => {
    const closed: MemoryResource = { id: db, spec: { ...connection.spec, access_mode_connect: 'disabled' } };
    const ran = await run({ manifests: [connection, masking], meanwhile: (gateway) => gateway.put(closed) });
    expect(words(ran)).toEqual([`${db} done`, `${mask} done`]);
    expect(ran.gateway.writes.map(({ method, id }) => `${method} ${id}`)).toEqual([`POST ${mask}`, `PUT ${db}`]);
    expect(ran.gateway.state()[db]?.spec).toMatchObject({ access_mode_connect: 'enabled' });
  });

  it('reads the existing object first, and creates it if it is missing', async () => {
    const gateway = memoryGateway({ registry, agents: ['default'] });
    const desired = desiredState([connection]);
    const { plan } = await planAgainst(gateway, desired);
    const input = {
      plan,
      gateway,
      registry,
      secretOf: () => undefined,
      concurrency: 1,
      signal: new AbortController().signal,
      observe: () => undefined,
    };
    gateway.put(made);
    const { live } = await planAgainst(gateway, desired);
    expect((await apply({ ...input, live, steps: rescheduleSteps(plan, live, registry) })).outcomes).toMatchObject([{ status: 'already' }]);
    expect(gateway.requests.some(({ method }) => method === 'POST')).toBe(false);
    gateway.drop(db);
    expect((await apply({ ...input, live, steps: rescheduleSteps(plan, live, registry) })).outcomes).toMatchObject([{ status: 'done' }]);
  });

  it('fails with the refusal if the object cannot be found', async () => {
    const unseen = { value: { resources: [], lookups: {} }, diagnostics: [] };
    for (const answer of [unseen, { diagnostics: [] }]) {
      const ran = await run({
        manifests: [connection],
        meanwhile: (gateway) => gateway.put(made),
        wrap: () => ({ readAll: async () => answer }),
      });
      expect(words(ran)).toEqual([`${db} failed api/conflict`]);
    }
  });
});

describe('a write between the read and the write', () => {
  let there: MemoryGateway | undefined;

  it.each([
    [2, 'done'],
    [3, 'failed api/moved'],
  ])('is looked at again: %i of them', async (times, expected) => {
    let moved = 0;
    const ran = await run({
      manifests: [connection],
      live: [liveDb],
      options: {
        onWrite({ method }) {
          if (method !== 'PUT' || moved === times) return;
          moved += 1;
          there?.put({ ...liveDb, spec: { ...plain, force_approve_groups: [`${moved}`] } });
        },
      },
      meanwhile: (gateway) => {
        there = gateway;
      },
    });
    expect(words(ran)).toEqual([`${db} ${expected}`]);
  });
});
