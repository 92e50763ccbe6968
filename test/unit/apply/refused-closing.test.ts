import { describe, expect, test } from 'vitest';
import { registry } from '../../../src/kinds/index.ts';
import type { Outcome } from '../../../src/model/result/outcome.ts';
import { desiredState } from '../../support/desired-state.ts';
import { pruning } from '../../support/history.ts';
import { memoryGateway, type MemoryFault, type MemoryGateway, type MemoryRequest } from '../../support/memory-gateway.ts';
import { exposedConnections } from '../../support/posture.ts';
import { applyPlan, planAgainst } from '../../support/run-pipeline.ts';
import type { Manifest } from '../../support/scenario.ts';
import { connection, db, masking, plain, rule } from './apply-fixtures.ts';

const kept: Manifest = { kind: 'Connection', metadata: { name: 'kept' }, spec: plain };

/** A guardrail that blocks words. */
function guardrailOf(words: readonly string[], connections: readonly string[]): Manifest {
  const input = { rules: [{ name: 'w', type: 'deny_words_list', words }] };
  return { kind: 'GuardrailRule', metadata: { name: 'rule' }, spec: { input, connection_ids: connections } };
}

const before = [connection, kept, guardrailOf(['DROP', 'GRANT'], ['db', 'kept'])];

type Run = {
  readonly words: readonly string[];
  readonly outcomes: readonly Outcome[];
  readonly gateway: MemoryGateway;
  readonly exposed: readonly string[];
};

/** Applies the first manifests, then deletes the connection `db` while requests fail. */
async function runWith(
  first: readonly Manifest[],
  after: readonly Manifest[],
  fault: (request: MemoryRequest) => MemoryFault | undefined,
): Promise<Run> {
  const gateway = memoryGateway({ registry, agents: ['default'], listsVersions: true });
  const applied = desiredState(first);
  await applyPlan({ gateway, ...(await planAgainst(gateway, applied)), desired: applied });
  const start = gateway.state();
  gateway.setFault(fault);
  const desired = desiredState(after);
  const { outcomes } = await applyPlan({ gateway, ...(await planAgainst(gateway, desired, pruning({ before: first, after }))), desired });
  const exposed = exposedConnections(gateway.state(), start, start);
  const words = outcomes.map(({ id, status, code }) => [id, status, ...(code === undefined ? [] : [code])].join(' '));
  return { words: words.toSorted(), outcomes, gateway, exposed };
}

function refuse({ method, id }: MemoryRequest): MemoryFault | undefined {
  return method === 'PUT' && id === db ? 'before' : undefined;
}

describe('a closing that the gateway refuses', () => {
  const failed = `${db} failed api/server-error`;
  const skipped = `${rule} skipped apply/need-failed`;

  test.each<[string, readonly Manifest[], readonly Manifest[], readonly string[]]>([
    ['a rule loses a word', before, [kept, guardrailOf(['DROP'], ['kept'])], [failed, skipped]],
    [
      'a rule loses a word, and the other connection its reviewers',
      [connection, { ...kept, spec: { ...plain, reviewers: ['dba'] } }, guardrailOf(['DROP'], ['db'])],
      [kept, { ...guardrailOf([], []), spec: { description: 'nothing' } }],
      ['Connection/kept done', failed, skipped],
    ],
    ['a rule is deleted', before, [kept], [failed, skipped]],
    [
      'a rule is deleted that protects nothing else',
      [connection, masking],
      [kept],
      ['Connection/kept done', failed, 'DataMaskingRule/mask skipped apply/need-failed'],
    ],
    ['no rule changes', [connection, kept], [kept], [failed]],
  ])('skips the deletion, and no rule loses anything: %s', async (_, first, after, expected) => {
    const { words, outcomes, gateway, exposed } = await runWith(first, after, refuse);
    expect(exposed.filter((text) => text.startsWith(db))).toEqual([]);
    expect(words).toEqual([...expected].toSorted());
    expect(outcomes.find(({ id }) => id === db)).toMatchObject({ action: 'delete', message: expect.stringContaining('PUT') });
    expect(gateway.state()[db]?.spec).toMatchObject({ access_mode_connect: 'enabled' });
    expect(gateway.requests.some(({ method }) => method === 'DELETE')).toBe(false);
  });

  test('lets rules gain, which needs no closing', async () => {
    const { words, gateway } = await runWith(before, [kept, guardrailOf(['DROP', 'GRANT', 'TRUNCATE'], ['db', 'kept'].slice(1))], refuse);
    expect(words).toContain(failed);
    expect(JSON.stringify(gateway.state()[rule]?.spec)).toContain('GRANT');
  });
});

test('a closing that the gateway does goes on with the rules and the deletion', async () => {
  const { words, gateway } = await runWith(before, [kept, guardrailOf(['DROP'], ['kept'])], () => undefined);
  expect(words).toEqual([`${db} done`, `${rule} done`]);
  expect(gateway.state()[db]).toBeUndefined();
  const requests = gateway.requests.flatMap(({ method, id }) => (id === db && method !== 'POST' ? [method] : []));
  expect(requests.slice(requests.indexOf('PUT'))).toEqual(['PUT', 'GET', 'DELETE']);
});
