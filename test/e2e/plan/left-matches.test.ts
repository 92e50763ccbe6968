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

type Left = { readonly result: string; readonly severity: string; readonly conditions: readonly JsonObject[] };

const fromProd = [{ field: 'tags.env', before: 'prod', after: 'dev' }];
const tags = { tags: { env: 'prod' } };

describe('a connection that leaves the match of a policy', () => {
  test.each<[string, string, JsonObject, JsonObject, number, readonly Left[]]>([
    [
      'and violates it',
      policy(tags),
      { ...prod, ...reviewed },
      { ...dev, ...open },
      6,
      [{ result: 'violated', severity: 'error', conditions: fromProd }],
    ],
    [
      'and does as it asks',
      policy(tags),
      { ...prod, ...reviewed },
      { ...dev, ...reviewed },
      0,
      [{ result: 'passes', severity: 'notice', conditions: fromProd }],
    ],
    [
      'that warns',
      policy(tags, { severity: 'warning' }),
      { ...prod, ...reviewed },
      { ...dev, ...open },
      0,
      [{ result: 'violated', severity: 'warning', conditions: fromProd }],
    ],
    [
      'and could not be evaluated',
      policy(tags, { require: ['connection.connection_tags.team == "a"'] }),
      prod,
      { connection_tags: { env: 'dev' } },
      6,
      [{ result: 'unknown', severity: 'error', conditions: fromProd }],
    ],
    ['not, by another tag', policy(tags), { ...prod, ...reviewed }, { connection_tags: { env: 'prod', team: 'b' }, ...reviewed }, 0, []],
    ['not, because it never matched', policy(tags), { ...dev, ...reviewed }, { ...dev, ...open }, 0, []],
  ])('%s', async (_, text, before, after, code, left) => {
    const { cwd, name } = await change(text, before, after);
    const found = await gateway.run('plan --today 2026-11-21 --format json', cwd);
    const [plan] = JSON.parse(found.stdout).plans;
    expect([found.code, plan.policies.left]).toMatchObject([
      code,
      left.map((one) => ({ ...one, policy: 'reviewed', connection: `Connection/${name}` })),
    ]);
    const refusals = left.filter(({ severity }) => severity === 'error').map(() => ({ code: 'policy/left-match', allowable: true }));
    expect(plan.refusals).toMatchObject(refusals);
    expect(plan.policies.left.length).toBe(left.length);
    const mentions = found.stderr.includes('policy/left-match');
    expect(mentions).toBe(left.some(({ severity }) => severity !== 'error'));
  });

  test('is in every report with the lines of the manifest and of the match', async () => {
    const { cwd, name } = await change(policy(tags), { ...prod, ...reviewed }, { ...dev, ...open });
    const line = 'plan --today 2026-11-21 --report markdown=plan.md --report html=plan.html';
    const text = (await gateway.run(line, cwd)).stdout.replaceAll(/\s+/g, ' ');
    const [markdown = '', html = ''] = ['plan.md', 'plan.html'].map((file) => readFileSync(join(cwd, file), 'utf8'));
    const sentence =
      'policy "reviewed" no longer applies: tags.env was "prod", is now "dev"; the connection violates it: production has reviewers';
    expect(text).toContain(sentence);
    expect(text).toContain(`policy/left-match access/db.yaml:16:14 Connection/${name}: ${sentence}`);
    expect(text).toContain('keep the match (access/policy.yaml:8:14), satisfy the policy');
    expect(text).toContain('--allow policy/left-match=REASON');
    expect(text).toContain('1 policy on 0 connections as of 2026-11-21: 1 no longer applies to a connection.');
    expect(markdown).toContain('policy/left-match');
    expect(html).toContain('no longer applies');
    expect(await gateway.run('apply --yes --today 2026-11-21', cwd)).toMatchObject({ code: 6 });
    const allowed = await gateway.run('apply --yes --today 2026-11-21 --allow policy/left-match=moved', cwd);
    expect(allowed).toMatchObject({ code: 0, stdout: expect.stringContaining('Overridden: policy/left-match: moved') });
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
  expect([code, JSON.parse(stdout).plans[0].policies.left]).toMatchObject([6, [{ connection: 'Connection/drift-b', result: 'violated' }]]);
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
