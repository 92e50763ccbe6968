import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { idOf } from '../../server/client.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { config, connection, manifest, useProjects } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const makeProject = useProjects();
const { make: makeRepository } = useRepositories();

const prod = { connection_tags: { env: 'prod', team: 'a' } };
const dev = { connection_tags: { env: 'dev', team: 'a' } };
const reviewed = { reviewers: ['dba'] };
const open = { reviewers: [] };

function policy(match: JsonObject, more: JsonObject = {}): string {
  const spec = { match, require: ['size(connection.reviewers) > 0'], message: 'production has reviewers', ...more };
  return manifest('Policy', 'reviewed', spec);
}

let made = 0;

/** Applies the first state of a connection, and returns the folder with the second one. */
async function change(text: string, before: JsonObject, after: JsonObject): Promise<{ readonly cwd: string; readonly name: string }> {
  made += 1;
  const name = `left-${made}`;
  const files = { 'ostiary.yaml': config(gateway.url()), 'access/policy.yaml': text };
  const cwd = makeProject({ ...files, 'access/db.yaml': connection(name, before) });
  expect(await gateway.run('apply --yes --today 2026-11-21', cwd)).toMatchObject({ code: 0 });
  writeFileSync(join(cwd, 'access/db.yaml'), connection(name, after));
  return { cwd, name };
}

const tags = { tags: { env: 'prod' } };

// Which connections leave a match: unit/reconcile/assess/uncovered-checks.
describe('a connection that leaves the match of a policy', () => {
  test('is in every report, once, with the line of the manifest, and can be allowed', async () => {
    const { cwd, name } = await change(policy(tags), { ...prod, ...reviewed }, { ...dev, ...open });
    const line = 'plan --today 2026-11-21 --max-risk reroutes --report markdown=plan.md --report html=plan.html';
    const text = (await gateway.run(line, cwd)).stdout.replaceAll(/\s+/g, ' ');
    const [markdown = '', html = ''] = ['plan.md', 'plan.html'].map((file) => readFileSync(join(cwd, file), 'utf8'));
    const sentence = `Check no longer covers ${name}: policy reviewed`;
    for (const report of [text, markdown, html]) expect(report.replaceAll('`', '').split(sentence)).toHaveLength(2);
    expect(text).toContain(`Changes its checks: policy reviewed no longer covers ${name}. ${name} `);
    expect(text).toMatch(/risk\/check-uncovered access\/db\.yaml:15:\d+ exceeds --max-risk reroutes, because it weakens: Policy\/reviewed/);
    expect((await gateway.run('plan --today 2026-11-21 --out saved.json', cwd)).code).toBe(0);
    const saved = await gateway.run('apply --yes --plan saved.json --max-risk reroutes', cwd);
    expect([saved.code, saved.stderr]).toEqual([6, expect.stringContaining('risk/check-uncovered')]);
    const apply = 'apply --yes --today 2026-11-21 --max-risk reroutes --allow risk/review=agreed';
    expect(await gateway.run(apply, cwd)).toMatchObject({ code: 6 });
    expect(await gateway.run(`${apply} --allow risk/check-uncovered=moved`, cwd)).toMatchObject({ code: 0 });
  });
});

test('drift decides neither that a connection leaves a match nor that it stays outside', async () => {
  const repository = makeRepository({
    'ostiary.yaml': config(gateway.url()),
    'access/policy.yaml': policy(tags),
    'access/a.yaml': connection('drift-a', { ...dev, ...open }),
    'access/b.yaml': connection('drift-b', { ...prod, ...reviewed }),
  });
  const run = (line: string): ReturnType<typeof gateway.run> => gateway.run(`${line} --today 2026-11-21`, repository.folder, gitEnv);
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  for (const [name, body] of [
    ['drift-a', prod],
    ['drift-b', dev],
  ] as const) {
    const found = await gateway.call('GET', `/connections/${name}`);
    expect((await gateway.call('PUT', `/connections/${idOf(found)}`, { body: { ...found.body, ...body } })).status).toBe(200);
  }
  repository.write({ 'access/b.yaml': connection('drift-b', { ...dev, ...open }) });
  const { code, stdout } = await run('plan --format json');
  expect([code, JSON.parse(stdout).plans[0].checks]).toMatchObject([
    0,
    [{ check: 'policy reviewed', connections: ['Connection/drift-b'] }],
  ]);
});

describe('a violation that only the live state has', () => {
  const closed = 'connection.access_max_duration == 3600';
  const asked = manifest('Policy', 'hour', { match: { name: 'live-*' }, require: [`has(connection.access_max_duration) && ${closed}`] });

  test.each([
    [
      'held drift',
      { access_max_duration: 600 },
      6,
      'pass --revert Connection/live-held to revert it',
      'ostiary drift --revert undoes the drift',
    ],
    ['other drift', { access_max_duration: 7200 }, 0, '', 'ostiary drift --revert, or the next apply, undoes the drift'],
  ])('names --revert: %s', async (label, body, code, planned, drifted) => {
    const name = label === 'held drift' ? 'live-held' : 'live-other';
    const repository = makeRepository({
      'ostiary.yaml': config(gateway.url()),
      'access/policy.yaml': asked,
      'access/a.yaml': connection(name, { access_max_duration: 3600 }),
    });
    const run = (line: string): ReturnType<typeof gateway.run> => gateway.run(line, repository.folder, gitEnv);
    expect(await run('apply --yes')).toMatchObject({ code: 0 });
    const found = await gateway.call('GET', `/connections/${name}`);
    expect((await gateway.call('PUT', `/connections/${idOf(found)}`, { body: { ...found.body, ...body } })).status).toBe(200);
    const plan = await run('plan');
    expect([plan.code, plan.stdout.replaceAll(/\s+/g, ' ')]).toEqual([code, expect.stringContaining(planned)]);
    const drift = await run('drift');
    expect([drift.code, drift.stderr.replaceAll(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(drifted)]);
    expect(await run(`plan --revert Connection/${name}`)).toMatchObject({ code: 0 });
    expect(await run('drift --revert --yes')).toMatchObject({ code: 0 });
    expect(await run('drift')).toMatchObject({ code: 0, stderr: expect.not.stringContaining('policy/') });
  });
});
