import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectValid } from '../../support/documents.ts';
import { place } from '../../support/github.ts';
import { adminToken, hoopProject, type HoopProject } from '../../support/hoop-project.ts';
import {
  commentsOn,
  commitAll,
  git,
  mergePullRequest,
  openPullRequest,
  pullRequestPayload,
  pushToOrigin,
  type StepEnded,
} from '../../support/workflow.ts';
import { useGateway } from '../use-gateway.ts';
import { titlesIn } from '../fleet/use-fleet.ts';
import { useAction } from './use-action.ts';
import { connection, guardrail, useProjects, writeFiles, type Files } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject);

/** A config with a gateway of each dialect, each with a token and manifests of its own, and one that is down. */
function settings(hoop: Pick<HoopProject, 'url'>, down = true, more = ''): string {
  const urls = { east: gateway.url(), ...(down ? { down: 'http://127.0.0.1:9' } : {}), west: hoop.url };
  const targets = Object.entries(urls).map(
    ([name, url]) => `  ${name}: { url: '${url}', token: { env: TOKEN_${name.toUpperCase()} }, manifests: [${name}/] }\n`,
  );
  return `apiVersion: ostiary/v1\nkind: Config\nmanifests: [shared/]\ntargets:\n${targets.join('')}${more}`;
}

const env = (): Readonly<Record<string, string>> => ({
  TOKEN_EAST: gateway.env()['OSTIARY_TOKEN'] ?? '',
  TOKEN_DOWN: 'token-of-down-canary',
  TOKEN_WEST: adminToken,
});

type Inputs = Readonly<Record<string, string>>;

/** A pull request whose checkout adds the files, and the plan of it. */
async function proposal(
  name: string,
  before: Files,
  files: Files,
): Promise<{ readonly cwd: string; readonly number: number; readonly plan: (inputs: Inputs, more?: Inputs) => Promise<StepEnded> }> {
  const cwd = makeProject(before);
  const base = commitAll(cwd);
  writeFiles(cwd, files);
  commitAll(cwd);
  const pull = await openPullRequest(bench.github(), name);
  const payload = pullRequestPayload({ ...pull, base });
  return {
    cwd,
    number: pull.number,
    plan: (inputs, more = {}) =>
      bench.step({ cwd, event: 'pull_request', payload, inputs: { mode: 'plan', ...inputs }, env: { ...env(), ...more } }),
  };
}

/** Returns the titles of each comment, in their order. */
async function titlesOn(number: number): Promise<readonly (readonly string[])[]> {
  return (await commentsOn(bench.github(), number)).map(({ body }) => titlesIn(body));
}

async function look(hoop: HoopProject, path: string): Promise<Record<string, unknown>> {
  const { body: found } = await hoop.send('GET', path);
  return typeof found === 'object' && found !== null ? { ...found } : {};
}

test('a pull request and its merge run for all targets: each has a section, a record and a deployment; an unreachable one does not stop the others', async () => {
  const hoop = await hoopProject();
  const files = {
    'shared/rule.yaml': guardrail('fleet-rule'),
    'down/README.md': 'Nothing of its own yet.',
    'east/a.yaml': connection('fleet-east', { reviewers: ['dba'] }),
    'west/b.yaml': connection('fleet-west', { reviewers: ['dba'] }),
    'west/c.yaml': connection('fleet-more'),
  };
  const { cwd, number, plan } = await proposal('fleet', { 'ostiary.yaml': settings(hoop) }, files);
  const planned = await plan({ 'all-targets': 'true', out: 'plan-{target}.json', report: 'json=report-{target}.json' });
  expect(planned).toMatchObject({ code: 4, outputs: { outcome: 'unreachable', changed: 'true', 'max-risk': 'exposes' } });
  expect(JSON.parse(planned.outputs['counts'] ?? '')).toMatchObject({ create: 5, update: 0 });
  const { targets = '', digest } = planned.outputs;
  expect([digest, JSON.parse(targets)]).toEqual([
    undefined,
    {
      east: expect.objectContaining({ outcome: 'planned', 'exit-code': 0, changed: true, 'plan-path': `${cwd}/plan-east.json` }),
      down: { outcome: 'unreachable', 'exit-code': 4 },
      west: expect.objectContaining({ outcome: 'planned', counts: expect.objectContaining({ create: 3 }), digest: expect.any(String) }),
    },
  ]);
  const report = readFileSync(join(cwd, 'report-down.json'), 'utf8');
  expectValid('plan', report);
  const failure = { target: 'down', exitCode: 4, diagnostics: [expect.objectContaining({ code: 'api/unreachable' })] };
  expect(JSON.parse(report)).toMatchObject({ plans: [], failures: [failure] });
  expect(await titlesOn(number)).toEqual([['Plan for `east`', 'No plan for down', 'Plan for `west`']]);
  expect(planned.summary).toMatch(/### Plan for `east`[\s\S]*### No plan for down\n[\s\S]*api\/unreachable[\s\S]*### Plan for `west`/);
  expect(planned.stdout).toMatch(
    /^::notice file=shared\/rule\.yaml,line=1,col=1,title=create GuardrailRule\/fleet-rule \(east%2C west\)::/m,
  );
  expect(planned.stdout).toMatch(/^::error title=api\/unreachable \(down\)::/m);
  expect(planned.stdout).toMatch(
    /3 targets:\n {2}east {2}2 to create\n {2}down {2}exit 4, gateway unreachable or access denied\n {2}west {2}Gives access without review to 1 connection\. 3 to create\n/,
  );

  const origin = pushToOrigin(cwd, makeProject({}));
  const commit = await mergePullRequest(bench.github(), number);
  const onMain = { cwd, event: 'push', payload: { after: commit }, env: { ...env(), GITHUB_SHA: commit } };
  const applied = await bench.step({ ...onMain, inputs: { mode: 'apply', 'all-targets': 'true', digest: 'comment' } });
  expect(applied).toMatchObject({ code: 4, outputs: { outcome: 'unreachable' } });
  expect(JSON.parse(applied.outputs['counts'] ?? '')).toMatchObject({ created: 5, failed: 0 });
  expect(await gateway.names('/connections')).toContain('fleet-east');
  expect(await look(hoop, '/connections/fleet-west')).toMatchObject({ name: 'fleet-west' });
  const head = git(cwd, 'rev-parse HEAD');
  expect(git(origin, 'for-each-ref --format=%(refname):%(parent) refs/ostiary').split('\n')).toEqual([
    `refs/ostiary/applied/east:${head}`,
    `refs/ostiary/applied/west:${head}`,
  ]);
  expect((await titlesOn(number)).slice(1)).toEqual([['Apply to `east`', 'Not applied for down', 'Apply to `west`']]);
  const deployed = bench.github().deployments.filter(({ sha }) => sha === commit);
  expect(deployed.map(({ environment, statuses }) => [environment, statuses])).toEqual([
    ['east', [expect.objectContaining({ state: 'success' })]],
    ['west', [expect.objectContaining({ state: 'success' })]],
  ]);
});

test('each target has its own drift issue and pull request', async () => {
  const hoop = await hoopProject();
  const cwd = makeProject({
    'ostiary.yaml': settings(hoop, false),
    'shared/rule.yaml': guardrail('drift-rule'),
    'east/a.yaml': connection('drift-east', { reviewers: ['dba'] }),
    'west/b.yaml': connection('drift-west', { reviewers: ['dba'] }),
  });
  commitAll(cwd);
  const origin = pushToOrigin(cwd, makeProject({}));
  expect((await gateway.run('apply --yes --all-targets', cwd, env())).code).toBe(0);
  const drift = (inputs: Inputs): Promise<StepEnded> =>
    bench.step({ cwd, event: 'schedule', payload: {}, inputs: { mode: 'drift', target: 'east, west', ...inputs }, env: env() });
  expect((await drift({})).outputs).toMatchObject({ outcome: 'clean', changed: 'false', targets: expect.not.stringContaining('issue') });

  const { body: east } = await gateway.call('GET', '/connections/drift-east');
  await gateway.call('PUT', '/connections/drift-east', { body: { ...east, reviewers: ['dba', 'sre'] } });
  expect((await drift({})).outputs).toMatchObject({ outcome: 'drifted', 'protection-lost': 'false' });
  const west = await look(hoop, '/connections/drift-west');
  await hoop.send('PUT', '/connections/drift-west', { ...west, reviewers: [] });
  const ended = await drift({ adopt: 'true' });
  expect(ended).toMatchObject({ code: 0, outputs: { outcome: 'adopted', changed: 'true', 'protection-lost': 'true' } });
  const targets: Readonly<Record<string, { readonly issue: number; readonly 'pull-request': number }>> = JSON.parse(
    ended.outputs['targets'] ?? '',
  );
  const { person } = bench.github();
  const { data: issues } = await person.issues.listForRepo({ ...place, state: 'open', labels: 'drift' });
  const issueNumbers = issues.map(({ number, title }) => [title, number]);
  expect(new Map(issueNumbers.map(([title, number]) => [title, number]))).toEqual(
    new Map([
      ['Drift on `east`: 1 object, strengthens protection of 1 connection', targets['east']?.issue],
      ['Drift on `west`: 1 object, weakens protection of 1 connection', targets['west']?.issue],
    ]),
  );
  const { data: requests } = await person.pulls.list({ ...place, state: 'open' });
  const ours = requests.filter(({ head: { ref } }) => ref.startsWith('ostiary/adopt/'));
  expect(new Map(ours.map(({ head: { ref }, number }) => [ref, number]))).toEqual(
    new Map([
      ['ostiary/adopt/east', targets['east']?.['pull-request']],
      ['ostiary/adopt/west', targets['west']?.['pull-request']],
    ]),
  );
  expect(git(origin, 'show ostiary/adopt/east:east/a.yaml')).toContain('sre');
  expect(git(origin, 'show ostiary/adopt/west:west/b.yaml')).not.toContain('dba');
});

test('a pull request configures no target, and no output of one target contains a secret of another', async () => {
  const hoop = await hoopProject();
  const canary = 'canary-of-west';
  const secret = { 'envvar:KEY': { valueFrom: { env: 'OSTIARY_SECRET_WEST' } }, 'envvar:CA': { valueFrom: { file: 'ca.pem' } } };
  const files = {
    'ostiary.yaml': settings(hoop, false, `  south: { url: 'http://127.0.0.1:9', token: { env: TOKEN_WEST } }\n`),
    'shared/rule.yaml': guardrail('own-rule'),
    'ca.pem': 'canary-of-a-file\n',
    'east/a.yaml': connection('own-east', { connection_tags: { echo: `${canary} canary-of-a-file ${adminToken}` } }),
    'west/b.yaml': connection('own-west', { secret }),
  };
  const { number, plan } = await proposal('own-checks', { 'ostiary.yaml': settings(hoop, false) }, files);
  const planned = await plan({ 'all-targets': 'true', secrets: 'resolve' }, { OSTIARY_SECRET_WEST: canary });
  expect(planned).toMatchObject({ code: 0, outputs: { outcome: 'planned' } });
  expect(await titlesOn(number)).toEqual([[expect.any(String), expect.any(String), 'The manifests are valid for south']]);
  const [comment] = await commentsOn(bench.github(), number);
  const parts = comment?.body.split('<!-- ostiary section').slice(1) ?? [];
  expect(parts.map((part) => /the target "south" is new/.test(part))).toEqual([true, true, false]);
  const [masks = ''] = planned.stdout.split(/^::stop-commands::/m);
  for (const value of [canary, 'canary-of-a-file', adminToken, env()['TOKEN_EAST']]) expect(masks).toContain(`::add-mask::${value}\n`);
});

test.each<readonly [Inputs, string]>([
  [{ target: 'east,wets' }, 'unknown target "wets"'],
  [{ 'all-targets': 'true', report: 'json=plan.json' }, 'several targets would write the same file "plan.json"'],
])('%j is one clear failure, before any request', async (inputs, message) => {
  const hoop = { url: 'http://127.0.0.1:9' };
  const { number, plan } = await proposal(
    `wrong-${message.length}`,
    { 'ostiary.yaml': settings(hoop) },
    { 'east/a.yaml': connection('wrong') },
  );
  const ended = await plan(inputs);
  expect(ended).toMatchObject({ code: 3, outputs: { outcome: 'invalid', targets: '{}' }, summary: expect.stringContaining('No plan') });
  expect(ended.stdout).toContain(message);
  expect(await titlesOn(number)).toEqual([]);
});
