import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { builtPackage, type Ended, start } from '../../support/cli.ts';
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

/** Runs a script in a folder of a file system of its own, of so many kilobytes; `ostiary` runs a command. */
async function runOnDisk(script: string, options: string): Promise<Ended> {
  const cli = join(await builtPackage(), 'dist', 'cli.js');
  const folder = make({}).folder;
  const whole = `mount -t tmpfs -o ${options} tmpfs . && cd "$PWD" && ostiary() { "${process.execPath}" "${cli}" "$@"; }; ${script}`;
  const env = { ...gitEnv, ...gateway.env(), CONFIG: config(gateway.url()) };
  return start('unshare', ['--user', '--map-root-user', '--mount', 'bash', '--norc', '-c', whole], { cwd: folder, env }).ended;
}

const canMount = spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;

describe.skipIf(!canMount)('a full disk and a read-only one are named by', () => {
  const rule = JSON.stringify(JSON.parse(guardrail('no-drop')));
  const setup = `mkdir access; cat > ostiary.yaml <<< "$CONFIG"; echo '${rule}' > access/rule.yaml; : > out`;
  const fill = 'dd if=/dev/zero of=filling bs=1k count=8000 2>/dev/null';
  const seal = 'mount -o remount,ro .';
  const [noRoom, sealed] = ['no space left on the disk', 'the file system is read-only'];

  test.each([
    { line: 'init sub --github', state: fill, code: 3, text: `${noRoom}\n  hint: free space on that disk` },
    { line: 'init sub --github', state: seal, code: 3, text: `${sealed}\n  hint: use a path on a file system that can be written` },
    { line: 'pull --yes', state: `rm -r access; ${fill}`, code: 3, text: noRoom },
    { line: 'pull --yes', state: `rm -r access; ${seal}`, code: 3, text: sealed },
    { line: 'plan --out saved.json', state: fill, code: 3, text: noRoom },
    { line: 'plan --out saved.json', state: seal, code: 3, text: sealed },
    {
      line: 'apply --yes',
      state: `sed -i s/no-drop/not-made/ access/rule.yaml; git init -q && git add . && git commit -qm x; ${fill}; rm out`,
      code: 6,
      text: 'free space on the disk of the repository',
    },
    { line: 'plan > out', state: fill, code: 1, text: noRoom },
    { line: 'report access > out', state: fill, code: 1, text: noRoom },
    { line: 'plan > /dev/full', state: ':', code: 1, text: noRoom },
  ])('$line with $text', async ({ line, state, code, text }) => {
    const ended = await runOnDisk(`${setup}; ${state}; ostiary ${line}`, 'size=256k');
    expect(ended).toMatchObject({ code, stderr: expect.stringContaining(text) });
    expect(ended.stderr).not.toContain('bug in Ostiary');
  });

  test('an apply whose origin is full, and it writes nothing', async () => {
    const commit = 'git init -q . && git add . && git commit -qm x && git remote add origin ../origin/bare.git && git push -q origin HEAD';
    const origin = 'mkdir clone origin; mount -t tmpfs -o size=400k tmpfs origin; git init -q --bare origin/bare.git; cd clone';
    const fillOrigin = fill.replace('filling', '../origin/filling');
    const ended = await runOnDisk(
      `${origin}; ${setup}; sed -i s/no-drop/not-made/ access/rule.yaml; ${commit}; ${fillOrigin}; ostiary apply --yes`,
      'size=4m',
    );
    expect(ended).toMatchObject({ code: 6, stderr: expect.stringMatching(/unpacker error; .*No space left on device/) });
    expect(ended.stderr).toContain('free space on the disk of the repository');
    expect(ended.stdout).not.toContain('created');
  });
});
