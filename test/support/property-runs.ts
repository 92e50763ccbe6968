import * as fc from 'fast-check';

// Any number works; it only has to be the same in each run.
const usual = 20_261_121;
const asked = process.env['OSTIARY_TEST_SEED'] ?? '';
const times = Number(process.env['OSTIARY_TEST_RUNS'] ?? 1);

if (!/^(?:|random|-?\d+)$/.test(asked)) throw new Error(`OSTIARY_TEST_SEED is "${asked}": it is a number, or "random"`);
if (!(times > 0 && times < Infinity)) throw new Error('OSTIARY_TEST_RUNS is how many times as often a property is tried: more than 0');

/** Returns how many cases a property runs: its own count times OSTIARY_TEST_RUNS, which vitest.config.ts sets to a third for `npm test`. */
export function runCount(count: number): number {
  return Math.ceil(count * times);
}

/** Returns how many cases a property runs that counts what they show: its own count, or more. */
export function fullCount(count: number): number {
  return Math.max(count, runCount(count));
}

const seed = asked === 'random' ? undefined : Number(asked === '' ? usual : asked);

/** Returns the seed option of one of several rounds, so that each round runs other cases. */
export function seedOfRound(round: number): { readonly seed?: number } {
  return seed === undefined ? {} : { seed: seed + round };
}

// Properties run the same cases every time, so a green test stays green; `npm run test:seeds` runs other cases.
fc.configureGlobal({ numRuns: runCount(100), ...seedOfRound(0) });
