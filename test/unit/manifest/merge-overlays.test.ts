import { describe, expect, test } from 'vitest';
import type { LoadInput } from '../../../src/manifest/load-manifests.ts';
import { connection, guardrail, load, manifest, sources, toLines } from './manifest-fixtures.ts';

/** Loads one manifest with one overlay file a folder: o0.yaml, o1.yaml… */
function overlaid(text: string, ...overlays: readonly string[]): ReturnType<typeof load> {
  const folders: LoadInput['overlays'] = overlays.map((overlay, index) => sources({ [`o${index}.yaml`]: overlay }));
  return load({ 'a.yaml': text }, { overlays: folders });
}

const base = connection(
  'a',
  'reviewers: [x, y]',
  'connection_tags: { env: dev, team: t }',
  'secret: { "envvar:A": { value: "1" }, "envvar:B": { keep: true } }',
);

describe('an overlay', () => {
  test('merges maps key by key and replaces all other values as a whole', () => {
    const overlay = manifest(
      'Connection',
      'a',
      'reviewers: [x, y, z]',
      'connection_tags: { env: prod }',
      'secret: { "envvar:A": { keep: true } }',
      'tags: null',
    );
    const { value, diagnostics } = overlaid(base, overlay);
    expect(diagnostics).toEqual([]);
    const [resource] = value?.resources ?? [];
    expect(resource?.spec).toMatchObject({ reviewers: ['x', 'y', 'z'], connection_tags: { env: 'prod', team: 't' }, tags: [] });
    expect(resource?.secrets).toEqual({
      '/secret/envvar:A': { state: 'keep', source: 'keep' },
      '/secret/envvar:B': { state: 'keep', source: 'keep' },
    });
    expect(resource?.stated.has('tags')).toBe(true);
    expect(resource?.locate('').file).toBe('a.yaml');
  });

  test('removes keys of maps that are null', () => {
    const overlay = manifest('Connection', 'a', 'connection_tags: { env: null, x: null }', 'secret: { "envvar:A": null }');
    const { value, diagnostics } = overlaid(base, overlay);
    expect(diagnostics).toEqual([]);
    expect(value?.resources[0]?.spec['connection_tags']).toEqual({ team: 't' });
    expect(Object.keys(value?.resources[0]?.secrets ?? {})).toEqual(['/secret/envvar:B']);
  });

  test('is the position of its values', () => {
    const overlay = manifest('Connection', 'a', 'reviewers: [x, y]', 'connection_tags: { env: prod }', 'secret: null');
    const [resource] = overlaid(base, overlay).value?.resources ?? [];
    expect(resource?.locate('/reviewers/y')).toEqual({ file: 'o0.yaml', line: 6, column: 18 });
    expect(resource?.locate('/connection_tags/env').file).toBe('o0.yaml');
    expect(resource?.locate('/connection_tags/team')).toEqual({ file: 'a.yaml', line: 12, column: 38 });
    expect(resource?.locate('/secret/envvar:A').file).toBe('o0.yaml');
    expect(resource?.locate('/type').file).toBe('a.yaml');
    expect(resource?.secrets).toEqual({});
  });

  test('can follow another overlay', () => {
    const first = manifest('Connection', 'a', 'connection_tags: { env: one, team: one }');
    const second = manifest('Connection', 'a\n  protect: true', 'connection_tags: { env: two }');
    const [resource] = overlaid(base, first, second).value?.resources ?? [];
    expect(resource?.spec['connection_tags']).toEqual({ env: 'two', team: 'one' });
    expect(resource?.protect).toBe(true);
    expect(resource?.locate('/connection_tags/team').file).toBe('o0.yaml');
  });

  test('warns if a list loses a protection', () => {
    const { value, diagnostics } = overlaid(base, manifest('Connection', 'a', 'tags: [n]', 'reviewers: [y]'));
    expect(toLines(diagnostics)).toEqual(['o0.yaml:7:3 warning overlay/loses-protection']);
    expect(diagnostics[0]?.message).toBe('the overlay removes "x" from reviewers');
    expect(value?.resources[0]?.spec['reviewers']).toEqual(['y']);
    expect(toLines(overlaid(base, manifest('Connection', 'a', 'reviewers: null')).diagnostics)).toEqual([
      'o0.yaml:6:3 warning overlay/loses-protection',
    ]);
  });

  test('warns if a rule loses its entries or a connection its rule', () => {
    const rule = guardrail('r', 'input: { rules: [{ name: n, type: deny_words_list, words: [a] }] }');
    expect(toLines(overlaid(rule, guardrail('r', 'input: null')).diagnostics)).toEqual(['o0.yaml:6:3 warning overlay/loses-protection']);
    expect(toLines(overlaid(rule, guardrail('r', 'input: { rules: [] }')).diagnostics)).toEqual([
      'o0.yaml:6:12 warning overlay/loses-protection',
    ]);
    const other = guardrail('r', 'input: { rules: [{ name: n, type: deny_words_list, words: [b] }] }');
    expect(toLines(overlaid(rule, other).diagnostics)).toEqual(['o0.yaml:6:54 warning overlay/loses-protection']);
    const guarded = connection('a', 'guardrail_rules: [r]');
    expect(toLines(overlaid(guarded, manifest('Connection', 'a', 'guardrail_rules: []')).diagnostics)).toEqual([
      'o0.yaml:6:3 warning overlay/loses-protection',
    ]);
  });

  const mistakes: readonly (readonly [string, string, string])[] = [
    ['without its manifest', manifest('Connection', 'b', 'tags: []'), 'o0.yaml:4:9 error overlay/no-manifest'],
    [
      'twice in one folder',
      `${manifest('Connection', 'a', 'tags: []')}---\n${manifest('Connection', 'a')}`,
      'o0.yaml:11:9 error overlay/duplicate',
    ],
    ['with an unknown field', manifest('Connection', 'a', 'tagz: []'), 'o0.yaml:6:3 error manifest/unknown-field'],
    ['with null for an entry', manifest('Connection', 'a', 'reviewers: [null]'), 'o0.yaml:6:15 error manifest/wrong-type'],
    ['whose secret has no form', manifest('Connection', 'a', 'secret: { "envvar:A": {} }'), 'o0.yaml:6:25 error secret/form'],
    [
      'that contradicts the manifest',
      manifest('Connection', 'a', 'redact_enabled: true'),
      'o0.yaml:6:19 error manifest/redact-contradiction',
    ],
  ];
  test.each(mistakes)('%s is an error', (_, overlay, expected) => {
    const { value, diagnostics } = overlaid(base, overlay);
    expect(toLines(diagnostics)).toEqual([expected]);
    expect(value).toBeUndefined();
  });

  test('that removes a required field has an error at its own line', () => {
    const rule = guardrail('r', 'description: x');
    const { diagnostics } = overlaid(rule, guardrail('r', 'connection_selector: { except: [a] }'));
    expect(toLines(diagnostics)).toEqual(['o0.yaml:6:3 error manifest/missing-field']);
  });

  test('of an invalid manifest has no error of its own', () => {
    expect(toLines(overlaid('a: [', manifest('Connection', 'a')).diagnostics)).toEqual(['a.yaml:1:5 error manifest/yaml']);
    expect(toLines(overlaid(connection('a', 'x: 1'), manifest('Connection', 'a')).diagnostics)).toEqual([
      'a.yaml:11:3 error manifest/unknown-field',
    ]);
  });
});
