import { expect, test } from 'vitest';
import { runCount } from '../support/property-runs.ts';
import { accessFeatures, rareFeature } from './access-features.ts';
import { accessPairs, accessPairText } from './access-pairs.ts';
import { judgeAccessPair } from './judge-access-pair.ts';
import { judgePairs } from './judge-pairs.ts';
import { laws } from './laws.ts';

/** How many pairs are judged at least; `OSTIARY_TEST_RUNS=120` judges 2,400. */
const least = 20;
/** How often pairs have to exercise each feature, of 100 pairs. */
const leastOfEach = 0.9;

test(
  'plans agree with an independent model of access on the public gateway',
  async () => {
    const count = runCount(least * 1.05);
    const found = await judgePairs({ pairs: accessPairs, count, round: 11, judge: judgeAccessPair, text: accessPairText });
    process.stdout.write(found.print(laws, [...accessFeatures, rareFeature]));
    expect(found.judged).toBeGreaterThanOrEqual(runCount(least));
    expect(found.smallest).toEqual([]);
    const due = Math.floor((found.judged / 100) * leastOfEach);
    expect(accessFeatures.filter((name) => found.timesOf(name) < due)).toEqual([]);
    // It takes 0.2 seconds a pair; a busy machine takes longer.
  },
  runCount(60_000) + 120_000,
);
