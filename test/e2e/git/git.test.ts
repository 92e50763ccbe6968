import { afterEach, describe, expect, test } from 'vitest';
import type { ChaosEffect } from '../../support/chaos.ts';
import { useRepositories, type TestRepository } from '../../support/repository.ts';
import { config, guardrail, type Files } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

let chaos: (request: { readonly method: string; readonly path: string }) => ChaosEffect | undefined = () => undefined;
const gateway = useGateway({ chaos: (request) => chaos(request) });
const { make, makeOrigin, clone } = useRepositories();
afterEach(() => {
  chaos = () => undefined;
});

const ref = 'refs/ostiary/applied/production';

function project(files: Files): TestRepository {
  return make({ 'ostiary.yaml': config(gateway.url()), ...files });
}

/** Returns the commit that is recorded as completely applied; empty text if none is. */
function recorded({ git }: TestRepository): string {
  const [id = '', record = ''] = git('for-each-ref', '--format=%(objectname)%00%(contents:body)', ref).split('\0');
  return record.startsWith('{') ? (JSON.parse(record).commit ?? '') : id;
}

describe('apply', () => {
  test('records a complete apply locally and on origin; the next clone uses it as base', async () => {
    const ours = project({ 'access/g.yaml': guardrail('git-whole') });
    const origin = makeOrigin(ours);
    const first = await gateway.run('plan', ours.folder);
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining('notice git/no-base') });
    const done = await gateway.run('apply --yes', ours.folder);
    const head = ours.git('rev-parse', 'HEAD');
    expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining(`${head.slice(0, 10)} is recorded`) });
    expect([recorded(ours), recorded(origin)]).toStrictEqual([head, head]);
    const theirs = clone(origin, '--depth=1');
    const talkative = { DEBUG: '*' };
    expect(await gateway.process('plan --detailed-exitcode', theirs.folder, talkative)).toMatchObject({ code: 0, stderr: '' });
    // The log of the HTTP client, which Node starts before Ostiary runs, has no headers.
    const { stderr } = await gateway.process('plan', theirs.folder, { NODE_DEBUG: 'undici,fetch' });
    expect(stderr).toMatch(/sending request to GET/);
    expect(stderr).not.toContain(gateway.env()['OSTIARY_TOKEN']);
    expect(recorded(theirs)).toBe(head);
    const next = ours.save({ 'README.md': 'nothing to do, and yet a commit' });
    const again = await gateway.run('apply --yes --format json --no-origin --quiet', ours.folder);
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(again.stdout)).toMatchObject({ targets: [{ target: { name: 'production' } }] });
    expect([recorded(ours), recorded(origin)]).toStrictEqual([next, head]);
  });
});

describe('plan and explain', () => {
  test('work on a detached HEAD, and report what a shallow clone lacks', async () => {
    const ours = project({ 'access/g.yaml': guardrail('git-shallow') });
    const first = ours.git('rev-parse', 'HEAD');
    const origin = makeOrigin(ours);
    expect((await gateway.run('apply --yes', ours.folder)).code).toBe(0);
    ours.remove('access/g.yaml');
    ours.write({ 'access/h.yaml': guardrail('git-shallow-next', ['TRUNCATE']) });
    ours.commit();
    ours.git('push', '--quiet', 'origin', 'main');
    const shallow = clone(origin, '--depth=1');
    shallow.git('checkout', '--quiet', '--detach');
    for (const flag of ['--base HEAD~1', '--own HEAD~1'])
      expect(await gateway.run(`plan --no-origin ${flag}`, shallow.folder)).toMatchObject({
        code: 3,
        stderr: expect.stringMatching(/error git\/no-such-commit .*"HEAD~1"[\s\S]*check out with fetch-depth: 0/),
      });
    const { stdout } = await gateway.run('plan --format json', shallow.folder);
    expect(JSON.parse(stdout)).toMatchObject({ plans: [{ base: first, orphans: [{ id: 'GuardrailRule/git-shallow' }] }] });
    const own = await gateway.run(`plan --own ${first}`, shallow.folder);
    expect(own).toMatchObject({ code: 0, stderr: expect.not.stringContaining('git/no-merge-base') });
  });

  test('fail if origin is unreachable and the clone has no record', async () => {
    const ours = project({ 'access/g.yaml': guardrail('git-origin') });
    ours.git('remote', 'add', 'origin', `${ours.folder}-gone`);
    const lost = await gateway.run('plan', ours.folder);
    expect(lost).toMatchObject({ code: 4, stdout: '', stderr: expect.stringContaining('error git/origin-unreachable') });
    expect((await gateway.run('plan --no-origin', ours.folder)).code).toBe(0);
  });

  test('require git if there is a repository', async () => {
    const ours = project({ 'access/g.yaml': guardrail('git-absent') });
    const absent = { PATH: '/nonexistent' };
    expect(await gateway.run('plan', ours.folder, absent)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('error git/not-installed'),
    });
    expect(await gateway.run('plan --base none', ours.folder, absent)).toMatchObject({ code: 0, stderr: '' });
    const refused = await gateway.run('apply --yes --base none', ours.folder, absent);
    expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining('git/not-recorded') });
    const done = await gateway.run('apply --yes --base none --allow git/not-recorded=absent', ours.folder, absent);
    expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining('warning git/applied-not-recorded') });
  });
});
