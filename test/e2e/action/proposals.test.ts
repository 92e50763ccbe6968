import { symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, git, openPullRequest } from '../../support/workflow.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from './use-action.ts';
import { config, connection, useProjects, writeFiles } from '../project.ts';
import { usePullRequests } from './use-pull-requests.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject);
const { checkout, plan, bodiesOn } = usePullRequests({ makeProject, gateway, bench });

/** A manifest with a secret of a file. */
function readingFrom(file: string): string {
  return connection('outside', { secret: { 'envvar:CA': { valueFrom: { file } } } });
}

describe('secrets', () => {
  test('are masked line by line before anything is printed', async () => {
    const secret = { 'envvar:KEY': { valueFrom: { env: 'OSTIARY_SECRET_KEY' } }, 'envvar:CA': { valueFrom: { file: 'ca.pem' } } };
    const there = checkout({ 'access/keyed.yaml': connection('keyed', { secret }), 'ca.pem': 'first line\nsecond 100% line\n' });
    const pull = await openPullRequest(bench.github(), 'keyed');
    const env = { ...gateway.env(), OSTIARY_SECRET_KEY: 'canary-value' };
    const planned = await plan(there, pull, { bundled: true, inputs: { secrets: 'resolve' }, env });
    const [masks = '', rest = ''] = planned.stdout.split(/^::stop-commands::.*\n/m);
    const { key } = gateway.server();
    const masked = masks.split('\n').filter((line) => line !== '');
    expect(masked.every((line) => line.startsWith('::add-mask::'))).toBe(true);
    for (const value of ['canary-value', 'first line', 'second 100%25 line', key, bench.github().token])
      expect(masked).toContain(`::add-mask::${value}`);
    for (const value of ['canary-value', 'second 100% line', key]) {
      expect(rest).not.toContain(value);
      expect(planned.summary).not.toContain(value);
    }
    expect((await bodiesOn(pull.number)).join()).not.toContain('canary-value');
  });

  test('are never read from a file outside the checkout, even through a link', async () => {
    const outside = makeProject({ 'canary.pem': 'canary-outside' });
    const there = checkout({ 'access/outside.yaml': readingFrom('certs/ca.pem'), 'certs/README.md': '' });
    symlinkSync(join(outside, 'canary.pem'), join(there.cwd, 'certs', 'ca.pem'));
    commitAll(there.cwd);
    const pull = await openPullRequest(bench.github(), 'outside');
    for (const file of ['certs/ca.pem', `../${basename(outside)}/canary.pem`]) {
      writeFiles(there.cwd, { 'access/outside.yaml': readingFrom(file) });
      const refused = await plan(there, pull, { inputs: { secrets: 'resolve' } });
      expect(refused).toMatchObject({ code: 3, summary: expect.stringContaining('secret/file-outside') });
      expect(`${refused.stdout}${refused.summary}`).not.toContain('canary-outside');
    }
  });

  test('are not available to forks: their manifests are validated, and the report states why', async () => {
    const there = checkout({ 'access/forked.yaml': connection('forked') });
    const pull = await openPullRequest(bench.github(), 'forked');
    const before = bench.github().heard.length;
    const checked = await plan(there, { ...pull, from: 'another/access' }, { env: {}, inputs: { report: 'html=plan.html' } });
    expect(checked).toMatchObject({ code: 0, outputs: { outcome: 'valid' } });
    expect(checked.summary).toMatch(/comes from a fork[\s\S]*The plan follows after the merge/);
    expect(bench.github().heard.slice(before)).toEqual([]);
    const dependabot = await plan(there, { ...pull, author: 'dependabot[bot]' }, { env: {} });
    expect(dependabot).toMatchObject({ code: 0, outputs: { outcome: 'valid' }, summary: expect.stringContaining('Dependabot') });
    expect(await plan(there, pull, { env: {} })).toMatchObject({ code: 3, outputs: { outcome: 'invalid' } });
  });
});

describe('a pull request does not configure its own checks', () => {
  // security: checks
  test('the token is sent to the URL of the target branch, and the first line names the config changes', async () => {
    const there = checkout({ 'access/config.yaml': connection('configured') });
    writeFiles(there.cwd, {
      'ostiary.yaml': config('http://127.0.0.1:9').replace("9' }", "9', token: { env: HOME }, limits: { updates: 100% } }"),
    });
    commitAll(there.cwd);
    const pull = await openPullRequest(bench.github(), 'config');
    const planned = await plan(there, pull);
    expect(planned).toMatchObject({ code: 0, outputs: { changed: 'true' } });
    const [body = ''] = await bodiesOn(pull.number);
    expect(body).toMatch(/^### Plan for `production`: Changes its checks: .* and 1 more\. /);
    expect(body.match(/\*\*Check changed: /g)).toHaveLength(3);
    expect(body).toContain(`\n\n\`${gateway.url()}\`, `);
  });

  test('a new target is not contacted', async () => {
    const there = checkout({ 'access/new.yaml': connection('new-target') });
    writeFiles(there.cwd, { 'ostiary.yaml': config({ production: gateway.url(), second: 'http://127.0.0.1:9' }) });
    commitAll(there.cwd);
    const pull = await openPullRequest(bench.github(), 'new-target');
    const checked = await plan(there, pull, { inputs: { target: 'second' } });
    expect(checked).toMatchObject({ code: 0, outputs: { outcome: 'valid' }, summary: expect.stringContaining('The target is new') });
    expect(await plan(there, pull, { inputs: { target: 'production' } })).toMatchObject({ code: 0, outputs: { outcome: 'planned' } });
  });

  test('a checkout of depth 1 fetches the target branch and its history itself', async () => {
    const there = checkout({ 'access/shallow.yaml': connection('shallow') });
    const clone = makeProject({});
    git(clone, `clone --quiet --depth=1 file://${there.cwd} .`);
    const pull = await openPullRequest(bench.github(), 'shallow');
    const fetched = await plan({ cwd: clone, base: there.base }, pull);
    expect(fetched).toMatchObject({ code: 0, outputs: { outcome: 'planned', changed: 'true' } });
    expect(await bodiesOn(pull.number)).toEqual([expect.stringContaining('1 to create')]);
  });
});

test('a checkout without the target branch and without origin is an error with a hint', async () => {
  const there = checkout({ 'access/shallow.yaml': connection('shallow-alone') });
  const clone = makeProject({});
  git(clone, `clone --quiet --depth=1 file://${there.cwd} .`);
  git(clone, ['remote', 'set-url', 'origin', `file://${clone}-gone`]);
  const pull = await openPullRequest(bench.github(), 'shallow-alone');
  const failed = await plan({ cwd: clone, base: there.base }, pull);
  expect(failed.code).toBe(3);
  expect(failed.summary).toMatch(/git\/no-such-commit[\s\S]*fetch-depth/);
  expect(failed.stdout).toMatch(/^::warning title=git\/shallow::/m);
});
