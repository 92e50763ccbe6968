import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { adminToken, hoopProject } from '../../support/hoop-project.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { mainDialect } from '../both-dialects.ts';
import { config, connection } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make, makeOrigin, clone } = useRepositories();

describe.each(mainDialect(['interface', 'hoop']))('a committed file that feeds a secret, on a gateway of the dialect %s', (dialect) => {
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
