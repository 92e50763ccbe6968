import { describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../../../src/model/diagnostic.ts';
import type { AssessedChange, RiskClass } from '../../../../src/model/plan/plan.ts';
import { changeEntry } from '../../../../src/report/rows/entries.ts';
import { foldEntries, foldSimilar } from '../../../../src/report/rows/fold-similar.ts';
import type { GroupedChange } from '../../../../src/report/rows/groups.ts';
import { diagnosticsText } from '../../../../src/report/text/diagnostics.ts';
import { plainPalette } from '../../../../src/report/wrap.ts';

const numbers = Array.from({ length: 301 }, (_, index) => index);

describe('a folded list', () => {
  test('keeps three of those that are alike, in their order, and loses none', () => {
    const folded = foldSimilar(numbers, (entry) => (entry === 5 ? 'other' : 'alike'));
    expect(folded.map(({ entry }) => entry)).toEqual([0, 1, 2, 5]);
    expect(folded.flatMap(({ entry, others }) => [entry, ...others]).toSorted((left, right) => left - right)).toEqual(numbers);
  });
});

function update(id: string, after: number, riskClass: RiskClass): GroupedChange {
  const change: AssessedChange = {
    id: `Connection/${id}`,
    action: 'update',
    fields: [{ path: '/access_max_duration', before: { value: 60 }, after: { value: after } }],
    needs: [],
    carried: [],
    risks: [{ code: 'risk/duration', class: riskClass, connections: [] }],
  };
  return { change, edges: [], note: '', changedSamples: [] };
}

function withAction(action: AssessedChange['action'], grouped: GroupedChange): GroupedChange {
  return { ...grouped, change: { ...grouped.change, action } };
}

/** Whether a long list folds the second change among many that are like the first one. */
function isFolded(left: GroupedChange, right: GroupedChange): boolean {
  const [first, other] = [left, right].map((one) => changeEntry(one, { name: 'changed', title: '' }));
  if (first === undefined || other === undefined) throw new Error('two entries');
  const isShown = (text: (index: number) => string): boolean => {
    const [last, ...many] = [{ ...other, lines: [{ sign: '+', text: text(-1) } as const] }, ...numbers].map((one) =>
      typeof one === 'number' ? { ...first, name: `Connection/${one}`, lines: [{ sign: '+', text: text(one) } as const] } : one,
    );
    return foldEntries([...many, ...(last === undefined ? [] : [last])]).some(({ entry }) => entry === last);
  };
  // Either they differ in their names alone, or their values do not count.
  return !isShown(() => '') || !isShown(String);
}

describe('changes are alike', () => {
  test.each<readonly [boolean, GroupedChange, GroupedChange]>([
    [true, update('a', 120, 'neutral'), update('b', 120, 'neutral')],
    [true, update('a', 120, 'neutral'), update('b', 180, 'neutral')],
    [true, update('a', 120, 'weakens'), update('b', 120, 'weakens')],
    [false, update('a', 120, 'weakens'), update('b', 180, 'weakens')],
    [false, update('a', 120, 'unknown'), update('b', 180, 'unknown')],
    [false, update('a', 120, 'neutral'), update('b', 120, 'weakens')],
    [false, update('a', 120, 'neutral'), { ...update('b', 120, 'neutral'), note: 'drift' }],
    [true, withAction('create', update('a', 120, 'exposes')), withAction('create', update('b', 180, 'exposes'))],
    [true, withAction('delete', update('a', 120, 'weakens')), withAction('delete', update('b', 180, 'weakens'))],
    [false, withAction('delete', update('a', 120, 'weakens')), withAction('delete', update('b', 120, 'neutral'))],
    [false, withAction('create', update('a', 120, 'weakens')), withAction('delete', update('b', 120, 'weakens'))],
  ])('%s', (isAlike, left, right) => {
    expect(isFolded(left, right)).toBe(isAlike);
  });
});

const linesOf = (found: readonly Diagnostic[], full: boolean): readonly string[] =>
  diagnosticsText(found, { color: plainPalette, full }).split('\n');

describe('problems', () => {
  const warnings = numbers.map(
    (index) => ({ code: 'manifest/none', severity: 'warning', message: `w${index}`, resource: `Connection/${index}` }) as const,
  );
  const error = { code: 'manifest/yaml', severity: 'error', message: 'the error' } as const;
  const lines = (full: boolean): readonly string[] => linesOf([...warnings, error], full);

  test('warnings of one code are folded with a count, and errors are not', () => {
    expect(lines(false)).toHaveLength(5);
    expect(lines(false)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^301 warnings manifest\/none {2}w\d+, and 300 like it$/),
        expect.stringContaining('the error'),
        '1 error, 301 warnings',
      ]),
    );
    expect(linesOf(warnings.slice(0, 3), false)[0]).toBe('3 warnings manifest/none  w0, and 2 like it');
    expect(linesOf(warnings.slice(0, 2), false).slice(0, 2)).toEqual(['2 warnings manifest/none  w0', '  w1']);
    const fixes = warnings.slice(0, 2).map((one) => ({ ...one, hint: `fix ${one.message}` }));
    expect(linesOf(fixes, false)).toEqual([
      'Connection/0 warning manifest/none  w0',
      '  fix w0',
      'Connection/1 warning manifest/none  w1',
      '  fix w1',
      '2 warnings',
      '',
    ]);
  });

  test('of more than 100 are counted; the most severe ones are printed', () => {
    const errors = numbers.map((index) => ({ ...error, message: `e${index}` }));
    const found = linesOf([...warnings.slice(0, 3), ...errors], false);
    expect(found).toHaveLength(103);
    expect(found.slice(-3)).toEqual(['and 204 more; --full prints them', '301 errors, 3 warnings', '']);
    expect(found.filter((line) => line.includes('  w'))).toEqual([]);
  });
});
