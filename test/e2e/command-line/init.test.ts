import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { schemaFiles } from '../../../src/project/schema-files.ts';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ostiary } from '../../support/cli.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { config, guardrail, useProjects } from '../project.ts';

const makeProject = useProjects();

describe('init', () => {
  test('writes a valid project, and refuses to run a second time', async () => {
    const cwd = makeProject({});
    expect(await ostiary(['init'], { cwd })).toMatchObject({ code: 0, stdout: expect.stringContaining('wrote ostiary.yaml\n') });
    expect(await ostiaryInProcess(['validate'], { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Valid. 2 resources.'),
    });
    const before = contentsOf(cwd);
    const { code, stdout, stderr } = await ostiaryInProcess(['init'], { cwd });
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toBe('error cli/usage  this folder already has all files that init creates\n  hint: edit them, then run ostiary plan\n');
    expect(contentsOf(cwd)).toEqual(before);
  });

  test.each([
    ['.', ''],
    ['./', ''],
    ['sub', '  cd sub\n'],
    ["the team's", String.raw`  cd 'the team'\''s'` + '\n'],
  ])('of the folder %s prints the commands to go on with', async (folder, enter) => {
    const { stderr } = await ostiaryInProcess(['init', folder], { cwd: makeProject({}) });
    expect(stderr).toContain(`\nNext:\n${enter}  OSTIARY_SERVE_KEY=try-me ostiary serve `);
  });

  test('writes nothing if one of its files would be written through a link', async () => {
    const cwd = makeProject({});
    mkdirSync(join(cwd, 'real'));
    symlinkSync('real', join(cwd, 'schemas'));
    const { code, stderr } = await ostiaryInProcess(['init'], { cwd });
    expect([code, stderr]).toEqual([3, expect.stringContaining('report/link')]);
    expect(contentsOf(cwd)).toEqual({});
  });

  test('adds only schemas to an existing project', async () => {
    const cwd = makeProject({ 'sub/ostiary.yml': config('http://127.0.0.1:9'), 'sub/access/rule.yaml': guardrail('no-drop') });
    expect(await ostiaryInProcess(['init', 'sub', '--quiet'], { cwd })).toMatchObject({ code: 0, stderr: '' });
    expect(Object.keys(contentsOf(join(cwd, 'sub')))).toEqual([
      'access/rule.yaml',
      'ostiary.yml',
      ...schemaFiles()
        .map(([path]) => path)
        .toSorted(),
    ]);
  });
});

function contentsOf(cwd: string): Readonly<Record<string, string>> {
  const files = readdirSync(cwd, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((file) => join(file.parentPath, file.name)).toSorted();
  return Object.fromEntries(paths.map((path) => [path.slice(cwd.length + 1), readFileSync(path, 'utf8')]));
}
