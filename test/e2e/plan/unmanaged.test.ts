import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectValid } from '../../support/documents.ts';
import { adminToken, hoopProject } from '../../support/hoop-project.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { mainDialect } from '../both-dialects.ts';
import { config, connection, guardrail, manifest } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make } = useRepositories();

const reviewed = manifest('Policy', 'reviewed', { match: {}, require: ['connection.reviewers.size() > 0'], message: 'needs review' });

describe.each(mainDialect(['interface', 'hoop']))('unmanaged connections on a gateway of the dialect %s', (dialect) => {
  test('are listed, counted and checked against policies only with unmanaged: report', async () => {
    const hoop = dialect === 'hoop' ? await hoopProject() : undefined;
    const url = hoop?.url ?? gateway.url();
    const [silent, reporting] = [config(url), config(url).replace(' }\n', ', unmanaged: report }\n')];
    const theirs = make({
      'ostiary.yaml': silent,
      'access/theirs.yaml': connection('theirs'),
      'access/shut.yaml': connection('shut', { access_mode_connect: 'disabled', access_mode_exec: 'disabled', access_schema: 'disabled' }),
    });
    const repository = make({
      'ostiary.yaml': silent,
      'access/ours.yaml': connection('ours', { reviewers: ['dba'] }),
      'access/rule.yaml': guardrail('ours-rule'),
    });
    const env = { ...gateway.env(), ...gitEnv, ...(hoop === undefined ? {} : { OSTIARY_TOKEN: adminToken }) };
    const run = (line: string, { folder } = repository): ReturnType<typeof ostiaryInProcess> =>
      ostiaryInProcess(line.split(' '), { cwd: folder, env });
    expect((await run('apply --yes', theirs)).code).toBe(0);
    expect((await run('apply --yes')).code).toBe(0);

    for (const line of ['plan', 'drift', 'plan --format markdown']) expect((await run(line)).stdout).not.toMatch(/theirs|unmanaged/);
    const quiet = JSON.parse((await run('plan --format json --quiet')).stdout).plans[0];
    expect([quiet.unmanaged, quiet.unmanagedAccess, quiet.counts.unmanaged]).toEqual([
      ['Connection/shut', 'Connection/theirs'],
      undefined,
      0,
    ]);

    repository.save({ 'ostiary.yaml': reporting });
    for (const line of ['plan', 'drift', 'plan --only Connection/ours', 'plan --format markdown', 'drift --format markdown']) {
      const { code, stdout } = await run(line);
      expect([line, code, stdout]).toEqual([
        line,
        0,
        expect.stringContaining('2 unmanaged connections: in no manifest, not written, but affected by shared rules'),
      ]);
      expect(stdout).toContain('Connection/shut (closed)');
      expect(stdout).toContain('Connection/theirs (accessible)');
    }
    expect((await run('plan')).stdout).toContain('No changes. The gateway matches the manifests: 2 resources in sync. 2 unmanaged.');
    const { stdout } = await run('plan --format json --quiet --report html=page.html --detailed-exitcode');
    expectValid('plan', stdout);
    expectValid('drift', (await run('drift --format json --quiet')).stdout);
    const { unmanagedAccess, counts } = JSON.parse(stdout).plans[0];
    expect(unmanagedAccess).toEqual([
      { id: 'Connection/shut', accessible: false },
      { id: 'Connection/theirs', accessible: true },
    ]);
    expect(counts).toEqual({
      create: 0,
      update: 0,
      rename: 0,
      replace: 0,
      delete: 0,
      blocked: 0,
      held: 0,
      orphaned: 0,
      unmanaged: 2,
      unchanged: 2,
    });
    expect(readFileSync(join(repository.folder, 'page.html'), 'utf8')).toContain('Connection/theirs (accessible)');

    repository.save({ 'access/policy.yaml': reviewed, 'ostiary.yaml': silent });
    expect((await run('plan')).code).toBe(0);
    repository.save({ 'ostiary.yaml': reporting });
    expect(await run('plan')).toMatchObject({
      code: 6,
      stdout: expect.stringMatching(/policy\/violated[^\n]*: 2 connections\n(?: {6}.*\n)* {6}.*Connection\/theirs\n/),
    });
    expect(await run('drift')).toMatchObject({ code: 2, stderr: expect.stringContaining('Connection/theirs') });
  });
});
