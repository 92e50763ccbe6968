import { describe, expect, it } from 'vitest';
import type { MemoryResource } from '../../support/memory-store.ts';
import type { Manifest } from '../../support/scenario.ts';
import { connection, db, failing, guardrail, liveDb, liveRule, rule, run, words, type Run } from './apply-fixtures.ts';

describe('the read after a stage', () => {
  const update: Run = { manifests: [connection], live: [liveDb] };

  it.each<[string, Run['wrap'], string]>([
    ['shows what was written', undefined, 'done'],
    ['cannot be proven whole', () => ({ readAll: async () => ({ diagnostics: [] }) }), 'failed apply/unverified'],
    ['fails', () => ({ readAll: () => Promise.reject(failing('api/server-error')) }), 'failed apply/unverified'],
    [
      'shows something else',
      (gateway) => ({ update: async (fresh) => fresh, readAll: (kinds) => gateway.readAll(kinds) }),
      'failed apply/not-kept',
    ],
    [
      'shows nothing',
      () => ({ readAll: async () => ({ value: { resources: [], lookups: {} }, diagnostics: [] }) }),
      'failed apply/not-kept',
    ],
  ])('%s', async (_, wrap, expected) => {
    expect(words(await run(wrap === undefined ? update : { ...update, wrap }))).toEqual([`${db} ${expected}`]);
  });

  it.each<[string, readonly Manifest[], readonly MemoryResource[], string]>([
    ['the edge that was attached', [guardrail], [liveDb, { ...liveRule, spec: { description: 'why' } }], 'the attachment to Connection/db'],
    [
      'the edge that was detached',
      [connection, { ...guardrail, spec: {} }],
      [
        { id: db, spec: connection.spec },
        { ...liveRule, edges: { connection_ids: [db] } },
      ],
      'the attachment to Connection/db',
    ],
    ['the field', [connection], [liveDb], '/reviewers'],
    ['the object', [{ ...guardrail, spec: {} }], [], 'the whole object'],
  ])('names %s', async (_, manifests, live, expected) => {
    const ran = await run({
      manifests,
      live,
      wrap: () => ({
        update: async (fresh) => fresh,
        create: async (request) => ({ id: request.id, uid: 'x', spec: {}, secrets: {}, edges: {}, raw: {}, unknown: [] }),
      }),
    });
    expect(ran.outcomes.filter(({ status }) => status === 'failed')).toMatchObject([
      { message: `the gateway accepted the write but does not return it: ${expected}` },
    ]);
  });

  it.each<[string, Run]>([
    ['GuardrailRule', { manifests: [guardrail], live: [liveDb, { ...liveRule, spec: { description: 'why' } }] }],
    ['Connection GuardrailRule', update],
  ])('lists what was written, and of its edges what can have another name: %s', async (expected, given) => {
    const listed: string[] = [];
    const ran = await run({
      ...given,
      wrap: (gateway) => ({
        readAll: (kinds) => {
          listed.push(kinds.join(' '));
          return gateway.readAll(kinds);
        },
      }),
    });
    expect(ran.outcomes.map(({ status }) => status)).toEqual(['done']);
    expect(listed).toEqual([expected]);
  });

  it('stops the run when it fails, and skips the dependents of the written object', async () => {
    const ran = await run({
      manifests: [connection, guardrail],
      wrap: () => ({ readAll: () => Promise.reject(failing('api/unreachable')) }),
    });
    expect(words(ran)).toEqual([`${rule} failed apply/unverified`, `${db} skipped apply/need-failed`]);
  });

  it('ignores edges that other users attach meanwhile', async () => {
    const house: MemoryResource = { id: 'GuardrailRule/house', edges: { connection_ids: [db] } };
    const ran = await run({
      ...update,
      wrap: (gateway) => ({
        update: async (fresh, request) => {
          const written = await gateway.update(fresh, request);
          gateway.put(house);
          return written;
        },
      }),
    });
    expect(words(ran)).toEqual([`${db} done`]);
  });
});
