import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { type Json, textsIn } from '../../src/model/json.ts';
import { filterDrift } from '../../src/reconcile/drift/filter-drift.ts';
import { compareStates, draftPart, reviewPlan } from '../../src/reconcile/reconcile.ts';
import { desiredState } from '../support/desired-state.ts';
import { memoryGateway } from '../support/memory-gateway.ts';
import { runCount } from '../support/property-runs.ts';
import { connectionManifest } from '../support/risks.ts';
import { applyPlan, inputOf, planAgainst, reviewOf } from '../support/run-pipeline.ts';

const borrowed = ['Connection.access_groups'];
const days = ['2026-12-30', '2026-12-31', '2027-01-01', '2027-01-02'] as const;

const group = fc.constantFrom('a', 'b', 'c', 'd');
const granted = fc.uniqueArray(
  fc.record({ group, until: fc.option(fc.constantFrom(...days, '2026-12-31T12:00:00Z'), { nil: undefined }) }),
  { selector: (one) => one.group },
);
const groups = fc.uniqueArray(group);

/** Returns the groups that a manifest grants until a day or a time before `now`; both are compared as texts, without the code that is tested. */
function endedBy(now: string, list: readonly { readonly group: string; readonly until: string | undefined }[]): readonly string[] {
  return list.flatMap((one) =>
    one.until !== undefined && one.until < (one.until.length === 10 ? now.slice(0, 10) : now) ? [one.group] : [],
  );
}

test('an expiry run removes the groups whose access has ended, and changes nothing else', async () => {
  let removed = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ granted, live: fc.option(groups), reviewers: fc.subarray(['dba', 'sre']) }), { minLength: 1, maxLength: 3 }),
      fc.constantFrom(...days),
      async (all, day) => {
        const now = `${day}T13:00:00.000Z`;
        const manifests = all.map((one, index) =>
          connectionManifest(`db${index}`, {
            reviewers: ['dba'],
            access_groups: one.granted.map(({ group: name, until }): Json => (until === undefined ? name : { group: name, until })),
          }),
        );
        const desired = desiredState(manifests);
        const gateway = memoryGateway({ registry, agents: ['default'], dialect: { dialect: 'interface', borrowed } });
        await applyPlan({ gateway, ...(await planAgainst(gateway, desired, { borrowed })), desired });
        for (const [index, { live, reviewers }] of all.entries()) {
          const found = gateway.state()[`Connection/db${index}`];
          if (found !== undefined) gateway.put({ ...found, spec: { ...found.spec, reviewers, access_groups: live } });
        }
        const before = gateway.state();
        const { value: live } = await gateway.readAll([...registry.keys()]);
        if (live === undefined) throw new Error('incomplete listing');
        const base = { commit: 'a'.repeat(40), desired, removedIn: new Map() };
        const { value: comparison } = compareStates(inputOf({ desired, live, base, borrowed, now }));
        if (comparison === undefined) throw new Error('no comparison');
        const { diff } = filterDrift(comparison.states.diff, { base: comparison.prepared.base, registry }, 'expired');
        const { value } = reviewPlan(draftPart(comparison, diff), reviewOf());
        if (value === undefined) throw new Error('no plan');
        await applyPlan({ gateway, plan: value.plan, live, desired: comparison.prepared.desired });
        const after = gateway.state();
        for (const [index, one] of all.entries()) {
          const id = `Connection/db${index}` as const;
          const ended = endedBy(now, one.granted);
          const spec = before[id]?.spec ?? {};
          const had = spec['access_groups'] ?? null;
          const kept = Array.isArray(had) ? textsIn(had).filter((name) => !ended.includes(name)) : null;
          expect(after[id]).toEqual({ ...before[id], spec: { ...spec, access_groups: kept } });
          removed += textsIn(had).length - textsIn(kept).length;
        }
        expect(Object.keys(after)).toEqual(Object.keys(before));
      },
    ),
    { numRuns: runCount(30) },
  );
  expect(removed).toBeGreaterThan(10);
});
