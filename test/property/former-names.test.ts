import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { desiredByKey } from '../../src/model/desired.ts';
import { liveById } from '../../src/model/live.ts';
import { isWritten, liveKeyOf } from '../../src/model/plan/plan.ts';
import { loadState } from '../support/desired-state.ts';
import { draftPlan, reviewPlan } from '../../src/reconcile/reconcile.ts';
import { gatewayOf, history, type History } from '../support/history.ts';
import { runCount } from '../support/property-runs.ts';
import { applyPlan, inputOf, reviewOf } from '../support/run-pipeline.ts';
import type { Manifest, Scenario } from '../support/scenario.ts';

/** The names that scenarios have, for each kind that a manifest can rename or replace. */
const names: Readonly<Record<string, readonly string[]>> = {
  Connection: ['c0', 'c1', 'c2', 'c3'],
  GuardrailRule: ['g0', 'g1', 'g2'],
  DataMaskingRule: ['m0', 'm1'],
};

/** Returns manifests of which some are left out, and some have any name as their former one. */
function withFormerNames({ manifests }: Scenario, choices: readonly number[]): readonly Manifest[] {
  return manifests.flatMap((manifest, index): readonly Manifest[] => {
    const { kind, metadata } = manifest;
    const choice = choices[index] ?? 0;
    const former = names[kind]?.filter((name) => name !== metadata.name)[choice >> 2];
    if (choice % 4 === 0) return [];
    if (choice % 4 === 1 || former === undefined) return [manifest];
    return [{ ...manifest, metadata: { ...metadata, [registry.get(kind)?.renamable === true ? 'renamedFrom' : 'replaces']: former } }];
  });
}

/** A history whose manifests have former names that any object may have, of the base or not, and without consent to an import. */
const renaming: fc.Arbitrary<History> = fc
  .record({ past: history, choices: fc.array(fc.nat({ max: 15 }), { minLength: 12, maxLength: 12 }) })
  .map(({ past, choices }) => ({ past, desired: loadState(withFormerNames(past.one, choices)).value }))
  .filter(({ desired }) => desired !== undefined && desired.resources.length > 0)
  .map(({ past, desired = past.desired }) => ({ ...past, desired, consent: { ...past.consent, imports: [] } }));

test('an object that no apply made is never written, whichever former names the manifests state', async () => {
  let [refused, applied] = [0, 0];
  await fc.assert(
    fc.asyncProperty(renaming, async (past) => {
      const gateway = gatewayOf(past);
      const { value: live } = await gateway.readAll([...registry.keys()]);
      if (live === undefined) throw new Error('incomplete listing');
      const draft = draftPlan(inputOf({ ...past, live })).value;
      const plan = draft && reviewPlan(draft, reviewOf()).value?.plan;
      // An error writes nothing: a former name that has a manifest, or a secret that cannot be inherited.
      fc.pre(draft !== undefined && plan !== undefined);
      if (plan.refusals.some(({ code }) => code === 'plan/adoption')) {
        refused += 1;
        return;
      }
      const [ours, present] = [desiredByKey(past.base.desired.resources), liveById(live.resources)];
      const before = gateway.state();
      const strangers = [...present.keys()].filter((id) => !ours.has(id));
      expect(
        plan.changes
          .filter(isWritten)
          .map(liveKeyOf)
          .filter((id) => strangers.includes(id)),
      ).toEqual([]);
      await applyPlan({ gateway, plan, live, desired: draft.prepared.desired, concurrency: 8 });
      const after = gateway.state();
      for (const id of strangers) expect({ ...after[id], edges: {} }).toEqual({ ...before[id], edges: {} });
      applied += 1;
    }),
    { numRuns: runCount(60) },
  );
  expect(Math.min(refused, applied)).toBeGreaterThan(5);
});
