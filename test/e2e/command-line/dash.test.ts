import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { config, connection, filesBelow, useProjects } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const makeProject = useProjects();
const gateway = useGateway();

/** Returns the names of the options and arguments of a command that take a path, as its help prints them. */
async function pathsOf(command: string): Promise<readonly string[]> {
  const { stdout } = await ostiaryInProcess([command, '--help'], { cwd: '/' });
  const options = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+) <(?:file|folder|format=path)>/gm)].map(([, name = '']) => name);
  const [, usage = ''] = /^Usage: ostiary \w+(?:\|\w+)? \[options\]\s+(.*)/m.exec(stdout) ?? [];
  const places = usage.match(/\[(?:paths\.\.\.|directory|folder)\]/g) ?? [];
  return [...options, ...places];
}

async function commandNames(): Promise<readonly string[]> {
  const { stdout } = await ostiaryInProcess(['--help'], { cwd: '/' });
  return [...stdout.matchAll(/^ {2}([a-z]+)(?:\|[a-z]+)? (?:\[|<| )/gm)].map(([, name = '']) => name).filter((name) => name !== 'help');
}

test('"-" is an error for each option and argument that takes a path, and never the name of a file or folder', async () => {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/db.yaml': connection('piped', { reviewers: ['dba'] }) });
  const before = filesBelow(cwd);
  const env = gateway.env();
  const needed: Readonly<Record<string, readonly string[]>> = {
    explain: ['Connection/piped'],
    get: ['connections'],
    search: ['db'],
    review: ['approve', '1e625499-34c9-4b26-a9c3-17c7fa662bdf'],
    apply: ['--yes'],
    pull: ['--dry-run'],
    record: ['key'],
    who: ['piped'],
    report: ['access'],
    ci: ['validate'],
  };
  const commands = await commandNames();
  expect(commands).toEqual(expect.arrayContaining(['init', 'pull', 'validate', 'fmt', 'plan', 'apply', 'drift', 'list', 'serve']));
  const lines = (await Promise.all(commands.map(async (command) => ({ command, paths: await pathsOf(command) })))).flatMap(
    ({ command, paths }) =>
      paths.map((name) => {
        const value = name.startsWith('--') ? [name, name === '--report' ? 'json=-' : '-'] : ['--', '-'];
        return [command, ...(needed[command] ?? []), ...value];
      }),
  );
  const ended: Record<string, string> = {};
  for (const line of lines) {
    const { code, stderr } = await ostiaryInProcess(line, { cwd, env });
    ended[line.join(' ')] = `exit ${code}: ${stderr.split('\n')[0] ?? ''}`;
  }
  expect(ended).toEqual(Object.fromEntries(Object.keys(ended).map((line) => [line, 'exit 3: error cli/usage  "-" is not a path'])));
  expect(Object.keys(ended).length).toBeGreaterThan(25);
  expect(filesBelow(cwd)).toEqual(before);
  expect(existsSync(join(cwd, '-'))).toBe(false);
});
