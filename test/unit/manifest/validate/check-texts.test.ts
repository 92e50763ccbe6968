import { describe, expect, it, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import { findNode, readAnnotation } from '../../../../src/manifest/schema-nodes.ts';
import { isObject, type Json, type JsonObject, objectsIn } from '../../../../src/model/json.ts';
import type { Kind } from '../../../../src/model/kind.ts';
import { pointer, tokensOf } from '../../../../src/model/pointer.ts';
import { loadState } from '../../../support/desired-state.ts';
import { connection } from '../../../support/manifests.ts';
import type { Manifest } from '../../../support/scenario.ts';

/** The places of the texts in a value, with their tokens. */
function textPlaces(value: Json, tokens: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value === 'string') return [tokens];
  if (Array.isArray(value)) return value.flatMap((one: Json, index) => textPlaces(one, [...tokens, String(index)]));
  return isObject(value) ? Object.entries(value).flatMap(([name, one]) => textPlaces(one, [...tokens, name])) : [];
}

function replaceText(value: Json, [token, ...rest]: readonly string[], change: (text: string) => string): Json {
  if (token === undefined) return typeof value === 'string' ? change(value) : value;
  if (Array.isArray(value)) return value.map((one: Json, index) => (String(index) === token ? replaceText(one, rest, change) : one));
  return isObject(value) ? { ...value, [token]: replaceText(value[token] ?? null, rest, change) } : value;
}

function useOf({ schema }: Kind, tokens: readonly string[]): string {
  const uses = tokens.map((_, index) => readAnnotation(findNode(schema, ['spec', ...tokens.slice(0, index + 1)]), 'x-ostiary-text'));
  return uses.findLast((use) => use !== undefined) ?? 'name';
}

/** Every text in the examples of all kinds that is no secret, and what it is for. */
const places = [...registry.values()].flatMap((kind) =>
  objectsIn(kind.schema['examples']).flatMap(({ spec = {} }) =>
    textPlaces(spec)
      .filter(([field]) => kind.fields.every(({ name, secret }) => secret === undefined || name !== field))
      .map((tokens) => ({ kind, spec, tokens, use: useOf(kind, tokens), place: `${kind.name} ${pointer(...tokens)}` })),
  ),
);

/** Returns the findings at a place of a manifest, or at what holds it. */
function findingsAt(kind: Kind, spec: Json, tokens: readonly string[]): readonly string[] {
  const manifest: Manifest = { kind: kind.name, metadata: { name: 'one' }, spec: isObject(spec) ? spec : {} };
  const at = pointer('spec', ...tokens);
  return loadState([manifest]).diagnostics.flatMap((one) => {
    const found: string = 'pointer' in one && typeof one.pointer === 'string' ? one.pointer : '';
    return at === found || (found !== '' && at.startsWith(`${found}/`) && tokensOf(found).length > 1)
      ? [`${one.severity} ${one.code}`]
      : [];
  });
}

describe('texts that are not what they look like', () => {
  const changes: readonly (readonly [string, string, (text: string) => string])[] = [
    ['a line break at the end', 'manifest/blank-end', (text) => `${text}\n`],
    ['a blank at the end', 'manifest/blank-end', (text) => `${text} `],
    ['a blank at the beginning', 'manifest/blank-end', (text) => ` ${text}`],
    ['masked text', 'manifest/masked-text', () => '***'],
    ['masked text of a plan', 'manifest/masked-text', () => '(sensitive value)'],
    ['a reference of another manager', 'manifest/masked-text', () => 'op://team/item/field'],
    ['a letter of another script', 'manifest/look-alike', (text) => `${text}xа`],
    ['a separate accent', 'manifest/look-alike', (text) => `${text}e\u0301`],
    ['an invisible character', 'manifest/look-alike', (text) => `${text}\u200bx`],
    ['an invisible letter', 'manifest/look-alike', (text) => `${text}\u3164x`],
    ['an invisible mark', 'manifest/look-alike', (text) => `${text}x\ufe0f`],
    ['an invisible mark after a digit', 'manifest/look-alike', (text) => `${text}1\ufe0f`],
  ];

  const inContent = new Set(
    changes.flatMap(([name, code]) =>
      code === 'manifest/blank-end' || name.startsWith('an invisible') || name.startsWith('a letter') ? [name] : [],
    ),
  );

  it.each(changes)('finds %s in every field of every kind', (name, code, change) => {
    const missed = places.filter(({ kind, spec, tokens, use }) => {
      if (use === 'prose' || (use === 'content' && !inContent.has(name))) return false;
      const found = findingsAt(kind, replaceText(spec, tokens, change), tokens);
      return !found.some((one) => one === `warning ${code}` || one.startsWith('error '));
    });
    expect(missed.map(({ place }) => place)).toEqual([]);
  });

  it('finds nothing in the examples and in prose, and in content only what is hidden in it', () => {
    const codes = new Set(changes.map(([, code]) => `warning ${code}`));
    for (const { kind, spec, tokens } of places) expect(findingsAt(kind, spec, tokens).filter((one) => codes.has(one))).toEqual([]);
    const free = places.filter(({ use }) => use !== 'name');
    expect(new Set(free.map(({ use }) => use))).toEqual(new Set(['prose', 'content']));
    for (const { kind, spec, tokens, use } of free)
      for (const [, code, change] of changes.filter(([name]) => use === 'prose' || !inContent.has(name)))
        expect(findingsAt(kind, replaceText(spec, tokens, change), tokens)).not.toContain(`warning ${code}`);
  });
});

test.each([
  ['a no-break space in a word', 'DROP\u00a0TABLE', 1],
  ['a letter of another script in a word', 'DR\u041eP', 1],
  ['a no-break space in a pattern', 'DROP\u00a0TABLE\\b', 1],
  ['a word that is a character without a width', '\u200b', 0],
  ['letters of several scripts in a class', '[\u0430-\u044fa-z]+', 0],
  ['a tab and a line break in a word', 'DROP\tTABLE\nx', 0],
  ['a word of another language', '\u043f\u0430\u0440\u043e\u043b\u044c API', 0],
])('%s', (_, text, count) => {
  const rule = { type: 'deny_words_list', words: [text] };
  const manifest = { kind: 'GuardrailRule', metadata: { name: 'a' }, spec: { input: { rules: [rule] } } };
  expect(lookalikes(manifest)).toHaveLength(count);
});

function lookalikes(...manifests: readonly Manifest[]): readonly string[] {
  return loadState(manifests).diagnostics.flatMap(({ code, message, resource }) =>
    code === 'manifest/look-alike' ? [`${resource} ${message}`] : [],
  );
}

test('names of several manifests that look the same', () => {
  const [latin, cyrillic] = [connection('a', { reviewers: ['ace'] }), connection('b', { reviewers: ['асе'] })];
  expect(lookalikes(latin, cyrillic)).toEqual([
    'Connection/b "асе" looks like "ace", but has other characters: а U+0430, с U+0441, е U+0435',
  ]);
  expect(lookalikes(cyrillic)).toEqual([]);
  expect(lookalikes(connection('a', { reviewers: ['Équipe'] }), connection('b', { reviewers: ['équipe', 'equipe'] }))).toEqual([]);
});

const standIns: readonly (readonly [string, string])[] = [
  ...[
    '***',
    '********abcd',
    '***REMOVED***',
    '(sensitive value)',
    '(known after apply)',
    '[REDACTED]',
    '<redacted>',
    '[MASKED]',
    '[FILTERED]',
    '[secret]',
    '••••••',
    'REDACTED',
    '__REDACTED__',
    '%%redacted%%',
    '‹redacted›',
    `sha256:${'0a'.repeat(32)}`,
    `hmac-sha256:${'0a'.repeat(32)}`,
    'postgres://app:***@db.internal/main',
    'jdbc:postgresql://app:xxxxx@db.internal/main',
    'Server=db.internal;Password=[MASKED];User Id=app',
  ].map((text) => [text, 'secret/masked-text'] as const),
  ...[
    'op://team/item/field',
    'ref+vault://secret/data/db#/password',
    'vault:secret/data/db#password',
    'arn:aws:secretsmanager:eu-west-1:1:secret:db',
    'projects/1/secrets/db/versions/latest',
    '@Microsoft.KeyVault(SecretUri=https://x)',
    '{cipher}abc',
    'bao://secret/data/db',
    'bao:secret/data/db#password',
    '>>vault:secret/data/db#password',
    '<path:secret/data/db#password>',
    'gcp:secretmanager:projects/1/secrets/db',
    'secretref:db-password',
    'akeyless:/team/db',
    'dapr://store/db',
    'sops:secrets/db.yaml#password',
    'ENC[AES256_GCM,data:AAAA,iv:BBBB,tag:CCCC,type:str]',
    'ENC(AAAABBBBCCCC=)',
    '$ANSIBLE_VAULT;1.1;AES256\n6162',
    '!var team/db/password',
    'conjur:team/db/password',
  ].map((text) => [text, 'secret/unresolved-reference'] as const),
];

test.each(standIns)('the secret %s is sent as it is, wherever it comes from', (text, code) => {
  const notations: readonly JsonObject[] = [{ value: text }, { valueFrom: { env: 'OSTIARY_SECRET_A' } }, { valueFrom: { file: 'a.txt' } }];
  for (const notation of notations) {
    const { diagnostics } = loadState([connection('a', { secret: { 'envvar:PASS': notation } })], { sourceValue: () => text });
    expect(diagnostics.map((one) => one.code)).toContain(code);
    const git = { kind: 'RunbookConfiguration', metadata: { name: 'a' }, spec: { git_url: 'https://a.b/c.git', git_password: notation } };
    expect(loadState([git], { sourceValue: () => text }).diagnostics.map((one) => one.code)).toContain(code);
  }
});

test.each([
  'postgres://u@h/db',
  'https://example.com/a',
  'a*b***c',
  'pa(ss)',
  '[a]',
  'postgres://app:p***w@h/db',
  'unmasked',
  '_cloudsecrets:a:b',
  'mongodb+srv://u@h/db',
  's3://bucket/key',
  'vault:8200',
  'sha256:0a',
  'ENC',
  '!important',
  'projects/1',
])('the secret %s is a value', (text) => {
  const { diagnostics } = loadState([connection('a', { secret: { 'envvar:HOST': { valueFrom: { env: 'OSTIARY_SECRET_A' } } } })], {
    sourceValue: () => text,
  });
  expect(diagnostics).toEqual([]);
});

test.each([
  ['a URL of colons', `a://${':'.repeat(200_000)}`],
  ['a mask that does not end as one', `${'*'.repeat(200_000)}!`],
])('%s is read at once', (_, text) => {
  expect(loadState([connection('a', { command: [text] })]).diagnostics).toEqual([]);
});
