import { describe, expect, it } from 'vitest';
import { registry } from '../../../src/kinds/index.ts';
import type { Json } from '../../../src/model/json.ts';
import { desiredState } from '../../support/desired-state.ts';
import { memoryGateway, type MemoryGateway } from '../../support/memory-gateway.ts';
import { exposedConnections, type ResourceStates } from '../../support/posture.ts';
import { applyPlan, planAgainst } from '../../support/run-pipeline.ts';
import type { Manifest } from '../../support/scenario.ts';
import { connection } from './apply-fixtures.ts';

function masking(name: string, threshold: number | null, types: readonly string[]): Manifest {
  const supported = [{ name: 'people', entity_types: types }];
  return {
    kind: 'DataMaskingRule',
    metadata: { name },
    spec: { connection_ids: ['db'], supported_entity_types: supported, ...(threshold === null ? {} : { score_threshold: threshold }) },
  };
}

type Threshold = number | null;

/** Two rules of one connection swap an entity type, so the one whose threshold changes is written twice. */
function manifestsWith(threshold: Threshold, isAfter: boolean): readonly Manifest[] {
  return [
    connection,
    masking('people', threshold, isAfter ? ['PERSON', 'URL'] : ['PERSON', 'EMAIL_ADDRESS']),
    masking('rest', 0.3, isAfter ? ['EMAIL_ADDRESS'] : ['URL']),
  ];
}

type Started = { readonly gateway: MemoryGateway; readonly before: ResourceStates; readonly begun: number };

async function start(from: Threshold): Promise<Started> {
  const gateway = memoryGateway({ registry, agents: ['default'] });
  const desired = desiredState(manifestsWith(from, false));
  await applyPlan({ gateway, ...(await planAgainst(gateway, desired)), desired });
  return { gateway, before: gateway.state(), begun: gateway.requests.length };
}

/** Lists the values of the threshold in their order, each once. */
function thresholdsIn(states: readonly ResourceStates[]): readonly Json[] {
  const all = states.map((state) => state['DataMaskingRule/people']?.spec?.['score_threshold'] ?? null);
  return all.filter((value, index) => index === 0 || value !== all[index - 1]);
}

describe('a score_threshold that changes in two writes', () => {
  it.each<[Threshold, Threshold, readonly Threshold[]]>([
    [null, 0.5, [null, 0, 0.5]],
    [0.5, null, [0.5, 0, null]],
    [0.5, 0.7, [0.5, 0.7]],
    [0.7, 0.5, [0.7, 0.5]],
  ])('from %j to %j is never weaker in between', async (from, to, expected) => {
    const { gateway, before } = await start(from);
    const desired = desiredState(manifestsWith(to, true));
    const states: ResourceStates[] = [];
    gateway.setFault(() => {
      states.push(gateway.state());
      return undefined;
    });
    const { outcomes } = await applyPlan({ gateway, ...(await planAgainst(gateway, desired)), desired });
    expect(outcomes.map(({ status }) => status)).toEqual(['done', 'done']);
    expect(thresholdsIn([...states, gateway.state()])).toEqual(expected);
    for (const state of states) expect(exposedConnections(state, before, gateway.state())).toEqual([]);
  });
});
