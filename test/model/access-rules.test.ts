import { expect, test } from 'vitest';
import { runCount } from '../support/property-runs.ts';
import { accessPairText } from './access-pairs.ts';
import { judgeAccessPair } from './judge-access-pair.ts';
import { judgePairs } from './judge-pairs.ts';
import { laws } from './laws.ts';
import { rulePairs } from './rule-pairs.ts';

/** How many pairs are judged at least. */
const least = 7;

test(
  'plans of access-request rules agree with an independent model of access',
  async () => {
    const found = await judgePairs({
      pairs: rulePairs,
      count: runCount(least * 2),
      round: 12,
      judge: judgeAccessPair,
      text: accessPairText,
    });
    process.stdout.write(found.print(laws, []));
    expect(found.judged).toBeGreaterThanOrEqual(runCount(least));
    expect(found.smallest).toEqual([]);
  },
  runCount(60_000) + 120_000,
);
