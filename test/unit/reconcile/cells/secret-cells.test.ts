import { describe, expect, it } from 'vitest';
import type { DesiredResource } from '../../../../src/model/desired.ts';
import type { Value } from '../../../../src/model/plan/plan.ts';
import { seal, type DesiredSecret, type LiveSecret } from '../../../../src/model/secret.ts';
import { compareSecrets } from '../../../../src/reconcile/cells/secret-cells.ts';
import { desiredOf, liveOf } from '../../../support/resources.ts';

const path = '/secret/envvar:KEY';
const value = seal('env:KEY', 'bmV3');
const keep: DesiredSecret = { state: 'keep', source: 'keep' };
const unresolved: DesiredSecret = { state: 'unresolved', source: 'env:KEY' };
const hidden: LiveSecret = { state: 'hidden', source: 'live' };
const other = seal('live', 'b3RoZXI=');

/** Returns the planned change of the only secret: `before→after`, `kept`, or `missing`. */
function verdict(...sides: Parameters<typeof compareSecrets>): string {
  const { fields, kept, notCompared, missing } = compareSecrets(...sides);
  return [
    ...fields.map(({ before, after }) => `${side(before)}→${side(after)}`),
    ...kept.map(() => 'kept'),
    ...[...notCompared].map(([, reason]) => `not compared: ${reason}`),
    ...missing.map(() => 'missing'),
  ].join(' ');
}

function side(one: Value): string {
  return 'secret' in one ? `${one.secret}/${one.state}` : 'absent';
}

describe('compareSecrets', () => {
  it.each<[string, DesiredSecret | undefined, LiveSecret | 'none' | 'not live', string]>([
    ['a value on create', value, 'not live', 'absent→env:KEY/set'],
    ['a value that is not live', value, 'none', 'absent→env:KEY/set'],
    ['the same value', value, seal('live', 'bmV3'), ''],
    ['another value', value, other, 'live/differs→env:KEY/differs'],
    ['a value that is hidden', value, hidden, 'not compared: hidden'],
    ['a source on create', unresolved, 'not live', 'absent→env:KEY/set'],
    ['a source', unresolved, other, 'not compared: unresolved'],
    ['a source of what is hidden', unresolved, hidden, 'not compared: hidden'],
    ['keep on create', keep, 'not live', 'missing'],
    ['keep of nothing', keep, 'none', 'missing'],
    ['keep', keep, other, ''],
    ['keep of what is hidden', keep, hidden, ''],
    ['nothing', undefined, other, 'kept'],
    ['nothing of nothing', undefined, 'none', ''],
  ])('takes %s', (_, wished, found, expected) => {
    const desired = desiredOf('Connection/db', { secrets: wished === undefined ? {} : { [path]: wished } });
    // A gateway that hides a value says so.
    const live = liveOf('Connection/db', {
      secrets: typeof found === 'string' ? {} : { [path]: found },
      unknown: found === hidden ? [path] : [],
    });
    expect(verdict(desired, found === 'not live' ? undefined : live)).toBe(expected);
  });

  it.each<[string, Partial<DesiredResource>, string]>([
    ['what a whole map leaves out goes', { wholeSecrets: ['/secret'] }, 'live/removed→absent'],
    ['a whole map elsewhere takes nothing', { wholeSecrets: ['/other'] }, 'kept'],
    ['what is ignored stays', { wholeSecrets: ['/secret'], ignore: [path] }, 'kept'],
    ['what is ignored is not compared', { secrets: { [path]: value }, ignore: ['/secret'] }, ''],
    ['keep of what is ignored is not looked for', { secrets: { '/secret/envvar:NONE': keep }, ignore: ['/secret'] }, 'kept'],
  ])('%s', (_, given, expected) => {
    expect(verdict(desiredOf('Connection/db', given), liveOf('Connection/db', { secrets: { [path]: other } }))).toBe(expected);
  });

  it.each<[string, DesiredSecret]>([
    ['a value', value],
    ['keep', keep],
  ])('takes %s of a field that the gateway does not mention for unknown', (_, wished) => {
    const live = liveOf('Connection/db', { unknown: ['/secret'] });
    expect(verdict(desiredOf('Connection/db', { secrets: { [path]: wished } }), live)).toBe('not compared: hidden');
  });

  it('takes a source of a value that was not read, although the token may read it, for unresolved', () => {
    const live = liveOf('Connection/db', { secrets: { [path]: hidden } });
    expect(verdict(desiredOf('Connection/db', { secrets: { [path]: unresolved } }), live)).toBe('not compared: unresolved');
  });

  describe('an incomplete apply wrote another manifest than the base', () => {
    const [is, was] = [seal('inline', 'YQ=='), seal('inline', 'Yg==')];
    const base = desiredOf('Connection/db', { secrets: { [path]: is }, wholeSecrets: ['/secret'] });
    const shown = liveOf('Connection/db', { secrets: { [path]: hidden } });
    const keyless = liveOf('Connection/db', { unknown: ['/secret'] });

    it.each<[string, Partial<DesiredResource>, string]>([
      ['another value', { secrets: { [path]: was } }, 'inline/unknown→inline/unknown'],
      ['another source', { secrets: { [path]: value } }, 'env:KEY/unknown→inline/unknown'],
      ['the same value', { secrets: { [path]: is } }, 'not compared: hidden'],
      ['keep', { secrets: { [path]: keep } }, 'not compared: hidden'],
      ['another value that is ignored', { secrets: { [path]: was }, ignore: ['/secret'] }, 'not compared: hidden'],
      ['no such secret', {}, 'not compared: hidden'],
      ['a map without the key', { wholeSecrets: ['/secret'] }, 'absent→inline/set'],
    ])('%s', (_, given, expected) => {
      const form = desiredOf('Connection/db', given);
      expect(verdict(base, keyless, base, [form])).toBe(expected);
      expect(verdict(base, keyless, undefined, [form])).toBe(expected);
    });

    it('restores a value that the token may not read, and compares one that it may', () => {
      const form = desiredOf('Connection/db', { secrets: { [path]: was } });
      expect(verdict(base, shown, base, [form])).toBe('inline/unknown→inline/unknown');
      expect(verdict(base, liveOf('Connection/db', { secrets: { [path]: seal('live', 'YQ==') } }), base, [form])).toBe('');
    });

    it('removes a key that the base does not have', () => {
      const form = desiredOf('Connection/db', { secrets: { [path]: was, '/secret/envvar:NEW': was }, wholeSecrets: ['/secret'] });
      expect(verdict(base, keyless, base, [form])).toBe('inline/unknown→inline/unknown inline/removed→absent');
    });
  });

  it('uses the value that is ignored on create', () => {
    const desired = desiredOf('Connection/db', { secrets: { [path]: value }, ignore: ['/secret'] });
    expect(verdict(desired, undefined)).toBe('absent→env:KEY/set');
  });

  it('compares by path, and reports missing values', () => {
    const desired = desiredOf('Connection/db', { secrets: { '/secret/b': value, '/secret/a': value, '/secret/c': keep } });
    const { fields, missing } = compareSecrets(desired, undefined);
    expect(fields.map((field) => field.path)).toEqual(['/secret/a', '/secret/b']);
    expect(missing.map((field) => field.path)).toEqual(['/secret/c']);
  });
});
