import { expect, test } from 'vitest';
import type { AssessedChange, EdgeChange } from '../../../../src/model/plan/plan.ts';
import { changeRows, edgeChangeRows } from '../../../../src/report/rows/change-rows.ts';

const change: AssessedChange = { id: 'GuardrailRule/a', action: 'update', fields: [], needs: [], reasons: [], carried: [], risks: [] };
const edge: EdgeChange = { rule: 'GuardrailRule/a', connection: 'Connection/b', action: 'attach', declared: [] };

test('an attachment is its other end, with its selector and its origin', () => {
  const edges: readonly EdgeChange[] = [
    { ...edge, bySelector: true },
    { ...edge, bySelector: true, origin: 'drift' },
    { ...edge, action: 'detach', origin: 'drift' },
    { ...edge, rule: 'GuardrailRule/c', connection: 'Connection/a' },
  ];
  expect(edgeChangeRows(change, edges)).toEqual([
    { sign: '+', text: 'Connection/b (by selector)' },
    { sign: '+', text: 'Connection/b (by selector; drift)' },
    { sign: '-', text: 'Connection/b (drift)' },
    { sign: '+', text: 'GuardrailRule/c' },
  ]);
  expect(edgeChangeRows(change, edges, true)[2]).toEqual({ sign: '-', text: 'Connection/b' });
});

test('a secret is its source and its state', () => {
  const source = 'env:OSTIARY_SECRET_X';
  const states = (['set', 'differs', 'unknown', 'kept', 'removed'] as const).map((state) => {
    const field = { path: '/secret/envvar:X', before: { secret: 'live', state }, after: { secret: source, state } } as const;
    return changeRows({ ...change, fields: [field] }).map(({ label, parts }) => [
      label,
      ...parts.map((part) => ('text' in part ? part.text : '')),
    ]);
  });
  expect(states.flat().map(([, text]) => text)).toEqual([
    `(${source}) added`,
    `(${source}) differs from the gateway`,
    `(${source}) value not read`,
    `(${source}) kept`,
    `(${source}) removed`,
  ]);
  expect(states[0]?.[0]?.[0]).toBe('secret envvar:X');
});

function pathOf(value: unknown): `/${string}` {
  return `/input/rules/${JSON.stringify(value)}`;
}

/** Edits the only word of many rules without a name. */
function editsOf(count: number): AssessedChange['fields'] {
  return Array.from({ length: count }, (_, index) => {
    const [before, after] = [`a${index}`, `b${index}`].map((word) => ({ type: 'deny_words_list', words: [word] }));
    return [
      { path: pathOf(before), before: { value: before ?? null }, after: { absent: true } },
      { path: pathOf(after), before: { absent: true }, after: { value: after ?? null } },
    ] as const;
  }).flat();
}

test('edited entries without a name show what differs in them; of many, each is whole, in linear time', () => {
  const label = 'input.rules.deny_words_list.words';
  expect(changeRows({ ...change, fields: editsOf(2) }).map((row) => row.label)).toEqual([label]);
  const started = performance.now();
  expect(changeRows({ ...change, fields: editsOf(20_000) }).map((row) => row.label)).toEqual(['input.rules']);
  expect(performance.now() - started).toBeLessThan(2000);
});
