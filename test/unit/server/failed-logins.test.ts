import { array, assert, double, property } from 'fast-check';
import { expect, test } from 'vitest';
import { createFailedLoginCounter } from '../../../src/server/rules/failed-logins.ts';

const start = Date.parse('2026-11-20T00:00:00Z');
const at = (seconds: number): Date => new Date(start + seconds * 1000);

test('twenty wrong keys are answered at once, then one every three seconds', () => {
  const failed = createFailedLoginCounter();
  expect(Array.from({ length: 20 }, () => failed('10.0.0.1', at(0)))).toEqual(Array.from({ length: 20 }, () => 0));
  expect(failed('10.0.0.1', at(0))).toBe(3);
  expect(failed('10.0.0.2', at(0))).toBe(0);
  expect([failed('10.0.0.1', at(2)), failed('10.0.0.1', at(5)), failed('10.0.0.1', at(5))]).toEqual([1, 0, 3]);
});

test('in any order of attempts, an address never exceeds the limit of failures and never waits longer than three seconds', () => {
  const pauses = array(double({ min: 0, max: 10, noNaN: true }), { maxLength: 200 });
  assert(
    property(pauses, (waits) => {
      const failed = createFailedLoginCounter();
      let now = 0;
      let answered = 0;
      for (const wait of waits) {
        now += wait;
        const pause = failed('::1', at(now));
        expect(pause).toBeGreaterThanOrEqual(0);
        expect(pause).toBeLessThanOrEqual(3);
        if (pause === 0) answered += 1;
        expect(answered).toBeLessThanOrEqual(20 + now / 3 + 1e-6);
      }
    }),
  );
});

test('a clock that moves back allows no attempts', () => {
  const failed = createFailedLoginCounter();
  for (let n = 0; n < 20; n += 1) failed('a', at(1000));
  expect(failed('a', at(0))).toBe(3);
});

test('all addresses of an IPv6 network count as one', () => {
  const failed = createFailedLoginCounter();
  const ours = ['2001:db8:1:2::1', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::', '2001:db8:1:2:0:0:0:9'];
  for (let n = 0; n < 20; n += 1) failed(ours[n % 4] ?? '', at(0));
  expect(ours.map((address) => failed(address, at(0)))).toEqual([3, 3, 3, 3]);
  expect(failed('2001:db8:1:3::1', at(0))).toBe(0);
});

test('it remembers ten thousand addresses, and no more', () => {
  const failed = createFailedLoginCounter();
  for (let n = 0; n < 21; n += 1) failed('first', at(0));
  for (let n = 0; n < 9999; n += 1) failed(`10.${n}`, at(0));
  expect(failed('first', at(0))).toBeGreaterThan(0);
  for (let n = 0; n < 10_000; n += 1) failed(`11.${n}`, at(0));
  expect(failed('first', at(0))).toBe(0);
});
