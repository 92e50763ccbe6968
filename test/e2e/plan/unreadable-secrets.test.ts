import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { expectValid } from '../../support/documents.ts';
import { gitEnv, useRepositories, type TestRepository } from '../../support/repository.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { config, connection } from '../project.ts';
import { useBothDialects, type DialectSide, mainDialect } from '../both-dialects.ts';

const sides = useBothDialects();
const { make } = useRepositories();

type Ended = ReturnType<typeof ostiaryInProcess>;

function runAs(token: string, line: string, { folder }: TestRepository): Ended {
  return ostiaryInProcess(line.split(' '), { cwd: folder, env: { ...gitEnv, OSTIARY_TOKEN: token, OSTIARY_SECRET_PASS: 'canary-pass' } });
}

function files(name: string, secret: JsonObject): Record<string, string> {
  return { 'access/a.yaml': connection(name, { secret }) };
}

const pass = { valueFrom: { env: 'OSTIARY_SECRET_PASS' } };

describe.each(mainDialect(Object.entries(sides)))('secrets that the token may not read, on the dialect %s', (_, open) => {
  let side: DialectSide;
  beforeAll(async () => {
    side = await open();
  });

  const audit = (line: string, repository: TestRepository): Ended => runAs(side.auditor, line, repository);

  async function applied(name: string, secret: JsonObject): Promise<TestRepository> {
    const repository = make({ 'ostiary.yaml': config(side.url), ...files(name, secret) });
    expect(await runAs(side.admin, 'apply --yes', repository)).toMatchObject({ code: 0 });
    return repository;
  }

  test.each(['', ' --secrets unresolved'])('a pull request that moves HOST is a reroute; its password is not compared%s', async (flags) => {
    const name = `moved${flags.length}`;
    const repository = await applied(name, { 'envvar:HOST': { value: 'canary-old-host' }, 'envvar:PASS': pass });
    const same = await audit(`plan --detailed-exitcode${flags}`, repository);
    expect([same.code, same.stdout]).toEqual([
      0,
      expect.stringMatching(/^Plan for production: No changes seen; 2 secrets not compared \(this token may not read them\)\.\n/),
    ]);
    expect(same.stdout).not.toContain('matches the manifests');
    repository.save(files(name, { 'envvar:HOST': { value: 'canary-new-host' }, 'envvar:PASS': pass }));
    const planned = await audit(`plan --detailed-exitcode${flags}`, repository);
    expect([planned.code, planned.stdout]).toEqual([2, expect.stringContaining('sends a kept credential to another endpoint')]);
    expect(planned.stdout).toMatch(/secret envvar:HOST {2}changes \(inline in the manifest\)/);
    expect(planned.stdout).not.toMatch(/keeps the live value|canary/);
    const refused = await audit(`plan --max-risk neutral${flags}`, repository);
    expect([refused.code, refused.stdout]).toEqual([6, expect.stringContaining('risk/endpoint-rerouted')]);
    const digest = / ([0-9a-f]{64})\n/.exec(planned.stdout)?.[1] ?? '';
    expect(await runAs(side.admin, `apply --yes --digest ${digest}`, repository)).toMatchObject({ code: 0 });
    expect((await audit(`plan${flags}`, repository)).stdout).toContain('No changes seen; 2 secrets not compared');
    expect((await runAs(side.admin, 'plan', repository)).stdout).toContain('No changes. The gateway matches the manifests');
  });

  test('every report counts the secrets that were not compared', async () => {
    const repository = await applied('counted', { 'envvar:PASS': pass });
    const { stdout } = await audit('plan --format json --quiet', repository);
    expectValid('plan', stdout);
    const notCompared = [{ id: 'Connection/counted', path: '/secret/envvar:PASS', reason: 'hidden' }];
    expect(JSON.parse(stdout).plans).toMatchObject([{ changes: [], notCompared }]);
    const printed = (await audit('plan --report markdown=plan.md --report html=plan.html', repository)).stdout;
    const written = ['plan.md', 'plan.html'].map((file) => readFileSync(join(repository.folder, file), 'utf8'));
    for (const report of [printed, ...written]) {
      expect(report).toContain('No changes seen; 1 secret not compared (this token may not read it)');
      expect(report).not.toContain('matches the manifests');
    }
    expect((await audit('list', repository)).stdout).toMatch(/counted .* no change seen, 1 secret not compared\n/);
    const explained = (await audit('explain Connection/counted', repository)).stdout;
    expect(explained).toContain('no change seen: 1 secret not compared (this token may not read it)');
    expect(explained).toMatch(/secret.* not compared\n.*this token may not read it/);
  });

  test('a drift that only versions show names the object and its author; our own applies are no drift', async () => {
    const repository = await applied('drifting', { 'envvar:HOST': { value: 'canary-old-host' }, 'envvar:PASS': pass });
    const none = await audit('drift', repository);
    expect([none.code, none.stdout]).toEqual([
      0,
      expect.stringContaining('On production: No drift seen; 2 secrets not compared (this token may not read them).'),
    ]);
    await side.tamper('/connections/drifting', { secret: { 'envvar:HOST': 'Y2FuYXJ5LWV2aWw=', 'envvar:PASS': 'Y2FuYXJ5LXBhc3M=' } });
    const drifted = await audit('drift', repository);
    expect([drifted.code, drifted.stdout]).toEqual([2, expect.stringContaining('secrets of drifting changed on the gateway')]);
    expect(drifted.stdout).toMatch(/ {6}by \S+, .* \(PUT \S*\/connections\/drifting\)/);
    expectValid('drift', (await audit('drift --format json --quiet', repository)).stdout);
    const planned = await audit('plan --detailed-exitcode', repository);
    expect([planned.code, planned.stdout]).toEqual([
      2,
      expect.stringContaining('(inline in the manifest) not compared: secrets changed on the gateway'),
    ]);
    repository.save(files('drifting', { 'envvar:HOST': { value: 'canary-next-host' }, 'envvar:PASS': pass }));
    expect(await runAs(side.admin, 'apply --yes', repository)).toMatchObject({ code: 0 });
    expect(await audit('drift', repository)).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift seen; 2 secrets') });
  });
});
