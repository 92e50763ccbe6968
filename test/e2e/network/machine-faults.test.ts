import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtPackage, start } from '../../support/cli.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { config, guardrail } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make } = useRepositories();

// A folder in place of the report fails everywhere as a full disk does.
const full = existsSync('/dev/full') ? '/dev/full' : '/dev';

test('an apply whose report cannot be written records the commit, writes the other reports, and warns', async () => {
  const repository = make({ 'ostiary.yaml': config(gateway.url()), 'access/rule.yaml': guardrail('no-drop') });
  const { code, stdout, stderr } = await gateway.run(
    `apply --yes --report json=${full} --report json=good.json`,
    repository.folder,
    gitEnv,
  );
  expect(code).toBe(0);
  expect(stderr).toContain(`warning report/cannot-write`);
  expect(stdout).toContain('1 created');
  expect(existsSync(join(repository.folder, 'good.json'))).toBe(true);
  expect(repository.git('for-each-ref', 'refs/ostiary/')).toContain('refs/ostiary/applied/production');
});

test('a plan whose report cannot be written fails', async () => {
  const repository = make({ 'ostiary.yaml': config(gateway.url()), 'access/rule.yaml': guardrail('no-drop') });
  const { code, stderr } = await gateway.run(`plan --report json=${full}`, repository.folder, gitEnv);
  expect([code, stderr]).toEqual([3, expect.stringContaining('report/cannot-write')]);
});

test.each(['validate', 'plan', 'init', 'apply --yes'])('%s in a working directory that was deleted is an error', async (line) => {
  const cwd = mkdtempSync(join(tmpdir(), 'ostiary-gone-'));
  const cli = join(await builtPackage(), 'dist', 'cli.js');
  const command = `rmdir "${cwd}" && exec "${process.execPath}" "${cli}" ${line}`;
  const { code, stdout, stderr } = await start('bash', ['--norc', '-c', command], { cwd }).ended;
  rmSync(cwd, { recursive: true, force: true });
  expect([code, stdout]).toEqual([3, '']);
  expect(stderr).toMatch(/^error cli\/working-folder {2}the working directory no longer exists\n {2}hint: .*\n$/m);
  expect(stderr).not.toMatch(/^ +at /m);
});
