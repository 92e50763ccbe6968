import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { registry } from '../../src/kinds/index.ts';
import { isObject } from '../../src/model/json.ts';
import { tokensOf } from '../../src/model/pointer.ts';
import type { PulledSecrets } from '../../src/model/result/outcome.ts';
import { kindOf } from '../../src/model/resource.ts';
import { runCount } from '../support/property-runs.ts';
import { runInFolder } from '../support/run-in-process.ts';
import { connection } from '../e2e/project.ts';
import { adminToken, hoopProject } from '../support/hoop-project.ts';
import { hoopScenario, hoopWorld, scenarioAuditor, scenarioToken } from '../support/hoop-scenario.ts';
import type { MemoryResource } from '../support/memory-store.ts';
import { scenario, type Manifest } from '../support/scenario.ts';
import { applyAndExpectInSync } from './expectations.ts';

const folders = mkdtempSync(join(tmpdir(), 'ostiary-pull-'));
afterAll(() => rmSync(folders, { recursive: true, force: true }));

/** The variables of a manifest with the values that are live. */
function variablesOf({ kind, metadata, spec }: Manifest, live: readonly MemoryResource[]): readonly [string, string][] {
  const { secrets = {} } = live.find(
    ({ id }) => id === `${kind}/${metadata.name}` || (kind === 'RunbookConfiguration' && kindOf(id) === kind),
  ) ?? { id: 'Connection/none' };
  return Object.entries(secrets).flatMap(([path, value]) => {
    const [field = '', key] = tokensOf(path);
    const found = key === undefined ? spec[field] : isObject(spec[field]) ? spec[field][key] : undefined;
    const from = isObject(found) && isObject(found['valueFrom']) ? found['valueFrom'] : {};
    return typeof from['env'] === 'string' ? [[from['env'], key === undefined ? value : atob(value)]] : [];
  });
}

/** A finding about a value; findings about what a rule does on its samples or on harmless texts stay. */
const aboutValues = / (?:error|warning) (?!rule\/)/;

test('the public gateway: a plan after a pull is empty, with the token as the only variable', async () => {
  await fc.assert(
    fc.asyncProperty(
      scenario,
      fc.constantFrom<PulledSecrets>('keep', 'stubs', 'omit'),
      fc.constantFrom('admin', 'auditor'),
      async (one, secrets, role) => {
        const here = hoopScenario(one);
        const model = await hoopWorld(here);
        const folder = mkdtempSync(join(folders, 'project-'));
        try {
          const env = { OSTIARY_TOKEN: role === 'admin' ? scenarioToken : scenarioAuditor };
          const pulled = await runInFolder(folder, ['pull', '--url', `${model.url}/api`, '--secrets', secrets, '--format', 'json'], env);
          expect([pulled.code, pulled.stderr]).toEqual([0, '']);
          const manifests = readdirSync(join(folder, 'access'), { recursive: true, encoding: 'utf8' }).filter((path) =>
            path.endsWith('.yaml'),
          );
          if (manifests.length === 0) return;
          const validated = await runInFolder(folder, ['validate', '--dialect', 'hoop'], env);
          const isRuleWrong = validated.stderr.includes(' error rule/');
          expect([validated.code, validated.stderr]).toEqual([isRuleWrong ? 3 : 0, expect.not.stringMatching(aboutValues)]);
          const values = manifests.flatMap((path) => variablesOf(parse(readFileSync(join(folder, 'access', path), 'utf8')), here.live));
          const planned = await runInFolder(folder, ['plan', '--detailed-exitcode'], { ...env, ...Object.fromEntries(values) });
          expect([planned.code, planned.stdout]).toEqual([0, expect.stringContaining('No changes')]);
          expect(planned.stderr).not.toMatch(aboutValues);
        } finally {
          await model.close();
        }
      },
    ),
    { numRuns: runCount(3) },
  );
});

test('a secret that was added outside Ostiary is kept by the manifest that lists all secrets', async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db', { secret: { 'envvar:PASS': { value: 'one' } } }) });
  await applyAndExpectInSync(project);
  const row = project.model.store.findConnection('orders-db');
  if (row === undefined) throw new Error('it is not there');
  project.model.store.saveConnection({ ...row, secret: { ...row.secret, 'envvar:ADDED': 'Y2FuYXJ5' }, reviewers: ['dba'] });
  const { code, stdout } = await project.ostiary(['pull', '--format', 'json']);
  expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ written: [], differing: [], edited: ['access/a.yaml'] })]);
  const text = readFileSync(join(project.folder, 'access/a.yaml'), 'utf8');
  expect(text).not.toMatch(/Y2FuYXJ5|canary/);
  expect(JSON.parse(text).spec).toMatchObject({
    reviewers: ['dba'],
    secret: { 'envvar:PASS': { value: 'one' }, 'envvar:ADDED': { keep: true } },
  });
  expect((await project.ostiary(['plan', '--detailed-exitcode'])).code).toBe(0);
});

test('a command that is added by hand to a pulled connection without one differs', async () => {
  const project = await hoopProject();
  const { store } = project.model;
  project.write({ 'access/a.yaml': connection('shell', { type: 'custom', subtype: 'ssh' }) });
  await applyAndExpectInSync(project);
  const folder = mkdtempSync(join(folders, 'command-'));
  const run = (...line: readonly string[]): ReturnType<typeof runInFolder> => runInFolder(folder, line, { OSTIARY_TOKEN: adminToken });
  expect((await run('pull', '--url', project.url)).code).toBe(0);
  const row = store.findConnection('shell');
  if (row === undefined) throw new Error('it is not there');
  store.saveConnection({ ...row, command: ['sh', '-c', 'cat'] });
  expect(await run('plan')).toMatchObject({ code: 0, stdout: expect.stringContaining('command  [sh, -c, cat] → []') });
});

const count = 1000;

test('1,000 connections: only bulk reads without secrets, and one read of each with secrets', async () => {
  const project = await hoopProject();
  const { store } = project.model;
  const agent = store.agentNamed('default')?.id;
  const modes = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'disabled', access_schema: 'enabled' };
  const body = { type: 'custom', agent_id: agent, ...modes };
  await project.send('POST', '/connections', { name: 'connection-0', ...body, secret: { 'envvar:PASS': 'Y2FuYXJ5' } });
  await project.send('POST', '/connections', { name: 'without', ...body });
  const row = store.findConnection('connection-0');
  const resource = store.resources.get('connection-0');
  if (row === undefined || resource === undefined) throw new Error('it was not made');
  for (let index = 1; index < count; index += 1) {
    const name = `connection-${index}`;
    store.resources.set(name, { ...resource, id: crypto.randomUUID(), name });
    store.saveConnection({ ...row, id: crypto.randomUUID(), name, resourceName: name });
  }
  const reads = (await project.ostiary(['get', 'rules'])).requests.length;
  for (const [mode, each] of [
    ['omit', 0],
    ['keep', count],
  ] as const) {
    const folder = join(folders, mode);
    const { code, requests, stderr } = await project.ostiary(['pull', folder, '--secrets', mode]);
    expect([code, stderr]).toEqual([0, '']);
    const single = requests.filter((request) => request.startsWith('GET /api/connections/'));
    expect([mode, single.length, new Set(single).size]).toEqual([mode, each, each]);
    // The list of each kind beside connections and the two kinds of rules that the other command reads.
    expect(requests.length - each).toBeLessThanOrEqual(reads + registry.size - 3);
    expect(readdirSync(join(folder, 'access', 'connections'))).toHaveLength(count + 1);
  }
  const planned = await runInFolder(join(folders, 'omit'), ['plan', '--detailed-exitcode'], { OSTIARY_TOKEN: adminToken });
  expect([planned.code, planned.stdout]).toEqual([0, expect.stringContaining('No changes')]);
});
