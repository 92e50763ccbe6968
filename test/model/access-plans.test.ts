import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { runCount, seedOfRound } from '../support/property-runs.ts';
import { accessFeatures, rareFeature } from './access-features.ts';
import { accessPairs, accessPairText } from './access-pairs.ts';
import { judgeAccessPair } from './judge-access-pair.ts';
import { laws, type Finding } from './laws.ts';

/** How many pairs are judged at least; `OSTIARY_TEST_RUNS=40` judges 2,400. */
const least = 60;
/** How often pairs have to exercise each feature, of 100 pairs. */
const leastOfEach = 0.9;

type Kind = { readonly times: number; readonly index: number };

function count(kinds: Map<string, Kind>, name: string, index: number): void {
  const { times, index: first } = kinds.get(name) ?? { times: 0, index };
  kinds.set(name, { times: times + 1, index: first });
}

test(
  'plans agree with an independent model of access on the public gateway',
  async () => {
    const [kinds, exercised, broken] = [new Map<string, Kind>(), new Map<string, Kind>(), new Map<string, Kind>()];
    let judged = 0;
    const drawn = fc.sample(accessPairs, { numRuns: runCount(least * 1.05), ...seedOfRound(11) });
    for (const [index, pair] of drawn.entries()) {
      const judgement = await judgeAccessPair(pair);
      if (judgement === undefined) continue;
      judged += 1;
      for (const feature of judgement.features) count(exercised, feature, index);
      for (const finding of judgement.findings) {
        count(broken, finding.law, index);
        count(kinds, kindOf(finding), index);
      }
    }
    const numbers = (names: readonly string[], counts: ReadonlyMap<string, Kind>): string =>
      names.map((name) => `${name} ${counts.get(name)?.times ?? 0}`).join(', ');
    process.stdout.write(`${numbers(laws, broken)} in ${judged} pairs\n${numbers([...accessFeatures, rareFeature], exercised)}\n`);
    for (const [kind, { times, index }] of kinds) process.stdout.write(`${times} × ${kind} (first pair ${index})\n`);
    expect(judged).toBeGreaterThanOrEqual(runCount(least));
    expect(await Promise.all([...kinds].slice(0, 4).map(([kind, { times, index }]) => shrunk(kind, times, index)))).toEqual([]);
    const due = Math.floor((judged / 100) * leastOfEach);
    expect(accessFeatures.filter((name) => (exercised.get(name)?.times ?? 0) < due)).toEqual([]);
    // It takes 0.2 seconds a pair; a busy machine takes longer.
  },
  runCount(60_000) + 120_000,
);

/** Returns what findings have in common that differ only in names. */
function kindOf({ law, why }: Finding): string {
  return `${law}: ${why}`;
}

/** Returns the smallest pair with the same kind of finding. */
async function shrunk(kind: string, times: number, index: number): Promise<string> {
  const isFree = async (pair: Parameters<typeof judgeAccessPair>[0]): Promise<boolean> =>
    ((await judgeAccessPair(pair))?.findings ?? []).every((finding) => kindOf(finding) !== kind);
  const { counterexample } = await fc.check(fc.asyncProperty(accessPairs, isFree), {
    ...seedOfRound(11),
    numRuns: 1,
    path: String(index),
    interruptAfterTimeLimit: 10_000,
    markInterruptAsFailure: true,
  });
  const [pair] = counterexample ?? [];
  return `${times} × ${kind}\n${pair === undefined ? '' : accessPairText(pair)}`;
}
