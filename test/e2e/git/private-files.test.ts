import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { config, connection, useProjects, writeFiles } from '../project.ts';

const makeProject = useProjects();
const canary = 'Canary7f3a9';

const privateTexts: readonly string[] = [
  `PASS=${canary}\n`,
  `password: ${canary}\n`,
  `apiVersion: ${canary}\nkind: ${canary}\n`,
  `apiVersion: ostiary/v1\nkind: ${canary}\n`,
  `kind: Connection\n${canary}: [\n`,
  `apiVersion: ostiary/v1\nkind: Connection\nmetadata: { name: a }\nspec: { type: ${canary}, access_schema: ${canary}, ${canary}: 1 }\n`,
];

const places = [
  ['.env', 'link.yaml', '../.env'],
  ['.private/keys.yaml', 'link.yaml', '../.private/keys.yaml'],
  ['private/keys.yaml', 'link.yaml', '../private/keys.yaml'],
  ['private/keys.yaml', 'folder', '../private'],
] as const;

test.each(places)('errors never quote %s behind the link access/%s', async (file, link, target) => {
  for (const text of privateTexts) {
    const cwd = makeProject({ 'ostiary.yaml': config('http://127.0.0.1:9'), '.gitignore': 'private/\n', '.git/HEAD': '' });
    mkdirSync(join(cwd, 'access'));
    writeFiles(cwd, { [file]: text });
    symlinkSync(target, join(cwd, 'access', link));
    for (const args of [['validate'], ['validate', '--format', 'json'], ['validate', '--format', 'sarif'], ['plan']]) {
      const { code, stdout, stderr } = await ostiaryInProcess(args, { cwd, env: { OSTIARY_TOKEN: 'x' } });
      expect(`${stdout}${stderr}`).not.toContain(canary);
      expect([3, 4]).toContain(code);
    }
  }
});

test.each(['.env', '.private/keys.yaml', 'private/keys.yaml', '../outside.yaml'])(
  'errors never quote %s behind a linked config',
  async (file) => {
    for (const text of [...privateTexts, `targets: { ${canary}: ${canary} }\n`]) {
      const cwd = makeProject({ '.gitignore': 'private/\n', '.git/HEAD': '', 'access/a.yaml': connection('a') });
      mkdirSync(dirname(join(cwd, file)), { recursive: true });
      writeFileSync(join(cwd, file), text);
      symlinkSync(file, join(cwd, 'ostiary.yaml'));
      for (const args of [
        ['validate'],
        ['validate', '--format', 'json'],
        ['plan'],
        ['plan', '--config', 'ostiary.yaml'],
        ['fmt', '--check'],
      ]) {
        const { code, stdout, stderr } = await ostiaryInProcess(args, { cwd, env: { OSTIARY_TOKEN: 'x' } });
        expect({ args, output: `${stdout}${stderr}` }).toEqual({ args, output: expect.not.stringContaining(canary) });
        expect({ args, code }).toEqual({ args, code: 3 });
      }
    }
  },
);

// security: proposal
test('errors quote a linked file that everybody sees, and a valid private file is read', async () => {
  const wrong = 'apiVersion: ostiary/v1\nkind: Conection\n';
  const cwd = makeProject({ 'ostiary.yaml': config('http://127.0.0.1:9'), 'common/a.yaml': wrong, '.private/b.yaml': connection('b') });
  mkdirSync(join(cwd, 'access'));
  symlinkSync('../.private/b.yaml', join(cwd, 'access/b.yaml'));
  const valid = await ostiaryInProcess(['validate'], { cwd });
  expect([valid.code, valid.stdout]).toEqual([0, expect.stringContaining('1')]);
  symlinkSync('../common/a.yaml', join(cwd, 'access/a.yaml'));
  const { code, stdout, stderr } = await ostiaryInProcess(['validate'], { cwd });
  expect([code, `${stdout}${stderr}`]).toEqual([3, expect.stringContaining('2 | kind: Conection')]);
});

// security: proposal
test('no report, journal or saved plan is written through a linked folder of the repository', async () => {
  const cwd = makeProject({ 'ostiary.yaml': config('http://127.0.0.1:9'), 'access/a.yaml': connection('a'), 'out/readme': '' });
  mkdirSync(join(cwd, '../elsewhere'), { recursive: true });
  symlinkSync('../elsewhere', join(cwd, 'linked'));
  symlinkSync('out', join(cwd, 'inside'));
  const env = { OSTIARY_TOKEN: 'x' };
  const runs = [
    ['plan', '--report', 'json=linked/new'],
    ['plan', '--out', 'linked/new'],
    ['apply', '--yes', '--report', 'json=linked/new'],
    ['apply', '--yes', '--journal', 'linked/new'],
    ['drift', '--report', 'json=linked/new'],
    ['plan', '--out', 'inside/new'],
  ];
  for (const args of runs) {
    const { code, stderr } = await ostiaryInProcess(args, { cwd, env });
    expect({ args, code, stderr }).toEqual({ args, code: 3, stderr: expect.stringMatching(/(?:linked|inside)\/new/) });
    expect(stderr).toContain('leads through the symbolic link');
  }
  expect(existsSync(join(cwd, '../elsewhere/new'))).toBe(false);
  const chosen = ['--report', `json=${join(cwd, '../elsewhere/chosen')}`];
  expect(await ostiaryInProcess(['plan', ...chosen], { cwd, env })).toMatchObject({ code: 4 });
});
