import { expect, test } from 'vitest';
import { connection, guardrail, load, manifest, toLines } from '../manifest-fixtures.ts';

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

test.each(['007', '0o7', '0x1F', '1e3', '1E+3', '1.10', '1.', '.5', '+5', '-0', '08989', 'true', 'True', 'FALSE', '9007199254740991'])(
  'a hint quotes the text of the source: %s',
  (written) => {
    const spec = [`reviewers: [${written}]`, `connection_tags: { zip: ${written} }`, `subtype: ${written} # a comment`];
    const { diagnostics } = load(connection('a', ...spec, `command: ${written}`, 'guardrail_rules:', `  - &rule ${written}`));
    const quoted = `put it in quotes: "${written}"`;
    expect(diagnostics.map(({ hint }) => hint)).toEqual([quoted, quoted, quoted, `write a list: ["${written}"]`, quoted]);
    const quotedSpec = spec.map((line) => line.replace(written, `"${written}"`));
    const mended = load(connection('a', ...quotedSpec, `command: ["${written}"]`));
    expect(mended.value?.resources[0]?.spec).toMatchObject({ reviewers: [written], subtype: written, command: [written] });
  },
);

test.each(['1_000', 'yes', 'no', 'on', '2026-01-01', '2026-01-01T00:00:00Z', '12:30:45', '1.2.3', '0b11', '1e', '--1'])(
  'a text that only YAML 1.1 reads as something else is a text: %s',
  (written) => {
    const { value, diagnostics } = load(connection('a', `reviewers: [${written}]`));
    expect(diagnostics).toEqual([]);
    expect(value?.resources[0]?.spec['reviewers']).toEqual([written]);
  },
);

test.each(['!!int "7"', '*alias', '~', 'null', '.inf', '-.INF', '.nan', '9007199254740993'])(
  'a hint offers no text where the source has none to quote: %s',
  (written) => {
    const { diagnostics } = load(connection('a', 'connection_tags: { zip: &alias 007 }', `reviewers: [${written}]`));
    expect(diagnostics.length).toBeGreaterThan(0);
    for (const { hint } of diagnostics.filter(({ at }) => at?.line === 12)) expect(hint ?? '').not.toMatch(/["'\d]/);
  },
);

test('a hint never quotes a secret', () => {
  const texts = [
    secret('envvar:PASS: 0123'),
    secret('envvar:PASS: { value: 0123 }'),
    manifest('RunbookConfiguration', 'a', 'git_url: https://example.com/x', 'git_password: 0123'),
  ];
  for (const text of texts) expect(JSON.stringify(load(text).diagnostics)).not.toMatch(/0123|"123|is 123/);
});
