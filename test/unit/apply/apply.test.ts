import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/model/errors.ts';
import type { MemoryRequest } from '../../support/memory-gateway.ts';
import type { Manifest } from '../../support/scenario.ts';
import {
  connection,
  db,
  failing,
  guardrail,
  liveDb,
  liveRule,
  mask,
  masking,
  password,
  rule,
  run,
  withSecret,
  words,
  type ApplyRun,
  type Run,
} from './apply-fixtures.ts';

function refuse({ method, id }: MemoryRequest): 'before' | undefined {
  return method === 'POST' && id === rule ? 'before' : undefined;
}

const closed: Manifest = { ...connection, spec: { ...connection.spec, access_mode_connect: 'disabled' } };
const other = 'GuardrailRule/second';
const described: Manifest = { ...guardrail, spec: { description: 'why' } };
const twoUpdates: Run = {
  manifests: [described, { ...described, metadata: { name: 'second' } }],
  live: [liveRule, { ...liveRule, id: other }],
};

/** The reads and writes of one object, in the order in which they began. */
function singleRequests({ gateway }: ApplyRun): readonly string[] {
  return gateway.requests.flatMap(({ method, id }) => (id === undefined ? [] : `${method} ${id}`));
}

describe('a write that fails', () => {
  it('skips only its dependents, and states why', async () => {
    const unrelated: Manifest = { kind: 'DataMaskingRule', metadata: { name: 'mask' }, spec: {} };
    const ran = await run({ manifests: [connection, guardrail, unrelated], options: { fault: refuse } });
    expect(words(ran)).toEqual([`${mask} done`, `${rule} failed api/server-error`, `${db} skipped apply/need-failed`]);
    expect(ran.outcomes[2]?.message).toMatch(/^it depends on GuardrailRule\/rule: POST .* the fault of a test$/);
    expect(ran.journal.filter(({ event }) => event === 'failed' || event === 'skipped')).toMatchObject([
      { event: 'failed', id: rule },
      { event: 'skipped', id: db },
    ]);
  });

  it('is the reason of all that wait for it, one after the other', async () => {
    const successor = { ...connection, metadata: { name: 'successor', replaces: 'db' } };
    const guarding = { ...guardrail, spec: { ...guardrail.spec, connection_ids: ['successor'] } };
    const ran = await run({ before: [connection], live: [liveDb], manifests: [successor, guarding], options: { fault: refuse } });
    expect(words(ran).slice(1)).toEqual(['Connection/successor skipped apply/need-failed', `${db} skipped apply/need-failed`]);
    for (const { message } of ran.outcomes.slice(1)) expect(message).toMatch(/^it depends on GuardrailRule\/rule: POST /);
  });

  it.each<[string, () => AppError, readonly string[]]>([
    [
      'ends the run if the gateway is lost',
      () => failing('api/unreachable'),
      [`${rule} failed api/unreachable`, `${db} skipped apply/gateway-lost`],
    ],
    [
      'ends the run if the token is rejected',
      () => failing('api/unauthorized'),
      [`${rule} failed api/unauthorized`, `${db} skipped apply/gateway-lost`],
    ],
    ['lets others go on where it is refused', () => failing('api/refused'), [`${rule} failed api/refused`, `${db} done`]],
    [
      'is reported with its own code',
      () => new AppError('plan/would-lose-secret', 6, 'it would be lost'),
      [`${rule} failed plan/would-lose-secret`, `${db} done`],
    ],
  ])('%s', async (_, error, expected) => {
    const ran = await run({
      before: [closed],
      manifests: [{ ...guardrail, spec: { description: 'why' } }],
      live: [{ ...liveDb, spec: closed.spec }, liveRule],
      wrap: (gateway) => ({ update: (fresh, request) => (request.id === rule ? Promise.reject(error()) : gateway.update(fresh, request)) }),
    });
    expect(words(ran).toSorted()).toEqual(expected.toSorted());
  });

  it('ends the run after three in a row for which the gateway was unavailable, as with a full database', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const manifests = names.map((name) => ({ ...guardrail, metadata: { name }, spec: {} }));
    const without = async (failed: string): Promise<string> => {
      const ran = await run({
        manifests,
        concurrency: 1,
        wrap: (gateway) => ({
          create: (request) =>
            failed.includes(request.id.slice(-1)) ? Promise.reject(failing('api/server-error', 503)) : gateway.create(request),
        }),
      });
      return ran.outcomes.map(({ status, code }) => code ?? status).join(' ');
    };
    const failure = 'api/server-error';
    expect(await without('abdef')).toBe(`${failure} ${failure} done ${failure} ${failure} ${failure}`);
    // One more may be on its way.
    expect(await without('abcde')).toMatch(/^(?:api\/server-error ){3,4}(?:apply\/gateway-lost ?){2,3}$/);
  });

  it('throws a programming error', async () => {
    await expect(
      run({ manifests: [connection], live: [liveDb], wrap: () => ({ readOne: () => Promise.reject(new Error('a bug')) }) }),
    ).rejects.toThrow('a bug');
    await expect(
      run({ manifests: [connection], wrap: () => ({ readAll: () => Promise.reject(new Error('another bug')) }) }),
    ).rejects.toThrow('another bug');
  });
});

describe('an apply', () => {
  it('starts no write after an interrupt, and finishes those in flight', async () => {
    const stop = new AbortController();
    const ran = await run({ manifests: [connection, guardrail], signal: stop.signal, options: { onWrite: () => stop.abort() } });
    expect(words(ran)).toEqual([`${rule} done`, `${db} interrupted apply/interrupted`]);
    expect(ran.interrupted).toBe(true);
  });

  it('writes one object at a time with a concurrency of 1, and reads the next one meanwhile', async () => {
    const ran = await run({ ...twoUpdates, concurrency: 1, options: { onWrite: () => setImmediate() } });
    expect(words(ran)).toEqual([`${rule} done`, `${other} done`]);
    expect(singleRequests(ran)).toEqual([`GET ${rule}`, `GET ${other}`, `PUT ${rule}`, `PUT ${other}`]);
    expect(ran.journal.flatMap(({ event }) => (event === 'write' || event === 'written' ? event : []))).toEqual([
      'write',
      'written',
      'write',
      'written',
    ]);
  });

  it('reads an object again if it waited more than a second for its write, and then finds what changed', async () => {
    let now = 0;
    let change: (() => void) | undefined;
    const ran = await run({
      ...twoUpdates,
      concurrency: 1,
      steady: () => now,
      options: {
        onWrite() {
          change?.();
          now = 1001;
        },
      },
      meanwhile: (gateway) => (change = () => gateway.put({ id: other, spec: { description: 'theirs' } })),
    });
    expect(words(ran)).toEqual([`${rule} done`, `${other} failed apply/moved`]);
    expect(singleRequests(ran)).toEqual([`GET ${rule}`, `GET ${other}`, `PUT ${rule}`, `GET ${other}`]);
  });

  it('writes without another read what a list showed with its version', async () => {
    const ran = await run({ ...twoUpdates, options: { listsVersions: true } });
    expect(words(ran)).toEqual([`${rule} done`, `${other} done`]);
    expect(singleRequests(ran)).toEqual([`PUT ${rule}`, `PUT ${other}`]);
  });

  it.each([
    ['fails where the gateway has another value of the field', { description: 'theirs' }, 'failed apply/moved', []],
    ['carries another field', { output: { rules: [{ type: 'deny_words_list', words: ['x'] }] } }, 'done', [`PUT ${other}`]],
  ] as const)('%s that was written since the list', async (_, spec, status, second) => {
    const ran = await run({
      ...twoUpdates,
      options: { listsVersions: true },
      meanwhile: (gateway) => gateway.put({ id: other, spec }),
    });
    expect(words(ran)).toEqual([`${rule} done`, `${other} ${status}`]);
    expect(singleRequests(ran)).toEqual([`PUT ${rule}`, `PUT ${other}`, `GET ${other}`, ...second]);
    expect(ran.gateway.state()[other]?.spec).toMatchObject(spec);
  });

  it('reads objects before their writes where the version of a write does not arrive', async () => {
    const ran = await run({ ...twoUpdates, options: { listsVersions: true, checksVersions: false } });
    expect(singleRequests(ran)).toEqual([`GET ${rule}`, `GET ${other}`, `PUT ${rule}`, `PUT ${other}`]);
  });

  it('writes nothing that still waits after an interrupt', async () => {
    const stop = new AbortController();
    const ran = await run({ ...twoUpdates, concurrency: 1, signal: stop.signal, options: { onWrite: () => stop.abort() } });
    expect(words(ran)).toEqual([`${rule} done`, `${other} interrupted apply/interrupted`]);
    expect(singleRequests(ran)).toEqual([`GET ${rule}`, `GET ${other}`, `PUT ${rule}`]);
  });

  it('does not write blocked objects, and does nothing without a difference', async () => {
    const live = [{ ...liveDb, managedBy: 'platform' }];
    expect(words(await run({ manifests: [connection], live }))).toEqual([`${db} blocked plan/managed`]);
    expect(words(await run({ manifests: [connection], live: [{ id: db, spec: connection.spec }] }))).toEqual([]);
  });

  it('opens a new connection only after its masking is attached', async () => {
    const ran = await run({ manifests: [withSecret, masking] });
    expect(ran.gateway.writes.map(({ method, id }) => `${method} ${id}`)).toEqual([`POST ${db}`, `POST ${mask}`, `PUT ${db}`]);
    expect(ran.gateway.state()[db]).toMatchObject({ spec: { access_mode_connect: 'enabled', reviewers: ['dba'] }, secrets: password });
  });

  it('leaves a new connection closed if its masking fails', async () => {
    const ran = await run({
      manifests: [connection, masking],
      options: { fault: ({ method, id }) => (method === 'POST' && id === mask ? 'before' : undefined) },
    });
    expect(words(ran)).toEqual([`${db} skipped apply/need-failed`, `${mask} failed api/server-error`]);
    expect(ran.gateway.state()[db]?.spec).toMatchObject({ access_mode_connect: 'disabled' });
    expect(ran.outcomes).toMatchObject([{ begun: true, message: expect.stringMatching(/^created, still closed: it depends on /) }, {}]);
    expect(ran.outcomes[1]).not.toHaveProperty('begun');
  });

  it('reports a new connection as created and closed if it is interrupted before it opens it', async () => {
    const stop = new AbortController();
    const ran = await run({ manifests: [connection, masking], signal: stop.signal, options: { onWrite: () => stop.abort() } });
    expect(words(ran)).toEqual([`${db} interrupted apply/interrupted`, `${mask} interrupted apply/interrupted`]);
    expect(ran.outcomes).toMatchObject([
      { begun: true, message: 'created, still closed: interrupted before opening' },
      { message: 'not started: interrupted' },
    ]);
    expect(ran.gateway.state()[db]?.spec).toMatchObject({ access_mode_connect: 'disabled' });
  });

  it('records the plan, the target and the outcomes in the journal', async () => {
    const ran = await run({ manifests: [connection, { ...guardrail, spec: {} }], live: [{ ...liveDb, managedBy: 'platform' }] });
    const target = { name: expect.any(String), url: expect.any(String) };
    expect(ran.journal.at(0)).toEqual({ event: 'begin', target, digest: expect.stringMatching(/^[0-9a-f]{64}$/), writes: 1, allowed: [] });
    const counts = { done: 1, already: 0, failed: 0, skipped: 0, blocked: 1, held: 0, interrupted: 0 };
    expect(ran.journal.at(-1)).toEqual({ event: 'end', counts });
  });

  it('writes a complete journal without secrets', async () => {
    const ran = await run({ manifests: [withSecret, { ...guardrail, spec: {} }], live: [liveDb] });
    const lines = ran.journal.map(({ event, id = '', step = '' }) => [event, id, step].join(' ').trim());
    expect(lines).toEqual([
      'begin',
      `write ${rule} whole`,
      `write ${db} whole`,
      `written ${rule} whole`,
      `written ${db} whole`,
      `verified ${rule} whole`,
      `verified ${db} whole`,
      'end',
    ]);
    expect(JSON.stringify(ran.journal)).not.toContain('cGFzcw');
  });
});
