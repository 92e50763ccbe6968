import { describe, expect, it } from 'vitest';
import { defaultRetryLimits, pauseAfter, parseRetryAfter } from '../../../../src/gateway/http/transport.ts';

describe('pauseAfter', () => {
  const most = { ...defaultRetryLimits, random: () => 1 };

  it('doubles the ceiling up to the longest pause', () => {
    expect([1, 2, 3, 4, 5, 6, 7].map((attempt) => pauseAfter(attempt, undefined, most))).toEqual([
      400, 800, 1600, 3200, 6400, 10_000, 10_000,
    ]);
  });

  it('spreads over the whole range from zero', () => {
    expect(pauseAfter(3, undefined, { ...most, random: () => 0 })).toBe(0);
    expect(pauseAfter(3, undefined, { ...most, random: () => 0.5 })).toBe(800);
  });

  it('waits as long as the gateway requests, within bounds, plus a jitter', () => {
    expect(pauseAfter(1, 2000, { ...most, random: () => 0 })).toBe(2000);
    expect(pauseAfter(1, 2000, most)).toBe(2400);
    expect(pauseAfter(1, 3_600_000, { ...most, random: () => 0 })).toBe(30_000);
  });
});

describe('parseRetryAfter', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');

  it.each([
    ['3', 3000],
    [' 0 ', 0],
    ['Thu, 01 Jan 2026 00:00:07 GMT', 7000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['soon', undefined],
    ['99999999999999', undefined],
    [undefined, undefined],
  ])('reads %s', (header, milliseconds) => {
    expect(parseRetryAfter(header, now)).toBe(milliseconds);
  });
});
