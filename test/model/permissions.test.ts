import { expect, test } from 'vitest';
import { runCount } from '../support/property-runs.ts';
import { judgePairs } from './judge-pairs.ts';
import { judgePermissionPair } from './judge-permission-pair.ts';
import { laws } from './laws.ts';
import { permissionFeatures } from './permission-features.ts';
import { permissionPairs, permissionPairText } from './permission-pairs.ts';

/** How many pairs are judged at least; `OSTIARY_TEST_RUNS=600` judges 2,400. */
const least = 4;
/** How often pairs have to exercise each feature, of 100 pairs. */
const leastOfEach = 1;

test(
  'plans and applies of runbook rules and attributes agree with an independent model, at every moment',
  async () => {
    const found = await judgePairs({
      pairs: permissionPairs,
      count: runCount(least * 1.5),
      round: 14,
      judge: judgePermissionPair,
      text: permissionPairText,
    });
    process.stdout.write(found.print(laws, permissionFeatures));
    expect(found.judged).toBeGreaterThanOrEqual(runCount(least));
    expect(found.smallest).toEqual([]);
    const due = Math.floor((found.judged / 100) * leastOfEach);
    expect(permissionFeatures.filter((name) => found.timesOf(name) < due)).toEqual([]);
  },
  runCount(90_000) + 180_000,
);
