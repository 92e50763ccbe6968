import { describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../../../src/model/diagnostic.ts';
import { runReportMarkdown } from '../../../../src/report/markdown/comment.ts';
import { mergeEqual } from '../../../../src/report/rows/equal-findings.ts';
import { diagnosticsText } from '../../../../src/report/text/diagnostics.ts';
import { plainPalette } from '../../../../src/report/wrap.ts';
import { quietPlan } from '../quiet-plan.ts';

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
    expect(merged.map(({ message, all }) => [message, all.map(({ resource }) => resource)])).toEqual([
      ['policy "p": reviewers exist: 3 connections', ['Connection/a', 'Connection/b', 'Connection/d']],
      ['Connection/c: policy "p": other', ['Connection/c']],
    ]);
  });

  test.each([
    ['of another severity', violation('b', { severity: 'error' })],
    ['with another hint', violation('b', { hint: 'revert it' })],
    ['of another code', violation('b', { code: 'policy/unknown' })],
    ['of no connection', violation('b', { resource: undefined })],
  ])('%s stay alone', (_, other) => {
    expect(mergeEqual([violation('a'), other])).toHaveLength(2);
  });

  test('of other codes stay alone', () => {
    const [left, right] = [violation('a', { code: 'rule/sample-failed' }), violation('b', { code: 'rule/sample-failed' })];
    expect(mergeEqual([left, right])).toHaveLength(2);
  });

  test('beyond the limit of a text are counted, and equal ones count as one', () => {
    const equal = Array.from({ length: 150 }, (_, index) => violation(`equal-${index}`));
    const terminal = { columns: 200, color: plainPalette };
    expect(diagnosticsText(equal, terminal)).toMatch(/ {2}and 140 more; --full prints them\n150 warnings\n$/);
    const errors = equal.map((one) => ({ ...one, severity: 'error' as const }));
    const different = Array.from({ length: 101 }, (_, index) =>
      violation(`other-${index}`, { code: 'rule/sample-failed', severity: 'error' }),
    );
    expect(diagnosticsText([...errors, ...different], terminal)).toContain('\nand 2 more; --full prints them\n');
  });
});

test('a comment lists a policy warning with the plan, and once', () => {
  const at = { file: 'a.yaml', line: 2, column: 1 };
  const finding = { policy: 'p', connection: 'Connection/a', result: 'violated', severity: 'warning', requirement: at, at } as const;
  const policies = {
    today: '2026-11-21',
    policies: 1,
    connections: 1,
    findings: [{ ...finding, message: 'policy "p": reviewers exist', expression: 'false' }],
    waived: [],
    baseline: [],
    left: [],
  };
  const report = { title: 't', notes: [], diagnostics: [violation('a')], version: '0' };
  const text = runReportMarkdown({ ...report, plan: { ...quietPlan(), policies } }, 65_536);
  expect(text.split('reviewers exist')).toHaveLength(2);
  expect(text).toContain('**1 policy warning:**');
  expect(runReportMarkdown(report, 65_536)).toContain('**1 warning**');
});
