import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { json, startFlakyServer, type FlakyServer } from '../support/flaky-server.ts';
import { ostiaryInProcess } from '../support/run-in-process.ts';
import { config, connection, manifest, useProjects } from './project.ts';

const makeProject = useProjects();
const count = 12_000;
const agent = '3e6f0a52-0b63-4d2b-9a7e-6a9f5b1d2c11';
const env = { OSTIARY_TOKEN: 'token-of-the-tests' };

function range(length: number): readonly number[] {
  return Array.from({ length }, (_, index) => index);
}

/** Starts a gateway without objects. */
function startEmptyGateway(): Promise<FlakyServer> {
  const bodies: Readonly<Record<string, unknown>> = {
    '/serverinfo': { name: 'ostiary', version: 'test', role: 'admin' },
    '/agents': [{ id: agent, name: 'default', status: 'online' }],
  };
  return startFlakyServer((response, { path }) => json(200, bodies[path] ?? [])(response, { method: 'GET', path, headers: {}, body: '' }));
}

/** Returns a project with the connections, 500 in a file, and a rule that is attached to all of them. */
function project(url: string): string {
  const files = range(count / 500).map((file): readonly [string, string] => [
    `access/connections-${file}.yaml`,
    range(500)
      .map((index) => connection(`db-${file * 500 + index}`))
      .join('---\n'),
  ]);
  const rule = manifest('GuardrailRule', 'no-drop', {
    input: { rules: [{ type: 'deny_words_list', words: ['DROP'] }] },
    connection_ids: range(count).map((index) => `db-${index}`),
  });
  return makeProject({ 'ostiary.yaml': config(url), ...Object.fromEntries(files), 'access/rule.yaml': rule });
}

describe(`a plan of ${count} new connections with a rule on each`, () => {
  let cwd = '';
  let code: number | null = null;
  let stdout = '';
  beforeAll(async () => {
    const server = await startEmptyGateway();
    cwd = project(server.url);
    const reports = ['text=plan.txt', 'markdown=plan.md', 'html=plan.html'].flatMap((report) => ['--report', report]);
    const ended = await ostiaryInProcess(['plan', ...reports], { cwd, env });
    await server.close();
    ({ code, stdout } = ended);
  });

  const read = (name: string): string => readFileSync(join(cwd, name), 'utf8');

  test('counts the changes that are alike in the text', () => {
    expect(code).toBe(0);
    expect(stdout).toContain(`Plan: ${count + 1} to create, 0 unchanged.`);
    expect(stdout).toContain(`and ${count - 3} more objects like it: Connection/db-100, `);
    expect(stdout).toContain('      + GuardrailRule/no-drop\n');
    expect(stdout.split('\n').length).toBeLessThan(500);
  });

  test('has every change in the text file', () => {
    expect(read('plan.txt').match(/^ {2}\+ Connection\/db-\d+ /gm)).toHaveLength(count);
  });

  test('has short Markdown and a short page', () => {
    expect(read('plan.md').length).toBeLessThanOrEqual(65_536);
    expect(read('plan.html').length).toBeLessThan(8_000_000);
    expect(read('plan.html')).toContain(`and ${count - 3} more objects like it`);
  });
});
