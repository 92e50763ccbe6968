import { Ajv2020 } from 'ajv/dist/2020.js';
import { array, assert, constantFrom, dictionary, letrec, oneof, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import connectionSchema from '../../../../schemas/connection.schema.json' with { type: 'json' };
import runbookSchema from '../../../../schemas/runbook-configuration.schema.json' with { type: 'json' };
import type { LoadInput } from '../../../../src/manifest/load-manifests.ts';
import { isValidSecret } from '../../../../src/manifest/secrets/read-secret.ts';
import type { Json, JsonObject } from '../../../../src/model/json.ts';
import type { DesiredSecret } from '../../../../src/model/secret.ts';
import { connection, load, manifest, toLines } from '../manifest-fixtures.ts';
import { runCount } from '../../../support/property-runs.ts';

function secretsOf(text: string, options: Partial<LoadInput> = {}): Readonly<Record<string, string>> {
  const { value, diagnostics } = load(text, options);
  if (value === undefined) throw new Error(toLines(diagnostics).join('\n'));
  const secrets = value.resources.flatMap((resource) => Object.entries(resource.secrets));
  return Object.fromEntries(secrets.map(([path, secret]) => [path, spelled(secret)]));
}

function spelled(secret: DesiredSecret): string {
  return secret.state === 'value' ? `${secret.source} = ${secret.reveal()}` : `${secret.source} (${secret.state})`;
}

const all = connection(
  'a',
  'secret:',
  '  envvar:HOST: { value: düne.example }',
  '  envvar:PORT: NTQzMg==',
  '  envvar:TOKEN: _cloudsecrets:orders/db:token',
  '  envvar:JSON: "_envjson:APP:password"',
  '  envvar:KEY: { keep: true }',
  '  envvar:PASS: { valueFrom: { env: OSTIARY_SECRET_A } }',
  '  filesystem:CA: { valueFrom: { file: ./certs/ca.pem } }',
);

const repository = manifest(
  'RunbookConfiguration',
  'a',
  'git_url: https://example.com/x',
  'git_user: me',
  'git_password: { valueFrom: { env: OSTIARY_SECRET_A } }',
  'ssh_key: { value: plain }',
  'ssh_keypass: { keep: true }',
);

const resolve: LoadInput['resolve'] = (source) => {
  if ('file' in source) return { value: Uint8Array.of(0xff, 0x00, 0x41), diagnostics: [] };
  return source.env === 'OSTIARY_SECRET_A' ? { value: 'hunter2', diagnostics: [] } : { diagnostics: [] };
};

describe('a value that stands for another one', () => {
  const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 1834\n';
  const sops = '{ "data": "ENC[AES256_GCM,data:p673w==,iv:YY=,tag:ZZ=,type:str]", "sops": { "mac": "x" } }';
  const age = '-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n-----END AGE ENCRYPTED FILE-----\n';
  const pgp = '-----BEGIN PGP MESSAGE-----\n\nhQEM\n-----END PGP MESSAGE-----\n';
  const vault = '$ANSIBLE_VAULT;1.1;AES256\n6231\n';
  const cases = [
    [pointer, 'secret/pointer'],
    [pointer.replaceAll('\n', '\r\n'), 'secret/pointer'],
    ['../../.git/annex/objects/xK/8q/SHA256E-s1834--4d7a.pem', 'secret/pointer'],
    ['\0GITCRYPT\0\u0001\u0002', 'secret/encrypted'],
    [vault, 'secret/encrypted'],
    [`\ufeff\n${vault}`, 'secret/encrypted'],
    [sops, 'secret/encrypted'],
    [age, 'secret/encrypted'],
    ['age-encryption.org/v1\n-> X25519', 'secret/encrypted'],
    [pgp, 'secret/encrypted'],
    ['Salted__\u0001\u0002\u0003', 'secret/encrypted'],
    ['ENC[PKCS7,Y22exl+OvjDe+drmik2XEeD3VQtl1uZJXFFF2NnrMXDWx0csyqLB/2NOWefv==]', 'secret/encrypted'],
  ] as const;
  const fromFile = connection('a', 'secret: { "filesystem:CA": { valueFrom: { file: certs/ca.pem } } }');
  const withRepository = manifest(
    'RunbookConfiguration',
    'a',
    'git_url: https://example.com/x',
    'ssh_key: { valueFrom: { file: certs/ca.pem } }',
  );

  test.each(cases)('is an error in a file, read or not: %j', (text, code) => {
    const bytes = Buffer.from(text);
    for (const one of [fromFile, withRepository]) {
      const read = load(one, { resolve: () => ({ value: bytes, diagnostics: [] }), peek: () => bytes });
      const left = load(one, { peek: () => bytes });
      expect([read, left].map(({ value, diagnostics }) => [value, diagnostics.map((found) => found.code)])).toEqual([
        [undefined, [code]],
        [undefined, [code]],
      ]);
    }
  });

  test.each(cases)('is an error in the manifest, as text and as base64: %j', (text, code) => {
    const inline = connection('a', `secret: { "filesystem:CA": ${JSON.stringify({ value: text })} }`);
    const encoded = connection('a', `secret: { "filesystem:CA": ${Buffer.from(text).toString('base64')} }`);
    for (const one of [inline, encoded])
      expect(load(one, { peek: () => undefined }).diagnostics.map((found) => found.code)).toEqual([code]);
  });

  test('is not searched in a commit: what was applied must remain readable', () => {
    const inline = connection('a', `secret: { "filesystem:CA": ${JSON.stringify({ value: vault })} }`);
    expect(load(inline).value?.resources).toHaveLength(1);
  });

  test.each([
    '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
    '-----BEGIN PGP PRIVATE KEY BLOCK-----\n',
    'version 2 of the password',
    '$ecret$ANSIBLE',
    'ENC[short]',
  ])('is not every value: %j', (text) => {
    const bytes = Buffer.from(text);
    expect(load(fromFile, { peek: () => bytes, resolve: () => ({ value: bytes, diagnostics: [] }) }).diagnostics).toEqual([]);
  });
});

describe('a secret', () => {
  test('in a map is base64 or a reference on the wire', () => {
    expect(secretsOf(all, { resolve })).toEqual({
      '/secret/envvar:HOST': `inline = ${Buffer.from('düne.example').toString('base64')}`,
      '/secret/envvar:PORT': 'inline = NTQzMg==',
      '/secret/envvar:TOKEN': 'reference:_cloudsecrets:orders/db:token = _cloudsecrets:orders/db:token',
      '/secret/envvar:JSON': 'reference:_envjson:APP:password = _envjson:APP:password',
      '/secret/envvar:KEY': 'keep (keep)',
      '/secret/envvar:PASS': 'env:OSTIARY_SECRET_A = aHVudGVyMg==',
      '/secret/filesystem:CA': 'file:./certs/ca.pem = /wBB',
    });
  });

  test('in a field of its own is plain text on the wire', () => {
    expect(secretsOf(repository, { resolve })).toEqual({
      '/git_password': 'env:OSTIARY_SECRET_A = hunter2',
      '/ssh_key': 'inline = plain',
      '/ssh_keypass': 'keep (keep)',
    });
  });

  test('stays unresolved without a resolver', () => {
    expect(secretsOf(all)).toMatchObject({
      '/secret/envvar:PASS': 'env:OSTIARY_SECRET_A (unresolved)',
      '/secret/filesystem:CA': 'file:./certs/ca.pem (unresolved)',
    });
  });

  test('map is stated as a whole, or not at all', () => {
    expect(load(all).value?.resources[0]?.wholeSecrets).toEqual(['/secret']);
    expect(load(connection('a', 'secret: {}')).value?.resources[0]?.wholeSecrets).toEqual(['/secret']);
    expect(load(connection('a')).value?.resources[0]?.wholeSecrets).toEqual([]);
  });
});

describe('a source', () => {
  const text = connection('a', 'secret: { "envvar:A": { valueFrom: { env: OSTIARY_SECRET_X } } }');
  const file = connection('a', 'secret: { "envvar:A": { valueFrom: { file: x.pem } } }');

  test('must have a value', () => {
    const absent = load(text, { resolve: () => ({ diagnostics: [] }) });
    expect(toLines(absent.diagnostics)).toEqual(['a.yaml:11:45 error secret/undefined-variable']);
    expect(absent.diagnostics[0]?.message).toBe('the environment variable OSTIARY_SECRET_X is not set');
    const empty = load(text, { resolve: () => ({ value: '', diagnostics: [] }) });
    expect(empty.diagnostics[0]?.message).toBe('the environment variable OSTIARY_SECRET_X is empty');
    expect(toLines(load(file, { resolve: () => ({ value: new Uint8Array(), diagnostics: [] }) }).diagnostics)).toEqual([
      'a.yaml:11:46 error secret/unreadable-file',
    ]);
  });

  test('keeps the diagnostics of its resolver, at its own position', () => {
    const refused = { code: 'secret/file-missing', severity: 'error', message: 'the secret file "x.pem" does not exist' } as const;
    const { diagnostics } = load(file, { resolve: () => ({ diagnostics: [refused] }) });
    expect(toLines(diagnostics)).toEqual(['a.yaml:11:46 error secret/file-missing']);
    expect(diagnostics[0]?.frame?.caret.length).toBe(5);
  });
});

describe('a selection', () => {
  const files = {
    'a.yaml': connection('a', fromSource('A')),
    'b.yaml': connection('b', fromSource('B')),
    'c.yaml': connection('c', fromSource('C')),
  };

  test.each<readonly [string, Partial<LoadInput>]>([
    ['by name', { selection: { only: ['Connection/a'] } }],
    ['by path', { selection: { only: [], paths: [{ path: 'a.yaml', holds: (file) => file === 'a.yaml' }] } }],
    ['of what is resolved', { resolveOnly: new Set(['Connection/a']) }],
  ])('%s leaves the sources of others alone', (_, options) => {
    const asked: unknown[] = [];
    const { value, diagnostics } = load(files, {
      ...options,
      resolve: (one) => {
        asked.push(one);
        return { value: 'x', diagnostics: [] };
      },
    });
    expect(diagnostics).toEqual([]);
    expect(asked).toEqual([{ env: 'OSTIARY_SECRET_A' }]);
    const states = value?.resources.map(({ secrets }) => secrets['/secret/envvar:A']?.state);
    expect(states).toEqual(value?.unselected.length === 0 ? ['value', 'unresolved', 'unresolved'] : ['value']);
  });
});

describe('the notation of a secret', () => {
  const ajv = new Ajv2020({ strict: false });
  const forms = {
    base64: connectionSchema.$defs.spec.properties.secret.additionalProperties,
    plain: runbookSchema.$defs.spec.properties.git_password,
  };
  const scalar = constantFrom<Json>('', 'x', 5, true, false, null);
  const value = letrec<{ readonly any: Json; readonly map: JsonObject }>((tie) => ({
    any: oneof({ maxDepth: 3 }, scalar, tie('map'), array(tie('any'), { maxLength: 2 })),
    map: dictionary(constantFrom('value', 'valueFrom', 'env', 'file', 'keep', 'other'), tie('any'), { maxKeys: 2 }),
  })).any;

  test.each(['base64', 'plain'] as const)('%s matches the schema', (mode) => {
    const validate = ajv.compile({ ...forms[mode], $defs: connectionSchema.$defs });
    assert(
      property(value, (secret) => {
        expect(isValidSecret(secret, mode)).toBe(validate(secret));
      }),
      { numRuns: runCount(700) },
    );
  });
});

function fromSource(name: string): string {
  return `secret: { "envvar:A": { valueFrom: { env: OSTIARY_SECRET_${name} } } }`;
}
