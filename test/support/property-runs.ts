import * as fc from 'fast-check';

// Any number works; it only has to be the same in each run.
const usual = 20_261_121;
const asked = process.env['OSTIARY_TEST_SEED'] ?? '';
const times = Math.max(1, Number(process.env['OSTIARY_TEST_RUNS'] ?? 1));

if (!/^(?:|random|-?\d+)$/.test(asked)) throw new Error(`OSTIARY_TEST_SEED is "${asked}": it is a number, or "random"`);
if (!(times < Infinity)) throw new Error('OSTIARY_TEST_RUNS is how many times as often a property is tried: at least 1');

/** Returns how many cases a property runs: its own count, which `npm test` runs, times OSTIARY_TEST_RUNS. */
export function runCount(count: number): number {
  return Math.ceil(count * times);
}

/** Returns every n-th of the cases, from one of the first n on; all of them where OSTIARY_TEST_RUNS is at least n. */
export function everyNth<T>(cases: readonly T[], n: number, from = 0): readonly T[] {
  const step = Math.max(1, Math.ceil(n / times));
  return cases.filter((_, index) => index % step === from % step);
}

const seed = asked === 'random' ? undefined : Number(asked === '' ? usual : asked);

/** Returns the seed option of one of several rounds, so that each round runs other cases. */
export function seedOfRound(round: number): { readonly seed?: number } {
  return seed === undefined ? {} : { seed: seed + round };
}

// Properties run the same cases every time, so a green test stays green; `npm run test:seeds` runs other cases.
fc.configureGlobal({ numRuns: runCount(30), ...seedOfRound(0) });
