import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultLimits } from '../../src/model/config.ts';
import { type Plan, planRisks } from '../../src/model/plan/plan.ts';
import { nameOf } from '../../src/model/resource.ts';
import type { AccessState } from '../model/access-model.ts';
import { destinationGains, possibleGains } from '../model/destinations.ts';
import { editedAfter, leavingPairs, leftFieldsOf, uncoveredOf } from '../model/leaving-pairs.ts';
import { type Compared, newAccess, type Gain, verbsOf } from '../model/new-access.ts';
import { refusedAccess } from '../model/plan-report.ts';
import { planSettled, recordedFields, settled, stateAfter, stateBefore } from '../model/settled-pair.ts';
import { accessTestOf } from '../support/access-test.ts';
import { runCount } from '../support/property-runs.ts';

const limits = { ...defaultLimits, from: 1000, newAccess: 'refuse' } as const;

/** Lists the connections that entries of the access test leave, as `group name`. */
function uncoveredIn({ checks = [] }: Plan): readonly string[] {
  return checks.flatMap((one) => {
    const [, group] = /^access test people \((\w+) on /.exec(one.check) ?? [];
    return one.action === 'uncovered' ? one.connections.map((id) => `${group} ${nameOf(id)}`) : [];
  });
}

test(
  'a plan names what it no longer watches, and refuses what was added there by hand',
  async () => {
    const counts = { left: 0, whole: 0, byHand: 0, quiet: 0, uncovered: 0, covered: 0 };
    await fc.assert(
      fc.asyncProperty(leavingPairs, async (pair) => {
        const accessTests = [accessTestOf(...pair.entries.map((one) => ({ ...one, expect: 'denied' })))];
        const plan = await planSettled(pair, { sight: 'shown', limits, accessTests });
        if (plan === undefined) return;
        const risks = planRisks(plan);
        const left = risks.filter(({ risk }) => risk.code === 'risk/field-left' && risk.class === 'weakens');
        const leaving = leftFieldsOf(pair);
        expect(left.map(({ id, risk }) => `${nameOf(id)} ${risk.path}`).toSorted()).toEqual(leaving.toSorted());

        const uncovered = uncoveredOf(pair);
        expect(uncoveredIn(plan).toSorted()).toEqual(uncovered.toSorted());
        const losing = risks.filter(({ risk }) => risk.code === 'risk/check-uncovered' && risk.class === 'weakens');
        const entries = new Set(uncovered.map((one) => one.split(' ')[0]));
        expect(losing.length).toBe(entries.size);

        const after = stateAfter(pair);
        const sidesOf = (before: AccessState): Compared => ({ before, after, predecessors: pair.predecessors });
        const since = (before: AccessState): readonly Gain[] => [...newAccess(sidesOf(before)), ...destinationGains(sidesOf(before))];
        const states = [stateBefore(pair), stateBefore(settled(pair))] as const;
        const [sinceLive, sinceBase] = [since(states[0]), since(states[1])];
        const possible = states.flatMap((one) => possibleGains(sidesOf(one)).map((connection) => ({ connection })));
        expect({ refused: verbsOf(refusedAccess(plan)) }).toEqual({ refused: verbsOf([...sinceLive, ...sinceBase, ...possible]) });

        counts[leaving.length > 0 ? 'left' : 'whole'] += 1;
        counts[uncovered.length > 0 ? 'uncovered' : 'covered'] += 1;
        counts[verbsOf(sinceBase).some((one) => !verbsOf(sinceLive).includes(one)) ? 'byHand' : 'quiet'] += 1;
      }),
      { numRuns: runCount(100) },
    );
    process.stdout.write(`${JSON.stringify(counts)}\n`);
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(runCount(100) / 40);
  },
  runCount(90_000) + 60_000,
);

test(
  'what somebody adds to a field after manifests left it is refused',
  async () => {
    const counts = { refused: 0, quiet: 0 };
    await fc.assert(
      fc.asyncProperty(leavingPairs, async (pair) => {
        const applied = settled(pair);
        const left = await recordedFields(applied);
        if (left === undefined) return;
        const edited = editedAfter(pair);
        const plan = await planSettled(edited, { sight: 'shown', limits, left });
        const due = verbsOf(newAccess({ before: stateAfter(applied), after: stateBefore(edited), predecessors: {} }));
        expect({ refused: plan && verbsOf(refusedAccess(plan)) }).toEqual({ refused: due });
        counts[due.length > 0 ? 'refused' : 'quiet'] += 1;
      }),
      { numRuns: runCount(60) },
    );
    process.stdout.write(`${JSON.stringify(counts)}\n`);
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(runCount(60) / 20);
  },
  runCount(60_000) + 60_000,
);
