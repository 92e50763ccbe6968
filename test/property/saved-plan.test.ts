import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { planDocument } from '../../src/report/plan-json.ts';
import { desiredState } from '../support/desired.ts';
import { memoryGateway, type MemoryGateway, type MemoryOptions } from '../support/memory-gateway.ts';
import { windows } from '../support/posture.ts';
import { carryOut, planAgainst } from '../support/run.ts';
import { openText, resume, savedText } from '../support/saved.ts';
import { scenario, type Scenario } from '../support/scenario.ts';

function gatewayOf(one: Scenario, options: Partial<MemoryOptions> = {}): MemoryGateway {
  return memoryGateway({ registry, agents: ['default', 'other'], resources: one.live, ...options });
}

test('a saved plan reads as what was planned, byte for byte', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (one) => {
      const desired = desiredState(one.manifests);
      const made = await planAgainst(gatewayOf(one), desired);
      const { plan } = openText(savedText({ ...made, desired }));
      expect(JSON.stringify(planDocument([plan]))).toBe(JSON.stringify(planDocument([made.plan])));
    }),
    { numRuns: 100 },
  );
});

test('a saved plan does what the plan does, and done once it has nothing left to do', async () => {
  await fc.assert(
    fc.asyncProperty(
      scenario,
      fc.constantFrom(1, 8),
      fc.constantFrom('shown' as const, 'hidden-kept' as const),
      async (one, concurrency, secrets) => {
        const desired = desiredState(one.manifests);
        const other = gatewayOf(one, { secrets });
        await carryOut({ gateway: other, ...(await planAgainst(other, desired)), desired, concurrency });
        const gateway = gatewayOf(one, { secrets });
        const text = savedText({ ...(await planAgainst(gateway, desired)), desired });
        const { refusals, result } = await resume(text, { gateway, desired, concurrency });
        expect(refusals).toEqual([]);
        expect(result?.outcomes.filter(({ status }) => status !== 'done' && status !== 'blocked')).toEqual([]);
        expect(gateway.state()).toEqual(other.state());
        const again = await resume(text, { gateway, desired, concurrency });
        expect(again.refusals).toEqual([]);
        expect(
          again.result?.outcomes
            .map(({ status }) => status)
            .filter((status) => status !== 'blocked' && status !== 'already' && status !== 'done'),
        ).toEqual([]);
        expect(gateway.state()).toEqual(other.state());
      },
    ),
    { numRuns: 100 },
  );
});

test('stopped at any request, the same file goes on to the same end, and nothing is open in between', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, fc.constantFrom('before' as const, 'after' as const), async (one, when) => {
      const desired = desiredState(one.manifests);
      const whole = gatewayOf(one);
      const before = whole.state();
      await resume(savedText({ ...(await planAgainst(whole, desired)), desired }), { gateway: whole, desired });
      const end = whole.state();
      for (let stop = 1; stop < whole.requests.length; stop += 1) {
        const gateway = gatewayOf(one, {
          onWrite: () => expect(windows(gateway.state(), before, end)).toEqual([]),
        });
        const text = savedText({ ...(await planAgainst(gateway, desired)), desired });
        gateway.setFault(({ index }) => (index < stop ? undefined : index === stop ? when : 'before'));
        await resume(text, { gateway, desired }).catch(() => undefined);
        gateway.setFault(undefined);
        const { refusals, result } = await resume(text, { gateway, desired });
        expect(refusals).toEqual([]);
        expect(result?.outcomes.filter(({ status }) => !['done', 'already', 'blocked'].includes(status))).toEqual([]);
        expect(gateway.state()).toEqual(end);
      }
    }),
    { numRuns: 25 },
  );
});
