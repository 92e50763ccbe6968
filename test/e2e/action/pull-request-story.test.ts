import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtPackage, start } from '../../support/cli.ts';

test('npm run demo:pr plays the story of the pull requests, and it is true', async () => {
  const dist = join(await builtPackage(), 'dist');
  const demo = start('npm', ['run', '--silent', 'demo:pr', '--', dist], { cwd: '.', env: { TMPDIR: tmpdir() }, patience: 600_000 });
  const { code, stdout, stderr } = await demo.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const said = stdout.split('\n');
  expect(said.filter((line) => line.startsWith('\u2500\u2500 '))).toHaveLength(10);
  expect(said.filter((line) => line.length > 80 && !/^ {2}\u2502 (?:[|+!~<]|- `|.*\b[0-9a-f]{64}\b)/.test(line))).toEqual([]);
  expect(stdout).not.toContain('correct-horse');
});
