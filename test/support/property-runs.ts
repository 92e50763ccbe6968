import * as fc from 'fast-check';

// Any number works; it only has to be the same in each run.
const usual = 20_261_121;
const asked = process.env['OSTIARY_TEST_SEED'] ?? '';
const times = Number(process.env['OSTIARY_TEST_RUNS'] ?? 1);

if (!/^(?:|random|-?\d+)$/.test(asked)) throw new Error(`OSTIARY_TEST_SEED is "${asked}": it is a number, or "random"`);
if (!Number.isSafeInteger(times) || times < 1)
  throw new Error('OSTIARY_TEST_RUNS is how many times more often a property is tried: 1 or more');

/** Returns how many cases a property runs: its own count times OSTIARY_TEST_RUNS. */
export function runCount(count: number): number {
  return count * times;
}

const seed = asked === 'random' ? undefined : Number(asked === '' ? usual : asked);

/** Returns the seed option of one of several rounds, so that each round runs other cases. */
export function seedOfRound(round: number): { readonly seed?: number } {
  return seed === undefined ? {} : { seed: seed + round };
}

// Properties run the same cases every time, so a green test stays green; `npm run test:seeds` runs other cases.
fc.configureGlobal({ numRuns: runCount(100), ...seedOfRound(0) });
