import { expect, test } from 'vitest';
import { enforcementOf, isSameEnforcement } from '../../../src/protection/controls/enforcement.ts';

const readable = { type: 'database', subtype: 'postgres', access_mode_connect: 'enabled' };
const forwarding = { type: 'application', subtype: 'tcp', access_mode_connect: 'enabled' };
const undocumented = { type: 'database', subtype: 'newdb', access_mode_connect: 'enabled' };
const closed = { access_mode_connect: 'disabled' };

test.each([
  ['a type that forwards instead of reading', readable, forwarding, false],
  ['the port of a type that forwards, closed', forwarding, { ...forwarding, ...closed }, true],
  ['the port of a type that reads, closed', readable, { ...readable, ...closed }, true],
  ['another type behind a closed port', { ...readable, ...closed }, forwarding, true],
  ['an undocumented type instead of a documented one', readable, undocumented, false],
  ['an undocumented type behind a closed port', { ...readable, ...closed }, { ...undocumented, ...closed }, false],
  ['the port of an undocumented type, closed', undocumented, { ...undocumented, ...closed }, true],
])('enforcement in both directions: %s', (_, one, other, isSame) => {
  const sides = [enforcementOf(one), enforcementOf(other)] as const;
  expect(isSameEnforcement(...sides)).toBe(isSame);
  expect(isSameEnforcement(sides[1], sides[0])).toBe(isSame);
});
