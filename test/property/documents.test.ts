import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Json } from '../../src/model/json.ts';
import { manifestText } from '../../src/manifest/draft/manifest-text.ts';
import { toYamlText } from '../../src/manifest/yaml/write-yaml.ts';
import { jsonPieces, toJsonText } from '../../src/report/serialize.ts';
import { runCount } from '../support/property-runs.ts';

const nasty = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'binary-ascii', maxLength: 5 }),
  fc.constantFrom(
    'yes',
    'No',
    'null',
    '~',
    '1e3',
    '0x1f',
    '09:00',
    '2026-11-20',
    '- a',
    '? a',
    ': a',
    '#',
    'a: b',
    'a #b',
    'a:b',
    'envvar:A',
    'a, b',
    '[a]',
    '{ a: b }',
    String.raw`it's a "\b"`,
    '',
    ' ',
    '<<',
    '.inf',
    '.',
    '=',
    '\u202e',
    '\u{e0041}',
    '\u001b[31m',
  ),
);
const { value: values } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    nasty,
    fc.constantFrom<Json>(null, true, false, 0, -1, 1.5, 1e21, 1e-7),
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .array(fc.tuple(fc.oneof(nasty, fc.string({ minLength: 900, maxLength: 1200 })), tie('value')), { maxLength: 4 })
      .map((entries) => Object.fromEntries(entries)),
  ),
}));

test('printed YAML and JSON read as the same value in every version of YAML', () => {
  fc.assert(
    fc.property(values, (value) => {
      for (const version of ['1.1', '1.2'] as const) {
        expect(parse(toYamlText(value), { version })).toEqual(value);
        expect(parse(manifestText({ spec: value, tests: [value] }, 'x'), { version })).toEqual({ spec: value, tests: [value] });
      }
      expect(JSON.parse(toJsonText(value))).toEqual(value);
      const deep = { a: [{ b: [{ c: [value, value] }] }] };
      expect([...jsonPieces(deep)].join('')).toBe(toJsonText(deep));
    }),
    { numRuns: runCount(100) },
  );
});

function listOf(length: number): Json {
  return Array.from({ length }, (_, id) => ({ id, values: [id, { a: 'é' }], none: [] }));
}

test('JSON is indented, except the entries of lists with more than 300', () => {
  const short = { plans: [{ changes: listOf(300) }], failures: listOf(2) };
  expect(toJsonText(short)).toBe(`${JSON.stringify(short, null, 2)}\n`);
  const long = { plans: [{ changes: listOf(301), counts: {} }], failures: listOf(2) };
  const lines = toJsonText(long).split('\n');
  expect(lines.slice(0, 5)).toEqual([
    '{',
    '  "plans": [',
    '    {',
    '      "changes": [',
    '        {"id":0,"values":[0,{"a":"é"}],"none":[]},',
  ]);
  expect(lines.filter((line) => line.startsWith('        {"id":'))).toHaveLength(301);
  expect(JSON.parse(lines.join('\n'))).toEqual(long);
});

test('no printed text moves a cursor, hides or reorders text', () => {
  fc.assert(
    fc.property(values, (value) => {
      for (const text of [toYamlText(value), toJsonText(value)]) expect(text.replaceAll('\n', '')).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
    }),
    { numRuns: runCount(70) },
  );
});
