import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../../../src/model/diagnostic.ts';
import { diagnosticsJson } from '../../../../src/report/wording/diagnostics.ts';
import { diagnosticsText } from '../../../../src/report/text/diagnostics.ts';
import { plainPalette } from '../../../../src/report/wrap.ts';

const unknownField: Diagnostic = {
  code: 'manifest/unknown-field',
  severity: 'error',
  message: 'unknown field "pasword" in Connection',
  hint: 'did you mean "password"?',
  at: { file: 'manifests/db.yaml', line: 14, column: 9 },
  frame: { line: 13, lines: ['  spec:', '    pasword: env:DB'], caret: { column: 5, length: 7 } },
};

const all: readonly Diagnostic[] = [
  unknownField,
  {
    code: 'manifest/yaml',
    severity: 'error',
    message: 'a tab is where only spaces are allowed',
    at: { file: 'manifests/a.yaml', line: 100, column: 1 },
    frame: { line: 99, lines: ['spec:', '\ttype: database'], caret: { column: 1, length: 1 } },
  },
  {
    code: 'manifest/pattern',
    severity: 'warning',
    message: 'the pattern matches everything',
    hint: 'say what is to be blocked, or leave the rule out; a pattern that matches everything blocks everything',
    at: { file: 'manifests/rules.yaml', line: 7, column: 130 },
    frame: {
      line: 7,
      lines: [`      pattern_regex: ${'(select|insert|update|delete)+'.repeat(4)}.*${'|x'.repeat(40)}`],
      caret: { column: 142, length: 2 },
    },
  },
  { code: 'manifest/none', severity: 'error', message: 'no manifest for the target "prod"', hint: 'write one, or run ostiary pull' },
  {
    code: 'manifest/skipped',
    severity: 'notice',
    message: 'not a manifest: apiVersion is "v1"',
    at: { file: 'k8s.yaml', line: 1, column: 1 },
  },
];

describe('diagnosticsText', () => {
  it('has the form of the style guide', () => {
    expect(diagnosticsText([unknownField], { color: plainPalette })).toBe(
      [
        'manifests/db.yaml:14:9 error manifest/unknown-field  unknown field "pasword" in Connection',
        '  13 |   spec:',
        '  14 |     pasword: env:DB',
        '     |     ^^^^^^^  did you mean "password"?',
        '1 error',
        '',
      ].join('\n'),
    );
  });

  it('fits 48 columns', async () => {
    await expect(diagnosticsText(all, { color: plainPalette, columns: 48 })).toMatchFileSnapshot('../expected/diagnostics-48.txt');
  });
});

describe('diagnosticsJson', () => {
  it('is sorted and leaves out the code frame', () => {
    const document: unknown = JSON.parse(diagnosticsJson(all));
    expect(document).toMatchObject({
      version: 1,
      diagnostics: [
        { code: 'manifest/none' },
        { code: 'manifest/skipped' },
        { code: 'manifest/yaml' },
        { code: 'manifest/unknown-field' },
        { code: 'manifest/pattern' },
      ],
    });
    expect(JSON.stringify(document)).not.toContain('frame');
  });
});
