import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { ostiary } from '../../support/cli.ts';

const cwd = tmpdir();
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

test('--version prints the version of package.json', async () => {
  for (const args of [['--version'], ['-V'], ['plan', '--version']])
    expect(await ostiary(args, { cwd })).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
});

test('the command prints it, too, and --json adds the build and the platform', async () => {
  expect(await ostiary(['version'], { cwd })).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
  const { code, stdout } = await ostiary(['version', '--json'], { cwd });
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, version, platform: expect.stringContaining(process.platform) });
});
