import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { isOnLiveObject, liveKeyOf } from '../../src/model/plan/plan.ts';
import type { Json } from '../../src/model/json.ts';
import { kindOf } from '../../src/model/resource.ts';
import type { Outcome } from '../../src/model/result/outcome.ts';
import { planDocument } from '../../src/report/subjects/plan.ts';
import { runCount } from '../support/property-runs.ts';
import { desiredState } from '../support/desired-state.ts';
import { memoryGateway, type MemoryGateway, type MemoryOptions } from '../support/memory-gateway.ts';
import { applyPlan, planAgainst } from '../support/run-pipeline.ts';
import { openText, resume, savedText } from '../support/saved-plan.ts';
import { scenario, type Scenario } from '../support/scenario.ts';

function gatewayOf(one: Scenario, options: Partial<MemoryOptions> = {}): MemoryGateway {
  return memoryGateway({ registry, agents: ['default', 'other'], resources: one.live, ...options });
}

test('a saved plan reads as the plan, byte for byte', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (one) => {
      const desired = desiredState(one.manifests);
      const made = await planAgainst(gatewayOf(one), desired);
      const { plan } = openText(savedText({ ...made, desired }));
      expect(JSON.stringify(planDocument([plan]).json())).toBe(JSON.stringify(planDocument([made.plan]).json()));
    }),
    { numRuns: runCount(5) },
  );
});

test('a saved plan has the effect of the plan, and a second apply writes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(
      scenario,
      fc.constantFrom(1, 8),
      fc.constantFrom('shown' as const, 'hidden-kept' as const),
      async (one, concurrency, secrets) => {
        const desired = desiredState(one.manifests);
        const other = gatewayOf(one, { secrets });
        await applyPlan({ gateway: other, ...(await planAgainst(other, desired)), desired, concurrency });
        const gateway = gatewayOf(one, { secrets });
        const text = savedText({ ...(await planAgainst(gateway, desired)), desired });
        const { refusals, result } = await resume(text, { gateway, desired, concurrency });
        expect(refusals).toEqual([]);
        expect(result?.outcomes.filter(({ status }) => status !== 'done' && status !== 'blocked')).toEqual([]);
        expect(gateway.state()).toEqual(other.state());
        const again = await resume(text, { gateway, desired, concurrency });
        expect(again.refusals).toEqual([]);
        // Hidden secrets of an object that exists where the plan creates one are not known to be those of the plan: it stops, and so does what needs it.
        const unknown =
          secrets === 'shown' ? [] : desired.resources.flatMap(({ id, secrets: own }) => (Object.keys(own).length > 0 ? [id] : []));
        const left = (again.result?.outcomes ?? []).filter(({ status }) => !['blocked', 'already', 'done'].includes(status));
        const isExpected = ({ id, action, code, message = '' }: Outcome): boolean =>
          (code === 'apply/moved' && action === 'create' && unknown.includes(id)) ||
          (code === 'apply/need-failed' && unknown.some((needed) => message.includes(`it depends on ${needed}: `)));
        expect(left.filter((outcome) => !isExpected(outcome))).toEqual([]);
        expect(gateway.state()).toEqual(other.state());
      },
    ),
    { numRuns: runCount(5) },
  );
});

/** Another value of a field that every object of the kind has, and no scenario gives. */
const marks: Readonly<Record<string, readonly [string, Json]>> = {
  Connection: ['access_max_duration', 12_345],
  GuardrailRule: ['description', 'moved'],
  DataMaskingRule: ['description', 'moved'],
  RunbookConfiguration: ['git_user', 'moved'],
};

test('a change of another user is refused before the first write, except ignored fields and edges', async () => {
  let moved = 0;
  await fc.assert(
    fc.asyncProperty(scenario, fc.nat(), async (one, choice) => {
      const desired = desiredState(one.manifests);
      const gateway = gatewayOf(one);
      const made = await planAgainst(gateway, desired);
      const written = made.plan.changes.filter(isOnLiveObject);
      fc.pre(written.length > 0);
      const change = written[choice % written.length];
      const there = change === undefined ? undefined : gateway.state()[liveKeyOf(change)];
      if (change === undefined || there === undefined) return;
      const [field, value] = marks[kindOf(change.id)] ?? ['', null];
      gateway.put({ ...there, spec: { ...there.spec, [field]: value } });
      const isIgnored = desired.resources.some(({ id, ignore }) => id === change.id && ignore.includes(`/${field}`));
      const { refusals } = await resume(savedText({ ...made, desired }), { gateway, desired });
      expect(refusals.map(({ code, resource }) => [code, resource])).toEqual(isIgnored ? [] : [['plan/moved', change.id]]);
      expect(isIgnored ? [] : gateway.writes).toEqual([]);
      moved += isIgnored ? 0 : 1;
    }),
    { numRuns: runCount(6) },
  );
  expect(moved).toBeGreaterThan(3);
});
