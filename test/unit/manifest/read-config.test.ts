import { describe, expect, test } from 'vitest';
import schema from '../../../schemas/documents/config.schema.json' with { type: 'json' };
import { readConfig } from '../../../src/manifest/read-config.ts';
import { toLines } from './manifest-fixtures.ts';

function read(text: string, folder = '/repository'): ReturnType<typeof readConfig> {
  return readConfig({ path: 'ostiary.yaml', text }, folder);
}

function config(...targets: readonly string[]): string {
  return ['apiVersion: ostiary/v1', 'kind: Config', 'targets:', ...targets.map((line) => `  ${line}`), ''].join('\n');
}

describe('the config file', () => {
  test('has defaults for everything but the targets', () => {
    const { value, diagnostics } = read(config('prod: { url: https://gateway.example.com/api/ }'));
    expect(diagnostics).toEqual([]);
    expect(value).toEqual({
      file: 'ostiary.yaml',
      placeOf: expect.any(Function),
      root: '/repository',
      approvals: { approvers: [], selfApproval: false },
      targets: [
        {
          name: 'prod',
          url: 'https://gateway.example.com/api',
          dialect: 'auto',
          auth: 'auto',
          token: { env: 'OSTIARY_TOKEN' },
          secretPrefixes: ['OSTIARY_SECRET_'],
          manifests: ['/repository'],
          overlays: [],
          limits: { from: 10, updates: 0.3, deletes: 0.3, protections: 0.3, newAccess: 'allow' },
          prune: false,
          reportUnmanaged: false,
          watchAccess: true,
          expire: 'report',
          readConcurrency: 16,
          released: [],
          allowedValues: {},
        },
      ],
    });
  });

  test.each(['https://Gateway.Example.com:443/api//', 'https://gateway%2eexample.com/v1/../api/'])('a gateway has one URL: %s', (url) => {
    const { value } = read(config('prod:', `  url: ${url}`));
    expect(value?.targets.map((one) => one.url)).toEqual(['https://gateway.example.com/api']);
  });

  test('reads every field', () => {
    const text = config(
      'prod:',
      '  url: http://localhost:8009',
      '  dialect: hoop',
      '  auth: api-key',
      '  token: { env: TOKEN }',
      '  secret_prefixes: [A_, B_]',
      '  manifests: [./more//x/../y/, access]',
      '  overlays: [overlays/prod, .]',
      '  limits: { from: 5, updates: 7%, new_access: { match_tags: { env: prod } } }',
      '  prune: true',
      '  released: [Connection/old-db]',
    );
    const { value } = read(`manifests: [access/]\nallow_values: { Connection.subtype: [rails-console] }\n${text}`, '/repository/');
    expect(value?.targets).toEqual([
      {
        name: 'prod',
        url: 'http://localhost:8009',
        dialect: 'hoop',
        auth: 'api-key',
        token: { env: 'TOKEN' },
        secretPrefixes: ['A_', 'B_'],
        manifests: ['/repository/access', '/repository/more/y'],
        overlays: ['/repository/overlays/prod', '/repository'],
        limits: { from: 5, updates: 0.07, deletes: 0.3, protections: 0.3, newAccess: { tags: { env: 'prod' } } },
        prune: true,
        reportUnmanaged: false,
        watchAccess: true,
        expire: 'report',
        readConcurrency: 16,
        released: ['Connection/old-db'],
        allowedValues: { 'Connection.subtype': ['rails-console'] },
      },
    ]);
  });

  test('returns the position of a path', () => {
    const { value } = read(`${config('prod: { url: https://a.test, overlays: [over/prod] }')}manifests: [access/, ./more]\n`);
    const at = (path: string): string => [value?.placeOf?.(path)?.at?.line, value?.placeOf?.(path)?.at?.column].join(':');
    expect(['/repository/access', '/repository/more', '/repository/over/prod', '/repository/else'].map(at)).toEqual([
      '5:13',
      '5:22',
      '4:43',
      ':',
    ]);
  });

  test('can be at the root of the disk', () => {
    expect(read(`manifests: [access]\n${config('prod: { url: https://h }')}`, '/').value?.targets[0]?.manifests).toEqual(['/access']);
  });

  test('has valid examples', () => {
    for (const example of schema.examples) expect(read(JSON.stringify(example)).diagnostics).toEqual([]);
  });
});

describe('an error in the config file', () => {
  const mistakes: readonly (readonly [name: string, text: string, expected: string, ...words: readonly string[]])[] = [
    ['nothing', '', '1:1 error manifest/not-a-map', 'ostiary init'],
    ['a list', '- a', '1:1 error manifest/not-a-map'],
    ['broken YAML', 'a: [', '1:5 error manifest/yaml'],
    ['two documents', `${config('prod: { url: https://h }')}---\na: 1\n`, '6:1 error config/one-document'],
    ['another kind', 'apiVersion: ostiary/v1\nkind: Connection\n', '2:7 error manifest/unknown-kind'],
    ['another version', config('prod: { url: https://h }').replace('/v1', '/v2'), '1:13 error manifest/not-allowed-value'],
    ['no targets', 'apiVersion: ostiary/v1\nkind: Config\n', '1:1 error manifest/missing-field', '"targets"'],
    ['an empty map of targets', 'apiVersion: ostiary/v1\nkind: Config\ntargets: {}\n', '3:10 error manifest/too-short'],
    ['an unknown field', config('prod: { url: https://h, overlay: [x] }'), '4:27 error manifest/unknown-field', 'did you mean "overlays"?'],
    ['no url', config('prod: {}'), '4:3 error manifest/missing-field', '"url"'],
    ['a url of something else', config('prod: { url: ftp://h }'), '4:16 error manifest/pattern'],
    ['a url that is none', config('prod: { url: "https://h:x" }'), '4:16 error config/bad-url'],
    ['a url with credentials', config('prod: { url: https://u:p@h }'), '4:16 error config/credentials-in-url'],
    ['a token', config('prod: { url: https://h, token: abc }'), '4:34 error secret/form', 'token: { env: OSTIARY_TOKEN }'],
    ['a dialect', config('prod: { url: https://h, dialect: hop }'), '4:36 error manifest/not-allowed-value', 'did you mean "hoop"?'],
    ['a share', config('prod: { url: https://h, limits: { updates: 0.3 } }'), '4:46 error manifest/wrong-type', 'write a percentage: 30%'],
    [
      'a share without %',
      config('prod: { url: https://h, limits: { updates: 20 } }'),
      '4:46 error manifest/wrong-type',
      'write a percentage: 20%',
    ],
    ['a share beyond all', config('prod: { url: https://h, limits: { updates: 101% } }'), '4:46 error manifest/pattern', '0% to 100%'],
    ['the name of a target', config('pro d: { url: https://h }'), '4:3 error manifest/pattern'],
    ['a path upwards', config('prod: { url: https://h, overlays: [a/../../b] }'), '4:38 error config/path-outside'],
    ['an absolute path', `manifests: [/etc]\n${config('prod: { url: https://h }')}`, '1:13 error config/path-outside'],
  ];

  test.each(mistakes)('%s', (_, text, expected, ...words) => {
    const { value, diagnostics } = read(text);
    expect(toLines(diagnostics)).toEqual([`ostiary.yaml:${expected}`]);
    expect(value).toBeUndefined();
    for (const word of words) expect(`${diagnostics[0]?.message}\n${diagnostics[0]?.hint}`).toContain(word);
  });

  // security: network
  test('is only a warning if a token would be sent unencrypted', () => {
    const { value, diagnostics } = read(config('prod: { url: http://gateway.example.com }'));
    expect(toLines(diagnostics)).toEqual(['ostiary.yaml:4:16 warning config/insecure-url']);
    expect(value?.targets).toHaveLength(1);
    expect(read(config('prod: { url: "http://[::1]:8009" }')).diagnostics).toEqual([]);
  });
});
