import { describe, expect, it } from 'vitest';
import { makePrintable } from '../../../../src/gateway/http/failure.ts';

const canary = 'canary-7f3a9c "quoted"\nsecond-line-of-it';

describe('makePrintable', () => {
  it.each([
    ['as it is', canary],
    ['in JSON', JSON.stringify({ value: canary })],
    ['in a URL', `https://host/?q=${encodeURIComponent(canary)}`],
    ['in base64', Buffer.from(canary).toString('base64')],
    ['one line of it', 'a second-line-of-it b'],
  ])('hides a secret that is spelt %s', (_, text) => {
    const shown = makePrintable(`before ${text} after`, [canary]);
    expect(shown).not.toMatch(/canary|second|c2Vjb25k/);
    expect(shown).toContain('***');
    expect(shown).toMatch(/^before .* after$/);
  });

  it('hides the decoded value of a base64 secret', () => {
    expect(makePrintable('value hunter2-canary refused', [Buffer.from('hunter2-canary').toString('base64')])).toBe('value *** refused');
  });

  it('hides the longer of two secrets first', () => {
    expect(makePrintable('abcdef abc', ['abc', 'abcdef'])).toBe('*** ***');
  });

  it('keeps a text that shares one or two letters with a secret', () => {
    expect(makePrintable('a message', ['a', ''])).toBe('a message');
  });

  it('prints one line without control characters', () => {
    expect(makePrintable('a\n\tb\u001B[31mred\u0007 \u202Eevil\u0000', [])).toBe('a b\\u{1b}[31mred\\u{7} \\u{202e}evil\\u{0}');
  });

  it('cuts the text after it hides secrets, so that no part of a secret remains', () => {
    const shown = makePrintable(`${'x'.repeat(296)}canary-canary`, ['canary-canary']);
    expect(shown).toBe(`${'x'.repeat(296)}***`);
    expect(makePrintable('y'.repeat(1000), [])).toHaveLength(301);
  });
});
