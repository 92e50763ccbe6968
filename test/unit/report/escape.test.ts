import { describe, expect, it } from 'vitest';
import {
  codeBlock,
  codeSpan,
  escapeCommandData,
  escapeCommandProperty,
  escapeHtmlText,
  escapeMarkdown,
  escapeTerminal,
} from '../../../src/report/escape.ts';

describe('escapeTerminal', () => {
  it.each([
    ['plain text, ünïcödé, 日本 and 🚪', 'plain text, ünïcödé, 日本 and 🚪'],
    ['\u001b[31mred\u0007', String.raw`\u001b[31mred\u0007`],
    ['one\ntwo\r\tthree', String.raw`one\ntwo\r\tthree`],
    ['a\u202eb\u2066c\u2028d\u2029e', String.raw`a\u202eb\u2066c\u2028d\u2029e`],
    ['\u0085\u009b\u007f', String.raw`\u0085\u009b\u007f`],
    ['tag \u{e0041}', String.raw`tag \u{e0041}`],
  ])('shows %j', (text, escaped) => {
    expect(escapeTerminal(text)).toBe(escaped);
  });
});

describe('codeSpan', () => {
  it.each([
    ['', '` `'],
    ['orders-db', '`orders-db`'],
    ['a`b', '``a`b``'],
    ['`', '`` ` ``'],
    ['``a', '``` ``a ```'],
    [' a ', '`  a  `'],
    ['a|b', '`a`&#124;`b`'],
    [String.raw`a\|b`, String.raw`${'`a\\`'}&#124;${'`b`'}`],
    ['||', '&#124;&#124;'],
    ['<b>@x</b>', '`<b>@x</b>`'],
    ['a\nb', String.raw`${'`a\\nb`'}`],
  ])('wraps %j', (text, span) => {
    expect(codeSpan(text)).toBe(span);
  });
});

describe('escapeMarkdown', () => {
  it.each([
    ['37 % of 12 objects would be updated.', '37 % of 12 objects would be updated.'],
    ['ask @octocat about #12 and GH-7', 'ask `@octocat` about `#12` and `GH-7`'],
    ['<img src=x> ![a](b)', '`<img src=x> ![a](b)`'],
    ['owner/repo@0123456789abcdef', '`owner/repo@0123456789abcdef`'],
    ['a | b', 'a &#124; b'],
    ['f(x) (g(x))', '`f(x) (g(x))`'],
    ['(f(a) && g(b) <= 18), else (see x.y)', '(`f(a) && g(b) <= 18`), else (see `x.y`)'],
    ['(f(x) is never closed', '`(f(x)` is never closed'],
    ['(a.b) (c.d)', '`(a.b) (c.d)`'],
  ])('writes %j', (text, escaped) => {
    expect(escapeMarkdown(text)).toBe(escaped);
  });
});

describe('codeBlock', () => {
  it('has a fence that no line can close', () => {
    expect(codeBlock(['```', 'a'], 'diff')).toBe('````diff\n```\na\n````');
  });

  it('keeps each line one line', () => {
    expect(codeBlock(['a\n```\nb'], '')).toBe('````\na\\n```\\nb\n````');
  });
});

describe('escapeHtml', () => {
  it('leaves no markup', () => {
    expect(escapeHtmlText(`<a href="x" id='y'>&`)).toBe('&#60;a href=&#34;x&#34; id=&#39;y&#39;&#62;&#38;');
  });
});

describe('workflow commands', () => {
  it('escapes data', () => {
    expect(escapeCommandData('100 %\r\n::error::\u001b[0m')).toBe(String.raw`100 %25%0D%0A::error::\u001b[0m`);
  });

  it('escapes properties', () => {
    expect(escapeCommandProperty('a,b:c%\n')).toBe('a%2Cb%3Ac%25%0A');
  });
});

it('shows a quotation with anything but plain words as one code span', () => {
  expect(escapeMarkdown('gains reviewer group "@octo fixes #1" (db)')).toBe('gains reviewer group `"@octo fixes #1"` (db)');
  expect(escapeMarkdown('loses "a b" and "fixes #1", too')).toBe('loses "a b" and `"fixes #1"`, too');
  expect(escapeMarkdown('Refused: plan/a, plan/b. a_db loses review.')).toBe('Refused: `plan/a`, `plan/b`. `a_db` loses review.');
  expect(escapeMarkdown('a quotation "that never #1 ends')).toBe('a quotation "that never `#1` ends');
});
