import { assert, property, shuffledSubarray } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { registry } from '../../../src/kinds/index.ts';
import type { DesiredState } from '../../../src/model/desired.ts';
import type { SelectedPath } from '../../../src/manifest/load-manifests.ts';
import { connection, guardrail, load, manifest, sources, toLines } from './manifest-fixtures.ts';

describe('a manifest', () => {
  test('is complete: every omitted field has its empty, derived or no value', () => {
    const [resource] = loaded(connection('a', 'subtype: mysql', 'reviewers: [b, a]', 'redact_types: [X]')).resources;
    expect(resource?.spec).toEqual({
      type: 'database',
      subtype: 'mysql',
      agent_id: 'prod-agent',
      access_mode_connect: 'enabled',
      access_mode_exec: 'enabled',
      access_mode_runbooks: 'disabled',
      access_schema: 'enabled',
      access_max_duration: null,
      command: ['mysql', '-h$HOST', '-u$USER', '--port=$PORT', '-D$DB'],
      connection_tags: {},
      force_approve_groups: [],
      issuetracker_issue_template_id: '',
      redact_enabled: true,
      redact_types: ['X'],
      reviewers: ['a', 'b'],
      tags: [],
    });
    expect([...(resource?.stated ?? [])]).toContain('reviewers');
    expect(resource?.stated.has('tags')).toBe(false);
  });

  test('keeps omitted fields that are not derived, and resets null fields', () => {
    const [kept] = loaded(connection('a')).resources;
    expect(kept?.spec).not.toHaveProperty('command');
    expect(kept?.spec).not.toHaveProperty('resource_name');
    const [reset] = loaded(connection('a', 'command: null', 'resource_name: null', 'reviewers: null')).resources;
    expect(reset?.spec).toMatchObject({ command: [], resource_name: 'a', reviewers: [] });
    expect(reset?.stated.has('command')).toBe(true);
  });

  test('returns the position of each entry', () => {
    const [resource] = loaded(`# first\n${connection('a', 'reviewers: [b, a]', 'connection_tags:', '  env: prod')}`).resources;
    expect(resource?.locate('')).toEqual({ file: 'a.yaml', line: 2, column: 1 });
    expect(resource?.locate('/reviewers/a')).toEqual({ file: 'a.yaml', line: 12, column: 18 });
    expect(resource?.locate('/reviewers/0')).toEqual({ file: 'a.yaml', line: 12, column: 15 });
    expect(resource?.locate('/connection_tags/env')).toEqual({ file: 'a.yaml', line: 14, column: 10 });
    expect(resource?.locate('/connection_tags/team').line).toBe(14);
    expect(resource?.locate('/tags').line).toBe(7);
  });

  test('returns the position of an entry of a keyed list by its key', () => {
    const text = guardrail(
      'a',
      'input:',
      '  rules:',
      '    - { type: pattern_match, pattern_regex: x }',
      '    - name: n',
      '      type: deny_words_list',
      '      words: [DROP]',
    );
    const [rule] = loaded(text).resources;
    expect(rule?.locate('/input/rules/n').line).toBe(9);
    expect(rule?.locate('/input/rules/n/words/DROP')).toEqual({ file: 'a.yaml', line: 11, column: 17 });
    expect(rule?.locate('/input/rules/0/type').line).toBe(8);
  });
});

describe('several files', () => {
  test('can contain documents of other tools, reported in one notice, and the config file', () => {
    const foreign = 'apiVersion: apps/v1\nkind: Deployment\n---\nname: workflow\n';
    const config = 'apiVersion: ostiary/v1\nkind: Config\ntargets: { prod: { url: https://x } }\n';
    const { value, diagnostics } = load({
      'a.yaml': connection('a'),
      'b.yaml': foreign,
      'access/ostiary.yaml': config,
      'empty.yaml': '# nothing\n',
    });
    expect(toLines(diagnostics)).toEqual(['b.yaml:1:1 notice manifest/skipped']);
    expect(diagnostics[0]?.message).toContain('2 documents are not for Ostiary');
    expect(value?.notices).toEqual(diagnostics);
  });

  test('cannot have one of our kinds in a version of no group: the object would count as removed', () => {
    const { diagnostics } = load({ 'a.yaml': connection('a'), 'b.yaml': connection('b').replace('ostiary/v1', 'v1') });
    expect(toLines(diagnostics)).toEqual(['b.yaml:1:13 error manifest/unsupported-version']);
    expect(diagnostics[0]?.hint).toBe('write apiVersion: ostiary/v1');
  });

  test('cannot declare one resource twice', () => {
    const { diagnostics } = load({ 'b.yaml': connection('x'), 'a.yaml': connection('x') });
    expect(toLines(diagnostics)).toEqual(['b.yaml:4:9 error manifest/duplicate-name']);
    expect(diagnostics[0]?.hint).toContain('a.yaml:4:9');
  });

  test('cannot declare one identity twice', () => {
    const first = manifest('RunbookConfiguration', 'a', 'git_url: https://h/x.git');
    const second = manifest('RunbookConfiguration', 'b', 'git_url: git@h:x');
    const { diagnostics } = load({ 'a.yaml': first, 'b.yaml': second });
    expect(toLines(diagnostics)).toEqual(['b.yaml:4:9 error manifest/duplicate-name']);
    expect(diagnostics[0]?.message).toContain('the same object');
  });

  test('can declare one name for different targets', () => {
    const files = {
      'a.yaml': connection('x\n  targets: [prod]', 'reviewers: [p]'),
      'b.yaml': connection('x\n  targets: [staging]', 'reviewers: [s]'),
    };
    expect(loaded(files).resources[0]?.spec['reviewers']).toEqual(['p']);
    expect(load(files, { target: 'staging' }).value?.resources[0]?.spec['reviewers']).toEqual(['s']);
  });

  test('can declare two names that only look the same', () => {
    expect(loaded({ 'a.yaml': connection('caf\u00e9'), 'b.yaml': connection('cafe\u0301') }).resources).toHaveLength(2);
  });

  test('must contain a manifest for the target', () => {
    for (const files of [{}, { 'a.yaml': '' }, { 'a.yaml': connection('a\n  targets: [staging]') }]) {
      expect(toLines(load(files).diagnostics)).toEqual(['- error manifest/none']);
    }
  });

  test('in any order give the same state', () => {
    const files = sources({
      'a.yaml': connection('a', 'guardrail_rules: [r]', 'connection_tags: { env: prod }'),
      'b.yaml': connection('b', 'connection_tags: { env: prod }', 'secret:', '  envvar:A: { keep: true }'),
      'c.yaml': guardrail('r', 'connection_selector: { match_tags: { env: prod } }'),
      'd.yaml': `${connection('d', 'type2: x')}---\n${connection('a')}`,
      'e.yaml': manifest('DataMaskingRule', 'm', 'connection_ids: [b, a]'),
    });
    for (const sound of [true, false]) {
      const chosen = files.filter(({ path }) => !sound || path !== 'd.yaml');
      const expected = JSON.stringify(load({}, { files: chosen }));
      assert(
        property(shuffledSubarray(chosen, { minLength: chosen.length }), (shuffled) => {
          expect(JSON.stringify(load({}, { files: shuffled }))).toBe(expected);
        }),
      );
    }
  });
});

describe('a selection', () => {
  const files = { 'x/a.yaml': connection('a'), 'y/b.yaml': connection('b'), 'y/r.yaml': guardrail('r', 'connection_ids: [a, b]') };

  test('excludes other resources, by name or by path', () => {
    const named = load(files, { selection: { only: ['Connection/b'] } }).value;
    expect(named?.resources.map(({ id }) => id)).toEqual(['Connection/b']);
    expect(named?.unselected.map(({ key }) => key)).toEqual(['Connection/a', 'GuardrailRule/r']);
    expect(named?.edges.map(({ connection: end }) => end)).toEqual(['Connection/b']);
    const placed = load(files, { selection: { only: [], paths: [at('y/')] } }).value;
    expect(placed?.resources.map(({ id }) => id)).toEqual(['Connection/b', 'GuardrailRule/r']);
  });

  test('must match at least one manifest', () => {
    const { diagnostics } = load(files, { selection: { only: ['Connection/c', 'GuardrailRule/r'] } });
    expect(toLines(diagnostics)).toEqual(['- error manifest/unknown-selection']);
    expect(diagnostics[0]?.hint).toBe('did you mean "Connection/a"?');
    const { diagnostics: apart } = load(files, { selection: { only: ['Connection/a'], paths: [at('y/')] } });
    expect(toLines(apart)).toEqual(['- error manifest/nothing-selected']);
    const pattern = load(files, { selection: { only: ['Connection/unlike-all*'] } });
    expect(pattern.diagnostics[0]?.hint).toContain("or pass a pattern such as '*/orders-*'");
  });
});

test('the tree hash depends only on paths and texts', () => {
  const files = sources({ 'a.yaml': connection('a'), 'b.yaml': connection('b') });
  const tree = (list: typeof files, overlays: typeof files = []): string | undefined =>
    load({}, { files: list, overlays: [overlays] }).value?.tree;
  expect(tree(files)).toMatch(/^[0-9a-f]{64}$/);
  expect(tree(files.toReversed())).toBe(tree(files));
  expect(tree(sources({ 'a.yaml': connection('a'), 'c.yaml': connection('b') }))).not.toBe(tree(files));
  expect(tree(sources({ 'a.yaml': connection('a'), 'b.yaml': `${connection('b')}\n` }))).not.toBe(tree(files));
  expect(tree(files, sources({ 'o.yaml': '# nothing' }))).not.toBe(tree(files));
});

describe('the schemas', () => {
  const kinds = [...registry.values()];

  test.each(kinds)('examples of $name load', ({ schema }) => {
    const examples = Array.isArray(schema['examples']) ? schema['examples'] : [];
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      const connections = `${connection('tagged', 'connection_tags: { data: customer }')}---\n${connection('legacy-db')}`;
      const { value, diagnostics } = load({ 'a.yaml': JSON.stringify(example), 'b.yaml': connections });
      expect(toLines(diagnostics)).toEqual([]);
      expect(value?.resources.length).toBe(3);
    }
  });
});

function at(path: string): SelectedPath {
  return { path, holds: (file) => file.startsWith(path) };
}

function loaded(files: Parameters<typeof load>[0]): DesiredState {
  const { value, diagnostics } = load(files);
  if (value === undefined) throw new Error(toLines(diagnostics).join('\n'));
  return value;
}
