import { describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../../../src/model/diagnostic.ts';
import { mergeEqual } from '../../../../src/report/rows/equal-findings.ts';
import { diagnosticsText } from '../../../../src/report/text/diagnostics.ts';
import { plainPalette } from '../../../../src/report/wrap.ts';

function violation(name: string, more: Partial<Diagnostic> = {}): Diagnostic {
  const resource = `Connection/${name}` as const;
  const message = `${resource}: policy "p": reviewers exist`;
  return {
    code: 'policy/violated',
    severity: 'warning',
    message,
    hint: 'h',
    resource,
    at: { file: `${name}.yaml`, line: 2, column: 1 },
    ...more,
  };
}

describe('findings', () => {
  test('that differ only in their connection are merged where the first one is', () => {
    const other = violation('c', { message: 'Connection/c: policy "p": other' });
    const merged = mergeEqual([violation('a'), other, violation('b'), violation('d', { message: 'policy "p": reviewers exist' })]);
    expect(merged.map(({ messages: [message], all }) => [message, all.map(({ resource }) => resource)])).toEqual([
      ['policy "p": reviewers exist', ['Connection/a', 'Connection/b', 'Connection/d']],
      ['Connection/c: policy "p": other', ['Connection/c']],
    ]);
  });

  test('beyond the limit of a text are counted, and equal ones count as one', () => {
    const equal = Array.from({ length: 150 }, (_, index) => violation(`equal-${index}`));
    const terminal = { columns: 200, color: plainPalette };
    expect(diagnosticsText(equal, terminal)).toMatch(
      /^150 warnings policy\/violated .*\n {2}h\n {2}Connection\/equal-0 \(equal-0.yaml:2\), [^]* and\s+145 more \(--full prints each\)\n150 warnings\n$/,
    );
    const errors = equal.map((one) => ({ ...one, severity: 'error' as const }));
    const different = Array.from({ length: 101 }, (_, index) =>
      violation(`other-${index}`, { code: 'rule/sample-failed', severity: 'error' }),
    );
    expect(diagnosticsText([...errors, ...different], terminal)).toContain('\nand 2 more; --full prints them\n');
  });
});
