import { describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../../../src/model/diagnostic.ts';
import { diagnosticsMarkdown } from '../../../../src/report/markdown/fit-to-limit.ts';
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

  test('without a place are merged only if they say the same, because nothing else names what they are about', () => {
    const unplaced = ['a', 'b', 'c', 'c'].map((message): Diagnostic => ({ code: 'plan/unknown-name', severity: 'warning', message }));
    expect(mergeEqual(unplaced).map(({ messages, all }) => [messages, all.length])).toEqual([
      [['a'], 1],
      [['b'], 1],
      [['c'], 2],
    ]);
    expect(diagnosticsText(unplaced.slice(2), { columns: 200, color: plainPalette })).toBe('2 warnings plan/unknown-name  c\n2 warnings\n');
    expect(diagnosticsMarkdown(unplaced.slice(2))).toBe('**2 warnings**\n\n- 2 warnings `plan/unknown-name` c\n\n');
  });

  test('on one place name it once', () => {
    const same = [violation('a', { code: 'manifest/none' }), violation('a', { code: 'manifest/none', message: 'other' })];
    expect(diagnosticsMarkdown(same)).toContain('\n  - `Connection/a` `a.yaml:2`\n');
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
