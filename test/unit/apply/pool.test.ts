import { describe, expect, it } from 'vitest';
import { runPool } from '../../../src/model/concurrency.ts';

/** Waits until all pending callbacks have run. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
}

describe('runPool', () => {
  it.each([
    [1, 1],
    [3, 3],
    [8, 5],
  ])('works on at most %i at a time, each beginning in order', async (concurrency, most) => {
    const begun: number[] = [];
    let working = 0;
    let peak = 0;
    await runPool([5, 4, 3, 2, 1], concurrency, async (entry) => {
      begun.push(entry);
      working += 1;
      peak = Math.max(peak, working);
      await turns(entry);
      working -= 1;
    });
    expect({ begun, peak }).toEqual({ begun: [5, 4, 3, 2, 1], peak: most });
  });

  it('does nothing without entries', async () => {
    await expect(runPool([], 8, () => Promise.reject(new Error('never called')))).resolves.toBeUndefined();
  });

  it('throws the first error after all running calls have ended, and starts no more', async () => {
    const ended: number[] = [];
    const work = async (entry: number): Promise<void> => {
      await turns(entry * 10);
      ended.push(entry);
      if (entry < 3) throw new Error(`of ${entry}`);
    };
    await expect(runPool([3, 1, 2, 4, 5], 3, work)).rejects.toThrow('of 1');
    expect(ended).toEqual([1, 2, 3]);
  });
});
