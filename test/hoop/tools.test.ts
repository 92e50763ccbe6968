import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { config, connection, manifest } from '../e2e/project.ts';
import { auditorToken, hoopProject, type HoopProject, userToken } from '../support/hoop-project.ts';
import { useHoopRepositories } from '../support/hoop-repository.ts';
import { applyAndExpectInSync, summaryOf, writes } from './expectations.ts';

const repositories = useHoopRepositories();

const key = (list: string): string => `envvar:MCP_${list}_TOOLS`;
const server = { type: 'application', subtype: 'mcpproxy', access_mode_connect: 'enabled' };

/** A connection to a server of tools, with lists by `value`. */
function tools(lists: Readonly<Record<string, string>>, spec: JsonObject = {}): string {
  const secret = Object.fromEntries(Object.entries(lists).map(([list, value]) => [key(list), { value }]));
  return connection('tools', {
    ...server,
    secret: { 'envvar:REMOTE_URL': { value: 'https://tools.example.com/mcp' }, ...secret },
    ...spec,
  });
}

/** A connection to a server of tools, with secrets, and an address that it keeps. */
function keeping(secret: JsonObject): string {
  return connection('tools', { ...server, secret: { 'envvar:REMOTE_URL': { keep: true }, ...secret } });
}

/** Sets lists as another admin. */
async function set(project: HoopProject, lists: Readonly<Record<string, string>>): Promise<void> {
  const { body } = await project.send('GET', '/connections/tools');
  const secret = Object.fromEntries(Object.entries(lists).map(([list, value]) => [key(list), Buffer.from(value).toString('base64')]));
  const { secret: before } = Object(body);
  const { status } = await project.send('PUT', '/connections/tools', { ...Object(body), secret: { ...before, ...secret } });
  expect(status).toBe(200);
}

async function stored(project: HoopProject): Promise<JsonObject> {
  const { body } = await project.send('GET', '/connections/tools');
  const { secret } = Object(body);
  return Object.fromEntries(Object.entries(secret).map(([name, value]) => [name, Buffer.from(String(value), 'base64').toString('utf8')]));
}

type Row = readonly [
  what: string,
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
  there: readonly string[],
  back: readonly string[],
];

const rows: readonly Row[] = [
  [
    'a denied tool',
    { DENIED: 'delete_*' },
    { DENIED: '' },
    ['weakens: 1 connection no longer denies tool delete_*'],
    ['strengthens: 1 connection now denies tool delete_*'],
  ],
  [
    'a list of allowed tools',
    { ALLOWED: 'read_*,list_*' },
    {},
    ['weakens: 1 connection now allows every tool, not only tools list_* and read_*'],
    ['strengthens: 1 connection now allows only tools list_* and read_*'],
  ],
  [
    'an allowed tool',
    { ALLOWED: 'read_*' },
    { ALLOWED: 'read_*, write_*' },
    ['weakens: 1 connection now allows tool write_*'],
    ['strengthens: 1 connection no longer allows tool write_*'],
  ],
  [
    'an approval',
    { APPROVAL: 'write_*' },
    { APPROVAL: 'write_a*' },
    ['weakens: 1 connection no longer asks for an approval of tool write_*'],
    ['strengthens: 1 connection now asks for an approval of tool write_*'],
  ],
  [
    'an approval instead of a refusal',
    { DENIED: 'write_*' },
    { APPROVAL: 'write_*' },
    ['weakens: 1 connection no longer denies tool write_*'],
    ['strengthens: 1 connection now denies tool write_*'],
  ],
  [
    'other tools',
    { DENIED: 'delete_*' },
    { DENIED: 'drop_*' },
    ['weakens: 1 connection no longer denies tool delete_*', 'strengthens: 1 connection now denies tool drop_*'],
    ['weakens: 1 connection no longer denies tool drop_*', 'strengthens: 1 connection now denies tool delete_*'],
  ],
  ['what another list refuses already', { DENIED: '*', ALLOWED: 'read_*' }, { DENIED: '*' }, [], []],
  ['blanks, order, and an empty list', { DENIED: 'a, b' }, { DENIED: ' b,a,', APPROVAL: '' }, [], []],
];

test('lists of tools are settings: plans show them, say what they open and close, and refuse what opens', async () => {
  const project = await hoopProject();
  const differs: string[] = [];
  for (const [what, before, after, there, back] of rows) {
    for (const [from, to, expected] of [
      [before, after, there],
      [after, before, back],
    ] as const) {
      project.write({ 'access/a.yaml': tools(from) });
      expect((await project.ostiary(['apply', '--yes', '--allow', 'risk/tools=x'])).code).toBe(0);
      project.write({ 'access/a.yaml': tools(to) });
      const planned = await project.ostiary(['plan', '--format', 'json', '--no-new-access']);
      const { headlines, refusals } = summaryOf(planned);
      const isOpened = expected.some((text) => text.startsWith('weakens'));
      if (headlines.join() !== expected.join() || refusals.includes('plan/new-access') !== isOpened)
        differs.push(`${what}: ${headlines.join('; ')} ${refusals.join()}`);
      const limited = await project.ostiary(['plan', '--max-risk', 'reroutes']);
      if ((limited.code === 6) !== isOpened) differs.push(`${what}: exit code ${limited.code}`);
      expect(limited.stdout).not.toContain('endpoint');
    }
  }
  expect(differs).toEqual([]);
});

test('apply writes lists among the secrets, and keeps the others', async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': tools({ DENIED: 'delete_*' }) });
  await applyAndExpectInSync(project);
  project.write({ 'access/a.yaml': tools({ APPROVAL: 'Write_*' }) });
  const shown = await project.ostiary(['plan']);
  expect(shown.stdout).toContain(`secret.${key('APPROVAL')}  + Write_*`);
  expect(shown.stdout).toContain(`secret.${key('DENIED')}  - delete_*`);
  await applyAndExpectInSync(project);
  expect(await stored(project)).toEqual({ 'envvar:REMOTE_URL': 'https://tools.example.com/mcp', [key('APPROVAL')]: 'Write_*' });
});

test('a list that was changed outside Ostiary is drift with its values; a stricter one is held', async () => {
  const project = await hoopProject();
  const { run, change } = await repositories.apply(project, { 'access/a.yaml': tools({ DENIED: 'delete_*' }) });
  await set(project, { DENIED: '' });
  const opened = await run('drift');
  expect([opened.code, opened.stdout]).toEqual([2, expect.stringContaining(`secret.${key('DENIED')}  delete_* → ""`)]);
  expect(opened.stdout).toContain('tools no longer denies tool delete_*');
  expect(summaryOf(await run('plan --format json')).headlines).toEqual(['strengthens: 1 connection now denies tool delete_*']);
  await set(project, { DENIED: 'delete_*,drop_*' });
  const held = await run('apply --yes');
  expect([held.code, writes(held), held.stdout]).toEqual([0, [], expect.stringContaining('1 held')]);
  await change({ 'access/a.yaml': tools({ DENIED: 'delete_*,drop_*' }) });
  expect((await run('plan')).stdout).toContain('No changes');
});

test('pull writes the lists, and the next plan is empty', async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': tools({ DENIED: 'delete_*', ALLOWED: '' }) });
  await applyAndExpectInSync(project);
  const folder = join(project.folder, 'pulled');
  project.write({ 'pulled/ostiary.yaml': config({ prod: project.url }) });
  expect((await project.runIn(folder, ['pull', '.'])).code).toBe(0);
  const text = readFileSync(join(folder, 'access/connections/tools.yaml'), 'utf8');
  expect(text).toContain(`${key('DENIED')}: { value: delete_* }`);
  expect(text).toContain(`${key('ALLOWED')}: { value: "" }`);
  expect(text).toContain('envvar:REMOTE_URL: { keep: true }');
  expect((await project.runIn(folder, ['plan'])).stdout).toContain('No changes');
});

test('what cannot be read is unclear: a token without sight of secrets, a reference, a source that is not resolved', async () => {
  const project = await hoopProject();
  const { run, commit } = await repositories.apply(project, { 'access/a.yaml': tools({ DENIED: 'delete_*' }) });
  const unclear = 'unknown: 1 connection changes lists of tools in a way that cannot be compared';
  const changes: readonly (readonly [string, string, string?])[] = [
    ['a hidden list', tools({ DENIED: 'drop_*' }), auditorToken],
    ['a hidden list that is removed', tools({}), auditorToken],
    ['a reference', keeping({ [key('DENIED')]: '_cloudsecrets:tools:DENIED' })],
    ['a source without its value', keeping({ [key('DENIED')]: { valueFrom: { env: 'OSTIARY_SECRET_TOOLS' } } })],
  ];
  for (const [what, text, token] of changes) {
    commit({ 'access/a.yaml': text });
    const planned = await run('plan --format json --no-new-access --secrets unresolved', token);
    expect([what, planned.stderr]).toEqual([what, expect.not.stringContaining('error')]);
    const { headlines, refusals } = summaryOf(planned);
    expect([what, headlines.filter((one) => one.includes('tools')), refusals.includes('plan/new-access')]).toEqual([what, [unclear], true]);
  }
  const resolved = await run('plan --format json', undefined, { OSTIARY_SECRET_TOOLS: 'drop_*' });
  expect(summaryOf(resolved).headlines).toEqual([
    'weakens: 1 connection no longer denies tool delete_*',
    'strengthens: 1 connection now denies tool drop_*',
  ]);
});

test('a connection that stops being a server of tools loses its lists, and a new one without them says so', async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': tools({ DENIED: 'delete_*' }) });
  await applyAndExpectInSync(project);
  project.write({ 'access/a.yaml': tools({ DENIED: 'delete_*' }, { subtype: 'httpproxy' }) });
  const { headlines } = summaryOf(await project.ostiary(['plan', '--format', 'json']));
  expect(headlines).toContain('weakens: 1 connection no longer denies tool delete_*');
});

const asked = (list: string, glob: string): string =>
  manifest('AccessTest', 't', {}).replace(
    '"spec": {}',
    `"spec": [{ "group": "dev", "on": "tools", "verb": "connect", "expect": "allowed", "tools": { "${list}": "${glob}" } }]`,
  );

test.each([
  ['denied', 'delete_*', 'passed'],
  ['denied', 'de*', 'tools not denied de*'],
  ['approval', 'write_*', 'passed'],
  ['approval', 'delete_all', 'passed'],
  ['approval', 'read_*', 'tools not approval read_*'],
  ['allowed', 'read_*', 'passed'],
  ['allowed', '*', 'tools not allowed *'],
])('an access test: %s %s: %s', async (list, glob, found) => {
  const project = await hoopProject();
  project.write({
    'access/a.yaml': tools({ DENIED: 'delete_*', APPROVAL: 'write_*' }, { access_groups: null }),
    'access/t.yaml': asked(list, glob),
  });
  const { stdout } = await project.ostiary(['test']);
  expect(stdout).toContain(found === 'passed' ? '1 passed' : found);
});

test('can says which tools there are, also on its page', async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': tools({ DENIED: 'delete_*', APPROVAL: 'write_*' }) });
  await applyAndExpectInSync(project);
  for (const more of [[], ['--live'], ['--plan']])
    expect((await project.ostiary(['can', 'dev', 'connect', 'tools', ...more])).stdout).toMatch(
      /tools\s+denied delete_\*, approval write_\*/,
    );
  const { stdout } = await project.ostiary(['can', 'dev', 'connect', 'tools', '--live', '--format', 'json'], { OSTIARY_TOKEN: userToken });
  expect(JSON.parse(stdout).tools).toEqual(['denied delete_*', 'approval write_*']);
  const page = await project.ostiary(['can', '--matrix', '--format', 'html', '--live']);
  expect(page.stdout.includes('denied delete_*')).toBe(true);
});
