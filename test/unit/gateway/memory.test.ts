import { describe, expect, it } from 'vitest';
import { registry } from '../../../src/kinds/index.ts';
import type { WriteRequest } from '../../../src/model/gateway.ts';
import { memoryGateway, type MemoryOptions } from '../../support/memory-gateway.ts';

const here = { id: 'Connection/here', spec: { type: 'custom', vendor: { keep: 1 } }, secrets: { '/secret/envvar:A': 'QQ==' } } as const;
const rule = { id: 'GuardrailRule/rule', edges: { connection_ids: ['Connection/here'] } } as const;
const change: WriteRequest = { id: 'Connection/here', spec: { reviewers: ['b', 'a'] }, secrets: {}, dropped: [], edges: {} };

function filled(options: Partial<MemoryOptions> = {}): ReturnType<typeof memoryGateway> {
  return memoryGateway({ registry, resources: [rule, here], ...options });
}

describe('the gateway in memory', () => {
  it('is filled in any order, and completes omitted values', () => {
    expect(filled().state()).toMatchObject({
      'Connection/here': {
        spec: { type: 'custom', resource_name: 'here', reviewers: [] },
        edges: { guardrail_rules: ['GuardrailRule/rule'] },
      },
      'GuardrailRule/rule': { edges: { connection_ids: ['Connection/here'] } },
    });
  });

  it('carries unknown fields, and logs requests and writes', async () => {
    const gateway = filled();
    const fresh = await gateway.readOne({ id: 'Connection/here', uid: '00000000-0000-4000-8000-000000000002' });
    if (fresh === undefined) throw new Error('gone');
    await gateway.update(fresh, change);
    expect(gateway.state()['Connection/here']).toMatchObject({
      spec: { vendor: { keep: 1 }, reviewers: ['a', 'b'] },
      secrets: here.secrets,
    });
    expect(gateway.writes).toEqual([{ method: 'PUT', id: 'Connection/here' }]);
    expect(gateway.requests.map(({ method }) => method)).toEqual(['GET', 'PUT']);
  });

  it('fails on request, before or after the write', async () => {
    const gateway = filled({ fault: ({ index }) => (index === 1 ? 'before' : undefined) });
    const { value } = await gateway.readAll(['Connection']);
    const [fresh] = value?.resources ?? [];
    if (fresh === undefined) throw new Error('gone');
    await expect(gateway.update(fresh, change)).rejects.toMatchObject({ code: 'api/server-error', failure: { ambiguous: false } });
    expect(gateway.writes).toEqual([]);
    gateway.setFault(() => 'after');
    await expect(gateway.update(fresh, change)).rejects.toMatchObject({ failure: { ambiguous: true } });
    expect(gateway.writes).toHaveLength(1);
  });

  it('hides secrets, and refuses or keeps them', async () => {
    for (const [secrets, outcome] of [
      ['hidden', 'plan/would-lose-secret'],
      ['hidden-kept', undefined],
    ] as const) {
      const gateway = filled({ secrets });
      const { value } = await gateway.readAll(['Connection']);
      const [fresh] = value?.resources ?? [];
      if (fresh === undefined) throw new Error('gone');
      expect(fresh.unknown).toEqual(['/secret/envvar:A']);
      const failed: unknown = await gateway.update(fresh, change).then(
        () => ({}),
        (error: unknown) => error,
      );
      expect(failed).toMatchObject(outcome === undefined ? {} : { code: outcome });
      expect(gateway.state()['Connection/here']?.secrets).toEqual(here.secrets);
    }
  });
});
