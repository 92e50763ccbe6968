import { describe, expect, test } from 'vitest';
import { createKey } from '../../server/client.ts';
import { gitEnv, useRepositories, type TestRepository } from '../../support/repository.ts';
import { connection, type Files } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make, makeOrigin, clone } = useRepositories();

function configOf(more = 'prune: true'): string {
  return `apiVersion: ostiary/v1\nkind: Config\nmanifests: [access]\ntargets:\n  production: { url: '${gateway.url()}', ${more} }\n`;
}

type Project = { readonly inner: TestRepository; readonly ours: TestRepository; readonly origin: TestRepository };

/** Makes a project with a submodule, and applies it. */
async function appliedProject(path: string, inner: Files, files: Files, config = configOf()): Promise<Project> {
  const theirs = make(inner);
  const ours = make({ 'ostiary.yaml': config, ...files });
  ours.git('submodule', '--quiet', 'add', `file://${theirs.folder}`, path);
  ours.commit('Add a submodule');
  const origin = makeOrigin(ours);
  expect(await run('apply --yes', ours)).toMatchObject({ code: 0, stderr: expect.stringContaining('git/applied-recorded') });
  return { inner: theirs, ours, origin };
}

function run(line: string, { folder }: TestRepository, env: Readonly<Record<string, string>> = {}): ReturnType<typeof gateway.run> {
  return gateway.run(line, folder, { ...gitEnv, ...env });
}

/** Commits what the submodule has now, and pushes it. */
function bump({ ours, inner }: Project, path: string): void {
  inner.commit('Change');
  ours.git('-C', path, 'pull', '--quiet', 'origin', 'main');
  ours.commit('Bump');
  ours.git('push', '--quiet', 'origin', 'HEAD');
}

/** Clones the origin and checks its submodules out, as a job does. */
function checkOut(origin: TestRepository, ...options: readonly string[]): TestRepository {
  const job = clone(origin);
  job.git('submodule', '--quiet', 'update', '--init', '--recursive', ...options);
  return job;
}

describe('manifests in a submodule belong to the commits of the repository', () => {
  test('which are applied, recorded and compared with; a removal there is a removal', async () => {
    const path = 'access/sub';
    const project = await appliedProject(
      path,
      { '2.yaml': connection('m1-b', { reviewers: ['dba'] }), '3.yaml': connection('m1-c') },
      { 'access/1.yaml': connection('m1-a') },
    );
    const { inner, ours, origin } = project;
    expect(await run('drift', checkOut(origin))).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift'), stderr: '' });
    inner.write({ '2.yaml': connection('m1-b', { reviewers: ['sre'] }) });
    inner.remove('3.yaml');
    bump(project, path);
    expect(await run('drift', checkOut(origin))).toMatchObject({ code: 0, stdout: expect.stringContaining('2 pending') });
    for (const line of ['plan', 'apply --yes'])
      expect(await run(line, checkOut(origin))).toMatchObject({ code: 0, stdout: expect.stringContaining('1 to update, 1 to delete') });
    expect([await gateway.reviewersOf('m1-b'), await gateway.isLive('m1-c')]).toEqual([['sre'], false]);
    // Another commit in the submodule is not that of HEAD.
    inner.write({ '2.yaml': connection('m1-b', { reviewers: ['ops'] }) });
    inner.commit('Not reviewed');
    ours.git('-C', path, 'pull', '--quiet', 'origin', 'main');
    expect(await run('apply --yes', ours)).toMatchObject({ code: 0, stderr: expect.stringContaining('git/applied-not-recorded') });
    expect((await run('plan', checkOut(origin))).stderr).not.toContain('git/unproven-object');
  });

  test('as orphans, until they are released', async () => {
    const path = 'access/sub';
    const files = { 'access/1.yaml': connection('m2-a') };
    const project = await appliedProject(path, { '2.yaml': connection('m2-b'), 'x.txt': '' }, files, configOf('prune: false'));
    project.inner.remove('2.yaml');
    bump(project, path);
    expect(await run('apply --yes', checkOut(project.origin))).toMatchObject({ code: 0 });
    const { code, stdout, stderr } = await run('drift', checkOut(project.origin));
    expect([code, stdout, stderr]).toEqual([2, expect.stringContaining('1 orphan'), '']);
  });

  test('as far as the clone has them: otherwise the base cannot be read, and the hint says how', async () => {
    const path = 'access/sub';
    const project = await appliedProject(path, { '2.yaml': connection('m3-b') }, { 'access/1.yaml': connection('m3-a') });
    project.inner.write({ '2.yaml': connection('m3-b', { reviewers: ['dba'] }) });
    bump(project, path);
    const job = checkOut(project.origin, '--depth=1');
    const { code, stderr } = await run('plan', job);
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/git\/base-unreadable[\s\S]*git\/submodule[\s\S]*git -C access\/sub fetch --unshallow/),
    ]);
    job.git('-C', path, 'fetch', '--quiet', '--unshallow');
    expect(await run('plan', job)).toMatchObject({ code: 0, stdout: expect.stringContaining('1 to update') });
    // A submodule that was removed is read from a clone in its place.
    project.ours.git('rm', '--quiet', path);
    project.ours.commit('Remove the submodule');
    project.ours.git('push', '--quiet', 'origin', 'HEAD');
    const later = clone(project.origin);
    expect(await run('plan', later)).toMatchObject({ code: 3, stderr: expect.stringContaining('git/submodule') });
    later.git('clone', '--quiet', `file://${project.inner.folder}`, path);
    expect(await run('plan', later)).toMatchObject({ code: 0, stdout: expect.stringContaining('1 to delete') });
  });
});

describe('the file of a secret in a submodule belongs to the commits of the repository', () => {
  test('through a link to the folder', async () => {
    const [file, name] = ['linked/host', 's-linked'];
    const secret = (reviewers: readonly string[]): Files => ({
      'access/1.yaml': connection(name, {
        reviewers,
        secret: { 'envvar:HOST': { valueFrom: { file } }, 'envvar:PASS': { value: 'correct-horse' } },
      }),
    });
    const theirs = make({ host: 'db.internal' });
    const ours = make({ 'ostiary.yaml': configOf(), ...secret([]) });
    ours.git('submodule', '--quiet', 'add', `file://${theirs.folder}`, 'sec');
    ours.link('linked', 'sec');
    ours.commit('Add a submodule');
    const origin = makeOrigin(ours);
    expect(await run('apply --yes', ours)).toMatchObject({ code: 0 });
    const auditor = { OSTIARY_TOKEN: await createKey(gateway.call, `${name}-looks`, ['auditor']) };
    const digestOf = async (env = {}): Promise<string> => JSON.parse((await run('plan --format json', ours, env)).stdout).plans[0].digest;
    ours.save(secret(['dba']));
    ours.git('push', '--quiet', 'origin', 'HEAD');
    const digest = await digestOf(auditor);
    theirs.write({ host: 'evil.example' });
    bump({ inner: theirs, ours, origin }, 'sec');
    for (const job of [ours, checkOut(origin), checkOut(origin, '--depth=1')]) {
      const planned = await run('plan --max-risk neutral', job, auditor);
      expect([planned.code, planned.stdout]).toEqual([6, expect.stringContaining('HOST')]);
    }
    expect(await digestOf(auditor)).not.toBe(digest);
    expect(await run(`apply --yes --digest ${digest}`, ours)).toMatchObject({ code: 6 });
    expect(await run('apply --yes', ours)).toMatchObject({ code: 0 });
    expect(await run('plan', checkOut(origin), auditor)).toMatchObject({ code: 0, stdout: expect.not.stringContaining('to update') });
  });
});
