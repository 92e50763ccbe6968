import { describe, expect, test } from 'vitest';
import type { LoadInput } from '../../../../src/manifest/load-manifests.ts';
import { connection, load, manifest } from '../manifest-fixtures.ts';

const suspicious = [
  [' ', 'secret/blank'],
  ['\n', 'secret/blank'],
  ['\t \r\n', 'secret/blank'],
  ['\ufeff', 'secret/blank'],
  ['hunter2hunter2\n', 'secret/line-break'],
  ['hunter2hunter2\r\n', 'secret/line-break'],
  ['hunter2hunter2\r', 'secret/line-break'],
  ['hunter2hunter2\n\n', 'secret/line-break'],
  ['\ufeffhunter2hunter2', 'secret/byte-order-mark'],
  ['\ufeffhunter2hunter2\r\n', 'secret/byte-order-mark'],
  ...[
    'xxxxxxxx',
    'XXXX',
    'changeme',
    'CHANGE_ME',
    'change-this',
    'TODO',
    'tbd',
    'FIXME',
    'placeholder',
    'null',
    'undefined',
    'your-password',
    '<your token>',
  ].map((word) => [word, 'secret/placeholder'] as const),
  ['$DB_PASSWORD', 'secret/placeholder'],
  ['${DB_PASSWORD}', 'secret/placeholder'],
  ['${db_password}', 'secret/placeholder'],
] as const;

const usual = [
  'hunter2hunter2',
  'two\nlines\n',
  'a b',
  '$2a$10$N9qo8uLOickgx2ZMRZoMye',
  '100%',
  'a{b}c',
  '(x)',
  'ünter2',
  '5432',
  'xxx',
  'changemenow',
  'nullable',
  'redacted-by-me',
  'todos',
  'yours',
  'pa$SWORD',
  '$ABC$',
];

/** A connection whose secret HOST, which is no credential, has a notation. */
function host(notation: string, key = 'envvar:HOST'): string {
  return connection('a', `secret: { "${key}": ${notation} }`);
}

function codesOf(text: string, options: Partial<LoadInput> = {}): readonly string[] {
  return load(text, { peek: () => undefined, ...options }).diagnostics.map(({ code, severity }) => `${severity} ${code}`);
}

function resolveTo(value: string | Uint8Array): NonNullable<LoadInput['resolve']> {
  return () => ({ value, diagnostics: [] });
}

/** Returns the codes for a value in each notation. */
function codesInEachForm(value: string): Readonly<Record<string, readonly string[]>> {
  const bytes = Buffer.from(value);
  const fromFile = host('{ valueFrom: { file: x } }');
  return {
    value: codesOf(host(JSON.stringify({ value }))),
    base64: codesOf(host(bytes.toString('base64'))),
    env: codesOf(host('{ valueFrom: { env: OSTIARY_SECRET_X } }'), { resolve: resolveTo(value) }),
    file: codesOf(fromFile, { resolve: resolveTo(bytes), peek: () => bytes }),
    'file that is not sent': codesOf(fromFile, { peek: () => bytes }),
    'field of its own': codesOf(
      manifest('RunbookConfiguration', 'a', 'git_url: https://example.com/x', 'git_user: me', `git_password: ${JSON.stringify({ value })}`),
    ).filter((one) => !one.endsWith('secret/inline')),
  };
}

describe('a suspicious value', () => {
  test.each(suspicious)('has a warning in each notation: %j', (value, code) => {
    const found = codesInEachForm(value);
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((form) => [form, [`warning ${code}`]])));
  });

  test.each(usual)('is not every value: %j', (value) => {
    const found = codesInEachForm(value);
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((form) => [form, []])));
  });

  test('has the position of its value, and a hint for its notation', () => {
    const resolve = resolveTo('hunter2\n');
    const found = [
      load(host('{ value: "hunter2\\n" }')),
      load(host('{ valueFrom: { env: OSTIARY_SECRET_X } }'), { resolve }),
      load(host('{ valueFrom: { file: x } }'), { resolve }),
    ].map(({ diagnostics: [first] }) => `${first?.at?.line}:${first?.at?.column} ${first?.message}: ${first?.hint}`);
    const message = 'the value of "secret.envvar:HOST" ends with a line break, which is sent as a part of it';
    expect(found).toEqual([
      `11:28 ${message}: write it without the line break; after a |, write |- instead`,
      `11:48 ${message}: set the variable without it`,
      `11:49 ${message}: remove it from the file, for example with: printf %s "$(cat FILE)" > NEW`,
    ]);
    expect(JSON.stringify(found)).not.toContain('hunter2');
  });
});

describe('a placeholder', () => {
  test.each([
    '${OSTIARY_SECRET_ORDERS}',
    'https://${HOST:-localhost}:8443',
    '$DB_USER',
    '$db_user',
    '$env:DB_USER',
    '$(DB_USER)',
    '%DB_USER%',
    '{{ env.DB_HOST }}',
    '{{DB_HOST}}',
    'db.{{ .Values.domain }}',
    '${{ secrets.DB_HOST }}',
    '#{DB_HOST}#',
    '<%= ENV["DB_HOST"] %>',
    '((db-host))',
  ])('in a manifest has a warning, also as a credential and as base64: %s', (value) => {
    const notations = [JSON.stringify({ value }), Buffer.from(value).toString('base64')];
    for (const notation of notations)
      for (const key of ['envvar:HOST', 'envvar:PASS']) expect(codesOf(host(notation, key))).toEqual(['warning secret/placeholder']);
    const [found] = load(host(JSON.stringify({ value }))).diagnostics;
    expect(found?.hint).toBe('read it from the environment: { valueFrom: { env: … } }');
  });
});
