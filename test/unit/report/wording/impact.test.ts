import { expect, test } from 'vitest';
import { unstatedImpact } from '../../../../src/report/wording/impact.ts';

test('a headline that only another object causes does not state an impact', () => {
  const connections = ['Connection/a'] as const;
  const headline = { direction: 'weakens', text: '1 connection loses review', connections, tags: {} } as const;
  const place = 'a.yaml:1:1';
  const impact = { by: 'GuardrailRule/a', direction: 'weakens', places: [place], connections, tags: [] } as const;
  expect(unstatedImpact([impact], [{ ...headline, causes: [{ by: 'GuardrailRule/a', place }] }])).toEqual([]);
  expect(unstatedImpact([impact], [{ ...headline, causes: [{ by: 'GuardrailRule/b', place }] }])).toEqual([impact]);
});

test('headlines state together what one cause does, and what connections that only lose would gain', () => {
  const tags = {};
  const [first, second] = (['a', 'b'] as const).map((name) => ({
    direction: 'weakens' as const,
    text: `1 connection loses reviewer group ${name}`,
    connections: [`Connection/${name}` as const],
    tags,
    causes: [{ by: `Connection/${name}` as const, place: `${name}.yaml:1:1` }],
  }));
  const impact = {
    path: '/reviewers/dba',
    places: ['a.yaml:1:1', 'b.yaml:1:1'],
    connections: ['Connection/a', 'Connection/b'],
    tags: [],
  } as const;
  const both = [first, second].flatMap((one) => one ?? []);
  expect(unstatedImpact([{ ...impact, direction: 'weakens' }], both)).toEqual([]);
  expect(unstatedImpact([{ ...impact, direction: 'weakens' }], both.slice(1))).toHaveLength(1);
  const gain = { ...impact, places: ['c.yaml:1:1'], direction: 'strengthens' } as const;
  expect(unstatedImpact([gain], both)).toEqual([]);
  expect(unstatedImpact([gain], both.slice(1))).toEqual([gain]);
});
