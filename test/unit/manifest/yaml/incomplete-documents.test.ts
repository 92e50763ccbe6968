import { expect, test } from 'vitest';
import { connection, guardrail, load, toLines } from '../manifest-fixtures.ts';

test('a duplicate key hides no other error in its document, in the other documents of the file, or in references to them', () => {
  const text = [
    connection('a', 'reviewrs: [x]\n  type: custom'),
    `${guardrail('b')}spec: {}\ndescription: x\n`,
    'apiVersion: ostiary/v1\nkind: Connection\nmetadata: { name: c }\nspec: { subtype: .inf }\n',
    guardrail('d', 'input: 5'),
    guardrail('e', 'connection_ids: [a, c, missing]'),
  ].join('---\n');
  const { value, diagnostics } = load(text);
  expect(value).toBeUndefined();
  expect(toLines(diagnostics)).toEqual([
    'a.yaml:11:3 error manifest/unknown-field',
    'a.yaml:12:3 error manifest/duplicate-key',
    'a.yaml:20:1 error manifest/duplicate-key',
    'a.yaml:21:1 error manifest/unknown-field',
    'a.yaml:26:18 error manifest/not-json',
    'a.yaml:33:10 error manifest/wrong-type',
  ]);
});

test('a secret in a duplicate map is not shown in any frame', () => {
  const { diagnostics } = load(
    connection('a', 'secret:\n    envvar:PASS: { value: canary-1 }\n    envvar:PASS: { value: canary-2 }\n  bogus: 1'),
  );
  expect(toLines(diagnostics)).toContain('a.yaml:14:3 error manifest/unknown-field');
  expect(JSON.stringify(diagnostics)).not.toContain('canary');
});
