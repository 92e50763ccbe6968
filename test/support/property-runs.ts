import * as fc from 'fast-check';

// Any number will do: it only has to be the same in each run.
const usual = 20_261_121;
const asked = process.env['OSTIARY_TEST_SEED'] ?? '';
const times = Number(process.env['OSTIARY_TEST_RUNS'] ?? 1);

if (!/^(?:|random|-?\d+)$/.test(asked)) throw new Error(`OSTIARY_TEST_SEED is "${asked}": it is a number, or "random"`);
if (!Number.isSafeInteger(times) || times < 1)
  throw new Error('OSTIARY_TEST_RUNS is how many times more often a property is tried: 1 or more');

/** How often a property is tried: as often as it says itself, or so many times more. */
export function runCount(count: number): number {
  return count * times;
}

const seed = asked === 'random' ? undefined : Number(asked === '' ? usual : asked);

/** What a property is told that is tried on several rounds of cases, each round on others. */
export function seedOfRound(round: number): { readonly seed?: number } {
  return seed === undefined ? {} : { seed: seed + round };
}

// Properties are tried on the same cases in each run, so a test that was green stays green; `npm run test:seeds` looks at others.
fc.configureGlobal({ numRuns: runCount(100), ...seedOfRound(0) });
