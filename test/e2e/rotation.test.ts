import { expect, test } from 'vitest';
import { adminToken, hoopProject } from '../support/hoop-project.ts';
import { gitEnv, useRepositories } from '../support/repository.ts';
import { ostiaryInProcess } from '../support/run-in-process.ts';
import { config, connection } from './project.ts';
import { useGateway } from './use-gateway.ts';

const gateway = useGateway();
const { make } = useRepositories();
const manifests = { 'access/a.yaml': connection('rotated', { secret: { 'envvar:PASS': { valueFrom: { env: 'OSTIARY_SECRET_PASS' } } } }) };

test('a secret is rotated at its source, changed on the gateway, or either where nothing proves it', async () => {
  const hoop = await hoopProject();
  const repository = make({ 'ostiary.yaml': config(hoop.url), ...manifests });
  const printed: string[] = [];
  const run = async (line: string, value: string): ReturnType<typeof ostiaryInProcess> => {
    const env = { ...gitEnv, OSTIARY_TOKEN: adminToken, OSTIARY_SECRET_PASS: value };
    const ended = await ostiaryInProcess(line.split(' '), { cwd: repository.folder, env });
    printed.push(ended.stdout, ended.stderr);
    return ended;
  };
  expect((await run('apply --yes', 'canary-first')).code).toBe(0);
  expect((await run('plan', 'canary-first')).stdout).toContain('No changes');

  const rotated = 'secret envvar:PASS  rotated at its source (env:OSTIARY_SECRET_PASS)';
  for (let times = 0; times < 2; times += 1) {
    expect((await run('plan', 'canary-second')).stdout).toContain(rotated);
    expect(await run('drift', 'canary-second')).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift. 1 pending') });
  }
  const { fields } = JSON.parse((await run('plan --format json --quiet', 'canary-second')).stdout).plans[0].changes[0];
  expect(fields).toMatchObject([{ origin: 'intent', cause: 'source' }]);
  // A clone without the cache knows neither side.
  const unknown = await run('drift --cache elsewhere', 'canary-second');
  expect([unknown.code, unknown.stdout]).toEqual([
    2,
    expect.stringContaining('(env:OSTIARY_SECRET_PASS) differs; changed at the source or'),
  ]);

  const { body } = await hoop.send('GET', '/connections/rotated');
  await hoop.send('PUT', '/connections/rotated', { ...Object(body), secret: { 'envvar:PASS': 'Y2FuYXJ5LW90aGVy' } });
  const tampered = await run('drift', 'canary-first');
  expect([tampered.code, tampered.stdout]).toEqual([2, expect.stringContaining('secret envvar:PASS  (live) differs')]);
  expect(tampered.stdout).not.toContain('at the source');
  const both = await run('drift', 'canary-second');
  expect([both.code, both.stdout]).toEqual([2, expect.stringContaining('differs; changed at the source or on the gateway')]);
  expect((await run('apply --yes', 'canary-second')).code).toBe(0);
  expect((await run('drift', 'canary-second')).code).toBe(0);
  expect(printed.join('')).not.toMatch(/canary-(?:first|second|other)/);
});

test('without a version of secrets in its lists, a gateway proves nothing', async () => {
  const repository = make({ 'ostiary.yaml': config(gateway.url()), ...manifests });
  const run = (line: string, value: string): ReturnType<typeof gateway.run> =>
    gateway.run(line, repository.folder, { ...gitEnv, OSTIARY_SECRET_PASS: value });
  expect((await run('apply --yes', 'canary-first')).code).toBe(0);
  expect((await run('drift', 'canary-first')).code).toBe(0);
  const text = '(env:OSTIARY_SECRET_PASS) differs; changed at the source or on the gateway';
  expect((await run('plan', 'canary-second')).stdout).toContain(text);
  expect(await run('drift', 'canary-second')).toMatchObject({ code: 2, stdout: expect.stringContaining(text) });
});
