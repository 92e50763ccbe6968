import { expect, test } from 'vitest';
import { durationText } from '../../../src/model/time.ts';

test.each([
  [1, '1 s'],
  [60, '1 min'],
  [90, '1 min 30 s'],
  [1_800, '30 min'],
  [3_600, '1 h'],
  [5_400, '1 h 30 min'],
  [86_400, '1 d'],
  [90_061, '1 d 1 h 1 min 1 s'],
  [0, '0 s'],
  [-5, '-5 s'],
  [1.5, '1.5 s'],
])('%d seconds are said as %s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});
