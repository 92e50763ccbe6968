import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection, manyConnections, useProjects } from '../project.ts';

const gateway = useGateway();
const makeProject = useProjects();
const { make: makeRepository } = useRepositories();

const text = `# The policies of the security team.
apiVersion: ostiary/v1
kind: Policy
metadata:
  name: reviewed
spec:
  require:
    - size(connection.reviewers) > 0 # since May
  message: reviewers exist # as agreed
  severity: error
`;
const policy = 'access/policy.yaml';
const read = (cwd: string): string => readFileSync(join(cwd, policy), 'utf8');

function baselineOf(names: readonly string[]): string {
  const lines = names.map((name) => `        - ${name}\n`).join('');
  return `  baseline:\n    - require: size(connection.reviewers) > 0\n      connections:\n${lines}`;
}

test('policy baseline lists the violations; then only new ones refuse, and what is satisfied is removed', async () => {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), [policy]: text, ...manyConnections('base', 4) });
  expect(await gateway.run('plan', cwd)).toMatchObject({ code: 6 });
  expect(await gateway.run('policy baseline --check', cwd)).toMatchObject({ code: 2, stderr: '1 baseline to write.\n' });
  expect(read(cwd)).toBe(text);
  const written = await gateway.run('policy baseline', cwd);
  expect(written).toMatchObject({ code: 0, stderr: expect.stringContaining('1 baseline written. Next: review and commit') });
  expect(written.stdout).toMatch(/^access\/policy\.yaml:2 reviewed: 4 added\n {2}\+ base-01: size\(connection\.reviewers\) > 0\n/);
  const names = ['base-01', 'base-02', 'base-03', 'base-04'];
  expect(read(cwd)).toBe(`${text}${baselineOf(names)}`);
  expect(await gateway.run('policy baseline', cwd)).toMatchObject({ code: 0, stdout: '', stderr: 'No changes.\n' });

  const planned = await gateway.run('plan', cwd);
  expect(planned).toMatchObject({ code: 0, stdout: expect.stringContaining('4 in the baseline.') });
  expect(planned.stderr).toContain('4 connections of the baseline still violate policy "reviewed": base-01, base-02, base-03 and 1 more');
  expect(await gateway.run('validate', cwd)).toMatchObject({ code: 0, stderr: expect.stringContaining('notice policy/baseline ') });
  expect(await gateway.run('apply --yes', cwd)).toMatchObject({ code: 0 });
  expect((await gateway.run('explain Connection/base-01', cwd)).stdout).toContain('in the baseline  reviewed');
  expect(await gateway.run('drift', cwd)).toMatchObject({ code: 0 });

  writeFileSync(join(cwd, 'access/new.yaml'), connection('new'));
  expect(await gateway.run('plan', cwd)).toMatchObject({ code: 6, stdout: expect.stringContaining('Connection/new: policy "reviewed"') });
  writeFileSync(join(cwd, 'access/new.yaml'), connection('new', { reviewers: ['dba'] }));
  writeFileSync(join(cwd, 'access/base-02.yaml'), connection('base-02', { reviewers: ['dba'] }));
  const unused = await gateway.run('plan', cwd);
  expect(unused).toMatchObject({ code: 0, stderr: expect.stringContaining('policy/baseline-unused') });
  expect(await gateway.run('plan --only Connection/new', cwd)).toMatchObject({ code: 0, stderr: expect.not.stringContaining('unused') });
  expect(await gateway.run('policy baseline', cwd)).toMatchObject({ code: 0, stdout: expect.stringContaining('1 removed\n  - base-02: ') });
  expect(read(cwd)).toBe(`${text}${baselineOf(['base-01', 'base-03', 'base-04'])}`);
  writeFileSync(join(cwd, policy), read(cwd).replace('> 0 # since', '> 1 # since'));
  expect(await gateway.run('policy baseline', cwd)).toMatchObject({ code: 0, stdout: expect.stringContaining('5 added, 3 removed\n') });
  expect(await gateway.run('plan', cwd)).toMatchObject({ code: 0 });
});

test('a policy of several targets keeps what other targets need, and a project without policies has no baseline', async () => {
  const urls = { production: gateway.url(), staging: `${gateway.url()}/` };
  const files = ['production', 'staging'].map((name) => [`access/${name}.yaml`, connection(name, {}, { targets: [name] })]);
  const cwd = makeProject({ 'ostiary.yaml': config(urls), [policy]: text, ...Object.fromEntries(files) });
  expect(await gateway.run('policy baseline --target production', cwd)).toMatchObject({ code: 0 });
  expect(await gateway.run('plan --target staging', cwd)).toMatchObject({ code: 6, stderr: expect.not.stringContaining('unused') });
  expect(await gateway.run('policy baseline --target staging', cwd)).toMatchObject({ code: 0 });
  expect(read(cwd)).toBe(`${text}${baselineOf(['production', 'staging'])}`);
  expect(await gateway.run('policy baseline', cwd)).toMatchObject({ code: 0, stderr: 'No changes.\n' });
  writeFileSync(join(cwd, 'access/staging.yaml'), connection('staging', { reviewers: ['dba'] }, { targets: ['staging'] }));
  expect(await gateway.run('policy baseline --target staging', cwd)).toMatchObject({ code: 0, stderr: 'No changes.\n' });
  expect(await gateway.run('policy baseline', cwd)).toMatchObject({ code: 0, stdout: expect.stringContaining('1 removed') });
  writeFileSync(join(cwd, 'access/production.yaml'), connection('production', { reviewers: ['dba'] }, { targets: ['production'] }));
  expect(await gateway.run('policy baseline', cwd)).toMatchObject({ code: 0 });
  expect(read(cwd)).toBe(text);
  writeFileSync(join(cwd, policy), '');
  expect(await gateway.run('policy baseline', cwd)).toMatchObject({ code: 0, stderr: 'No policies.\n' });
});

test('a pull request that adds to its baseline is refused by the reviewed one, and reported', async () => {
  const { folder } = makeRepository({ 'ostiary.yaml': config(gateway.url()), [policy]: text });
  const here = (line: string): ReturnType<typeof gateway.run> => gateway.run(`${line} --no-origin`, folder, gitEnv);
  writeFileSync(join(folder, 'access/proposed.yaml'), connection('proposed'));
  expect(await here('policy baseline')).toMatchObject({ code: 0, stdout: expect.stringContaining('+ proposed: ') });
  expect(await here('plan')).toMatchObject({ code: 0 });
  expect(await here('plan --config-ref HEAD')).toMatchObject({
    code: 6,
    stdout: expect.stringMatching(
      /^Plan for \S+ Refused\. Changes its checks: baseline of policy reviewed for proposed[^]*policy "reviewed": reviewers exist/,
    ),
  });
});
