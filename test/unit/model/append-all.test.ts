import { expect, it } from 'vitest';
import { appendAll, largestOf } from '../../../src/model/collections.ts';

it('appends and compares lists that are longer than the arguments of a call may be', () => {
  const many = Array.from({ length: 500_000 }, (_, index) => index);
  const list = [-1];
  appendAll(list, many);
  expect([list.length, list[0], list.at(-1)]).toEqual([500_001, -1, 499_999]);
  expect([largestOf(many, 0), largestOf([], 3), largestOf([1], 3)]).toEqual([499_999, 3, 3]);
});
