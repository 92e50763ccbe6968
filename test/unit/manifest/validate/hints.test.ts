import { expect, test } from 'vitest';
import { connection, guardrail, load, toLines } from '../manifest-fixtures.ts';

const withoutMetadata = 'apiVersion: ostiary/v1\nkind: GuardrailRule\nspec: {}\n';
const selector = 'connection_selector: { match_tags: { a: b }, tags: {} }';

const hints: readonly (readonly [name: string, text: string, expected: string, hint: string])[] = [
  ['no metadata', withoutMetadata, '1:1 error manifest/missing-field', 'add metadata: { name: … }'],
  ['the beginning of a field', connection('a', 'agent: x'), '11:3 error manifest/unknown-field', 'did you mean "agent_id"?'],
  ['that in the plural', connection('a', 'guardrails: [r]'), '11:3 error manifest/unknown-field', 'did you mean "guardrail_rules"?'],
  ['the end of a field', guardrail('a', selector), '6:48 error manifest/unknown-field', 'did you mean "match_tags"?'],
  ['the beginning of several', connection('a', 'access: x'), '11:3 error manifest/unknown-field', 'fields: '],
  ['a merge key', connection('a', '<<: {}'), '11:3 error manifest/unknown-field', 'no merge keys'],
  ['null as a tag', connection('a', 'connection_tags: { env: null }'), '11:27 error manifest/wrong-type', 'only in an overlay'],
  ['a credential in plain text', secret('envvar:DB_PASS: hunter2!'), '12:21 error secret/not-base64', fromEnvironment('DB_PASS')],
  ['a variable as a text', secret('envvar:HOST: $HOST'), '12:18 error secret/not-base64', fromEnvironment('HOST')],
];

test.each(hints)('%s', (_, text, expected, hint) => {
  const { diagnostics } = load(text);
  expect(toLines(diagnostics)).toEqual([`a.yaml:${expected}`]);
  expect(diagnostics[0]?.hint).toContain(hint);
  expect(JSON.stringify(diagnostics)).not.toContain('hunter2');
});

function secret(line: string): string {
  return connection('a', 'secret:', `  ${line}`);
}

function fromEnvironment(name: string): string {
  return `write envvar:${name}: { valueFrom: { env: OSTIARY_SECRET_… } }`;
}
