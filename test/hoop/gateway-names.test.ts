import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { expect, test } from 'vitest';
import { connection, manifest } from '../e2e/project.ts';
import { hoopProject, type HoopProject } from '../support/hoop-project.ts';
import { applyAndExpectInSync } from './expectations.ts';

const template = '0d2f6f7e-2f6b-4a55-9c5b-6a1f3f0b9a11';
const other = '1d2f6f7e-2f6b-4a55-9c5b-6a1f3f0b9a11';

function configure({ write, url }: HoopProject, dialects: readonly string[]): void {
  const targets = dialects.map((dialect, index) => `  t${index}: { url: '${url}', dialect: ${dialect} }\n`);
  write({ 'ostiary.yaml': `apiVersion: ostiary/v1\nkind: Config\nmanifests: [access/]\ntargets:\n${targets.join('')}` });
}

async function namedProject(): Promise<HoopProject> {
  const project = await hoopProject();
  configure(project, ['hoop']);
  project.model.store.jiraTemplates.add(template);
  project.model.store.jiraTemplates.add(other);
  return project;
}

const named = { type: 'custom', subtype: 'dynamodb', jira_issue_template_id: template, secret: { 'envvar:KEY': '_aws:sessions:KEY' } };
const ours = {
  type: 'custom',
  subtype: 'keyvaluedb',
  issuetracker_issue_template_id: template,
  secret: { 'envvar:KEY': '_cloudsecrets:sessions:KEY' },
};

test('with the dialect in the config, manifests may have the names of the gateway, and plans, get, explain and pull have them', async () => {
  const project = await namedProject();
  project.write({
    'access/a.yaml': connection('sessions', named),
    'access/b.yaml': manifest('Attribute', 'pci', { access_control_group_names: ['dba'] }),
  });
  expect(await project.ostiary(['validate'])).toMatchObject({ code: 0, stderr: expect.not.stringMatching(/warning|error/) });
  await applyAndExpectInSync(project);
  const stored = { subtype: 'dynamodb', jiraTemplate: template, secret: { 'envvar:KEY': btoa('_aws:sessions:KEY') } };
  expect(project.model.store.findConnection('sessions')).toMatchObject(stored);
  // Our names mean the same.
  project.write({ 'access/a.yaml': connection('sessions', ours) });
  expect((await project.ostiary(['plan'])).stdout).toContain('No changes');
  project.write({ 'access/a.yaml': connection('sessions', { ...named, subtype: 'cloudwatch', jira_issue_template_id: other }) });
  const planned = await project.ostiary(['plan', '--full']);
  expect(planned.stdout).toMatch(/subtype.*dynamodb.*cloudwatch/);
  expect(planned.stdout).toContain('jira_issue_template_id');
  expect(`${planned.stdout}${planned.stderr}`).not.toMatch(/keyvaluedb|cloudmonitor|issuetracker/);
  const json = JSON.parse((await project.ostiary(['plan', '--format', 'json'])).stdout);
  expect(json.plans[0].changes[0].fields).toEqual([
    expect.objectContaining({ path: '/subtype', before: { value: 'dynamodb' }, after: { value: 'cloudwatch' }, at: expect.anything() }),
    expect.objectContaining({ path: '/jira_issue_template_id', at: expect.objectContaining({ line: expect.any(Number) }) }),
  ]);
  const explained = await project.ostiary(['explain', 'Connection/sessions', 'jira_issue_template_id']);
  expect([explained.code, explained.stdout]).toEqual([0, expect.stringContaining('jira_issue_template_id')]);
  expect((await project.ostiary(['get', 'connections'])).stdout).toContain('custom/dynamodb');
  const [got] = JSON.parse((await project.ostiary(['get', 'connections', '--format', 'json'])).stdout);
  expect(got.spec).toMatchObject({ subtype: 'dynamodb', jira_issue_template_id: template });
});

test('a saved plan, and drift that is accepted, keep the names of the file', async () => {
  const project = await namedProject();
  project.write({ 'access/a.yaml': connection('sessions', named) });
  expect((await project.ostiary(['plan', '--out', 'plan.json'])).code).toBe(0);
  expect((await project.ostiary(['apply', '--plan', 'plan.json', '--yes'])).code).toBe(0);
  const row = project.model.store.findConnection('sessions');
  if (row === undefined) throw new Error('it is not there');
  project.model.store.saveConnection({ ...row, subtype: 'cloudwatch', jiraTemplate: other });
  const drifted = await project.ostiary(['drift']);
  expect(drifted.stdout).toMatch(/cloudwatch/);
  expect(drifted.stdout).not.toMatch(/cloudmonitor|issuetracker/);
  expect((await project.ostiary(['pull', '--yes'])).code).toBe(0);
  expect(parse(readFileSync(join(project.folder, 'access/a.yaml'), 'utf8')).spec).toMatchObject({
    subtype: 'cloudwatch',
    jira_issue_template_id: other,
  });
  // A field that the file does not state gets the name of the gateway, one that it states keeps its own.
  project.write({ 'access/a.yaml': connection('sessions', { type: 'custom', subtype: 'keyvaluedb' }) });
  expect((await project.ostiary(['pull', '--yes'])).code).toBe(0);
  expect(parse(readFileSync(join(project.folder, 'access/a.yaml'), 'utf8')).spec).toMatchObject({
    subtype: 'cloudwatch',
    jira_issue_template_id: other,
  });
  const folder = join(project.folder, 'new');
  mkdirSync(folder);
  expect((await project.runIn(folder, ['pull', '--url', project.url, '--dialect', 'hoop', '--secrets', 'stubs'])).code).toBe(0);
  const text = readFileSync(join(folder, 'access/connections/sessions.yaml'), 'utf8');
  expect(parse(text).spec).toMatchObject({ subtype: 'cloudwatch', jira_issue_template_id: other });
  expect(text).toContain('_aws:sessions:KEY');
  expect(text).not.toContain('ostiary:ok');
  writeFileSync(
    join(folder, 'access/_defaults.yaml'),
    'apiVersion: ostiary/v1\nkind: Defaults\nspec:\n  Connection: { subtype: dynamodb }\n',
  );
  writeFileSync(join(folder, 'access/connections/sessions.yaml'), text.replace(/^ +subtype: .*\n/m, ''));
  const planned = await project.runIn(folder, ['plan']);
  expect(planned.stdout).toMatch(/subtype.*cloudwatch.*dynamodb/);
});

test('targets of several dialects have our names, and every hint names them', async () => {
  const project = await namedProject();
  configure(project, ['hoop', 'interface']);
  project.write({ 'access/a.yaml': connection('sessions', named) });
  const validated = await project.ostiary(['validate']);
  expect(validated.code).toBe(3);
  expect(validated.stderr).toContain('write issuetracker_issue_template_id; Ostiary translates it');
  project.write({ 'access/a.yaml': connection('sessions', { ...ours, subtype: 'dynamodb' }) });
  const planned = await project.ostiary(['plan', '--target', 't0']);
  const hints = planned.stderr.match(/write \w+; Ostiary translates it|allow_values|did you mean/g);
  expect([planned.code, new Set(hints)]).toEqual([3, new Set(['write keyvaluedb; Ostiary translates it'])]);
  project.write({ 'access/a.yaml': connection('sessions', ours) });
  const shown = await project.ostiary(['plan', '--full', '--target', 't0']);
  expect(shown.stdout).toMatch(/keyvaluedb[^]*issuetracker_issue_template_id/);
});
