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
  ])('hides a text with a secret that is spelled %s', (_, text) => {
    expect(makePrintable(`before ${text} after`, [canary])).toBeUndefined();
  });

  it('hides a text with the decoded value of a base64 secret', () => {
    expect(makePrintable('value hunter2-canary refused', [Buffer.from('hunter2-canary').toString('base64')])).toBeUndefined();
  });

  it('hides a text with a whole short secret, and shows one with less', () => {
    expect(makePrintable('abc', ['abc', 'abcdef'])).toBeUndefined();
    expect(makePrintable('abcde', ['abcdef'])).toBe('abcde');
    expect(makePrintable('abcdef', ['abcdef'])).toBeUndefined();
  });

  it('shows a text that shares one or two letters with a secret', () => {
    expect(makePrintable('a message', ['a', ''])).toBe('a message');
  });

  it('prints one line without control characters', () => {
    expect(makePrintable('a\n\tb\u001B[31mred\u0007 \u202Eevil\u0000', [])).toBe('a b\\u{1b}[31mred\\u{7} \\u{202e}evil\\u{0}');
  });

  it('cuts long texts, and checks no more than the reader sees', () => {
    expect(makePrintable('y'.repeat(1000), [])).toHaveLength(301);
    expect(makePrintable(`${'x '.repeat(145)}canary-canary`, ['canary-canary'])).toBeUndefined();
    expect(makePrintable(`${'x '.repeat(800)}canary-canary`, ['canary-canary'])).toHaveLength(301);
  });
});
