import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { adminToken, auditorToken, hoopProject } from '../../support/hoop-project.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { mainDialect } from '../both-dialects.ts';
import { config, connection } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make, makeOrigin, clone } = useRepositories();

const secret = {
  'filesystem:SSLROOTCERT': { valueFrom: { file: 'certs/ca.pem' } },
  'envvar:PASS': { valueFrom: { env: 'OSTIARY_SECRET_PASS' } },
};

describe.each(mainDialect(['interface', 'hoop']))('a committed file that feeds a secret, on a gateway of the dialect %s', (dialect) => {
  test('is a change of the pull request, pending after the merge, in the digest, and never printed', async () => {
    const hoop = dialect === 'hoop' ? await hoopProject() : undefined;
    const repository = make({
      'ostiary.yaml': config(hoop?.url ?? gateway.url()),
      'access/a.yaml': connection('with-file', { secret }),
      'certs/ca.pem': 'canary-first\n',
    });
    makeOrigin(repository);
    const env = {
      ...gateway.env(),
      ...gitEnv,
      OSTIARY_SECRET_PASS: 'canary-pass',
      ...(hoop === undefined ? {} : { OSTIARY_TOKEN: adminToken }),
    };
    const printed: string[] = [];
    const run = async (line: string, { folder } = repository, more = {}): ReturnType<typeof ostiaryInProcess> => {
      const ended = await ostiaryInProcess(line.split(' '), { cwd: folder, env: { ...env, ...more } });
      printed.push(ended.stdout, ended.stderr);
      return ended;
    };
    expect((await run('apply --yes')).code).toBe(0);
    const before = JSON.parse((await run('plan --format json --quiet')).stdout).plans[0];

    repository.git('checkout', '--quiet', '-b', 'change');
    repository.save({ 'certs/ca.pem': 'canary-second\n' });
    const row = 'secret filesystem:SSLROOTCERT  changes (certs/ca.pem)';
    for (const line of ['plan', 'plan --secrets unresolved', 'plan --own main --secrets unresolved']) {
      const { code, stdout } = await run(line);
      expect([line, code, stdout]).toEqual([line, 0, expect.stringContaining(row)]);
    }
    const planned = JSON.parse((await run('plan --own main --format json --quiet')).stdout).plans[0];
    expect(planned.digest).not.toBe(before.digest);
    expect(planned.changes).toMatchObject([
      { own: true, fields: [{ path: '/secret/filesystem:SSLROOTCERT', origin: 'intent', own: true, cause: 'file' }] },
    ]);
    expect(await run('drift')).toMatchObject({ code: 0, stdout: expect.stringContaining('1 pending') });
    const unseen = hoop === undefined ? row : (await run('plan', repository, { OSTIARY_TOKEN: auditorToken })).stdout;
    expect(unseen).toContain(row);

    repository.git('push', '--quiet', 'origin', 'change:main');
    expect((await run('plan --out plan.json')).code).toBe(0);
    repository.write({ 'certs/ca.pem': 'canary-third\n' });
    const other = await run('apply --plan plan.json --yes');
    expect([other.code, other.stdout.replaceAll(/\s+/g, ' ')]).toEqual([
      6,
      expect.stringContaining('file:certs/ca.pem changed since the plan'),
    ]);
    expect((await run('apply --yes --digest ' + planned.digest)).code).toBe(6);
    const uncommitted = await run('apply --yes');
    expect([uncommitted.code, uncommitted.stderr]).toEqual([0, expect.stringContaining('git/applied-not-recorded')]);

    repository.git('checkout', '--quiet', '--', 'certs/ca.pem');
    expect((await run('plan --out plan.json')).code).toBe(0);
    expect((await run('apply --plan plan.json --yes')).code).toBe(0);
    expect((await run('plan --detailed-exitcode --secrets unresolved')).code).toBe(0);
    expect(await run('plan --detailed-exitcode', clone(repository))).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('No changes'),
    });
    // The file is as it was applied, so the gateway was changed.
    repository.write({ 'plan.json': '' });
    const path = '/connections/with-file';
    const value = { 'filesystem:SSLROOTCERT': 'Y2FuYXJ5LW90aGVy', 'envvar:PASS': 'Y2FuYXJ5LXBhc3M=' };
    if (hoop === undefined) await gateway.call('PUT', path, { body: { ...(await gateway.call('GET', path)).body, secret: value } });
    else await hoop.send('PUT', path, { ...Object((await hoop.send('GET', path)).body), secret: value });
    expect(await run('drift')).toMatchObject({ code: 2, stdout: expect.stringContaining('secret filesystem:SSLROOTCERT') });
    expect(printed.join('')).not.toMatch(/canary-(?:first|second|third|pass|other)/);
  });

  test('counts only if git has it at HEAD', async () => {
    const hoop = dialect === 'hoop' ? await hoopProject() : undefined;
    const repository = make({
      'ostiary.yaml': config(hoop?.url ?? gateway.url()),
      'access/a.yaml': connection('untracked', { secret: { 'envvar:CA': { valueFrom: { file: 'ca.pem' } } } }),
    });
    repository.write({ 'ca.pem': 'canary-first' });
    const env = { ...gateway.env(), ...gitEnv, ...(hoop === undefined ? {} : { OSTIARY_TOKEN: adminToken }) };
    const run = (line: string): ReturnType<typeof ostiaryInProcess> => ostiaryInProcess(line.split(' '), { cwd: repository.folder, env });
    expect((await run('apply --yes')).code).toBe(0);
    expect((await run('plan --out plan.json')).code).toBe(0);
    const digestOf = async (): Promise<string> => JSON.parse((await run('plan --format json --quiet')).stdout).plans[0].digest;
    const digest = await digestOf();
    repository.write({ 'ca.pem': 'canary-second' });
    expect(await digestOf()).toBe(digest);
    expect((await run('plan')).stdout).toContain('(file:ca.pem)');
  });
});

test.each(mainDialect(['interface', 'hoop']))(
  'line breaks that git converts in a clone change no secret, on a gateway of the dialect %s',
  async (dialect) => {
    const hoop = dialect === 'hoop' ? await hoopProject() : undefined;
    const ours = make({
      'ostiary.yaml': config(hoop?.url ?? gateway.url()),
      'access/a.yaml': connection('with-breaks', { secret: { 'filesystem:SSLROOTCERT': { valueFrom: { file: 'certs/ca.pem' } } } }),
      'certs/ca.pem': 'first line\nsecond line\n',
    });
    const origin = makeOrigin(ours);
    const env = { ...gateway.env(), ...gitEnv, ...(hoop === undefined ? {} : { OSTIARY_TOKEN: adminToken }) };
    const run = async (line: string, cwd: string): ReturnType<typeof ostiaryInProcess> => ostiaryInProcess(line.split(' '), { cwd, env });
    const digestOf = async (folder: string): Promise<unknown> =>
      JSON.parse((await run('plan --format json --quiet', folder)).stdout).plans[0].digest;
    const windows = clone(origin, '--config', 'core.autocrlf=true');
    expect(readFileSync(`${windows.folder}/certs/ca.pem`, 'utf8')).toContain('\r\n');
    expect(await digestOf(windows.folder)).toBe(await digestOf(ours.folder));
    expect((await run('apply --yes', ours.folder)).code).toBe(0);
    const inSync = { code: 0, stdout: expect.stringContaining('No changes') };
    expect(await run('plan', windows.folder)).toMatchObject(inSync);
    windows.write({ 'certs/ca.pem': 'first line\r\nanother line\r\n' });
    expect((await run('plan', windows.folder)).stdout).toContain('filesystem:SSLROOTCERT');
  },
);
