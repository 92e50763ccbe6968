import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { gitEnv, useRepositories, type TestRepository } from '../../support/repository.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { type DialectSide, useBothDialects, mainDialect } from '../both-dialects.ts';
import { config, connection, guardrail } from '../project.ts';

const sides = useBothDialects();
const { make, clone } = useRepositories();

type Run = (line: string) => ReturnType<typeof ostiaryInProcess>;

function runIn({ folder }: TestRepository, { admin }: DialectSide): Run {
  return (line) => ostiaryInProcess(line.split(' '), { cwd: folder, env: { ...gitEnv, OSTIARY_TOKEN: admin } });
}

const secret = { 'envvar:HOST': { value: 'canary-host' }, 'envvar:PASS': { value: 'canary-pass' } };

/** Fills a gateway, imports it into a repository, and records that as the base. */
async function importGateway(side: DialectSide, prefix: string): Promise<TestRepository> {
  const names = ['a', 'b', 'c'].map((name) => `${prefix}-${name}`);
  const written = make({
    'ostiary.yaml': config(side.url),
    'access/rule.yaml': guardrail(`${prefix}-rule`, ['canary'], { connection_ids: names }),
    ...Object.fromEntries(names.map((name) => [`access/${name}.yaml`, connection(name, { secret, reviewers: ['dba'] })])),
  });
  expect(await runIn(written, side)('apply --yes')).toMatchObject({ code: 0 });
  const repository = make({ 'ostiary.yaml': config(side.url) });
  expect(await runIn(repository, side)(`pull --only */${prefix}-*`)).toMatchObject({ code: 0 });
  repository.commit();
  expect(await runIn(repository, side)('apply --yes')).toMatchObject({ code: 0 });
  return repository;
}

/** Returns the path of an object that the gateway lists; undefined if it does not. */
async function listed({ send }: DialectSide, id: string): Promise<string | undefined> {
  const [kind, name] = id.split('/');
  const path = kind === 'Connection' ? '/connections' : '/guardrails';
  const { body } = await send('GET', path);
  const found: unknown = Array.isArray(body) ? body.find((one) => Object(one).name === name) : undefined;
  return found === undefined ? undefined : `${path}/${kind === 'Connection' ? name : Object(found).id}`;
}

async function deleteByHand(side: DialectSide, id: string): Promise<void> {
  expect((await side.send('DELETE', (await listed(side, id)) ?? '')).status).toBe(204);
}

describe.each(mainDialect(Object.entries(sides)))('on the dialect %s', (_, open) => {
  let side: DialectSide;
  beforeAll(async () => {
    side = await open();
  });

  test('after any object is deleted by hand, drift names it, and plans and applies continue', async () => {
    const repository = await importGateway(side, 'lost');
    const run = runIn(repository, side);
    for (const [index, id] of ['Connection/lost-b', 'GuardrailRule/lost-rule', 'Connection/lost-a'].entries()) {
      await deleteByHand(side, id);
      const isLost = id.startsWith('Connection/');
      // A pull request changes another connection meanwhile.
      repository.save({ 'access/other.yaml': connection('lost-other', { access_max_duration: 60 * (index + 1) }) });
      const plan = await run('plan');
      expect([id, plan.code, plan.stderr]).toEqual([id, 0, expect.not.stringContaining('error')]);
      const says = isLost
        ? `${id} was deleted outside Ostiary by a\\w+; its manifest keeps 2 secrets: envvar:HOST, envvar:PASS`
        : 'deleted outside Ostiary, will be recreated';
      expect(plan.stdout).toMatch(new RegExp(says));
      const drift = await run('drift');
      expect([drift.code, drift.stdout]).toEqual([2, expect.stringContaining(`- ${id} `)]);
      // Two warnings of one kind are one, with both messages.
      expect(new RegExp(`(warning|2 warnings) plan/deleted-outside {2}(.*\n {2})?${id} `).test(drift.stderr)).toBe(isLost);
      const state = `deleted outside Ostiary, ${isLost ? 'needs its secrets' : 'to create'}`;
      expect((await run('list')).stdout).toMatch(new RegExp(`${id.replace('/', ' +')} .* ${state}\n`));
      const applied = await run('apply --yes');
      expect([applied.code, applied.stdout]).toEqual([0, expect.stringMatching(/: [12] (created|updated), ([12] \w+, )?[12] blocked\./)]);
      // The object is still drift, and the revert of the rest says so.
      expect((await run('drift')).code).toBe(2);
      expect(await run('drift --revert --yes')).toMatchObject({ code: 2, stdout: expect.stringContaining('was deleted outside Ostiary') });
      expect((await listed(side, id)) === undefined).toBe(isLost);
    }
    // A clone without the record cannot know whose write it was.
    const unrecorded = await runIn(clone(repository), side)('plan --no-origin');
    expect([unrecorded.code, unrecorded.stdout]).toEqual([0, expect.stringMatching(/it was deleted outside Ostiary, or never created/)]);
    const unrecordedList = await runIn(clone(repository), side)('list --no-origin');
    expect(unrecordedList.stdout).toMatch(/lost-b .* not on the gateway, needs its secrets\n/);
    const unrecordedDrift = await runIn(clone(repository), side)('drift --no-origin');
    expect([unrecordedDrift.code, unrecordedDrift.stdout]).toEqual([
      2,
      expect.stringMatching(
        / 2 objects differ from their manifests\.[^]*- Connection\/lost-a .* deleted outside Ostiary, or never created/,
      ),
    ]);
    // Removing the manifests accepts the deletions.
    repository.remove('access/connections/lost-a.yaml', 'access/connections/lost-b.yaml');
    repository.git('rm', '-rq', 'access/guardrail-rules');
    repository.commit();
    const accepted = await run('apply --yes');
    expect([accepted.code, accepted.stdout]).toEqual([0, expect.not.stringMatching(/blocked|canary-/)]);
  });

  test('a secret that is deleted by hand stops no plan, and no apply writes another one', async () => {
    const repository = await importGateway(side, 'key');
    const run = runIn(repository, side);
    const path = '/connections/key-b';
    const { body } = await side.send('GET', path);
    await side.send('PUT', path, { ...Object(body), secret: { 'envvar:HOST': Object(body).secret['envvar:HOST'] } });
    repository.save({ 'access/other.yaml': connection('key-other') });
    const said =
      /warning plan\/secret-deleted-outside {2}envvar:PASS of Connection\/key-b was deleted outside Ostiary by a\w+; the manifest keeps it/;
    const plan = await run('plan');
    expect([plan.code, plan.stdout, plan.stderr]).toEqual([
      0,
      expect.stringMatching(/1 to create, 1 secret not compared\.[^]*missing on the gateway\)\n +Connection\/key-b secret\.envvar:PASS/),
      expect.stringMatching(said),
    ]);
    const drift = await run('drift');
    expect([drift.code, drift.stdout, drift.stderr]).toEqual([
      2,
      expect.stringMatching(/1 object changed outside Ostiary[^]*secret envvar:PASS {2}removed/),
      expect.stringMatching(said),
    ]);
    expect((await run('list')).stdout).toMatch(/key-b .* drift, secret deleted\n/);
    // A clone without the record cannot know whether it was ever set.
    const unrecorded = await runIn(clone(repository), side)('plan --no-origin');
    expect([unrecorded.code, unrecorded.stderr]).toEqual([0, expect.stringContaining('was deleted outside Ostiary, or never set')]);
    // Another change of the object is written without the secret.
    const manifest = 'access/connections/key-b.yaml';
    const text = readFileSync(`${repository.folder}/${manifest}`, 'utf8').replace('dba', 'sre');
    repository.save({ [manifest]: text });
    const applied = await run('apply --yes');
    expect([applied.code, applied.stdout]).toEqual([0, expect.stringContaining('1 created, 1 updated')]);
    expect((await run('drift --revert --yes')).code).toBe(2);
    const after = Object((await side.send('GET', path)).body);
    expect([after.reviewers, Object.keys(after.secret)]).toEqual([['sre'], ['envvar:HOST']]);
    // A secret that only the manifest adds is a mistake in it.
    const added = text.replace(/( *)envvar:PASS: /, '$1envvar:NEW: { keep: true }\n$&');
    repository.write({ [manifest]: added });
    const mistake = await run('plan');
    expect([mistake.code, mistake.stderr]).toEqual([3, expect.stringContaining('declares keep for /secret/envvar:NEW')]);
    // Removing the line accepts the deletion.
    repository.write({ [manifest]: added.replace(/.*envvar:(PASS|NEW): .*\n/g, '') });
    const accepted = await run('plan');
    expect([accepted.code, accepted.stderr]).toEqual([0, expect.not.stringContaining('plan/')]);
  });
});
