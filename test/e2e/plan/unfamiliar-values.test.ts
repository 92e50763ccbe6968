import { describe, expect, test } from 'vitest';
import { ostiary } from '../../support/cli.ts';
import { config, connection, useProjects, type Files } from '../project.ts';

const makeProject = useProjects();
const custom = (name: string, subtype: string): string => connection(name, { type: 'custom', subtype });
const files: Files = {
  'access/a.yaml': custom('console-a', 'rails-console'),
  'access/b.yaml': custom('console-b', 'rails-console'),
  'access/c.yaml': custom('console-c', 'rails-console'),
  'access/d.yaml': custom('shell', 'phoenix'),
};

function configWith(line: string): string {
  return config('http://127.0.0.1:9').replace('manifests:', `${line}\nmanifests:`);
}

describe('an unfamiliar value', () => {
  test('is one warning that names its first place and counts the others', async () => {
    const { code, stdout, stderr } = await ostiary(['validate'], {
      cwd: makeProject({ ...files, 'ostiary.yaml': config('http://127.0.0.1:9') }),
    });
    expect([code, stdout]).toEqual([0, 'Valid. 4 resources. 2 warnings, 1 notice.\n']);
    expect(stderr.split('\n').filter((line) => line.includes('warning'))).toEqual([
      expect.stringMatching(
        /^access\/a\.yaml:\d+:\d+ warning manifest\/unfamiliar-value {2}"rails-console" is not a known value of Connection\.subtype, also in 2 other places$/,
      ),
      expect.stringMatching(/^access\/d\.yaml:\d+:\d+ warning .* "phoenix" is not a known value of Connection\.subtype$/),
    ]);
    expect(stderr).toContain('  if the gateway accepts it, add it to allow_values in ostiary.yaml\n');
  });

  test('is one warning beside an invalid manifest, too', async () => {
    const broken = files['access/b.yaml']?.toString().replace('"subtype"', '"unknown_field": 1,\n    "subtype"') ?? '';
    const folder = makeProject({ ...files, 'access/b.yaml': broken, 'ostiary.yaml': config('http://127.0.0.1:9') });
    const { code, stderr } = await ostiary(['validate'], { cwd: folder });
    expect([code, stderr.match(/"rails-console" is not/g)]).toEqual([3, ['"rails-console" is not']]);
  });

  test('is silent if the config allows it; an allowed value without a use is no problem', async () => {
    const folder = makeProject({
      ...files,
      'ostiary.yaml': configWith('allow_values: { Connection.subtype: [rails-console, phoenix, unused] }'),
    });
    const { code, stdout, stderr } = await ostiary(['validate'], { cwd: folder });
    expect([code, stdout]).toEqual([0, 'Valid. 4 resources. 1 notice.\n']);
    expect(stderr).not.toContain('unfamiliar-value');
  });

  test('is allowed by a field that exists', async () => {
    const folder = makeProject({ ...files, 'ostiary.yaml': configWith('allow_values: { Connection.subtyp: [rails-console] }') });
    const { code, stderr } = await ostiary(['validate'], { cwd: folder });
    expect([code, stderr]).toEqual([3, expect.stringMatching(/^ostiary\.yaml:3:17 error manifest\/unknown-field .*Connection\.subtyp/)]);
    expect(stderr).toContain('did you mean "Connection.subtype"?');
  });
});
