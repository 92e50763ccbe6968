import { expect, test } from 'vitest';
import { attachmentsText, causesText, headlineConnections, unstatedImpact } from '../../../../src/report/wording/impact.ts';

test('a headline without connections names the objects that cause it, each once', () => {
  const causes = [
    { by: 'RunbookConfiguration/books', path: '/git_url' },
    { by: 'RunbookConfiguration/books', path: '/git_password' },
    { by: 'RunbookConfiguration/more', path: '/git_url' },
  ] as const;
  const text = '2 runbook configurations send a kept credential to another endpoint';
  expect(headlineConnections({ direction: 'reroutes', text, connections: [], tags: {}, causes }, (name) => name)).toBe('(books, more)');
});

test.each([
  ['contractors can reach orders-db', ['Connection/orders-db'], {}, ''],
  ['contractors can reach orders-db', ['Connection/orders-db'], { env: 'prod' }, '(env=prod)'],
  ['contractors can reach 2 connections', ['Connection/a', 'Connection/b'], { env: 'prod' }, '(a, b; all env=prod)'],
  ['1 connection loses review', ['Connection/review'], {}, '(review)'],
] as const)('beside the headline "%s" stand the connections %j, unless it names the only one', (text, connections, tags, beside) => {
  expect(headlineConnections({ direction: 'weakens', text, connections, tags, causes: [] }, String)).toBe(beside);
});

test('a cause without a line is the object, with the commit that removed its manifest', () => {
  const orphans = new Map([['GuardrailRule/a', { id: 'GuardrailRule/a', removedIn: 'b'.repeat(40), subject: 'Drop it' }]] as const);
  const format = { orphans, position: String, name: String };
  expect(causesText([{ by: 'GuardrailRule/a' }, { by: 'GuardrailRule/b' }], format)).toBe(
    'GuardrailRule/a removed in bbbbbbb "Drop it", GuardrailRule/b deleted',
  );
});

test('a headline that only another object causes does not state an impact', () => {
  const connections = ['Connection/a'] as const;
  const headline = { direction: 'weakens', text: '1 connection loses review', connections, tags: {} } as const;
  const place = 'a.yaml:1:1';
  const impact = { by: 'GuardrailRule/a', direction: 'weakens', places: [place], connections, tags: [] } as const;
  expect(unstatedImpact([impact], [{ ...headline, causes: [{ by: 'GuardrailRule/a', place }] }])).toEqual([]);
  expect(unstatedImpact([impact], [{ ...headline, causes: [{ by: 'GuardrailRule/b', place }] }])).toEqual([impact]);
});

test('each attachment of a rule is named once', () => {
  const attachments = [
    { how: 'direct' },
    { how: 'selector' },
    { how: 'edge' },
    { how: 'attribute', attribute: 'pci' },
    { how: 'direct' },
  ] as const;
  expect(attachmentsText(attachments)).toBe('direct, by selector, on the gateway, by attribute pci');
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

test('a commit that removed several manifests is named once', () => {
  const orphans = new Map(
    (['a', 'b'] as const).map(
      (name) => [`Connection/${name}`, { id: `Connection/${name}`, removedIn: 'b'.repeat(40), subject: 'Drop' }] as const,
    ),
  );
  const causes = [{ by: 'Connection/a' }, { by: 'Connection/b' }] as const;
  expect(causesText(causes, { orphans, position: String, name: String })).toBe('removed in bbbbbbb "Drop"');
});
