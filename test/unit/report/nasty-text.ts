import * as fc from 'fast-check';

const nasty = [
  '@octocat',
  '#1',
  'GH-1',
  'owner/repo@0123456789abcdef0123456789abcdef01234567',
  '<script>alert(1)</script>',
  '</details>',
  '<!-- -->',
  '![x](https://example.com/x.png)',
  '[a](javascript:b)',
  'https://example.com',
  'www.example.com',
  'a@b.example',
  '|',
  '\\|',
  '\\',
  '`',
  '```',
  '~~~',
  '\n',
  '\r\n',
  '\t',
  '\u001b[31m',
  '\u0007',
  '\u009b',
  '\u202e',
  '\u2028',
  '\u200b',
  '\ufeff',
  '\ud800',
  '::error::x',
  '%0A',
  '&lt;',
  '日本語',
  '👩‍💻',
  'é́́',
  ' ',
  '  ',
  'plain words here',
  '# heading',
  '- list',
  '1. one',
  '{ a: b }',
  'averyveryveryveryveryveryveryveryveryveryveryveryverylongword',
] as const;

/** Any text, with many characters that renderers must escape. */
export const nastyText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...nasty) },
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.string({ maxLength: 12 }),
    ),
    {
      maxLength: 6,
    },
  )
  .map((parts) => parts.join(''));

/** Returns whether text has a control, format or bidi character other than line feeds that `lines` permits. */
export function hasControls(text: string, lines = false): boolean {
  return /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(lines ? text.replaceAll('\n', '') : text);
}

/** Removes code spans and fenced blocks from Markdown, by the rules of CommonMark; unclosed ones stay. */
export function outsideCode(markdown: string): string {
  return outsideSpans(outsideFences(markdown));
}

function outsideFences(markdown: string): string {
  const kept: string[] = [];
  let fence = '';
  for (const line of markdown.split('\n')) {
    const run = /^`{3,}/.exec(line)?.[0] ?? '';
    if (fence === '' && run !== '' && !line.slice(run.length).includes('`')) fence = run;
    else if (fence !== '' && run.length >= fence.length && line.trim() === run) fence = '';
    else if (fence === '') kept.push(line);
  }
  return kept.join('\n');
}

function outsideSpans(text: string): string {
  let rest = text;
  let kept = '';
  for (;;) {
    const open = /`+/.exec(rest);
    if (open === null) return kept + rest;
    const after = rest.slice(open.index + open[0].length);
    const close = [...after.matchAll(/`+/g)].find((run) => run[0].length === open[0].length);
    kept += rest.slice(0, open.index);
    if (close === undefined) {
      kept += open[0];
      rest = after;
    } else rest = after.slice(close.index + close[0].length);
  }
}
