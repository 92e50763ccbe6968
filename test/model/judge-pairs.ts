import * as fc from 'fast-check';
import { seedOfRound } from '../support/property-runs.ts';
import type { Finding } from './laws.ts';

/** How often something occurred, and in which pair first. */
type Kind = { readonly times: number; readonly index: number };

type JudgedBy<Pair> = {
  readonly pairs: fc.Arbitrary<Pair>;
  readonly count: number;
  /** The round whose seed draws the pairs. */
  readonly round: number;
  /** Returns undefined where a pair cannot be planned. */
  readonly judge: (pair: Pair) => Promise<{ readonly findings: readonly Finding[]; readonly features: readonly string[] } | undefined>;
  /** Prints a pair with one line for each object. */
  readonly text: (pair: Pair) => string;
};

/** The result of judging many pairs. */
type JudgedPairs = {
  readonly judged: number;
  readonly timesOf: (feature: string) => number;
  /** Prints how often each law was broken, and each feature was exercised. */
  readonly print: (laws: readonly string[], features: readonly string[]) => string;
  /** The smallest pair of each of the first four kinds of findings. */
  readonly smallest: readonly string[];
};

/** Draws pairs and judges each. */
export async function judgePairs<Pair>(by: JudgedBy<Pair>): Promise<JudgedPairs> {
  const [kinds, exercised, broken] = [new Map<string, Kind>(), new Map<string, Kind>(), new Map<string, Kind>()];
  let judged = 0;
  for (const [index, pair] of fc.sample(by.pairs, { numRuns: by.count, ...seedOfRound(by.round) }).entries()) {
    const judgement = await by.judge(pair);
    if (judgement === undefined) continue;
    judged += 1;
    for (const feature of judgement.features) addOne(exercised, feature, index);
    for (const finding of judgement.findings) {
      addOne(broken, finding.law, index);
      addOne(kinds, kindOf(finding), index);
    }
  }
  const counted = (names: readonly string[], counts: ReadonlyMap<string, Kind>): string =>
    names.map((name) => `${name} ${counts.get(name)?.times ?? 0}`).join(', ');
  return {
    judged,
    timesOf: (feature) => exercised.get(feature)?.times ?? 0,
    print: (laws, features) => `${counted(laws, broken)} in ${judged} pairs\n${counted(features, exercised)}\n`,
    smallest: await Promise.all([...kinds].slice(0, 4).map(async ([kind, found]) => shrunk(kind, found, by))),
  };
}

function addOne(kinds: Map<string, Kind>, name: string, index: number): void {
  const { times, index: first } = kinds.get(name) ?? { times: 0, index };
  kinds.set(name, { times: times + 1, index: first });
}

/** Returns what findings have in common that differ only in names. */
function kindOf({ law, why }: Finding): string {
  return `${law}: ${why.replace(/^held .* admits/, 'held … admits')}`;
}

/** Returns the smallest pair with the same kind of finding. */
async function shrunk<Pair>(kind: string, { times, index }: Kind, { pairs, round, judge, text }: JudgedBy<Pair>): Promise<string> {
  const isFree = async (pair: Pair): Promise<boolean> => ((await judge(pair))?.findings ?? []).every((finding) => kindOf(finding) !== kind);
  const { counterexample } = await fc.check(fc.asyncProperty(pairs, isFree), {
    ...seedOfRound(round),
    numRuns: 1,
    path: String(index),
    interruptAfterTimeLimit: 10_000,
    markInterruptAsFailure: true,
  });
  const [pair] = counterexample ?? [];
  return `${times} × ${kind} (first pair ${index})\n${pair === undefined ? '' : text(pair)}`;
}
