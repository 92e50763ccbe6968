import { describe, expect, test } from 'vitest';
import { connection, guardrail, load, manifest, sources, toLines } from './manifest-fixtures.ts';

/** A defaults file; the fields of Connection begin at line 5. */
function defaults(...lines: readonly string[]): string {
  return ['apiVersion: ostiary/v1', 'kind: Defaults', 'spec:', '  Connection:', ...lines.map((line) => `    ${line}`), ''].join('\n');
}

function specOf(files: Readonly<Record<string, string>>, name = 'a'): unknown {
  const { value, diagnostics } = load(files);
  expect(toLines(diagnostics)).toEqual([]);
  return value?.resources.find(({ id }) => id === `Connection/${name}`)?.spec;
}

describe('defaults of a folder', () => {
  test('give their fields to the manifests of the kind in the folder and below', () => {
    const files = {
      'prod/_defaults.yaml': defaults('reviewers: [dba]', 'connection_tags: { env: prod }'),
      'prod/a.yaml': connection('a'),
      'prod/deep/er/b.yaml': connection('b', 'connection_tags: { team: t }'),
      'production/c.yaml': connection('c'),
      'prod/r.yaml': guardrail('r'),
    };
    expect(specOf(files)).toMatchObject({ reviewers: ['dba'], connection_tags: { env: 'prod' } });
    expect(specOf(files, 'b')).toMatchObject({ reviewers: ['dba'], connection_tags: { env: 'prod', team: 't' } });
    expect(specOf(files, 'c')).toMatchObject({ reviewers: [], connection_tags: {} });
  });

  test('are the source of each value that they give', () => {
    const { value } = load({
      '_defaults.yaml': defaults('access_max_duration: 60', 'connection_tags: { env: prod }'),
      'prod/_defaults.yaml': defaults('reviewers: [dba]'),
      'prod/a.yaml': connection('a', 'connection_tags: { team: t }'),
    });
    const [resource] = value?.resources ?? [];
    expect(resource?.locate('/reviewers')).toMatchObject({ file: 'prod/_defaults.yaml', line: 5 });
    expect(resource?.locate('/reviewers/dba')).toMatchObject({ file: 'prod/_defaults.yaml', line: 5, column: 17 });
    expect(resource?.locate('/access_max_duration')).toMatchObject({ file: '_defaults.yaml', line: 5 });
    expect(resource?.locate('/connection_tags/env')).toMatchObject({ file: '_defaults.yaml', line: 6 });
    expect(resource?.locate('/connection_tags/team')).toMatchObject({ file: 'prod/a.yaml' });
    expect(resource?.locate('/tags').file).toBe('prod/a.yaml');
    expect(resource?.locate('').file).toBe('prod/a.yaml');
  });

  test('merge from the outer folder to the inner one, the manifest and its overlays: maps by key, lists as a whole, null resets', () => {
    const files = {
      '_defaults.yaml': defaults('connection_tags: { env: dev, team: t, tier: one }', 'reviewers: [x]', 'access_max_duration: 60'),
      'prod/_defaults.yaml': defaults('connection_tags: { env: prod, gone: null }', 'reviewers: [x, y]'),
      'prod/a.yaml': connection('a', 'connection_tags: { tier: null }', 'access_max_duration: null'),
    };
    expect(specOf(files)).toMatchObject({
      connection_tags: { env: 'prod', team: 't' },
      reviewers: ['x', 'y'],
      access_max_duration: null,
    });
    const { value } = load(files, { overlays: [sources({ 'o/a.yaml': manifest('Connection', 'a', 'reviewers: [x, y, z]') })] });
    expect(value?.resources[0]?.spec['reviewers']).toEqual(['x', 'y', 'z']);
    expect(value?.resources[0]?.locate('/reviewers').file).toBe('o/a.yaml');
  });

  test('may give required fields; a field that neither states is missing in the manifest', () => {
    const file = [
      'apiVersion: ostiary/v1',
      'kind: Connection',
      'metadata: { name: a }',
      'spec: { type: database, agent_id: main, access_schema: enabled }',
      '',
    ].join('\n');
    const modes = ['access_mode_connect: enabled', 'access_mode_exec: enabled'];
    const all = defaults(...modes, 'access_mode_runbooks: disabled');
    expect(specOf({ '_defaults.yaml': all, 'a.yaml': file })).toMatchObject({ access_mode_exec: 'enabled' });
    expect(toLines(load({ '_defaults.yaml': defaults(...modes), 'a.yaml': file }).diagnostics)).toEqual([
      'a.yaml:4:1 error manifest/missing-field',
    ]);
  });

  test('are the place of an error in a value that they give, reported once', () => {
    const { diagnostics } = load({
      '_defaults.yaml': defaults('subtype: postgress'),
      'a.yaml': connection('a'),
      'b.yaml': connection('b'),
    });
    expect(toLines(diagnostics)).toEqual(['_defaults.yaml:5:14 warning manifest/unfamiliar-value']);
  });
});

describe('a defaults file with errors', () => {
  const a = { 'a.yaml': connection('a') };
  const linesOf = (files: Readonly<Record<string, string>>, options = {}): readonly string[] =>
    load({ ...files, ...a }, options).diagnostics.map(
      ({ at, code, message, hint }) => `${at?.file}:${at?.line}:${at?.column} ${code} ${message}; ${hint}`,
    );

  test('names the line of an unknown field, a wrong type, a name and a secret, without its value', () => {
    const text = defaults('reviewrs: [x]', 'access_mode_exec: on', 'name: a', 'secret: { "envvar:A": { value: hunter22 } }');
    const { diagnostics } = load({ '_defaults.yaml': text, ...a });
    expect(diagnostics.map(({ at, code, message, hint }) => `${at?.line}:${at?.column} ${code} ${message}; ${hint}`)).toEqual([
      '5:5 manifest/unknown-field unknown field "reviewrs" in Connection; did you mean "reviewers"?',
      '6:23 manifest/not-allowed-value invalid value "on" of Connection.access_mode_exec; expected one of: enabled, disabled',
      '7:5 manifest/read-only-field "name" is read-only; remove it: the name is metadata.name',
      '8:5 defaults/secret "secret" cannot have a default; state secrets in the manifest of each object',
    ]);
    expect(JSON.stringify(diagnostics)).not.toContain('hunter22');
  });

  test('does not make the manifests below it invalid', () => {
    const bare = 'apiVersion: ostiary/v1\nkind: Connection\nmetadata: { name: a }\nspec: { type: database }\n';
    for (const text of [defaults('reviewers: 1'), 'apiVersion: ostiary/v1\nkind: Defaults\nspec: [\n']) {
      const { diagnostics } = load({ '_defaults.yaml': text, 'x/a.yaml': bare });
      expect(diagnostics.map(({ at }) => at?.file)).toEqual(['_defaults.yaml']);
    }
  });

  test.each(['_Defaults.yaml', '_defaults.yml', '_DEFAULTS.YML', 'defaults.yaml', 'x/_default.yaml'])('is not read as %s', (path) => {
    expect(linesOf({ [path]: defaults('reviewers: [x]') })).toEqual([
      `${path}:2:7 defaults/misplaced Ostiary reads Defaults only from _defaults.yaml; rename the file to _defaults.yaml`,
    ]);
  });

  test.each(['_defaults.yaml', '_Defaults.yaml', '_defaults.yml'])('has to begin as one: %s', (path) => {
    const hint = 'begin it with apiVersion: ostiary/v1, kind: Defaults and spec, or rename it';
    const line = `defaults/misplaced the file has the name of Defaults, but another kind; ${hint}`;
    expect(linesOf({ [path]: 'Connection: { reviewers: [x] }\n' })).toEqual([`${path}:1:1 ${line}`]);
    expect(linesOf({ [path]: connection('b') })).toEqual([`${path}:2:7 ${line}`]);
    expect(toLines(load({ [path]: 'apiVersion: other/v1\nkind: Thing\n', ...a }).diagnostics)).toEqual([
      `${path}:1:1 notice manifest/skipped`,
    ]);
  });
});
