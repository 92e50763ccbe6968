import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import type { Ended } from '../../support/cli.ts';
import { json, startFlakyServer, type FlakyServer } from '../../support/flaky-server.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { config, connection, manifest, useProjects } from '../project.ts';

const makeProject = useProjects();
const { make } = useRepositories();
const count = 1000;
const agent = '3e6f0a52-0b63-4d2b-9a7e-6a9f5b1d2c11';
const env = { OSTIARY_TOKEN: 'token-of-the-tests' };

function range(length: number): readonly number[] {
  return Array.from({ length }, (_, index) => index);
}

/** A connection as its manifest states it, but without reviewers. */
function liveConnection(index: number): JsonObject {
  const spec: JsonObject = {
    type: 'database',
    subtype: 'postgres',
    agent_id: agent,
    access_mode_connect: 'enabled',
    access_mode_exec: 'enabled',
    access_mode_runbooks: 'disabled',
    access_schema: 'enabled',
  };
  return { ...spec, id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`, name: `db-${index}`, reviewers: [], managed_by: '' };
}

/** Starts a gateway that holds the connections and nothing else. */
function startGateway(connections: readonly JsonObject[]): Promise<FlakyServer> {
  const bodies: Readonly<Record<string, unknown>> = {
    '/connections': connections,
    '/serverinfo': { name: 'ostiary', version: 'test', role: 'admin' },
    '/agents': [{ id: agent, name: 'default', status: 'online' }],
  };
  return startFlakyServer((response, { path }) => json(200, bodies[path] ?? [])(response, { method: 'GET', path, headers: {}, body: '' }));
}

/** Returns the manifests of the connections, 500 in a file. */
function manifestsOf(spec: JsonObject = {}): readonly (readonly [string, string])[] {
  return range(count / 500).map((file) => [
    `access/connections-${file}.yaml`,
    range(500)
      .map((index) => connection(`db-${file * 500 + index}`, spec))
      .join('---\n'),
  ]);
}

/** Returns a project with the connections and a rule that is attached to all of them. */
function project(url: string): string {
  const rule = manifest('GuardrailRule', 'no-drop', {
    input: { rules: [{ type: 'deny_words_list', words: ['DROP'] }] },
    connection_ids: range(count).map((index) => `db-${index}`),
  });
  return makeProject({ 'ostiary.yaml': config(url), ...Object.fromEntries(manifestsOf()), 'access/rule.yaml': rule });
}

describe(`a plan of ${count} new connections with a rule on each`, () => {
  let cwd = '';
  let code: number | null = null;
  let stdout = '';
  beforeAll(async () => {
    const server = await startGateway([]);
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

describe(`a gateway where someone removed the review of ${count} connections, half of them removed from the manifests`, () => {
  let server: FlakyServer | undefined = undefined;
  let cwd = '';
  const run = (...args: readonly string[]): Promise<Ended> => ostiaryInProcess(args, { cwd, env: { ...env, ...gitEnv } });
  beforeAll(async () => {
    server = await startGateway(range(count).map((index) => liveConnection(index)));
    const files = manifestsOf({ reviewers: ['dba'] });
    const repository = make({ 'ostiary.yaml': config(server.url), ...Object.fromEntries(files) });
    repository.commit();
    repository.remove(...files.slice(files.length / 2).map(([path]) => path));
    repository.commit();
    cwd = repository.folder;
  });
  afterAll(() => server?.close());

  test('plans the updates and the deletions', async () => {
    const limits = ['updates', 'deletes'].flatMap((many) => ['--allow', `plan/too-many-${many}=test`]);
    const { code, stdout } = await run('plan', '--prune', '--base', 'HEAD~1', ...limits, '--report', 'json=plan.json');
    expect({ code, summary: /^Plan: .*/m.exec(stdout)?.[0] }).toEqual({
      code: 0,
      summary: `Plan: ${count / 2} to update, ${count / 2} to delete, 0 unchanged.`,
    });
    expect(stdout.split('\n').length).toBeLessThan(500);
    expect(readFileSync(join(cwd, 'plan.json'), 'utf8').match(/"action": ?"delete"/g)).toHaveLength(count / 2);
  });

  test('lists the drift', async () => {
    const { code, stdout } = await run('drift', '--base', 'HEAD', '--report', 'markdown=drift.md');
    expect(code).toBe(2);
    expect(stdout).toContain(`and ${count / 2 - 1} more objects like it`);
    expect(readFileSync(join(cwd, 'drift.md'), 'utf8').length).toBeLessThanOrEqual(65_536);
  });
});
