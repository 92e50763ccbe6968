import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const programs = ['build', 'test', 'test/bench', 'test/torture'].flatMap((folder) =>
  readdirSync(folder)
    .map((name) => `${folder}/${name}`)
    .filter((path) => path.endsWith('.js') && path !== 'build/read-arguments.js' && readFileSync(path, 'utf8').includes('readArguments(')),
);

test.each(programs)('%s says how it is run, and refuses what it does not know', (program) => {
  const start = (...args: readonly string[]) => spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
  const help = start('--help');
  expect([help.status, help.stderr]).toEqual([0, '']);
  expect(help.stdout).toMatch(/^run (?:npm run|node) \S/);
  expect(start('--nonsense')).toMatchObject({ status: 3, stdout: '', stderr: `error: Unknown option '--nonsense': ${help.stdout}` });
});

test('the programs with parts are among those', () => {
  expect(programs).toEqual(expect.arrayContaining(['build/release.js', 'test/bench/bench.js', 'test/nightly.js', 'test/torture/run.js']));
});
